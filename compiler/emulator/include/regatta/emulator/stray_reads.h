// SPDX-License-Identifier: Apache-2.0
//
// Reads of global memory that hit no buffer: what --out-of-bounds warn and zero let pass.
#pragma once

#include <regatta/emulator/program_fault.h>

#include <cstdint>
#include <string>

namespace regatta::emulator {

/// Those of one load instruction. Place, thread and address are those of the first.
struct StrayRead {
  std::string message;      ///< "file:line:column: warning: kernel 'k', CTA (x,y,z), thread (x,y,z): out-of-bounds ..."
  std::uint64_t lanes = 0;  ///< how often a lane has read so
};

/// A read that EmulatorOptions::stray_reads would let pass.
class StrayReadError : public ProgramFault {
 public:
  explicit StrayReadError(const std::string& what) : ProgramFault(FaultKind::address, what) {}
};

}  // namespace regatta::emulator
