// SPDX-License-Identifier: Apache-2.0
//
// The fixed latencies that the control pass counts on.
#pragma once

#include <regatta/trace/control.h>

#include <array>
#include <string>

namespace regatta::passes {

/// Cycles from the issue of an instruction of fixed latency until a dependent one can issue. Variable classes have no
/// row here: hardware counts them (trace::has_fixed_latency()).
struct ControlLatencies {
  /// The defaults are those of an NVIDIA Ampere SM; control_latencies.cpp names the source of each.
  ControlLatencies();

  std::array<unsigned, trace::op_class_count> op_class{};
  unsigned half = 0;           ///< f16, bf16 and pairs of them
  unsigned predicate = 0;      ///< an instruction with a predicate as its result
  unsigned constant_pair = 0;  ///< a constant of 64 bits
  unsigned control_stall = 0;  ///< not a latency: stall count of branches and exits

  /// Of an instruction of fixed latency; 0 for others. An instruction that reads more than three registers of a bank
  /// takes a cycle more for each.
  unsigned of(const trace::StaticInstruction& instruction) const;
  /// Overrides rows by a list such as "int64=8,predicate=11". Throws trace::InputError, in the words of `option`, for
  /// an unknown name or a number that is not 1 to 14.
  void set(const std::string& list, const std::string& option);

 private:
  /// By kind alone.
  unsigned row(const trace::StaticInstruction& instruction) const;
};

/// The largest latency: the stall count of one instruction must bridge it, and one cycle more for a variable consumer.
inline constexpr unsigned max_fixed_latency = trace::max_stall - 1;

}  // namespace regatta::passes
