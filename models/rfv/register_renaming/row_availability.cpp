// SPDX-License-Identifier: Apache-2.0
#include <regatta/rfv/row_availability.h>

#include <regatta/support/energy.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace regatta::models {

RowAvailability::RowAvailability(const sc_core::sc_module_name& name, const RenamingConfig& config,
                                 support::ClockDomain& clock)
    : sc_module(name),
      rows("rows"),
      row_use("row_use"),
      clock_(clock),
      mapping_(config.file),
      banks_(config.file.banks),
      part_banks_(config.file.banks / config.parts()),
      bank_rows_(config.file.registers / config.file.banks),
      subarray_rows_(std::min(config.subarray_rows, bank_rows_)),
      subarrays_((bank_rows_ + subarray_rows_ - 1) / subarray_rows_),
      gated_leakage_(config.gated_leakage),
      words_((bank_rows_ + 63) / 64),
      free_(banks_ * words_),
      free_rows_(banks_),
      live_in_(std::size_t{banks_} * subarrays_) {
  rows.bind(*this);
  begin(32);
}

void RowAvailability::complain(const std::string& what) const {
  SC_REPORT_ERROR("regatta/register_renaming",
                  (std::string(sc_module::name()) + " in cycle " + std::to_string(clock_.now()) + ": " + what).c_str());
  throw std::logic_error("an error that SystemC reported was ignored");
}

void RowAvailability::begin(unsigned warp_size) {
  account();
  row_bytes_ = warp_size * trace::bytes_per_lane;
  std::fill(free_rows_.begin(), free_rows_.end(), bank_rows_);
  std::fill(live_in_.begin(), live_in_.end(), 0);
  for (std::size_t i = 0; i < free_.size(); ++i) {
    const std::size_t first = i % words_ * 64;
    free_[i] = bank_rows_ - first >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (bank_rows_ - first)) - 1;
  }
  live_ = powered_ = 0;
}

std::uint32_t RowAvailability::lowest(unsigned bank) {
  std::uint64_t* word = &free_[bank * words_];
  unsigned first = 0;
  for (; *word == 0; ++word) first += 64;
  const unsigned index = first + static_cast<unsigned>(__builtin_ctzll(*word));
  *word &= *word - 1;
  --free_rows_[bank];
  return index * banks_ + bank;
}

unsigned RowAvailability::bank_with_room(protocol::WarpSlot warp, protocol::RegisterId reg) {
  const unsigned own = mapping_(warp, reg);
  if (__builtin_expect(static_cast<int>(free_rows_[own] != 0), 1) != 0) return own;
  const auto first = free_rows_.begin() + own / part_banks_ * part_banks_;
  const auto most = std::max_element(first, first + part_banks_);
  if (*most == 0) {
    complain("warp " + std::to_string(warp.value()) + " takes a row for R" + std::to_string(reg.value()) +
             ", and none of its part is free; expected the gate to refuse the instruction");
  }
  ++other_bank_;
  return static_cast<unsigned>(most - free_rows_.begin());
}

std::uint32_t RowAvailability::take(protocol::WarpSlot warp, protocol::RegisterId reg) {
  const std::uint32_t row = lowest(bank_with_room(warp, reg));
  ++taken_;
  set_live(row, true);
  return row;
}

std::uint32_t RowAvailability::reserve(protocol::WarpSlot warp, protocol::RegisterId reg) {
  return lowest(bank_with_room(warp, reg));
}

void RowAvailability::give_back(std::uint32_t row) {
  const unsigned bank = row % banks_, index = row / banks_;
  free_[bank * words_ + index / 64] |= std::uint64_t{1} << (index % 64);
  ++free_rows_[bank];
  ++given_back_;
  set_live(row, false);
}

unsigned RowAvailability::rows_of(std::uint32_t row) const {
  const unsigned first = row / banks_ / subarray_rows_ * subarray_rows_;
  return std::min(subarray_rows_, bank_rows_ - first);
}

void RowAvailability::set_live(std::uint32_t row, bool live) {
  account();
  unsigned& in_subarray = live_in_[subarray_of(row)];
  if (live) {
    if (in_subarray++ == 0) {
      powered_ += rows_of(row);
      ++wakeups_;
    }
    most_live_ = std::max(most_live_, ++live_);
  } else {
    if (--in_subarray == 0) powered_ -= rows_of(row);
    --live_;
  }
}

void RowAvailability::account() {
  const std::uint64_t now = clock_.now();
  const std::uint64_t cycles = now - since_;
  if (cycles == 0) return;
  since_ = now;
  live_cycles_ += cycles * live_;
  powered_cycles_ += cycles * powered_;
  gated_cycles_ += cycles * (banks_ * bank_rows_ - powered_);
}

void RowAvailability::register_stats(support::StatGroup& g) {
  g.counter("taken", taken_, "warp registers", "that got a row");
  g.counter("given_back", given_back_, "warp registers", "whose row is free again");
  g.counter("other_bank", other_bank_, "warp registers", "that got a row of another bank, as theirs was full");
  g.counter("wakeups", wakeups_, "sub-arrays", "switched on for a first live row");
  g.derived(
      "live_cycles",
      [this] {
        account();
        return double(live_cycles_);
      },
      "row-cycles", "of rows with a register of a resident warp");
  g.derived(
      "powered_cycles",
      [this] {
        account();
        return double(powered_cycles_);
      },
      "row-cycles", "of rows in sub-arrays that are on");
  g.derived(
      "live_max", [this] { return double(most_live_); }, "rows", "with a register of a resident warp, at most");
}

void RowAvailability::register_energy(support::EnergyGroup& g) {
  account();
  g.event("register_renaming", "register_renaming.row", taken_);
  g.event("register_renaming", "register_renaming.row", given_back_);
  if (row_use.size() != 0) return;
  const double total = double(banks_) * bank_rows_;
  const support::ArrayGeometry size{total * row_bytes_, double(banks_)};
  g.leakage("register_structures", "register_file.leakage", size, support::LeakageState{&powered_cycles_, total, 1});
  g.leakage("register_structures", "register_file.leakage", size,
            support::LeakageState{&gated_cycles_, total, gated_leakage_});
  g.event("register_renaming", "register_renaming.wake", wakeups_);
}

}  // namespace regatta::models
