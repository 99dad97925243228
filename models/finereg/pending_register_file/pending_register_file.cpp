// SPDX-License-Identifier: Apache-2.0
#include <regatta/finereg/pending_register_file.h>

#include <regatta/support/energy.h>

#include <algorithm>
#include <string>

namespace regatta::models {

PendingRegisterFile::PendingRegisterFile(const sc_core::sc_module_name& name, unsigned entries,
                                         support::ClockDomain& clock, unsigned lanes)
    : sc_module(name),
      access("access"),
      clock_(clock),
      lanes_(lanes),
      tags_(entries),
      values_(std::size_t{entries} * lanes) {
  access.bind(*this);
}

void PendingRegisterFile::check(unsigned entry, const char* what) const {
  if (entry < tags_.size() && tags_[entry].valid) return;
  SC_REPORT_ERROR("regatta/pending_register_file",
                  (std::string(name()) + " in cycle " + std::to_string(clock_.now()) + ": " + what + " entry " +
                   std::to_string(entry) + ", expected a valid one of " + std::to_string(tags_.size()))
                      .c_str());
}

PendingTag PendingRegisterFile::read(unsigned entry, trace::WarpValue& value) {
  check(entry, "reads");
  read_at_ = clock_.now() + 1;
  ++reads_;
  ++tag_accesses_;
  std::copy_n(values_.begin() + entry * std::ptrdiff_t{lanes_}, lanes_, value.lane.begin());
  return tags_[entry];
}

void PendingRegisterFile::write(unsigned entry, const PendingTag& tag, const trace::WarpValue& value) {
  written_at_ = clock_.now() + 1;
  ++writes_;
  ++tag_accesses_;
  tags_[entry] = tag;
  std::copy_n(value.lane.begin(), lanes_, values_.begin() + entry * std::ptrdiff_t{lanes_});
}

void PendingRegisterFile::merge(unsigned entry, protocol::LaneMask mask, const trace::WarpValue& value) {
  check(entry, "writes lanes of");
  written_at_ = clock_.now() + 1;
  ++merges_;
  ++tag_accesses_;
  for (unsigned lane = 0; lane < lanes_; ++lane) {
    if ((mask >> lane) & 1) values_[std::size_t{entry} * lanes_ + lane] = value.lane[lane];
  }
}

void PendingRegisterFile::write_tag(unsigned entry, const PendingTag& tag) {
  ++tag_accesses_;
  tags_[entry] = tag;
}

void PendingRegisterFile::register_stats(support::StatGroup& g) {
  g.counter("reads", reads_, "warp registers", "read to be brought back into the register file");
  g.counter("writes", writes_, "warp registers", "that came from the register file");
  g.counter("merges", merges_, "warp registers", "results of loads that arrived while their CTA was pending");
  g.counter("tag_accesses", tag_accesses_, "tags", "read and written");
}

void PendingRegisterFile::register_energy(support::EnergyGroup& g) {
  const double rows = lanes_ / 32.0;  // of the energy table
  const support::ArrayGeometry size{double(tags_.size()) * lanes_ * trace::bytes_per_lane, 0};
  g.event("register_structures", "register_file.read", reads_, rows, size);
  g.event("register_structures", "register_file.write", writes_, rows, size);
  g.event("register_structures", "register_file.write", merges_, rows, size);
  g.event("cta_switching", "cta_switching.tag", tag_accesses_);
  g.leakage("register_structures", "register_file.leakage", size);
}

}  // namespace regatta::models
