// SPDX-License-Identifier: Apache-2.0
//
// FineReg's register management unit in RTL, as a twin of its model: alone ("rtl"), or compared ("lockstep").
#pragma once

#include <regatta/cosim/pins.h>
#include <regatta/finereg/operations.h>

namespace regatta::models {

using RmuPinsFactory = cosim::PinsFactory<RmuOperation, RmuResult>;

/// The sizes that the RTL of this repository is built for. It serves pending files of fewer entries too.
inline constexpr RmuShape rmu_rtl_shape{32, 1024, 128};
RmuPinsFactory rmu_rtl();

/// Adds `prefix`rtl and `prefix`lockstep to `twins`, made of any RTL with these pins and sizes.
void add_rmu_twins(RmuTwins& twins, const RmuPinsFactory& pins, const std::string& prefix = "");
/// Adds "rtl" and "lockstep" to rmu_twins().
void add_rmu_rtl();

}  // namespace regatta::models
