// SPDX-License-Identifier: Apache-2.0
//
// WIR's value signature buffer and reuse buffer in RTL, as twins of their models' state.
#pragma once

#include <regatta/cosim/pins.h>
#include <regatta/wir/reuse_operations.h>
#include <regatta/wir/vsb_operations.h>

#include <functional>

namespace regatta::models::wir {

using VsbPinsFactory = cosim::PinsFactory<VsbOperation, VsbResult>;
using ReusePinsFactory = cosim::PinsFactory<ReuseOperation, ReuseOutcome>;

/// The RTL of this repository. `lanes`: 32 or 64.
VsbPinsFactory vsb_rtl(unsigned lanes);
ReusePinsFactory reuse_rtl();

/// Sizes and latencies of it. An operation takes as many clock edges.
inline constexpr unsigned rtl_entries = 256, rtl_hash_bits = 32;
inline constexpr unsigned vsb_rtl_edges = 2, reuse_rtl_edges = 1;

/// Adds twins made of any RTL with these pins, for the shapes that ours has: `prefix`rtl and `prefix`lockstep. The
/// factory of the first is asked for the machine's lanes.
void add_signature_twins(const std::function<VsbPinsFactory(unsigned lanes)>& pins, const std::string& prefix = "");
void add_reuse_twins(const ReusePinsFactory& pins, const std::string& prefix = "");

/// Adds "rtl" and "lockstep" to both blocks' kinds of twins.
void add_wir_rtl();

}  // namespace regatta::models::wir
