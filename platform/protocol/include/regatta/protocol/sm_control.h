// SPDX-License-Identifier: Apache-2.0
//
// What an SM tells and takes from the policies of a scheme outside the calls of their extension points.
#pragma once

#include <regatta/protocol/lifecycle.h>

#include <cstdint>
#include <vector>

namespace regatta::protocol {

/// What a resident warp is doing.
struct WarpContext {
  bool scheduled = false;           ///< its CTA is active
  bool exited = false;              ///< its last instruction has issued
  bool at_barrier = false;          ///< it waits for other warps
  unsigned in_flight = 0;           ///< instructions issued and not retired
  unsigned memory_in_flight = 0;    ///< of these, memory instructions with accesses or results outstanding
  RegisterSet pending;              ///< registers and predicates with a result on its way
  std::uint64_t next_sequence = 0;  ///< place of the next instruction in the warp's program order, from 1
  /// Static indices at which the lanes of each entry of the SIMT stack go on, top first; the first is the next
  /// instruction to issue. The kernel's instruction count stands for its exit. What a warp may still read is the union
  /// of what is live at these (FineReg, section IV-A).
  std::vector<std::uint32_t> resume;
};

/// What an SM offers to the blocks at its extension points; LifecycleListener::attach() hands it out. Valid as long as
/// the SM.
class SmControl {
 public:
  virtual ~SmControl() = default;
  /// Fills `context`, whose list is reused, with what the warp of this slot is doing now. Takes time in proportion to
  /// the depth of the SIMT stack. The warp is resident, otherwise the run ends with a message.
  virtual void context(WarpSlot warp, WarpContext& context) = 0;
  /// Gives a resident warp a priority class; its scheduler is told when that is another one. Warps start in class 0.
  /// What a class means is between the policy that hands it over and the scheduler, for example 0 owner, 1 unshared, 2
  /// non-owner (resource sharing, section 2.3.1).
  virtual void classify(WarpSlot warp, unsigned priority_class) = 0;
};

}  // namespace regatta::protocol
