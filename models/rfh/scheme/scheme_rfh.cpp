// SPDX-License-Identifier: Apache-2.0
#include "scheme_rfh.h"

#include <regatta/assembly/conservation.h>
#include <regatta/assembly/waits.h>
#include <regatta/rfh/hierarchical_register_file.h>
#include <regatta/support/stat_query.h>

#include <memory>
#include <utility>

namespace regatta::schemes {

using support::StatQuery;
using support::StatSum;

namespace {

bool has_active_set(const assembly::MachineConfig& m) { return m.sm.scheduler == "two_level"; }

/// Warps of an SM that have entries at a time.
unsigned slots_of(const assembly::MachineConfig& m) {
  return has_active_set(m) ? m.sm.schedulers * m.scheduler.active_warps : m.sm.max_warps;
}

}  // namespace

std::string Rfh::help() const {
  return "register hierarchy managed at compile time (MICRO 2011): results live in a last-result file or an operand "
         "register file of 3 entries (regatta-annotate --rfh N: of N); the paper's scheduler is two_level";
}

void Rfh::declare(support::OptionSet& o) {
  o.add("rfh.orf_cycles", orf_cycles_, "cycles", "of an access to the operand register file", 1, 100);
  o.add("rfh.lrf_cycles", lrf_cycles_, "cycles", "of an access to the last-result file", 1, 100);
  o.add("rfh.wait", wait_,
        "where a strand begins, a warp waits for all its long-latency results, or for those that an instruction needs "
        "(not with two_level: the warp would leave the active set within a strand)",
        {"all", "needed"});
}

void Rfh::validate(const assembly::MachineConfig& m) const {
  if (wait_ == "needed" && has_active_set(m)) {
    throw support::ConfigError(
        "configuration: rfh.wait = needed with sm.scheduler = two_level, expected rfh.wait = all: a warp that waits "
        "within a strand leaves the active set and loses its entries");
  }
}

std::string Rfh::held_by_ctas() const {
  return "a warp of '" + name() + "' loses the entries that its strand needs when its CTA is switched out";
}

void Rfh::add_parts(const assembly::BuildContext& c, assembly::SmParts& parts) {
  parts.storage.reset();  // its name is the new file's
  const unsigned slots = slots_of(c.machine);
  using models::EntryFile;
  auto orf = std::make_unique<EntryFile>("orf", EntryFile::Kind::operand, slots, orf_cycles_);
  auto lrf = std::make_unique<EntryFile>("lrf", EntryFile::Kind::last_result, slots, lrf_cycles_);
  auto active = std::make_unique<models::ActiveEntries>("active_entries", slots, has_active_set(c.machine), c.clock);
  auto gate = std::make_unique<models::StrandGate>("strand_gate", wait_ == "all", c.clock);
  auto file = std::make_unique<models::HierarchicalRegisterFile>("register_file", c.machine.register_file, c.clock);
  active->files.bind(orf->entries);
  active->files.bind(lrf->entries);
  parts.row_uses = {&file->row_use};
  parts.row_needs = file.get();
  file->orf.bind(entries_for_file(parts, "orf", *orf));
  file->lrf.bind(entries_for_file(parts, "lrf", *lrf));
  file->slots.bind(slots_for_file(parts, *active));
  gate->slots.bind(slots_for_gate(parts, *active));
  orf_ = orf.get();
  lrf_ = lrf.get();
  gate_ = gate.get();
  max_warps_ = c.machine.sm.max_warps;
  slot_bits_ = active->bits(max_warps_);
  // The small files are told of a launch before the warps that use them.
  for (protocol::LifecycleListener* l :
       {static_cast<protocol::LifecycleListener*>(orf.get()), static_cast<protocol::LifecycleListener*>(lrf.get()),
        static_cast<protocol::LifecycleListener*>(active.get())}) {
    parts.listeners.push_back(l);
  }
  parts.modules.push_back(std::move(orf));
  parts.modules.push_back(std::move(lrf));
  parts.modules.push_back(std::move(active));
  parts.gates.push_back(std::move(gate));
  parts.storage = std::move(file);
}

void Rfh::register_stats(support::StatGroup& g, const std::vector<support::StatGroup>& modules) {
  const auto sum = [&](const char* name, const std::vector<StatQuery>& counters, const char* unit, const char* help) {
    g.derived(
        name, [all = StatSum(modules, counters)] { return double(all.total()); }, unit, help);
  };
  const auto share = [&](const char* name, const char* part, const char* whole, const char* help) {
    g.derived(
        name,
        [part = StatSum(modules, {StatQuery(part)}), whole = StatSum(modules, {StatQuery(whole)})] {
          return whole.total() == 0 ? 0.0 : double(part.total()) / double(whole.total());
        },
        "", help);
  };
  const std::string file = "sm*.register_file.", gate = "sm*.strand_gate.";
  const char* const warps = "warp registers";
  sum("mrf_reads", {StatQuery(file + "main_reads")}, warps, "read from the main register file");
  sum("orf_reads", {StatQuery("sm*.orf.reads")}, warps, "read from the operand register file");
  sum("lrf_reads", {StatQuery("sm*.lrf.reads")}, warps, "read from the last-result file");
  sum("mrf_writes", {StatQuery(file + "main_writes")}, warps, "written to the main register file");
  sum("orf_writes", {StatQuery("sm*.orf.writes")}, warps, "written to the operand register file, copies included");
  sum("lrf_writes", {StatQuery("sm*.lrf.writes")}, warps, "written to the last-result file, copies included");
  sum("copies", {StatQuery(file + "copies")}, warps, "read from the main register file and copied to an entry");
  share("mrf_read_share", "sm*.register_file.main_reads", "sm*.register_file.reads",
        "of the reads, main register file");
  share("orf_read_share", "sm*.orf.reads", "sm*.register_file.reads", "of the reads, operand register file");
  share("lrf_read_share", "sm*.lrf.reads", "sm*.register_file.reads", "of the reads, last-result file");
  sum("strands", {StatQuery(gate + "strands")}, "strands", "begun by warps");
  sum("strand_waits", {StatQuery(gate + "waits")}, "strands", "at whose begin a warp waited for long-latency results");
  sum("strand_wait_cycles", {StatQuery(gate + "wait_cycles")}, "warp-cycles", "of these waits");
  sum("activations", {StatQuery("sm*.active_entries.given")}, "slots", "of entries given to warps that became active");
  g.derived(
      "storage_bits",
      // The gate's depend on the entries of the kernel.
      [this] { return double(orf_->bits() + lrf_->bits() + slot_bits_ + gate_->bits(max_warps_)); }, "bits",
      "of an SM besides the main register file: operand register file, last-result file, tables of warps");
}

void Rfh::add_laws(assembly::ConservationLaws& laws, const std::string& sm) const {
  const std::string file = sm + ".register_file.", orf = sm + ".orf.", lrf = sm + ".lrf.";
  laws.add("a register is read from one level", {file + "reads"},
           {file + "main_reads", orf + "reads", lrf + "reads", file + "homeless_reads"});
  laws.add("results and copies go to the levels that they name",
           {file + "writes", file + "further_writes", file + "copies"},
           {file + "main_writes", orf + "writes", lrf + "writes", file + "dropped"});
  laws.add("entries that are given are given back", {sm + ".active_entries.given"}, {sm + ".active_entries.returned"});
  laws.add("no entry is read without its value, and no strand loses its entries", {},
           {orf + "lost_reads", lrf + "lost_reads", file + "homeless_reads", sm + ".strand_gate.torn_strands"});
}

void Rfh::add_waits(assembly::Waits& waits) const {
  using Of = assembly::Wait::Of;
  waits.add("sm*.strand_gate.wait_cycles", Of::warps, {"rfh.wait"});
  waits.add_latency("sm*.orf.reads", "rfh.orf_cycles");
  waits.add_latency("sm*.lrf.reads", "rfh.lrf_cycles");
}

void add_rfh(assembly::SchemeRegistry& registry) { registry.add(std::make_unique<Rfh>()); }

}  // namespace regatta::schemes
