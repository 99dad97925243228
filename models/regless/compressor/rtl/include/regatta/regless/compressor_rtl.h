// SPDX-License-Identifier: Apache-2.0
//
// Matcher and expander in RTL as implementations of the compressor's units: alone ("rtl"), or compared with their
// models ("lockstep").
#pragma once

#include <regatta/regless/compressor_twins.h>

namespace regatta::models {

/// The RTL of this repository.
MatcherPinsFactory matcher_rtl(unsigned latency);
ExpanderPinsFactory expander_rtl(unsigned latency);

/// Adds "rtl" and "lockstep" to compressor_implementations().
void add_compressor_rtl();

}  // namespace regatta::models
