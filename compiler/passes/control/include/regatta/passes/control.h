// SPDX-License-Identifier: Apache-2.0
//
// The control bits of modern NVIDIA GPUs: regatta/trace/control.h says what they mean. README.md of the folder
// describes the steps.
#pragma once

#include <regatta/passes/control_latencies.h>
#include <regatta/trace/control.h>

#include <array>
#include <cstdint>

namespace regatta::passes {

/// The bits of a kernel. In builds without NDEBUG, trace::verify_control() has proved them. Throws trace::InputError
/// for latencies that stall counts cannot bridge.
trace::ControlSection plan_control(const trace::Kernel& kernel, const ControlLatencies& latencies);
/// Adds the section. Nothing is inserted.
void add_control(trace::Kernel& kernel, const trace::ControlSection& control);

/// How often the static instructions use the bits.
struct ControlUse {
  std::uint64_t instructions = 0, fixed = 0, yields = 0, waits = 0;
  std::uint64_t write_counters = 0, read_counters = 0;
  std::uint64_t reuse = 0;                                                ///< instructions with at least one reuse flag
  std::array<std::uint64_t, trace::op_class_count> of_class{}, stalls{};  ///< instructions, and their stall counts
};
ControlUse use_of(const trace::Kernel& kernel, const trace::ControlSection& control);

}  // namespace regatta::passes
