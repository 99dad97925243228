// SPDX-License-Identifier: Apache-2.0
//
// What --check-protocol puts between the blocks of warp instruction reuse, lookups aside.
#pragma once

#include <regatta/protocol/lookup_checker.h>
#include <regatta/support/clock_domain.h>
#include <regatta/wir/allocation_stage.h>
#include <regatta/wir/entered_loads.h>
#include <regatta/wir/physical_register_file.h>
#include <regatta/wir/reference_checker.h>
#include <regatta/wir/rename_stage.h>
#include <regatta/wir/reuse_front.h>
#include <regatta/wir/reuse_unit.h>
#include <regatta/wir/update_checker.h>
#include <regatta/wir/vsb.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace regatta::models::wir {

/// The checkers of one SM: no module itself, so that they are children of the module that makes it.
class WirChecks {
  const unsigned physical_;
  EnteredLoads loads_;

 public:
  WirChecks(const WirMachine& config, support::ClockDomain& clock, bool front);

  UpdateChecker updates;                         ///< before the reuse buffer
  std::unique_ptr<UpdateChecker> front_updates;  ///< before the block in front of it; null: there is none
  ReferenceCheckers all_references{loads_};
  ReferenceChecker tables, reuse, signatures;
  ReferenceChecker in_flight;               ///< of the stages, for the instructions in flight
  std::unique_ptr<ReferenceChecker> front;  ///< null: there is none

  /// In the order in which they have to be told, before the blocks.
  std::vector<protocol::LifecycleListener*> listeners();
  /// The block whose result the owner's last lookup was answered with.
  std::string supplier(std::uint32_t owner) const;

  // Rules for the lookups of one block.
  void watch(protocol::LookupChecker<RenameRequest, RenamedSources>& checker);
  void watch(protocol::LookupChecker<VsbRequest, VsbAnswer>& checker);
  void watch(protocol::LookupChecker<AllocationRequest, GrantedRegisters>& checker);
  static void watch(protocol::LookupChecker<VerifyRequest, VerifyAnswer>&) {}
  void watch_buffer(protocol::LookupChecker<ReuseRequest, ReuseAnswer>& checker);
  void watch_front(protocol::LookupChecker<ReuseRequest, ReuseAnswer>& checker);

 private:
  void watch(protocol::LookupChecker<ReuseRequest, ReuseAnswer>& checker, UpdateChecker& updates,
             ReferenceChecker& from, ReferenceChecker& to);

  std::map<std::uint32_t, ReuseResult> from_buffer_;           ///< by owner: not forwarded by the front yet
  std::map<std::uint32_t, const ReferenceChecker*> supplied_;  ///< by owner
  unsigned open_ = 0;  ///< lookups of the reuse buffer and the front whose answers are on their way
  bool hit_ = false;   ///< the block that answers now has handed over a result
};

}  // namespace regatta::models::wir
