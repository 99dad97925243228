// SPDX-License-Identifier: Apache-2.0
//
// FineReg (Oh, Yoon, Song, Ro, MICRO 2018) and Virtual Thread, which it builds on.
#include "scheme_finereg.h"

#include <regatta/assembly/connect_lookup.h>
#include <regatta/assembly/conservation.h>
#include <regatta/assembly/waits.h>

#include <algorithm>

namespace regatta::schemes {

namespace {

/// Registers, shared memory and L1 of the baseline, 256, 96 and 48 KB. FineReg keeps its 128 KB for active CTAs apart.
constexpr unsigned whole_memory = 400 * 1024;
constexpr unsigned memory_beside_active_file = 272 * 1024;
constexpr unsigned most_pending = 65535;  ///< entries: their numbers have 16 bits

models::LineMemory memory_of(const assembly::BuildContext& c) { return {c.machine.l1.line_bytes, c.sm_index}; }

}  // namespace

models::UnifiedMemory on_machine(const models::UnifiedMemoryConfig& memory, const assembly::MachineConfig& machine) {
  return {memory, machine.l1.size_bytes, machine.l1.ways};
}

UnifiedMemory::UnifiedMemory() { memory_.bytes = whole_memory; }

std::string UnifiedMemory::help() const {
  return "unified memory (comparator of FineReg): registers, shared memory and L1 divide one memory";
}

void UnifiedMemory::validate(const assembly::MachineConfig& m) const { on_machine(memory_, m).check(name()); }

void UnifiedMemory::add_parts(const assembly::BuildContext& c, assembly::SmParts& parts) {
  parts.residency.reset();
  parts.registered_residency = nullptr;
  parts.residency = std::make_unique<models::UnifiedOccupancyResidency>("residency", on_machine(memory_, c.machine));
}

VirtualThread::VirtualThread(std::string name, std::string help, unsigned um_bytes)
    : SwitchingScheme(std::move(name), std::move(help), um_bytes == 0 ? "finereg" : unified_machine) {
  unified_.bytes = um_bytes;
}

void VirtualThread::declare_own(support::OptionSet& o) {
  if (unified_.bytes != 0) unified_.declare(o);
}

void VirtualThread::validate_own(const assembly::MachineConfig& m) const {
  if (unified_.bytes != 0) on_machine(unified_, m).check(name());
}

void VirtualThread::add_parts(const assembly::BuildContext& c, assembly::SmParts& parts) {
  models::SwitchEngine& engine = add_engine(c, parts);
  if (unified_.bytes != 0) engine.set_unified_memory(on_machine(unified_, c.machine), true);
}

RegDram::RegDram()
    : SwitchingScheme(
          "reg_dram",
          "Reg+DRAM (comparator of FineReg, after Zorua): Virtual Thread, and CTAs beyond it with all registers "
          "in DRAM") {}

void RegDram::add_parts(const assembly::BuildContext& c, assembly::SmParts& parts) {
  if (spill_.ctas == 0) {  // Virtual Thread
    add_engine(c, parts);
    return;
  }
  const PlacedFile divided = divide_file(c, parts);
  auto spill = std::make_unique<models::RegisterSpill>("register_spill", spill_, memory_of(c), c.clock);
  spill->places.bind(divided.places.places);
  spill->file_reads.bind(divided.file.move_read_socket());
  spill->file_writes.bind(divided.file.move_write_socket());
  models::SwitchEngine& engine = add_engine(c, parts);
  engine.places.bind(divided.places.places);
  engine.transfer.bind(spill->transfer);
  l1_requests_ = add_l1_client(parts, spill->memory());
  parts.writeback_point = std::move(spill);
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
           {spill + "lines_written", spill + "lines_read", "2*" + spill + "merged_results"}, {sm + l1_requests_});
}

VtRegMutex::VtRegMutex()
    : SwitchingScheme(
          "vt_regmutex",
          "Virtual Thread with RegMutex (ISCA 2018): warps keep a base set of registers and acquire the others "
          "from a pool") {}

void VtRegMutex::declare_own(support::OptionSet& o) {
  o.add(
      "regmutex.pool_registers", pool_registers_, "warp registers",
      "of the register file that are the pool of extended registers; FineReg's section VI-D has 28.1 % in the mean of "
      "its programs",
      1, 1 << 20);
}

void VtRegMutex::validate_own(const assembly::MachineConfig& m) const {
  if (pool_registers_ < m.register_file.registers) return;
  throw support::ConfigError(
      "configuration: regmutex.pool_registers = " + std::to_string(pool_registers_) +
      ", expected less than register_file.registers = " + std::to_string(m.register_file.registers));
}

std::optional<assembly::Takings> VtRegMutex::takings() const {
  assembly::Takings t = switching_takings();
  t.takes.add(assembly::Place::storage);
  t.takes.add(assembly::Place::gates);
  t.provides = {assembly::Feature::switched_rows};
  return t;
}

void VtRegMutex::add_parts(const assembly::BuildContext& c, assembly::SmParts& parts) {
  parts.storage.reset();  // its name is the new file's
  auto pool = std::make_unique<models::SharedRegisterPool>("register_pool", pool_registers_, c.clock);
  auto file =
      std::make_unique<models::PooledRegisterFile>("register_file", c.machine.register_file, c.machine.sm.sub_cores,
                                                   c.machine.sm.register_granularity, *pool, c.clock);
  file->sections.bind(pool->sections);
  pool->user.bind(file->section_user);
  parts.row_uses = {&file->row_use};
  models::SwitchEngine& engine = add_engine(c, parts);
  engine.veto.bind(pool->veto);
  // A CTA takes the base registers of its warps, and the pool is not for CTAs.
  engine.set_footprint(
      [file = file.get(), pool = pool.get()](protocol::KernelContext& context, protocol::SmLimits& limits) {
        const trace::RegMutexRegisters sets = models::SharedRegisterPool::sets_of(*context.kernel);
        limits.registers -= std::uint64_t{pool->sections_for(*context.kernel, sets)} * sets.extended;
        context.registers_per_warp = file->base_registers(sets);
      });
  parts.gates.push_back(std::move(pool));
  parts.storage = std::move(file);
}

void VtRegMutex::add_own_laws(assembly::ConservationLaws& laws, const std::string& sm) const {
  const std::string pool = sm + ".register_pool.";
  laws.add("sections that are taken are returned", {pool + "acquires"}, {pool + "releases"});
}

FineReg::FineReg(std::string name, std::string help, unsigned um_bytes)
    : SwitchingScheme(std::move(name), std::move(help), um_bytes == 0 ? "finereg" : unified_machine) {
  unified_.bytes = um_bytes;
}

void FineReg::declare_own(support::OptionSet& o) {
  o.add("finereg.active_registers", active_registers_, "warp registers",
        "of the register file of active CTAs (ACRF): 1024 of 32 lanes are 128 KB", 1, 1 << 20);
  if (unified_.bytes != 0) {
    unified_.declare(o);
  } else {
    o.add("finereg.pending_registers", pending_registers_, "warp registers",
          "of the register file of pending CTAs (PCRF): 1024 of 32 lanes are 128 KB", 1, most_pending);
  }
  management_.declare(o);
}

void FineReg::validate_own(const assembly::MachineConfig& m) const {
  check_machine(m);
  if (unified_.bytes != 0) on_machine(unified_, m).check(name());
  models::rmu_twins().validate(management_.twin, shape_on(m));
  if (active_registers_ < m.register_file.banks) {
    throw support::ConfigError("configuration: finereg.active_registers = " + std::to_string(active_registers_) +
                               ", expected at least register_file.banks = " + std::to_string(m.register_file.banks));
  }
}

models::RmuShape FineReg::shape_on(const assembly::MachineConfig& m) const {
  models::RmuShape shape{management_.vector_entries, pending_registers_, models::monitored_ctas};
  if (unified_.bytes != 0) {  // of which a launch uses as much as it is given
    const unsigned register_bytes = m.sm.lanes * trace::bytes_per_lane;
    shape.entries = static_cast<unsigned>(std::min<std::uint64_t>(unified_.for_ctas() / register_bytes, most_pending));
  }
  return shape;
}

std::vector<std::pair<std::string, std::string>> FineReg::written_files() const {
  return {{"--rmu.waveform", management_.twin.implementation == "model" ? "" : management_.twin.waveform}};
}

void FineReg::prepare(assembly::MachineConfig& machine) const {
  SwitchingScheme::prepare(machine);
  machine.register_file.registers = active_registers_;
}

void FineReg::add_parts(const assembly::BuildContext& c, assembly::SmParts& parts) {
  const PlacedFile active = divide_file(c, parts);
  const models::RmuShape shape = shape_on(c.machine);
  auto pending = std::make_unique<models::PendingRegisterFile>("pending_register_file", shape.entries, c.clock,
                                                               c.machine.sm.lanes);
  auto rmu = std::make_unique<models::Rmu>("rmu", management_, shape, memory_of(c), c.clock);
  rmu->mover->places.bind(active.places.places);
  rmu->mover->pending.bind(pending->access);
  rmu->mover->file_reads.bind(active.file.move_read_socket());
  rmu->mover->file_writes.bind(active.file.move_write_socket());
  assembly::connect_lookup(c, parts, "live_vectors", rmu->counter.vectors, rmu->vectors.lookups);
  models::SwitchEngine& engine = add_engine(c, parts);
  if (unified_.bytes != 0) engine.set_unified_memory(on_machine(unified_, c.machine), false);
  engine.places.bind(active.places.places);
  engine.transfer.bind(rmu->mover->transfer);
  assembly::connect_lookup(c, parts, "register_counts", engine.counts, rmu->counter.counts);
  l1_requests_ = add_l1_client(parts, rmu->vectors.memory());
  parts.listeners.insert(parts.listeners.end(), {&rmu->vectors, &rmu->counter});
  assembly::add_description(parts, [m = rmu->mover] { return m->describe_stuck(); });
  if (auto twin = rmu->make_twin(management_, shape, c.clock)) parts.modules.push_back(std::move(twin));
  parts.writeback_point = std::move(rmu->owned_mover);
  parts.modules.push_back(std::move(pending));
  parts.modules.push_back(std::move(rmu));
}

void FineReg::add_own_laws(assembly::ConservationLaws& laws, const std::string& sm) const {
  const std::string mover = sm + ".rmu.mover.", file = sm + ".register_file.", pending = sm + ".pending_register_file.";
  laws.add("registers that leave are read from the register file", {mover + "moved_out"}, {file + "move_reads"});
  laws.add("registers that come back are written to the register file", {mover + "moved_in"}, {file + "move_writes"});
  laws.add("registers that come back are read from the pending file", {mover + "moved_in"}, {pending + "reads"});
  laws.add("registers that leave come back", {mover + "moved_out"}, {mover + "moved_in"});
  laws.add("vectors that are not in the cache are read from memory", {sm + ".rmu.vectors.misses"}, {sm + l1_requests_});
}

void RegDram::add_own_waits(assembly::Waits& waits) const {
  using Of = assembly::Wait::Of;
  waits.add("sm*.register_spill.move_cycles", Of::module, {"reg_dram.ctas", "reg_dram.requests"});
  waits.add("sm*.register_spill.waiting_results", Of::warps, {"reg_dram.results"});
}

void VtRegMutex::add_own_waits(assembly::Waits& waits) const {
  using Of = assembly::Wait::Of;
  waits.add("sm*.register_pool.refusals", Of::warps, {"regmutex.pool_registers"});
  // What the pool has, the base registers of warps have not.
  waits.add("sm*.pipeline.resident_cta_cycles", Of::residents, {"regmutex.pool_registers"});
}

void FineReg::add_own_waits(assembly::Waits& waits) const {
  using Of = assembly::Wait::Of;
  waits.add("sm*.switch_engine.active_cta_cycles", Of::residents, {"finereg.active_registers"});
  waits.add("sm*.switch_engine.wait_cycles", Of::ctas, {"finereg.active_registers"});
  waits.add("sm*.switch_engine.depleted_cycles", Of::module,
            {unified_.bytes != 0 ? "um.bytes" : "finereg.pending_registers"});
  waits.add("sm*.rmu.mover.move_cycles", Of::ctas, {"rmu.entry_latency"});
}

void add_finereg(assembly::SchemeRegistry& registry) {
  registry.add(std::make_unique<VirtualThread>("virtual_thread",
                                               "Virtual Thread (ISCA 2016): more CTAs are resident than the schedulers "
                                               "hold, and stalled ones give way to others; "
                                               "registers stay in the register file",
                                               0));
  registry.add(std::make_unique<RegDram>());
  registry.add(std::make_unique<VtRegMutex>());
  registry.add(std::make_unique<FineReg>("finereg",
                                         "FineReg (MICRO 2018): the live registers of stalled CTAs move to a register "
                                         "file of their own, and other CTAs take "
                                         "their place",
                                         0));
  registry.add(std::make_unique<UnifiedMemory>());
  registry.add(std::make_unique<VirtualThread>("vt_um", "Virtual Thread on a unified memory", whole_memory));
  registry.add(std::make_unique<FineReg>("finereg_um", "FineReg whose pending CTAs have a part of a unified memory",
                                         memory_beside_active_file));
}

}  // namespace regatta::schemes
