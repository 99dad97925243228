// SPDX-License-Identifier: Apache-2.0
//
// Warp instruction reuse as a hierarchy of blocks: sm0.wir.reuse_buffer, sm0.wir.rename, ...
#pragma once

#include <regatta/models/wir/allocation_stage.h>
#include <regatta/models/wir/register_allocator.h>
#include <regatta/models/wir/rename_stage.h>
#include <regatta/models/wir/retry_queue.h>
#include <regatta/models/wir/reuse_front.h>
#include <regatta/models/wir/reuse_unit.h>
#include <regatta/models/wir/update_checker.h>
#include <regatta/models/wir/value_signature_buffer.h>
#include <regatta/models/wir/verify_cache.h>

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
    bool check_updates = false;  ///< checkers stand before the reuse buffer and the block in front of it
  };
  Wir(const sc_core::sc_module_name& name, const WirConfig& config, sc_core::sc_time clock_period,
      PhysicalRegisterFile& file, const Stages& stages);

  /// Connects every lookup: `connect(name, initiator, target)`.
  template <class F>
  void connect_lookups(F&& connect) {
    connect("rename", rename->tables, rename_tables.lookups);
    if (front != nullptr) connect("front", reuse->buffer, front->lookups);
    connect("reuse", front != nullptr ? front->buffer : reuse->buffer, reuse_buffer.lookups);
    connect("signature", allocation->signatures, signature_buffer.lookups);
    connect("verify", allocation->verify_cache, verify_cache.lookups);
    connect("allocator", allocation->allocator, allocator.allocation);
  }

  RenameTables rename_tables;
  ReuseBuffer reuse_buffer;
  ValueSignatureBuffer signature_buffer;
  VerifyCache verify_cache;
  RegisterAllocator allocator;
  RetryQueue retry_queue;
  std::unique_ptr<ReuseFront> front;  ///< null: none
  /// Of the updates that the buffer gets, and of those that the front gets; null: not checked, or no front.
  std::unique_ptr<UpdateChecker> update_checker, front_update_checker;
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
};

}  // namespace regatta::models::wir
