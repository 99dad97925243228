// SPDX-License-Identifier: Apache-2.0
//
// The CUDA runtime inside of a program that has no symbol table.
#pragma once

#include <link.h>

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::capture {

/// A function of the runtime in a program or library.
struct RuntimeFunction {
  std::uint64_t value;  ///< its address, less the object's base
  std::uint64_t bytes;
  std::string name;
};

/// Functions of the runtime (CUDA 13) that is linked into a loaded object; empty: there is none, or one of an order
/// that is not known. Each function of the API has its name as a text, for profilers, which its code points to; where a
/// function begins, the table for unwinding says. Functions that the compiler calls have no such text; they stand
/// beside __cudaInitModule(), which has one.
std::vector<RuntimeFunction> unnamed_runtime_functions(const dl_phdr_info& object);

}  // namespace regatta::capture
