// SPDX-License-Identifier: Apache-2.0
//
// What an instruction reads and writes, as far as instructions depend on each other: general registers, predicates and
// the carry flag of a warp.
#pragma once

#include <regatta/trace/kernel.h>

#include <bitset>

namespace regatta::passes {

inline constexpr unsigned first_predicate_resource = trace::max_general_registers;
inline constexpr unsigned carry_resource = first_predicate_resource + trace::max_predicates;
inline constexpr unsigned warp_resources = carry_resource + 1;
using ResourceSet = std::bitset<warp_resources>;

struct WarpAccess {
  ResourceSet registers_read;  ///< general registers, after issue
  ResourceSet read_at_issue;   ///< the guard, predicates, the carry flag
  ResourceSet written;

  ResourceSet touched() const { return registers_read | read_at_issue | written; }
};

WarpAccess access_of(const trace::StaticInstruction& instruction);

}  // namespace regatta::passes
