// SPDX-License-Identifier: Apache-2.0
//
// Addresses of constant variables. The host may ask for one (cudaGetSymbolAddress(), cuModuleGetGlobal()) and copy to
// and from there. Constant memory of each module begins at the same address on the device, so the host is given places
// of their own, where the device has nothing; a kernel cannot be given one.
#pragma once

#include "state.h"

namespace regatta::capture {

struct ConstantPlace {
  const Variable* variable = nullptr;  ///< nullptr: the address is no constant variable's
  std::uint64_t offset = 0;            ///< bytes
};

ConstantPlace constant_at(const void* address);

/// What the host may use as the address of a variable, constant or not.
std::uint64_t address_of_variable(Variable& variable);

/// `bytes` bytes from the place on. invalid_value: beyond the variable's end.
Error write_constant(ConstantPlace to, const void* from, std::uint64_t bytes);
Error read_constant(ConstantPlace from, void* to, std::uint64_t bytes);

}  // namespace regatta::capture
