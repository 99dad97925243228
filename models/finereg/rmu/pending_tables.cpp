// SPDX-License-Identifier: Apache-2.0
#include <regatta/finereg/pending_tables.h>

#include <regatta/support/energy.h>

#include <algorithm>
#include <string>

namespace regatta::models {

FreeSpaceMonitor::FreeSpaceMonitor(const sc_core::sc_module_name& name, unsigned entries)
    : sc_module(name), access("access"), taken_(entries, false), free_(entries), told_free_(entries) {
  access.bind(*this);
}

RmuResult FreeSpaceMonitor::twin_result(const RmuOperation& operation, bool ok, unsigned entry) {
  const RmuResult result = twin_->operate(operation, RmuResult::of_entry(ok, entry, free_));
  told_free_ = result.count;
  return result;
}

void FreeSpaceMonitor::set_twin(RmuTwin* twin) {
  twin_ = twin;
  limit(static_cast<unsigned>(taken_.size()));
}

void FreeSpaceMonitor::limit(unsigned entries) {
  taken_.assign(entries, false);
  free_ = told_free_ = entries;
  lowest_ = 0;
  if (has_twin(twin_)) twin_result(RmuOperation::limit(entries), true, 0);
}

std::optional<unsigned> FreeSpaceMonitor::take() {
  while (lowest_ < taken_.size() && taken_[lowest_]) ++lowest_;
  const bool found = lowest_ < taken_.size();
  if (found) {
    taken_[lowest_] = true;
    --free_;
    ++updates_;
    taken_max_ = std::max<std::uint64_t>(taken_max_, taken_.size() - free_);
  }
  told_free_ = free_;
  if (!has_twin(twin_)) return found ? std::make_optional(lowest_) : std::nullopt;
  const RmuResult result = twin_result(RmuOperation::take(), found, found ? lowest_ : 0);
  return result.ok ? std::make_optional<unsigned>(result.entry) : std::nullopt;
}

void FreeSpaceMonitor::give_back(unsigned entry) {
  if (entry >= taken_.size() || !taken_[entry]) {
    SC_REPORT_ERROR("regatta/free_space_monitor", (std::string(name()) + ": entry " + std::to_string(entry) +
                                                   " is given back, expected one that is taken")
                                                      .c_str());
    return;
  }
  taken_[entry] = false;
  ++free_;
  ++updates_;
  lowest_ = std::min(lowest_, entry);
  told_free_ = free_;
  if (has_twin(twin_)) twin_result(RmuOperation::give_back(entry), true, 0);
}

void FreeSpaceMonitor::register_stats(support::StatGroup& g) {
  g.counter("updates", updates_, "flags", "set and cleared");
  g.counter("taken_max", taken_max_, "entries", "taken at a time, at most");
}

void FreeSpaceMonitor::register_energy(support::EnergyGroup& g) {
  g.event("cta_switching", "cta_switching.free_space", updates_);
}

PointerTable::PointerTable(const sc_core::sc_module_name& name, unsigned ctas)
    : sc_module(name), access("access"), chains_(ctas) {
  access.bind(*this);
}

void PointerTable::register_stats(support::StatGroup& g) {
  g.counter("accesses", accesses_, "entries", "read and written");
}

void PointerTable::register_energy(support::EnergyGroup& g) {
  g.event("cta_switching", "cta_switching.pointer", accesses_);
}

}  // namespace regatta::models
