// SPDX-License-Identifier: Apache-2.0
//
// What a block at an extension point must not do, found out where it costs next to nothing.
#pragma once

#include <regatta/protocol/dynamic_instruction.h>

#include <string>

namespace regatta::sm {

/// Ends the simulation (SC_REPORT_ERROR): the block at `point` ("reuse_point") broke the contract of its interface.
[[noreturn, gnu::noinline, gnu::cold]] void broken_contract(const char* point, const std::string& what);
/// The instruction as messages name it.
std::string describe(const protocol::DynamicInstruction& d);

/// again() of `point` hands `d` back: it must be one that the point keeps.
inline protocol::DynamicInstruction& take_back(protocol::DynamicInstruction* d, protocol::KeptBy by,
                                               const char* point) {
  if (__builtin_expect(d == nullptr, 0)) broken_contract(point, "again() hands back no instruction");
  if (__builtin_expect(d->kept_by != by, 0)) {
    broken_contract(point, "again() hands back " + describe(*d) + ", which it does not keep");
  }
  d->kept_by = protocol::KeptBy::nobody;
  return *d;
}

}  // namespace regatta::sm
