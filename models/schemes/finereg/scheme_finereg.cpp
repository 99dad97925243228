// SPDX-License-Identifier: Apache-2.0
//
// FineReg (Oh, Yoon, Song, Ro, MICRO 2018) and Virtual Thread, which it builds on.
#include "scheme_finereg.h"

#include <regatta/assembly/connect_lookup.h>
#include <regatta/assembly/conservation.h>

namespace regatta::schemes {

models::SwitchEngine& SwitchingScheme::add_engine(const assembly::BuildContext& c, assembly::SmParts& parts) {
  parts.residency.reset();
  parts.registered_residency = nullptr;
  auto engine = std::make_unique<models::SwitchEngine>("switch_engine", switching_, c.clock_period);
  auto monitor = std::make_unique<models::CtaStatusMonitor>("status_monitor");
  engine->status.bind(monitor->access);
  models::SwitchEngine& made = *engine;
  engines_.push_back(&made);
  parts.modules.push_back(std::move(monitor));
  parts.residency = std::move(engine);
  return made;
}

VirtualThread::VirtualThread()
    : SwitchingScheme("virtual_thread",
                      "Virtual Thread (ISCA 2016): more CTAs are resident than the schedulers hold, and stalled ones give "
                      "way to others; registers stay in the register file") {}

assembly::SmParts VirtualThread::build(const assembly::BuildContext& c) {
  assembly::SmParts parts = assembly::baseline_parts(c);
  add_engine(c, parts);
  return parts;
}

FineReg::FineReg()
    : SwitchingScheme("finereg",
                      "FineReg (MICRO 2018): the live registers of stalled CTAs move to a register file of their own, and "
                      "other CTAs take their place") {}

void FineReg::declare(support::OptionSet& o) {
  SwitchingScheme::declare(o);
  o.add("finereg.active_registers", active_registers_, "warp registers",
        "of the register file of active CTAs (ACRF): 1024 are 128 KB", 1, 1 << 20);
  o.add("finereg.pending_registers", pending_registers_, "warp registers",
        "of the register file of pending CTAs (PCRF): 1024 are 128 KB", 1, 65535);
  management_.declare(o);
}

void FineReg::validate(const assembly::MachineConfig& m) const {
  const auto refuse = [](const std::string& what, const std::string& found, const std::string& expected) {
    throw support::ConfigError("configuration: scheme finereg: " + what + " = " + found + ", expected " + expected);
  };
  if (m.sm.lanes != 32) {
    refuse("sm.lanes", std::to_string(m.sm.lanes), "32: an entry of the pending file has 128 bytes");
  }
  if (m.register_file.priority != "fcfs") {
    refuse("register_file.priority", m.register_file.priority, "fcfs: banks that CTAs are moved from have no other");
  }
  if (active_registers_ < m.register_file.banks) {
    refuse("finereg.active_registers", std::to_string(active_registers_),
           "at least register_file.banks = " + std::to_string(m.register_file.banks));
  }
}

assembly::SmParts FineReg::build(const assembly::BuildContext& c) {
  assembly::SmParts parts = assembly::baseline_parts(c);
  parts.storage.reset();  // its name is the active file's
  models::RegisterFileConfig file_config = c.machine.register_file;
  file_config.registers = active_registers_;
  auto file = std::make_unique<models::RegisterFile>("register_file", file_config, c.clock_period);
  auto places = std::make_unique<models::CtaPlaceWindows>("cta_places", c.machine.sm.sub_cores);
  file->other_windows.bind(places->windows);
  places->connect(file->mapping(), [f = file.get()] { return f->held_write(); });
  auto pending = std::make_unique<models::PendingRegisterFile>("pending_register_file", pending_registers_,
                                                              c.clock_period);
  models::RegisterManagementConfig management = management_;
  management.entries = pending_registers_;
  management.ctas = models::monitored_ctas;
  management.line_bytes = c.machine.l1.line_bytes;
  management.sm = c.sm_index;
  auto rmu = std::make_unique<models::RegisterManagementUnit>("rmu", management, c.clock_period);
  rmu->mover->places.bind(places->places);
  rmu->mover->pending.bind(pending->access);
  rmu->mover->file_reads.bind(file->move_reads);
  rmu->mover->file_writes.bind(file->move_writes);
  assembly::connect_lookup(c, parts, "live_vectors", rmu->counter.vectors, rmu->vectors.lookups);
  models::SwitchEngine& engine = add_engine(c, parts);
  engine.places.bind(places->places);
  engine.transfer.bind(rmu->mover->transfer);
  assembly::connect_lookup(c, parts, "register_counts", engine.counts, rmu->counter.counts);
  parts.l1_clients.push_back(&rmu->vectors.memory());
  parts.listeners.insert(parts.listeners.end(), {places.get(), &rmu->vectors, &rmu->counter});
  parts.writeback_point = std::move(rmu->owned_mover);
  parts.modules.push_back(std::move(places));
  parts.modules.push_back(std::move(pending));
  parts.modules.push_back(std::move(rmu));
  parts.storage = std::move(file);
  return parts;
}

void FineReg::add_laws(assembly::ConservationLaws& laws, const std::string& sm) const {
  const std::string mover = sm + ".rmu.mover.", file = sm + ".register_file.", pending = sm + ".pending_register_file.";
  laws.add("registers that leave are read from the register file", {mover + "moved_out"}, {file + "move_reads"});
  laws.add("registers that come back are written to the register file", {mover + "moved_in"}, {file + "move_writes"});
  laws.add("registers that come back are read from the pending file", {mover + "moved_in"}, {pending + "reads"});
  laws.add("registers that leave come back", {mover + "moved_out"}, {mover + "moved_in"});
  laws.add("vectors that are not in the cache are read from memory", {sm + ".rmu.vectors.misses"},
           {sm + ".l1_arbiter.port1_requests"});
}

void add_finereg(assembly::SchemeRegistry& registry) {
  registry.add(std::make_unique<VirtualThread>());
  registry.add(std::make_unique<FineReg>());
}

}  // namespace regatta::schemes
