// SPDX-License-Identifier: Apache-2.0
//
// One of our traces in the form of Accel-Sim's tracer.
#pragma once

#include <regatta/trace/file.h>

#include <string>
#include <vector>

namespace regatta::test {

/// What an importer can find of an instruction.
struct TracegInstruction {
  trace::OpClass op_class = trace::OpClass::nop;
  std::vector<unsigned> destinations, sources;
  unsigned access_bytes = 0;
  std::string line;  ///< between mask and addresses: "1 R2 IMAD 2 R0 R1"
  bool has_addresses = false;
};

/// The instruction in SASS: an opcode of its class, with the tracer's habits (the destination of SHFL and ATOMG is a
/// source).
TracegInstruction traceg_instruction(const trace::StaticInstruction& instruction);

/// The text of a launch. `mode`: how addresses are written, 0 each, 1 base and stride where possible, else 2.
std::string traceg_of(const trace::Reader& reader, std::uint32_t launch);

}  // namespace regatta::test
