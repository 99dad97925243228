// SPDX-License-Identifier: Apache-2.0
#include <regatta/sharing/warp_table.h>

#include <regatta/support/energy.h>

#include <algorithm>
#include <stdexcept>

namespace regatta::models {

using protocol::WarpSlot;

WarpTable::WarpTable(const sc_core::sc_module_name& name, unsigned slices, RowRelease release,
                     support::ClockDomain& clock)
    : sc_module(name), windows("windows"), room("room"), clock_(clock), release_(release), slices_(slices) {
  windows.bind(*this);
  room.bind(*this);
}

void WarpTable::complain(const std::string& what) const {
  SC_REPORT_ERROR("regatta/partial_ctas",
                  (std::string(sc_module::name()) + " in cycle " + std::to_string(clock_.now()) + ": " + what).c_str());
  throw std::logic_error("an error that SystemC reported was ignored");
}

void WarpTable::kernel_started(std::uint32_t rows, unsigned registers) {
  registers_ = registers;
  slice_rows_ = rows / slices();
  for (Slice& s : slices_) {
    s.taken.assign(slice_rows_ / registers, false);
    s.free = slice_rows_ / registers;
  }
  window_of_.clear();
  account(0);
}

RegisterWindow WarpTable::window(unsigned slice, std::uint32_t number) const {
  const std::uint32_t base = slice * slice_rows_ + number * registers_;
  return RegisterWindow{base, base, 256};
}

std::optional<RegisterWindow> WarpTable::first_window(WarpSlot warp) const {
  const unsigned turn = warp.value() / slices();
  if (turn >= slices_[slice_of(warp)].taken.size()) return std::nullopt;
  return window(slice_of(warp), turn);
}

RegisterWindow WarpTable::assign(WarpSlot warp) {
  Slice& s = slices_[slice_of(warp)];
  const auto found = std::find(s.taken.begin(), s.taken.end(), false);
  if (found == s.taken.end()) {
    complain("warp " + std::to_string(warp.value()) + " starts, and all " + std::to_string(s.taken.size()) +
             " windows of slice " + std::to_string(slice_of(warp)) + " are taken; expected a free one");
  }
  *found = true;
  --s.free;
  ++assigned_;
  account(rows_ + registers_);
  if (window_of_.size() <= warp.value()) window_of_.resize(warp.value() + 1u, none);
  window_of_[warp.value()] = static_cast<std::uint32_t>(found - s.taken.begin());
  return window(slice_of(warp), window_of_[warp.value()]);
}

void WarpTable::release(WarpSlot warp) {
  if (release_ == RowRelease::warp) give_back(warp);
}

void WarpTable::cta_finished(const protocol::CtaInfo& cta) {
  if (release_ != RowRelease::cta) return;
  for (unsigned i = 0; i < warps_per_cta_; ++i) {
    give_back(WarpSlot(static_cast<WarpSlot::rep>(cta.cta.value() * warps_per_cta_ + i)));
  }
}

void WarpTable::give_back(WarpSlot warp) {
  std::uint32_t& number = window_of_[warp.value()];
  Slice& s = slices_[slice_of(warp)];
  s.taken[number] = false;
  ++s.free;
  ++released_;
  number = none;
  account(rows_ - registers_);
}

void WarpTable::account(std::uint64_t rows) {
  row_cycles_ = row_cycles();
  since_ = clock_.now();
  rows_ = rows;
  most_rows_ = std::max(most_rows_, rows_);
}

void WarpTable::register_stats(support::StatGroup& g) {
  g.counter("assigned", assigned_, "warps", "that got rows");
  g.counter("released", released_, "warps", "whose rows were given back");
  g.derived(
      "row_cycles", [this] { return double(row_cycles()); }, "row-cycles", "of rows that a warp has");
  g.derived(
      "rows_max", [this] { return double(most_rows_); }, "warp registers", "that warps have at a time, at most");
}

void WarpTable::register_energy(support::EnergyGroup& g) {
  g.event("resource_sharing", "resource_sharing.rows", assigned_);
  g.event("resource_sharing", "resource_sharing.rows", released_);
}

std::uint64_t warp_table_bits(unsigned ctas, unsigned warps, unsigned rows, unsigned granularity) {
  const auto bits_of = [](std::uint64_t values) {
    std::uint64_t bits = 0;
    while ((1ULL << bits) < values) ++bits;
    return bits;
  };
  return warps * (bits_of(rows / granularity) + 2) + warps + 1 + bits_of(ctas);
}

}  // namespace regatta::models
