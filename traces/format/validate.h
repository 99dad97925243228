// SPDX-License-Identifier: Apache-2.0
//
// What must hold before anyone may use a part of a trace as an index or a size. The reader applies it to what it
// read, the writer to what it is given. Throws Malformed with the reason.
#pragma once

#include <regatta/trace/kernel.h>
#include <regatta/trace/section_registry.h>
#include <regatta/trace/warp_stream.h>

#include <vector>

#include "frame.h"

namespace regatta::trace {

/// Larger opcode ids are refused, so that a table by id stays small.
inline constexpr std::uint32_t max_opcode_id = 1u << 20;
inline constexpr std::uint32_t max_instructions = 1u << 24;
inline constexpr std::uint32_t max_threads_per_cta = 1024;
inline constexpr std::uint32_t max_barrier_id = 15;
/// Of a setmaxnreg (PTX ISA).
inline constexpr unsigned least_register_budget = 24, most_register_budget = 256, register_budget_step = 8;

/// `sections`: the annotations that are looked into.
void validate(const Kernel& kernel, const SectionRegistry& sections);
void validate(const Launch& launch, const std::vector<Kernel>& kernels);
/// `launch` and `kernel` are the CTA's own.
/// By warp: whether its columns lie in segments; none if those of all warps are here.
void validate(const Cta& cta, const Launch& launch, const Kernel& kernel, const std::vector<bool>& in_segments = {});
/// `goes_on`: not the first segment of its warp.
void validate_segment(const WarpColumns& columns, const Kernel& kernel, bool goes_on);
/// CTAs of the grid; the launch must be valid.
std::uint64_t grid_ctas(const Launch& launch);

}  // namespace regatta::trace
