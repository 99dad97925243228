// SPDX-License-Identifier: Apache-2.0
#include "scheme_rfv.h"

#include <regatta/assembly/conservation.h>
#include <regatta/assembly/waits.h>
#include <regatta/rfv/release_flag_cache.h>
#include <regatta/rfv/rename_table.h>
#include <regatta/rfv/renaming_residency.h>
#include <regatta/rfv/row_availability.h>
#include <regatta/support/stat_query.h>

#include <utility>

namespace regatta::schemes {

using support::StatQuery;
using support::StatSum;

std::string RegisterFileVirtualization::help() const {
  return "register file virtualisation (Jeon et al., MICRO 2015): registers are renamed, and rows released after the "
         "last read";
}

void RegisterFileVirtualization::validate(const assembly::MachineConfig& machine) const {
  config_.validate(machine.register_file);
}

std::string RegisterFileVirtualization::held_by_ctas() const {
  return "a CTA of '" + name() + "' holds rows for which others wait";
}

std::unique_ptr<models::RenamingGate> RegisterFileVirtualization::make_gate(const char* name,
                                                                            const models::RenamingConfig& config,
                                                                            support::ClockDomain& clock) const {
  return std::make_unique<models::RenamingGate>(name, config, clock);
}

std::unique_ptr<models::SpillingGate> RegisterFileVirtualization::make_spilling_gate(
    const char* name, const models::RenamingConfig& config, support::ClockDomain& clock) const {
  return std::make_unique<models::SpillingGate>(name, config, clock);
}

std::unique_ptr<models::SpillUnit> RegisterFileVirtualization::make_spill_unit(const char* name,
                                                                               const models::RenamingConfig& config,
                                                                               const models::LineMemory& memory,
                                                                               support::ClockDomain& clock) const {
  return std::make_unique<models::SpillUnit>(name, config, memory, clock);
}

void RegisterFileVirtualization::add_spill_unit(const assembly::BuildContext& c, const models::RenamingConfig& config,
                                                assembly::SmParts& parts, models::SpillingGate& gate,
                                                models::VirtualRegisterFile& file) {
  std::unique_ptr<models::SpillUnit> unit =
      make_spill_unit("spill_unit", config, {c.machine.l1.line_bytes, c.sm_index}, c.clock);
  gate.moves.bind(moves_for_gate(parts, gate, *unit));
  unit->moved.bind(gate.moved);
  unit->file_reads.bind(file.move_reads);
  unit->file_writes.bind(file.move_writes);
  parts.l1_clients.push_back(&unit->memory());
  l1_requests_ = ".l1_arbiter.port" + std::to_string(parts.l1_clients.size()) + "_requests";
  parts.listeners.push_back(unit.get());
  parts.modules.push_back(std::move(unit));
}

void RegisterFileVirtualization::add_parts(const assembly::BuildContext& c, assembly::SmParts& parts) {
  // Their names are the new parts'.
  parts.residency.reset();
  parts.registered_residency = nullptr;
  parts.storage.reset();

  models::RenamingConfig config = config_;
  config.file = config_.file_of(c.machine.register_file);
  config.file.sub_cores = c.machine.sm.sub_cores;
  config.max_warps = c.machine.sm.max_warps;
  auto table = std::make_unique<models::RenameTable>("rename_table", config);
  auto availability = std::make_unique<models::RowAvailability>("availability", config, c.clock);
  auto cache = std::make_unique<models::ReleaseFlagCache>("flag_cache", config.flag_cache_entries);
  std::unique_ptr<models::RenamingGate> gate;
  models::SpillingGate* spilling = nullptr;
  if (config.spill) {
    std::unique_ptr<models::SpillingGate> made = make_spilling_gate("renaming_gate", config, c.clock);
    spilling = made.get();
    gate = std::move(made);
  } else {
    gate = make_gate("renaming_gate", config, c.clock);
  }
  auto file = std::make_unique<models::VirtualRegisterFile>("register_file", config, c.clock);
  auto residency = std::make_unique<models::RenamingResidency>("residency", config);
  gate->entries.bind(table->entries);
  gate->rows.bind(rows_for_gate(parts, *availability));
  gate->flags.bind(cache->lookup);
  file->rows.bind(table->lookup);
  file->reads_served.bind(gate->reads);
  residency->room.bind(gate->room_for_ctas);
  if (spilling != nullptr) add_spill_unit(c, config, parts, *spilling, *file);

  assembly::add_description(parts, [g = gate.get()] { return g->describe_stuck(); });
  parts.row_uses = {&file->row_use, &table->row_use, &availability->row_use};
  parts.decode_point = gate.get();
  parts.modules.push_back(std::move(table));
  parts.modules.push_back(std::move(availability));
  parts.modules.push_back(std::move(cache));
  parts.gates.push_back(std::move(gate));
  parts.storage = std::move(file);
  parts.residency = std::move(residency);
}

void RegisterFileVirtualization::register_stats(support::StatGroup& g, const std::vector<support::StatGroup>& modules) {
  const auto sum = [&](const char* name, const std::string& counter, const char* unit, const char* help) {
    g.derived(
        name, [all = StatSum(modules, {StatQuery(counter)})] { return double(all.total()); }, unit, help);
  };
  const auto per_cycle = [&](const char* name, const std::string& counter, const char* unit, const char* help) {
    g.derived(
        name,
        [all = StatSum(modules, {StatQuery(counter)}),
         cycles = StatSum(modules, {StatQuery("sm*.pipeline.active_cycles")})] {
          return cycles.total() == 0 ? 0.0 : double(all.total()) / double(cycles.total());
        },
        unit, help);
  };
  const char* const regs = "warp registers";
  sum("allocations", "sm*.renaming_gate.allocations", regs, "that got a row");
  sum("releases", "sm*.availability.given_back", regs, "whose row came back");
  sum("flag_releases", "sm*.renaming_gate.flag_releases", regs, "released by the flags of their last reads");
  sum("block_releases", "sm*.renaming_gate.block_releases", regs, "released where a block starts");
  sum("delayed_releases", "sm*.renaming_gate.delayed_releases", regs, "whose release waited for a write in flight");
  sum("cancelled_releases", "sm*.renaming_gate.cancelled_releases", regs,
      "written again before their release took effect");
  sum("other_bank", "sm*.availability.other_bank", regs, "that got a row of another bank, as theirs was full");
  sum("refusals", "sm*.renaming_gate.refusals", "attempts", "to take rows that are kept for a CTA");
  sum("throttled_cycles", "sm*.renaming_gate.throttled_cycles", "cycles", "in which a warp of an SM waited for rows");
  sum("metadata_words", "sm*.pipeline.inserted_instructions", "words", "of releases, fetched or from the flag cache");
  sum("flag_cache_hits", "sm*.flag_cache.hits", "words", "of release flags that were not fetched");
  per_cycle("rows_mean", "sm*.availability.live_cycles", "rows", "with a register of a warp, mean over active cycles");
  g.derived(
      "rows_max",
      [most = StatSum(modules, {StatQuery("sm*.availability.live_max")})] { return double(most.largest()); }, "rows",
      "with a register of a warp, at most");
  per_cycle("powered_rows_mean", "sm*.availability.powered_cycles", "rows",
            "in sub-arrays that are on, mean over active cycles");
  if (config_.spill) {
    sum("spilled", "sm*.spill_unit.spilled", regs, "that went to memory");
    sum("refilled", "sm*.spill_unit.refilled", regs, "that came back from memory");
    sum("spill_lines_written", "sm*.spill_unit.lines_written", "lines", "of registers written to memory");
    sum("spill_lines_read", "sm*.spill_unit.lines_read", "lines", "of registers read from memory");
    sum("spill_busy_cycles", "sm*.spill_unit.busy_cycles", "cycles", "in which registers went to memory or came back");
  }
  g.derived(
      "table_bits", [bits = StatSum(modules, {StatQuery("sm*.rename_table.bits")})] { return double(bits.largest()); },
      "bits", "of the rename table of an SM");
}

void RegisterFileVirtualization::add_laws(assembly::ConservationLaws& laws, const std::string& sm) const {
  const std::string gate = sm + ".renaming_gate.", rows = sm + ".availability.", table = sm + ".rename_table.";
  const std::string pipeline = sm + ".pipeline.";
  laws.add("rows that are taken come back", {rows + "taken"}, {rows + "given_back"});
  // What comes back from memory gets a row again; what goes there gives it back.
  std::vector<support::StatQuery> taken{gate + "allocations"};
  std::vector<support::StatQuery> released{gate + "flag_releases", gate + "block_releases", gate + "end_releases"};
  if (config_.spill) {
    taken.emplace_back(gate + "refilled");
    released.emplace_back(gate + "spilled");
    add_spill_laws(laws, sm);
  }
  laws.add("registers that get a row are those that the gate gives one", taken, {rows + "taken"});
  laws.add("registers have their row until it is given back", {table + "removed"}, {rows + "given_back"});
  laws.add("words reach the gate", {gate + "pir_words", gate + "pbr_words"}, {pipeline + "inserted_instructions"});
  if (!config_.words_are_free()) {
    laws.add("words that are not fetched were in the flag cache", {sm + ".flag_cache.hits"},
             {pipeline + "held_insertions"});
  }
  laws.add("registers are released, or kept until their warp ends", released,
           {rows + "given_back", gate + "cancelled_releases"});
}

void RegisterFileVirtualization::add_spill_laws(assembly::ConservationLaws& laws, const std::string& sm) const {
  const std::string gate = sm + ".renaming_gate.", unit = sm + ".spill_unit.", file = sm + ".register_file.";
  laws.add("registers that go to memory come back", {gate + "spilled"}, {gate + "refilled"});
  laws.add("registers that go to memory are those that the unit moves", {gate + "spilled"}, {unit + "spilled"});
  laws.add("registers that come back are those that the unit moves", {gate + "refilled"}, {unit + "refilled"});
  laws.add("registers that go to memory are read from the register file", {unit + "spilled", unit + "dropped"},
           {file + "move_reads"});
  laws.add("registers that come back are written to the register file", {unit + "refilled"}, {file + "move_writes"});
  laws.add("lines of registers that are written are read", {unit + "lines_written"}, {unit + "lines_read"});
  laws.add("lines of registers pass the arbiter", {unit + "lines_written", unit + "lines_read"}, {sm + l1_requests_});
}

void RegisterFileVirtualization::add_waits(assembly::Waits& waits) const {
  using Of = assembly::Wait::Of;
  waits.add("sm*.renaming_gate.throttled_cycles", Of::module, {"rfv.share", "rfv.admission"});
  waits.add("sm*.renaming_gate.pir_words", Of::warps, {"rfv.metadata", "rfv.flag_cache_entries"});
  waits.add("sm*.renaming_gate.pbr_words", Of::warps, {"rfv.metadata"});
  waits.add_latency("sm*.register_file.table_accesses", "rfv.rename_cycles");
  waits.add("sm*.pipeline.resident_cta_cycles", Of::residents, {"rfv.admission", "rfv.share"});
}

void add_rfv(assembly::SchemeRegistry& registry) { registry.add(std::make_unique<RegisterFileVirtualization>()); }

}  // namespace regatta::schemes
