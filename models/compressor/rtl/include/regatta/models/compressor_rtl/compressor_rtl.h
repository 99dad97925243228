// SPDX-License-Identifier: Apache-2.0
//
// Matcher and expander in RTL as implementations of the compressor's units: alone ("rtl"), or compared with their
// models
// ("lockstep").
#pragma once

#include <regatta/cosim/pins.h>
#include <regatta/models/compressor/units.h>

namespace regatta::models {

using MatcherPinsFactory = cosim::PinsFactory<WarpValue, CompressedValue>;
using ExpanderPinsFactory = cosim::PinsFactory<CompressedValue, WarpValue>;

/// Latencies that the RTL is built for: 1 to this.
inline constexpr unsigned rtl_latencies = 3;
/// The RTL of this repository.
MatcherPinsFactory matcher_rtl(unsigned latency);
ExpanderPinsFactory expander_rtl(unsigned latency);

/// Implementations made of any RTL with these pins: the RTL alone, or in lockstep with the models. The factories are
/// asked for the configured latencies.
CompressorImplementation rtl_units(std::function<MatcherPinsFactory(unsigned)> matcher,
                                   std::function<ExpanderPinsFactory(unsigned)> expander);
CompressorImplementation lockstep_units(std::function<MatcherPinsFactory(unsigned)> matcher,
                                        std::function<ExpanderPinsFactory(unsigned)> expander);

/// Adds "rtl" and "lockstep" to compressor_implementations().
void add_compressor_rtl();

}  // namespace regatta::models
