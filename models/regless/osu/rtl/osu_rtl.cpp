// SPDX-License-Identifier: Apache-2.0
#include <regatta/cosim/direct_transactor.h>
#include <regatta/regless/bank_pins.h>
#include <regatta/regless/osu_rtl.h>

#include "osu_bank_rtl16.h"
#include "osu_bank_rtl4.h"
#include "osu_bank_rtl8.h"

namespace regatta::models {

namespace {

/// From request to answer.
constexpr unsigned bank_edges = 1;

}  // namespace

BankPinsFactory osu_bank_rtl(unsigned lines) {
  return lines == 4   ? bank_pins_of<osu_bank_rtl4>()
         : lines == 8 ? bank_pins_of<osu_bank_rtl8>()
                      : bank_pins_of<osu_bank_rtl16>();
}

void check_bank_shape(const BankShape& shape) {
  if (shape.lines != 4 && shape.lines != 8 && shape.lines != 16) {
    throw support::ConfigError("configuration: osu.implementation is one in RTL, and a bank has " +
                               std::to_string(shape.lines) +
                               " lines (osu.entries / sm.schedulers / osu.banks); expected 4, 8 or 16, which it is "
                               "built for");
  }
  if (shape.warps > rtl_bank_warps) {
    throw support::ConfigError("configuration: osu.implementation is one in RTL, and a shard has " +
                               std::to_string(shape.warps) + " warps (sm.warps / sm.schedulers); expected at most " +
                               std::to_string(rtl_bank_warps) + ", which it is built for");
  }
}

void add_bank_twins(std::function<BankPinsFactory(unsigned lines)> pins, const std::string& prefix) {
  cosim::add_rtl_twins(
      bank_twins(), check_bank_shape, [pins = std::move(pins)](const BankShape& shape) { return pins(shape.lines); },
      bank_edges, prefix);
}

void add_osu_rtl() { add_bank_twins(osu_bank_rtl); }

}  // namespace regatta::models
