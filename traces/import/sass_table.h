// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/trace/types.h>

#include <functional>
#include <map>
#include <string>

#include "sass.h"

namespace regatta::import {

enum class Memory : std::uint8_t { none, load, store, atomic, texture };

/// Which registers stand behind the numbers that a tracer writes, the first of each group.
enum class Operands : std::uint8_t {
  words,            ///< one 32-bit register each
  predicate_first,  ///< likewise; with a predicate as its first operand, the tracer writes the destination as a source
  reads_first,      ///< likewise; the tracer writes the first source as a destination
  pairs,            ///< values of 64 bits
  pair_sources,     ///< sources of 64 bits, a result of 32
  conversion,       ///< by the types among the modifiers: the result's, then the source's
  integer_product,  ///< with .WIDE a result and an addend of 64 bits
  counter,          ///< a result of 64 bits, unless .32
  by_width,         ///< memory: data by the width among the modifiers, addresses of 64 bits with .E
  matrix_load,      ///< LDSM, STSM: one register for each matrix
  copy_to_shared,   ///< LDGSTS: an address in shared memory, then one in global memory
  atomic,           ///< as by_width; with a predicate as its first operand, the destination is the first source
  matrix,           ///< HMMA and the like: groups by the shape among the modifiers
  warp_group,       ///< HGMMA and the like: more registers than an instruction of a trace has
};

struct SassOpcode {
  trace::OpClass op_class;
  Control control;
  Memory memory;
  trace::MemorySpace space;
  Operands operands;
};

/// By the name without modifiers.
const std::map<std::string, SassOpcode, std::less<>>& sass_table();

}  // namespace regatta::import
