// SPDX-License-Identifier: Apache-2.0
//
// RTL as an implementation of the compressor's units: alone, or compared with the models. Knows no RTL and needs no
// Verilator; the caller passes factories of pins (platform/cosim/README.md).
#pragma once

#include <regatta/cosim/pins.h>
#include <regatta/regless/units.h>

#include <functional>

namespace regatta::models {

using MatcherPinsFactory = cosim::PinsFactory<WarpValue, CompressedValue>;
using ExpanderPinsFactory = cosim::PinsFactory<CompressedValue, WarpValue>;

/// RTL of a unit: its pins for the latency that the unit's knob has. Null: the model does the unit's work.
using MatcherRtl = std::function<MatcherPinsFactory(unsigned latency)>;
using ExpanderRtl = std::function<ExpanderPinsFactory(unsigned latency)>;

/// Latencies that the RTL of this repository is built for: 1 to this.
inline constexpr unsigned rtl_latencies = 3;

/// The RTL alone. `latencies`: it is built for knobs of 1 to this, other settings are refused. 0: it has a latency of
/// its own. It is never seen faster than the knobs: set them to 1.
CompressorImplementation rtl_units(MatcherRtl matcher, ExpanderRtl expander, unsigned latencies = rtl_latencies);
/// The RTL in lockstep with the models. Latencies are compared with the knobs, unless `latencies` is 0.
CompressorImplementation lockstep_units(MatcherRtl matcher, ExpanderRtl expander, unsigned latencies = rtl_latencies);

}  // namespace regatta::models
