// SPDX-License-Identifier: Apache-2.0
#include <regatta/wir/wir.h>

#include <regatta/support/block_name.h>
#include <regatta/support/config.h>

namespace regatta::models::wir {

Wir::Wir(const sc_core::sc_module_name& name, const WirMachine& config, support::ClockDomain& clock,
         PhysicalRegisterFile& file, const Stages& stages)
    : sc_module(name),
      rename_tables("rename_tables", config, clock),
      reuse_buffer("reuse_buffer", config, clock),
      vsb("vsb", config, clock),
      verify_cache("verify_cache", config, clock),
      allocator("allocator", config, clock),
      retry_queue("retry_queue", config, clock),
      front(stages.front ? stages.front() : nullptr),
      checks(stages.check ? std::make_unique<WirChecks>(config, clock, front != nullptr) : nullptr),
      owned_rename(std::make_unique<RenameStage>("rename", config, clock, file.in_flight())),
      owned_reuse(stages.reuse ? stages.reuse("reuse", file.in_flight())
                               : std::make_unique<ReuseUnit>("reuse", config, clock, file.in_flight())),
      owned_allocation(stages.allocation
                           ? stages.allocation("allocation", file.in_flight())
                           : std::make_unique<AllocationStage>("allocation", config, clock, file.in_flight())),
      rename(owned_rename.get()),
      reuse(owned_reuse.get()),
      allocation(owned_allocation.get()) {
  const auto checked = [](UpdateChecker * checker, sc_core::sc_export<ReuseUpdates> & of) -> auto& {
    if (checker == nullptr) return of;
    checker->out.bind(of);
    return checker->in;
  };
  sc_core::sc_export<ReuseUpdates>& behind =
      checked(checks != nullptr ? &checks->updates : nullptr, reuse_buffer.updates);
  sc_core::sc_export<ReuseUpdates>& updates =
      front != nullptr ? checked(checks != nullptr ? checks->front_updates.get() : nullptr, front->updates) : behind;
  if (front != nullptr) check_front();
  if (front != nullptr) {
    front->behind.bind(behind);
    if (ReuseVictims* const victims = front->victims()) reuse_buffer.victims.bind(*victims);
    front->retries.bind(retry_queue.access);
  }
  connect_references(file);
  file.cached.bind(verify_cache.values);
  rename->access.bind(rename_tables.access);
  rename->credits.bind(allocator.credits);
  rename->reuse.bind(updates);
  rename->registers.bind(file.access);
  reuse->updates.bind(updates);
  reuse->retries.bind(retry_queue.access);
  reuse->tables.bind(rename_tables.access);
  reuse->registers.bind(file.access);
  allocation->vsb_access.bind(vsb.access);
  allocation->cached.bind(verify_cache.values);
  allocation->credits.bind(allocator.credits);
  allocation->tables.bind(rename_tables.access);
  allocation->reuse.bind(updates);
  allocation->registers.bind(file.access);
  const std::string asked =
      support::block_name(front != nullptr ? *front : static_cast<sc_core::sc_module&>(reuse_buffer));
  if (checks != nullptr) {
    checks->updates.set_caller(front != nullptr ? front->name() : reuse->name());
    if (front != nullptr) checks->front_updates->set_caller(reuse->name());
  }
  reuse->set_supplier(
      [this, asked](std::uint32_t owner) { return checks != nullptr ? checks->supplier(owner) : asked; });
}

void Wir::connect_references(PhysicalRegisterFile& file) {
  const auto keeper = [this](ReferenceChecker* checker, sc_core::sc_export<ReferenceKeeper>& of) {
    if (checker == nullptr) return allocator.keepers.bind(of);
    checker->keeper_out.bind(of);
    checker->out.bind(allocator.references);
    allocator.keepers.bind(checker->keeper_in);
  };
  const auto user = [this](ReferenceChecker* checker, sc_core::sc_port<References>& of, unsigned number = 0) {
    if (checker == nullptr) return of.bind(allocator.references);
    checker->connect(number, of);
  };
  const auto checker = [this](ReferenceChecker WirChecks::*of) { return checks != nullptr ? &(*checks.*of) : nullptr; };
  // In low-register mode the buffers are asked for registers, in this order.
  keeper(checker(&WirChecks::reuse), reuse_buffer.keeper);
  if (front != nullptr) keeper(checks != nullptr ? checks->front.get() : nullptr, front->keeper);
  keeper(checker(&WirChecks::signatures), vsb.keeper);
  keeper(checker(&WirChecks::tables), rename_tables.keeper);
  keeper(checker(&WirChecks::in_flight), rename->keeper);
  user(checker(&WirChecks::reuse), reuse_buffer.references);
  if (front != nullptr) user(checks != nullptr ? checks->front.get() : nullptr, front->references);
  user(checker(&WirChecks::signatures), vsb.references);
  user(checker(&WirChecks::tables), rename_tables.references);
  user(checker(&WirChecks::in_flight), reuse->references, 0);
  user(checker(&WirChecks::in_flight), allocation->references, 1);
  user(checker(&WirChecks::in_flight), file.references, 2);
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
