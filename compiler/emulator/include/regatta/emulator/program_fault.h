// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with an emulated program, by kinds for which CUDA has codes.
#pragma once

#include <regatta/trace/types.h>

#include <cstdint>
#include <string>

namespace regatta::emulator {

enum class FaultKind : std::uint8_t {
  other,
  address,     ///< an access outside of memory, or a write to what can only be read
  misaligned,  ///< an access at no multiple of its size
  assertion,   ///< assert() of the kernel
  trap,
};

/// An error of the program, with its place.
class ProgramFault : public trace::InputError {
 public:
  ProgramFault(FaultKind kind, const std::string& what) : trace::InputError(what), kind_(kind) {}
  FaultKind kind() const { return kind_; }

 private:
  FaultKind kind_;
};

}  // namespace regatta::emulator
