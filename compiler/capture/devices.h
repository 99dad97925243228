// SPDX-License-Identifier: Apache-2.0
//
// What a program is told of its device: as the CUDA programming guide ("Technical Specifications per Compute
// Capability") and the data sheets of the machines that regatta-sim has presets of.
#pragma once

#include "protocol.h"

#include <string>
#include <vector>

namespace regatta::capture {

/// Names for --device, the default first.
std::vector<std::string> device_names();
/// Throws trace::InputError for a name that is none of these.
DeviceDescription device_named(const std::string& name);

}  // namespace regatta::capture
