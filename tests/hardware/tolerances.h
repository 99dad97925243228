// SPDX-License-Identifier: Apache-2.0
//
// Where a GPU need not give the emulator's bits.
#pragma once

#include <string>
#include <vector>

#include "compare.h"

namespace regatta::hardware {

/// Of a kernel of ours on a GPU of this compute capability; empty: all buffers must be equal, bit for bit. The emulator
/// computes as an H100 (9.0): there a tolerance stands for what was not measured, elsewhere for all that may differ.
std::vector<Tolerance> tolerances_of(const std::string& kernel, const ComputeCapability& gpu);

/// Kernels that have a tolerance on an H100, and why: "mri_q: ...".
std::vector<std::string> unmeasured();

}  // namespace regatta::hardware
