// SPDX-License-Identifier: Apache-2.0
//
// Single changes to control bits, each of which may break a dependence.
#pragma once

#include <regatta/trace/control.h>

#include <string>
#include <vector>

namespace regatta::test {

enum class ControlMutation { stall, wait, counter, reuse };
inline constexpr unsigned control_mutations = 4;

/// Calls visit(kind, mutated, what) for every single change: a stall count one less, a wait bit less, a counter that is
/// not raised, a reuse flag more.
template <typename Visit>
void for_each_control_mutation(const trace::Kernel& kernel, const trace::ControlSection& control, Visit&& visit) {
  trace::ControlSection mutated = control;
  for (std::size_t i = 0; i < control.bits.size(); ++i) {
    const trace::ControlBits original = control.bits[i];
    trace::ControlBits& b = mutated.bits[i];
    const std::string where = " of instruction " + std::to_string(i);
    const auto call = [&](ControlMutation kind, const std::string& what) {
      visit(kind, mutated, what + where);
      b = original;
    };
    if (original.stall > 1) {
      --b.stall;
      b.yield = b.stall > trace::max_stall_without_yield;
      call(ControlMutation::stall, "stall count");
    }
    for (unsigned c = 0; c < trace::control_counters; ++c) {
      if (!original.waits_for(c)) continue;
      b.wait_mask = static_cast<std::uint8_t>(b.wait_mask & ~(1u << c));
      call(ControlMutation::wait, "wait for counter " + std::to_string(c));
    }
    if (original.write_counter != trace::no_counter) {
      b.write_counter = trace::no_counter;
      call(ControlMutation::counter, "write counter");
    }
    if (original.read_counter != trace::no_counter) {
      b.read_counter = trace::no_counter;
      call(ControlMutation::counter, "read counter");
    }
    if (!trace::uses_register_cache(kernel.instructions[i])) continue;
    unsigned positions = 0;
    for (const std::int8_t p : trace::source_positions(kernel.instructions[i]))
      if (p >= 0) positions |= 1u << static_cast<unsigned>(p);
    for (unsigned p = 0; p < trace::control_positions; ++p) {
      if ((positions >> p & 1u) == 0 || original.reuses(p)) continue;
      b.reuse = static_cast<std::uint8_t>(b.reuse | 1u << p);
      call(ControlMutation::reuse, std::string("reuse flag ") + static_cast<char>('A' + p));
    }
  }
}

}  // namespace regatta::test
