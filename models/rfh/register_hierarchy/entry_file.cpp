// SPDX-License-Identifier: Apache-2.0
#include <regatta/rfh/entry_file.h>

#include <regatta/rfh/operand_levels.h>

#include <algorithm>

namespace regatta::models {

using protocol::LaneMask;

EntryFile::EntryFile(const sc_core::sc_module_name& name, Kind kind, unsigned slots, unsigned cycles)
    : sc_module(name), entries("entries"), kind_(kind), slots_(slots), cycles_(cycles) {
  entries.bind(*this);
}

void EntryFile::kernel_started(const protocol::KernelContext& context) {
  const trace::RfhPlan plan = rfh_plan_of(*context.kernel);
  entries_per_slot_ = kind_ == Kind::operand ? plan.entries : lrf_entries(plan);
  warp_size_ = context.warp_size;
  all_lanes_ = trace::all_lanes(warp_size_);
  const std::size_t count = std::size_t{slots_} * entries_per_slot_;
  state_.assign(count, Entry{});
  values_.resize(count, warp_size_);
}

std::uint64_t EntryFile::read(unsigned slot, unsigned entry, LaneMask executing, std::uint32_t* data,
                              std::uint64_t at) {
  const std::size_t index = std::size_t{slot} * entries_per_slot_ + entry;
  const Entry& e = state_[index];
  ++reads_;
  trace::copy_value(data, values_[index], std::size_t{warp_size_} * trace::bytes_per_lane);
  if (__builtin_expect(static_cast<int>((executing & ~e.valid) != 0), 0) != 0) spoil(executing & ~e.valid, data);
  if (e.ready <= at) return at + cycles_;
  ++late_reads_;
  return e.ready + cycles_;
}

void EntryFile::spoil(LaneMask lanes, std::uint32_t* data) {
  ++lost_reads_;
  for (LaneMask m = lanes; m != 0; m &= m - 1) {
    std::uint32_t& lane = data[__builtin_ctzll(m)];
    lane = ~lane;
  }
}

void EntryFile::write(unsigned slot, unsigned entry, LaneMask lanes, const std::uint32_t* data, std::uint64_t ready) {
  const std::size_t index = std::size_t{slot} * entries_per_slot_ + entry;
  Entry& e = state_[index];
  ++writes_;
  std::uint32_t* const cell = values_[index];
  if (lanes == all_lanes_) {
    trace::copy_value(cell, data, std::size_t{warp_size_} * trace::bytes_per_lane);
  } else {
    for (LaneMask m = lanes; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctzll(m));
      cell[lane] = data[lane];
    }
  }
  e.valid |= lanes;
  e.ready = ready;
}

void EntryFile::lose(unsigned slot) {
  const auto first = state_.begin() + static_cast<std::ptrdiff_t>(std::size_t{slot} * entries_per_slot_);
  std::fill_n(first, entries_per_slot_, Entry{});
}

std::uint64_t EntryFile::bits() const {
  return std::uint64_t{slots_} * entries_per_slot_ * warp_size_ * trace::bytes_per_lane * 8;
}

void EntryFile::register_stats(support::StatGroup& g) {
  g.counter("reads", reads_, "warp registers", "read by collectors");
  g.counter("writes", writes_, "warp registers", "results and copies written");
  g.counter("late_reads", late_reads_, "warp registers",
            "of the reads, those that waited for a copy from the main file");
  g.counter("lost_reads", lost_reads_, "warp registers",
            "of the reads, those of an entry without a value in a lane that executes: the annotation is wrong");
}

void EntryFile::register_energy(support::EnergyGroup& g) {
  // As in the main file, an access moves a whole row. A register array of its own: its size follows no bank.
  const double rows = warp_size_ / 32.0;
  const double entry_bytes = double(slots_) * warp_size_ * trace::bytes_per_lane;
  // Each bank of a split last-result file is such an array, with an entry per slot.
  const unsigned banks = kind_ == Kind::last_result ? entries_per_slot_ : 1;
  const support::ArrayGeometry size{entry_bytes * entries_per_slot_ / banks, 0};
  g.event("register_structures", "register_file.read", reads_, rows, size);
  g.event("register_structures", "register_file.write", writes_, rows, size);
  for (unsigned b = 0; b < banks; ++b) g.leakage("register_structures", "register_file.leakage", size);
}

}  // namespace regatta::models
