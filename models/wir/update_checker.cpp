// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/wir/update_checker.h>

namespace regatta::models::wir {

UpdateChecker::UpdateChecker(const sc_core::sc_module_name& name, sc_core::sc_time clock_period)
    : sc_module(name), in("in"), out("out"), clock_(support::CycleScheduler::of(clock_period)) {
  in.bind(*this);
}

void UpdateChecker::violation(const std::string& what) const {
  SC_REPORT_ERROR("regatta/wir",
                  (std::string(name()) + " in cycle " + std::to_string(clock_.now()) + ": " + what).c_str());
}

std::uint64_t UpdateChecker::book_write() {
  const std::uint64_t cycle = out->book_write();
  if (cycle < clock_.now()) {
    violation("book_write() returned cycle " + std::to_string(cycle) + ", expected the present one or a later one");
  }
  booked_.insert(cycle);
  return cycle;
}

void UpdateChecker::update(const ReuseUpdate& update) {
  const auto first = booked_.begin();
  if (first == booked_.end()) {
    violation("update() without a write port, expected book_write() before");
  } else {
    if (*first > clock_.now()) {
      violation("update() before the cycle of its write port, expected it in cycle " + std::to_string(*first));
    }
    booked_.erase(first);
  }
  out->update(update);
}

std::string UpdateChecker::held_work() const {
  if (booked_.empty()) return "";
  return std::to_string(booked_.size()) + " write ports are booked and not used, the first for cycle " +
         std::to_string(*booked_.begin());
}

void UpdateChecker::kernel_finished(const protocol::KernelContext&) {
  if (booked_.empty()) return;
  violation(held_work() + "; expected an update() for each");
  booked_.clear();
}

}  // namespace regatta::models::wir
