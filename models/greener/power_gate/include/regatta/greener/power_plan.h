// SPDX-License-Identifier: Apache-2.0
//
// What the decoder of GREENER's hardware derives from a kernel's instructions (Jatala, thesis, sections 4.2.2
// and 4.2.4): the state of each register after its access, from two bits per field.
#pragma once

#include <regatta/protocol/observer.h>
#include <regatta/trace/power_states.h>

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::models {

/// The plan of one static instruction.
struct PowerPlan {
  protocol::GeneralRegisters reserved{};  ///< sources that hold back later accesses until they have been read
  protocol::GeneralRegisters recorded{};  ///< registers that an entry of the lookup table names
  std::uint32_t after_read = 0;           ///< two bits (trace::RegisterPower) per operand of InstructionTraits::reads
  std::uint8_t after_write = 0;           ///< likewise of InstructionTraits::writes

  trace::RegisterPower state_after_read(unsigned operand) const {
    return static_cast<trace::RegisterPower>((after_read >> (2 * operand)) & 3);
  }
  trace::RegisterPower state_after_write(unsigned destination) const {
    return static_cast<trace::RegisterPower>((after_write >> (2 * destination)) & 3);
  }
};

struct PowerPlanOptions {
  bool look_ahead = true;        ///< use the compiler's states; false: registers sleep after each access (Sleep-Reg)
  unsigned threshold = 0;        ///< W; 0: the trace's
  bool reserve_all = true;       ///< sources that stay on are reserved too
  unsigned table_registers = 8;  ///< registers per entry of the lookup table
};

/// The plans of all static instructions of the kernel. A register that an instruction both reads and writes keeps its
/// state until it is written. Throws support::ConfigError if the look-ahead needs power states and the kernel has none,
/// or if its distances do not reach the threshold.
std::vector<PowerPlan> make_power_plans(const protocol::KernelContext& context, const PowerPlanOptions& options);

}  // namespace regatta::models
