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

SwitchingScheme::PlacedFile SwitchingScheme::add_file(const assembly::BuildContext& c, assembly::SmParts& parts,
                                                      unsigned registers) {
  parts.storage.reset();  // its name is the new file's
  models::RegisterFileConfig config = c.machine.register_file;
  config.registers = registers;
  auto file = std::make_unique<models::RegisterFile>("register_file", config, c.clock_period);
  auto places = std::make_unique<models::CtaPlaceWindows>("cta_places", c.machine.sm.sub_cores);
  file->other_windows.bind(places->windows);
  places->connect(file->mapping(), [f = file.get()] { return f->held_write(); });
  const PlacedFile made{*file, *places};
  parts.listeners.push_back(places.get());
  parts.modules.push_back(std::move(places));
  parts.storage = std::move(file);
  return made;
}

void SwitchingScheme::check_machine(const assembly::MachineConfig& m) const {
  const auto refuse = [this](const std::string& what, const std::string& found, const std::string& expected) {
    throw support::ConfigError("configuration: scheme " + name_ + ": " + what + " = " + found + ", expected " + expected);
  };
  if (m.sm.lanes != 32) {
    refuse("sm.lanes", std::to_string(m.sm.lanes), "32: registers move as 128 bytes");
  }
  if (m.register_file.priority != "fcfs") {
    refuse("register_file.priority", m.register_file.priority, "fcfs: banks that CTAs are moved from have no other");
  }
  if (m.l1.line_bytes != 128) {
    refuse("l1.line_bytes", std::to_string(m.l1.line_bytes), "128, a register of 32 lanes");
  }
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

RegDram::RegDram()
    : SwitchingScheme("reg_dram",
                      "Reg+DRAM (comparator of FineReg, after Zorua): Virtual Thread, and CTAs beyond it with all registers "
                      "in DRAM") {}

void RegDram::declare(support::OptionSet& o) {
  SwitchingScheme::declare(o);
  spill_.declare(o);
}

void RegDram::validate(const assembly::MachineConfig& m) const { check_machine(m); }

assembly::SmParts RegDram::build(const assembly::BuildContext& c) {
  assembly::SmParts parts = assembly::baseline_parts(c);
  if (spill_.ctas == 0) {  // Virtual Thread
    add_engine(c, parts);
    return parts;
  }
  const PlacedFile file = add_file(c, parts, static_cast<unsigned>(c.machine.register_file.registers));
  models::RegisterSpillConfig config = spill_;
  config.line_bytes = c.machine.l1.line_bytes;
  config.sm = c.sm_index;
  auto spill = std::make_unique<models::RegisterSpill>("register_spill", config, c.clock_period);
  spill->places.bind(file.places.places);
  spill->file_reads.bind(file.file.move_reads);
  spill->file_writes.bind(file.file.move_writes);
  models::SwitchEngine& engine = add_engine(c, parts);
  engine.places.bind(file.places.places);
  engine.transfer.bind(spill->transfer);
  parts.l1_clients.push_back(&spill->memory());
  parts.writeback_point = std::move(spill);
  return parts;
}

void RegDram::add_laws(assembly::ConservationLaws& laws, const std::string& sm) const {
  if (spill_.ctas == 0) return;
  const std::string spill = sm + ".register_spill.", file = sm + ".register_file.";
  laws.add("registers that leave for memory are read from the register file", {spill + "lines_written"},
           {file + "move_reads"});
  laws.add("registers that come back are written to the register file", {spill + "lines_read"}, {file + "move_writes"});
  laws.add("lines of registers go to memory and come back, twice more for a result",
           {spill + "lines_written", spill + "lines_read", "2*" + spill + "merged_results"},
           {sm + ".l1_arbiter.port1_requests"});
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
  check_machine(m);
  if (active_registers_ < m.register_file.banks) {
    throw support::ConfigError("configuration: finereg.active_registers = " + std::to_string(active_registers_) +
                               ", expected at least register_file.banks = " + std::to_string(m.register_file.banks));
  }
}

assembly::SmParts FineReg::build(const assembly::BuildContext& c) {
  assembly::SmParts parts = assembly::baseline_parts(c);
  const PlacedFile active = add_file(c, parts, active_registers_);
  auto pending = std::make_unique<models::PendingRegisterFile>("pending_register_file", pending_registers_,
                                                              c.clock_period);
  models::RegisterManagementConfig management = management_;
  management.entries = pending_registers_;
  management.ctas = models::monitored_ctas;
  management.line_bytes = c.machine.l1.line_bytes;
  management.sm = c.sm_index;
  auto rmu = std::make_unique<models::RegisterManagementUnit>("rmu", management, c.clock_period);
  rmu->mover->places.bind(active.places.places);
  rmu->mover->pending.bind(pending->access);
  rmu->mover->file_reads.bind(active.file.move_reads);
  rmu->mover->file_writes.bind(active.file.move_writes);
  assembly::connect_lookup(c, parts, "live_vectors", rmu->counter.vectors, rmu->vectors.lookups);
  models::SwitchEngine& engine = add_engine(c, parts);
  engine.places.bind(active.places.places);
  engine.transfer.bind(rmu->mover->transfer);
  assembly::connect_lookup(c, parts, "register_counts", engine.counts, rmu->counter.counts);
  parts.l1_clients.push_back(&rmu->vectors.memory());
  parts.listeners.insert(parts.listeners.end(), {&rmu->vectors, &rmu->counter});
  parts.describe_stuck = [m = rmu->mover] { return m->describe_stuck(); };
  parts.writeback_point = std::move(rmu->owned_mover);
  parts.modules.push_back(std::move(pending));
  parts.modules.push_back(std::move(rmu));
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
  registry.add(std::make_unique<RegDram>());
  registry.add(std::make_unique<FineReg>());
}

}  // namespace regatta::schemes
