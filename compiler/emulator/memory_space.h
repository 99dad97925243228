// SPDX-License-Identifier: Apache-2.0
//
// Which memory an address of a memory instruction means.
#pragma once

#include "decode.h"

#include <regatta/ir/address_windows.h>

#include <cstdint>

namespace regatta::emulator {

inline trace::MemorySpace space_of(const Op& op, std::uint64_t address) {
  using trace::MemorySpace;
  if (op.space != MemorySpace::generic) return op.space;
  switch (address >> ir::window_shift) {
    case ir::shared_window >> ir::window_shift:
      return MemorySpace::shared;
    case ir::local_window >> ir::window_shift:
      return MemorySpace::local;
    case ir::constant_window >> ir::window_shift:
      return MemorySpace::constant;
    case ir::param_window >> ir::window_shift:
      return MemorySpace::param;
    default:
      return MemorySpace::global;
  }
}

/// The offset in its space of a generic address; other addresses are offsets already.
inline std::uint64_t offset_in(const Op& op, trace::MemorySpace space, std::uint64_t address) {
  const bool windowed = op.space == trace::MemorySpace::generic && space != trace::MemorySpace::global;
  return windowed ? address & ir::window_offset_mask : address;
}

}  // namespace regatta::emulator
