// SPDX-License-Identifier: Apache-2.0
//
// Warp instruction reuse as a hierarchy of blocks: sm0.wir.reuse_buffer, sm0.wir.rename, ...
#pragma once

#include <regatta/support/clock_domain.h>
#include <regatta/wir/allocation_stage.h>
#include <regatta/wir/register_allocator.h>
#include <regatta/wir/rename_stage.h>
#include <regatta/wir/retry_queue.h>
#include <regatta/wir/reuse_front.h>
#include <regatta/wir/reuse_unit.h>
#include <regatta/wir/verify_cache.h>
#include <regatta/wir/vsb.h>
#include <regatta/wir/wir_checks.h>

#include <functional>
#include <memory>
#include <systemc>

namespace regatta::models::wir {

/// The blocks and stages, connected with each other and with the banks. Lookups between them are connected by the
/// owner, who may put delays between (connect_lookups()).
class Wir : public sc_core::sc_module {
 public:
  /// The two stages that decide, where others take their place, and a block between stage and reuse buffer; empty: the
  /// stages as they are, and none.
  struct Stages {
    std::function<std::unique_ptr<AllocationStage>(const sc_core::sc_module_name&, InFlightTable&)> allocation;
    std::function<std::unique_ptr<ReuseUnit>(const sc_core::sc_module_name&, InFlightTable&)> reuse;
    std::function<std::unique_ptr<ReuseFront>()> front;
    bool check = false;  ///< checkers stand between the blocks: WirChecks
  };
  Wir(const sc_core::sc_module_name& name, const WirMachine& config, support::ClockDomain& clock,
      PhysicalRegisterFile& file, const Stages& stages);

  /// Connects every lookup: `connect(name, initiator, target)`, which returns the LookupChecker that it put between, or
  /// null.
  template <class F>
  void connect_lookups(F&& connect) {
    const auto watch = [this](auto* checker) {
      if (checker != nullptr && checks != nullptr) checks->watch(*checker);
    };
    watch(connect("rename", rename->tables, rename_tables.lookups));
    if (front != nullptr) {
      auto* const checker = connect("front", reuse->buffer, front->lookups);
      if (checker != nullptr && checks != nullptr) checks->watch_front(*checker);
    }
    auto* const checker = connect("reuse", front != nullptr ? front->buffer : reuse->buffer, reuse_buffer.lookups);
    if (checker != nullptr && checks != nullptr) checks->watch_buffer(*checker);
    watch(connect("signature", allocation->signatures, vsb.lookups));
    watch(connect("verify", allocation->verify_cache, verify_cache.lookups));
    watch(connect("allocator", allocation->allocator, allocator.allocation));
  }

  RenameTables rename_tables;
  ReuseBuffer reuse_buffer;
  Vsb vsb;
  VerifyCache verify_cache;
  RegisterAllocator allocator;
  RetryQueue retry_queue;
  std::unique_ptr<ReuseFront> front;  ///< null: none
  std::unique_ptr<WirChecks> checks;  ///< null: nothing is checked
  /// The stages, which the SM owns once the scheme has taken them.
  std::unique_ptr<RenameStage> owned_rename;
  std::unique_ptr<ReuseUnit> owned_reuse;
  std::unique_ptr<AllocationStage> owned_allocation;
  RenameStage* const rename;
  ReuseUnit* const reuse;
  AllocationStage* const allocation;

 private:
  /// Throws ConfigError for a front that misses something.
  void check_front() const;
  /// Binds what says who has references: directly, or through the checkers.
  void connect_references(PhysicalRegisterFile& file);
};

}  // namespace regatta::models::wir
