// SPDX-License-Identifier: Apache-2.0
//
// Tags and lists of a bank in RTL, as kinds of twins: alone ("rtl"), or compared with the model ("lockstep").
#pragma once

#include <regatta/cosim/pins.h>
#include <regatta/regless/bank_twin.h>

#include <functional>
#include <string>

namespace regatta::models {

/// Warps of a shard that the RTL is built for, at most.
inline constexpr unsigned rtl_bank_warps = 64;

/// The RTL of this repository, for 4, 8 or 16 lines.
cosim::PinsFactory<BankOperation, BankResult> osu_bank_rtl(unsigned lines);
/// Throws ConfigError for a shape that it is not built for.
void check_bank_shape(const BankShape& shape);

/// Adds the kinds `<prefix>rtl` and `<prefix>lockstep` of any RTL with these pins. The factory is asked for its lines.
void add_bank_twins(std::function<cosim::PinsFactory<BankOperation, BankResult>(unsigned lines)> pins,
                    const std::string& prefix = "");
/// Adds "rtl" and "lockstep".
void add_osu_rtl();

}  // namespace regatta::models
