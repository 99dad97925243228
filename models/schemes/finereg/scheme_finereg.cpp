// SPDX-License-Identifier: Apache-2.0
//
// FineReg (Oh, Yoon, Song, Ro, MICRO 2018) and Virtual Thread, which it builds on.
#include "scheme_finereg.h"

#include <regatta/assembly/connect_lookup.h>
#include <regatta/assembly/conservation.h>

namespace regatta::schemes {

VirtualThread::VirtualThread()
    : SwitchingScheme("virtual_thread",
                      "Virtual Thread (ISCA 2016): more CTAs are resident than the schedulers hold, and stalled ones give "
                      "way to others; registers stay in the register file") {}

assembly::SmParts VirtualThread::build(const assembly::BuildContext& c) {
  assembly::SmParts parts = base_parts(c, c.machine.register_file.registers);
  add_engine(c, parts);
  return parts;
}

RegDram::RegDram()
    : SwitchingScheme("reg_dram",
                      "Reg+DRAM (comparator of FineReg, after Zorua): Virtual Thread, and CTAs beyond it with all registers "
                      "in DRAM") {}

assembly::SmParts RegDram::build(const assembly::BuildContext& c) {
  assembly::SmParts parts = base_parts(c, c.machine.register_file.registers);
  if (spill_.ctas == 0) {  // Virtual Thread
    add_engine(c, parts);
    return parts;
  }
  const PlacedFile divided = divide_file(c, parts);
  models::RegisterSpillConfig config = spill_;
  config.line_bytes = c.machine.l1.line_bytes;
  config.sm = c.sm_index;
  auto spill = std::make_unique<models::RegisterSpill>("register_spill", config, c.clock_period);
  spill->places.bind(divided.places.places);
  spill->file_reads.bind(divided.file.move_read_socket());
  spill->file_writes.bind(divided.file.move_write_socket());
  models::SwitchEngine& engine = add_engine(c, parts);
  engine.places.bind(divided.places.places);
  engine.transfer.bind(spill->transfer);
  l1_requests_ = add_l1_client(parts, spill->memory());
  set_writeback_point(parts, std::move(spill));
  return parts;
}

void RegDram::validate_own(const assembly::MachineConfig& m) const {
  if (spill_.ctas == 0) return;
  check_machine(m);
  if (m.sm.lanes != 32) refuse("sm.lanes", std::to_string(m.sm.lanes), "32: a register moves as one line of 128 bytes");
  if (m.l1.line_bytes != 128) {
    refuse("l1.line_bytes", std::to_string(m.l1.line_bytes), "128: a register of 32 lanes moves as one line");
  }
}

void RegDram::add_own_laws(assembly::ConservationLaws& laws, const std::string& sm) const {
  if (spill_.ctas == 0) return;
  const std::string spill = sm + ".register_spill.", file = sm + ".register_file.";
  laws.add("registers that leave for memory are read from the register file", {spill + "lines_written"},
           {file + "move_reads"});
  laws.add("registers that come back are written to the register file", {spill + "lines_read"}, {file + "move_writes"});
  laws.add("lines of registers go to memory and come back, twice more for a result",
           {spill + "lines_written", spill + "lines_read", "2*" + spill + "merged_results"},
           {sm + l1_requests_});
}

FineReg::FineReg()
    : SwitchingScheme("finereg",
                      "FineReg (MICRO 2018): the live registers of stalled CTAs move to a register file of their own, and "
                      "other CTAs take their place") {}

void FineReg::declare_own(support::OptionSet& o) {
  o.add("finereg.active_registers", active_registers_, "warp registers",
        "of the register file of active CTAs (ACRF): 1024 of 32 lanes are 128 KB", 1, 1 << 20);
  o.add("finereg.pending_registers", pending_registers_, "warp registers",
        "of the register file of pending CTAs (PCRF): 1024 of 32 lanes are 128 KB", 1, 65535);
  management_.declare(o);
}

void FineReg::validate_own(const assembly::MachineConfig& m) const {
  check_machine(m);
  if (active_registers_ < m.register_file.banks) {
    throw support::ConfigError("configuration: finereg.active_registers = " + std::to_string(active_registers_) +
                               ", expected at least register_file.banks = " + std::to_string(m.register_file.banks));
  }
}

assembly::SmParts FineReg::build(const assembly::BuildContext& c) {
  assembly::SmParts parts = base_parts(c, active_registers_);
  const PlacedFile active = divide_file(c, parts);
  auto pending = std::make_unique<models::PendingRegisterFile>("pending_register_file", pending_registers_,
                                                               c.clock_period, c.machine.sm.lanes);
  models::RegisterManagementConfig management = management_;
  management.entries = pending_registers_;
  management.ctas = models::monitored_ctas;
  management.line_bytes = c.machine.l1.line_bytes;
  management.sm = c.sm_index;
  auto rmu = std::make_unique<models::RegisterManagementUnit>("rmu", management, c.clock_period);
  rmu->mover->places.bind(active.places.places);
  rmu->mover->pending.bind(pending->access);
  rmu->mover->file_reads.bind(active.file.move_read_socket());
  rmu->mover->file_writes.bind(active.file.move_write_socket());
  assembly::connect_lookup(c, parts, "live_vectors", rmu->counter.vectors, rmu->vectors.lookups);
  models::SwitchEngine& engine = add_engine(c, parts);
  engine.places.bind(active.places.places);
  engine.transfer.bind(rmu->mover->transfer);
  assembly::connect_lookup(c, parts, "register_counts", engine.counts, rmu->counter.counts);
  l1_requests_ = add_l1_client(parts, rmu->vectors.memory());
  parts.listeners.insert(parts.listeners.end(), {&rmu->vectors, &rmu->counter});
  parts.describe_stuck = [m = rmu->mover, others = parts.describe_stuck] {
    return (others ? others() : std::string()) + m->describe_stuck();
  };
  set_writeback_point(parts, std::move(rmu->owned_mover));
  parts.modules.push_back(std::move(pending));
  parts.modules.push_back(std::move(rmu));
  return parts;
}

void FineReg::add_own_laws(assembly::ConservationLaws& laws, const std::string& sm) const {
  const std::string mover = sm + ".rmu.mover.", file = sm + ".register_file.", pending = sm + ".pending_register_file.";
  laws.add("registers that leave are read from the register file", {mover + "moved_out"}, {file + "move_reads"});
  laws.add("registers that come back are written to the register file", {mover + "moved_in"}, {file + "move_writes"});
  laws.add("registers that come back are read from the pending file", {mover + "moved_in"}, {pending + "reads"});
  laws.add("registers that leave come back", {mover + "moved_out"}, {mover + "moved_in"});
  laws.add("vectors that are not in the cache are read from memory", {sm + ".rmu.vectors.misses"},
           {sm + l1_requests_});
}

void add_finereg(assembly::SchemeRegistry& registry) {
  registry.add(std::make_unique<VirtualThread>());
  registry.add(std::make_unique<RegDram>());
  registry.add(std::make_unique<FineReg>());
}

}  // namespace regatta::schemes
