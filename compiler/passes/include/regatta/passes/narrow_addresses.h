// SPDX-License-Identifier: Apache-2.0
//
// 64-bit addresses in one register each, as compilers of 32-bit machines had them.
#pragma once

#include <regatta/ir/ir.h>

#include <cstdint>

namespace regatta::passes {

struct NarrowResult {
  std::uint32_t narrowed = 0;  ///< virtual registers of two words that have one now
  std::uint32_t wide = 0;      ///< of two words that are left
};

/// Where all memory lies below 4 GB, an address is its lower half, and the lower half of a sum, difference, product,
/// left shift, bitwise operation or selection follows from the lower halves of its operands alone. A 64-bit register is
/// narrowed if each of its uses is the address of a memory access, such an operation on narrowed registers, or a
/// conversion to 32 bits or fewer, and if each of its definitions is such an operation, an extension, a wide product, a
/// parameter, or a load. All others keep both halves: those compared, divided, shifted right, stored, or exchanged.
///
/// A loaded pointer is loaded by its lower half alone. Generic addresses of shared, local and constant memory lie in
/// the windows for 32-bit addresses (base/address_map.h).
///
/// Works on virtual registers; edges must be built. The result is the same program as long as its addresses are in
/// bounds: an address that is 4 GB or more off hits the place that its lower half names.
NarrowResult narrow_addresses(ir::Function& f);

}  // namespace regatta::passes
