// SPDX-License-Identifier: Apache-2.0
//
// The interface through which a scheme's policies query and control an SM outside their extension points.
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
  /// Static instruction indices at which the lanes of each SIMT stack entry resume, top first. The first is the next
  /// instruction to issue. The kernel's instruction count denotes its exit. The warp may still read the union of the
  /// registers that are live at these indices (FineReg, section IV-A).
  std::vector<std::uint32_t> resume;
};

/// Services of an SM for the blocks at its extension points, passed to LifecycleListener::attach(). Valid as long as
/// the SM exists.
class SmControl {
 public:
  virtual ~SmControl() = default;
  /// Fills `context` (its vector is reused) with the current state of the warp in this slot. Takes time proportional to
  /// the depth of the SIMT stack. If the warp is not resident, the run ends with a message.
  virtual void context(WarpSlot warp, WarpContext& context) = 0;
  /// Instructions of the program that the warps of the resident CTA have issued so far, warps that have ended included.
  /// Cheaper than the warps' contexts: a policy sees by it whether what it knows about a CTA still holds.
  virtual std::uint64_t progress(CtaSlot cta) = 0;
  /// Gives a resident warp a priority class and notifies its scheduler if the class changes. Warps start in class 0.
  /// The policy and the scheduler agree on the meaning of the classes, for example 0 owner, 1 unshared, 2
  /// non-owner (resource sharing, section 2.3.1).
  virtual void classify(WarpSlot warp, unsigned priority_class) = 0;
};

}  // namespace regatta::protocol
