// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/wir/wir.h>

#include <regatta/support/block_name.h>
#include <regatta/support/config.h>

namespace regatta::models::wir {

Wir::Wir(const sc_core::sc_module_name& name, const WirConfig& config, sc_core::sc_time clock_period,
         PhysicalRegisterFile& file, const Stages& stages)
    : sc_module(name),
      rename_tables("rename_tables", config, clock_period),
      reuse_buffer("reuse_buffer", config, clock_period),
      signature_buffer("signature_buffer", config, clock_period),
      verify_cache("verify_cache", config, clock_period),
      allocator("allocator", config, clock_period),
      retry_queue("retry_queue", config, clock_period),
      front(stages.front ? stages.front() : nullptr),
      update_checker(stages.check_updates ? std::make_unique<UpdateChecker>("update_protocol", clock_period) : nullptr),
      front_update_checker(stages.check_updates && front != nullptr
                               ? std::make_unique<UpdateChecker>("front_update_protocol", clock_period)
                               : nullptr),
      owned_rename(std::make_unique<RenameStage>("rename", config, clock_period, file.in_flight())),
      owned_reuse(stages.reuse ? stages.reuse("reuse", file.in_flight())
                               : std::make_unique<ReuseUnit>("reuse", config, clock_period, file.in_flight())),
      owned_allocation(stages.allocation
                           ? stages.allocation("allocation", file.in_flight())
                           : std::make_unique<AllocationStage>("allocation", config, clock_period, file.in_flight())),
      rename(owned_rename.get()),
      reuse(owned_reuse.get()),
      allocation(owned_allocation.get()) {
  const auto checked = [](UpdateChecker * checker, sc_core::sc_export<ReuseUpdates> & of) -> auto& {
    if (checker == nullptr) return of;
    checker->out.bind(of);
    return checker->in;
  };
  sc_core::sc_export<ReuseUpdates>& behind = checked(update_checker.get(), reuse_buffer.updates);
  sc_core::sc_export<ReuseUpdates>& updates =
      front != nullptr ? checked(front_update_checker.get(), front->updates) : behind;
  if (front != nullptr) check_front();
  // In low-register mode the buffers are asked for registers, in this order.
  allocator.keepers.bind(reuse_buffer.keeper);
  if (front != nullptr) {
    allocator.keepers.bind(front->keeper);
    front->behind.bind(behind);
    if (ReuseVictims* const victims = front->victims()) reuse_buffer.victims.bind(*victims);
    front->references.bind(allocator.references);
    front->retries.bind(retry_queue.access);
  }
  allocator.keepers.bind(signature_buffer.keeper);
  allocator.keepers.bind(rename_tables.keeper);
  allocator.keepers.bind(rename->keeper);
  rename_tables.references.bind(allocator.references);
  reuse_buffer.references.bind(allocator.references);
  signature_buffer.references.bind(allocator.references);
  file.references.bind(allocator.references);
  file.cached.bind(verify_cache.values);
  rename->access.bind(rename_tables.access);
  rename->credits.bind(allocator.credits);
  rename->reuse.bind(updates);
  rename->registers.bind(file.access);
  reuse->updates.bind(updates);
  reuse->retries.bind(retry_queue.access);
  reuse->tables.bind(rename_tables.access);
  reuse->references.bind(allocator.references);
  reuse->registers.bind(file.access);
  allocation->signature_access.bind(signature_buffer.access);
  allocation->cached.bind(verify_cache.values);
  allocation->references.bind(allocator.references);
  allocation->credits.bind(allocator.credits);
  allocation->tables.bind(rename_tables.access);
  allocation->reuse.bind(updates);
  allocation->registers.bind(file.access);
}

void Wir::check_front() const {
  const auto refuse = [this](const std::string& what) {
    throw support::ConfigError("front of the reuse buffer " + support::block_name(*front) + ": " + what);
  };
  if (front->updates.get_interface() == nullptr)
    refuse("'updates' is not bound: call updates.bind() with your ReuseUpdates");
  if (front->keeper.get_interface() == nullptr)
    refuse("'keeper' is not bound: call keeper.bind() with your ReferenceKeeper");
  if (front->victims() == nullptr && dynamic_cast<const ReuseVictims*>(front.get()) != nullptr) {
    refuse("it is a ReuseVictims, but victims() returns null: override it");
  }
}

}  // namespace regatta::models::wir
