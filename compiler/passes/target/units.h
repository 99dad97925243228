// SPDX-License-Identifier: Apache-2.0
//
// Where a target executes operations that its arithmetic pipelines do not have.
#pragma once

#include <regatta/ir/ir.h>

#include <cstdint>

namespace regatta::passes {

/// As NVIDIA's GPUs since Volta: bit counts and reversals, conversions that involve a float but those from 32-bit
/// integers and between f32 and f16, rounding to an integer, and the test of a division's operands go to the special
/// function unit; votes to the pipelines of integers. Source: machine code of sm_90, and chains measured on an H100
/// (17 cycles for POPC, BREV, FLO and F2I, 4 for I2FP; ISETP and VOTE together 17). Returns the number of instructions.
std::uint32_t assign_units(ir::Function& f);

}  // namespace regatta::passes
