// SPDX-License-Identifier: Apache-2.0
//
// RegLess (Kloosterman et al., MICRO 2017): every warp scheduler has a capacity manager, a shard of the operand staging
// unit and a compressor. Requests that leave a shard share the L1 with the load-store unit.
#include <regatta/assembly/connect_lookup.h>
#include <regatta/assembly/conservation.h>
#include <regatta/assembly/scheme.h>
#include <regatta/assembly/waits.h>
#include <regatta/regless/capacity_manager.h>
#include <regatta/regless/compressor.h>
#include <regatta/regless/osu.h>
#include <regatta/support/stat_query.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace regatta::schemes {

namespace {

using support::StatSum;

constexpr unsigned lanes = models::pattern_lanes;

double value(const StatSum& sum) { return static_cast<double>(sum.total()); }

double ratio(double a, double b) { return b == 0 ? 0 : a / b; }

class RegLess : public assembly::Scheme {
 public:
  RegLess() { osu_.backed_registers = 0; }  // the machine's number, unless an option sets it
  std::string name() const override { return "regless"; }
  std::string help() const override {
    return "RegLess (MICRO 2017): operand staging units, filled region by region, replace the register file";
  }
  std::optional<assembly::Published> published() const override {
    return assembly::Published{"MICRO 2017", "regless", {}};
  }
  std::string held_by_ctas() const override { return "a region of RegLess holds its lines until it ends"; }
  void declare(support::OptionSet& options) override {
    osu_.declare(options);
    bank_twins_.declare(options, "osu", "tags and lists of the staging units' banks");
    manager_.declare(options);
    compressor_.declare(options);
  }
  void validate(const assembly::MachineConfig& machine) const override;
  std::string reads_values() const override {
    return compressor_.enabled ? "compresses registers by their values (compressor.enabled)" : "";
  }
  std::vector<std::pair<std::string, std::string>> written_files() const override {
    return {{"--compressor.waveform", compressor_.units.written()}, {"--osu.waveform", bank_twins_.written()}};
  }
  void add_parts(const assembly::BuildContext& context, assembly::SmParts& parts) override;
  std::optional<assembly::Takings> takings() const override {
    using assembly::Place;
    return assembly::Takings{{Place::storage, Place::decode_point, Place::gates, Place::l1_clients}};
  }
  void register_stats(support::StatGroup& g, const std::vector<support::StatGroup>& modules) override;
  void add_laws(assembly::ConservationLaws& laws, const std::string& sm) const override;
  void add_waits(assembly::Waits& waits) const override;

 private:
  models::OsuConfig staging_for(const assembly::MachineConfig& machine) const {
    models::OsuConfig c = osu_;
    if (c.backed_registers == 0) c.backed_registers = machine.register_file.registers;
    return c;
  }
  static models::RegisterSpace space_of(const assembly::MachineConfig& machine, unsigned sm) {
    return {sm, machine.sm.max_warps, machine.sm.schedulers, machine.l1.line_bytes};
  }
  void add_bank_twins(const assembly::BuildContext& context, models::Osu& osu, assembly::SmParts& parts) const;
  models::CompressorUnitsConfig units_for(unsigned shard) const {
    models::CompressorUnitsConfig c;
    c.shard = shard;
    c.match_latency = compressor_.match_latency;
    c.expand_latency = compressor_.expand_latency;
    c.window = compressor_.units.waveform_cycles;
    c.waveform = compressor_.units.waveform;
    c.refuse_answers = compressor_.refuse_answers;
    return c;
  }

  models::OsuConfig osu_;
  cosim::TwinOptions bank_twins_;
  models::CapacityManagerConfig manager_;
  models::CompressorConfig compressor_;
};

void RegLess::validate(const assembly::MachineConfig& machine) const {
  if (machine.sm.lanes != lanes) {
    throw support::ConfigError(
        "scheme regless: a warp register is a line of the L1 and the compressor's patterns are of " +
        std::to_string(lanes) + " lanes: expected sm.lanes = " + std::to_string(lanes) + ", found " +
        std::to_string(machine.sm.lanes));
  }
  const unsigned bytes = lanes * trace::bytes_per_lane;
  if (machine.l1.line_bytes != bytes) {
    throw support::ConfigError("scheme regless: a warp register is a line of the L1: expected l1.line_bytes = " +
                               std::to_string(bytes) + ", found " + std::to_string(machine.l1.line_bytes));
  }
  if (osu_.banks != trace::region_banks) {
    throw support::ConfigError("scheme regless: the regions' words count the lines of " +
                               std::to_string(trace::region_banks) + " banks: expected osu.banks = " +
                               std::to_string(trace::region_banks) + ", found " + std::to_string(osu_.banks));
  }
  const models::RegisterSpace space = space_of(machine, 0);
  osu_.validate(space);
  models::bank_twins().validate(bank_twins_, osu_.bank_shape(space));
  if (!compressor_.enabled) return;
  compressor_.validate(space);
  models::compressor_implementation(compressor_.units.implementation).validate(units_for(0));
}

// Whatever osu.implementation names: a twin for each bank, or none.
void RegLess::add_bank_twins(const assembly::BuildContext& context, models::Osu& osu, assembly::SmParts& parts) const {
  const models::BankShape shape = osu_.bank_shape(space_of(context.machine, context.sm_index));
  for (unsigned s = 0; s < osu.shards(); ++s) {
    for (unsigned b = 0; b < osu_.banks; ++b) {
      models::OsuBank& bank = osu.bank(s, b);
      cosim::TwinConfig config;
      config.name = "osu_twin" + std::to_string(s) + "_" + std::to_string(b);
      config.options = bank_twins_;
      config.clock = &context.clock;
      config.state = [&bank] { return bank.describe(); };
      auto made = models::bank_twins().make(config, shape);
      if (made.twin == nullptr) return;
      bank.connect_twin(*made.twin);
      parts.modules.push_back(std::move(made.module));
    }
  }
}

void RegLess::add_parts(const assembly::BuildContext& context, assembly::SmParts& parts) {
  const unsigned shards = context.machine.sm.schedulers;
  const models::RegisterSpace space = space_of(context.machine, context.sm_index);
  auto osu = std::make_unique<models::Osu>("osu", staging_for(context.machine), space, context.clock);
  add_bank_twins(context, *osu, parts);
  auto manager = std::make_unique<models::CapacityManager>("capacity_manager", manager_, shards, context.clock);
  for (unsigned s = 0; s < shards; ++s) {
    manager->staging(s).bind(osu->shard(s));
    if (!compressor_.enabled) {
      parts.l1_clients.push_back(&osu->memory(s));
      continue;
    }
    const std::string name = "compressor" + std::to_string(s);
    models::CompressorUnitsConfig config = units_for(s);
    config.clock = &context.clock;
    // Before the compressor, which then has their answers of a cycle when it works in that cycle.
    models::CompressorUnits units = models::compressor_implementation(compressor_.units.implementation).make(config);
    auto compressor = std::make_unique<models::Compressor>(name.c_str(), compressor_, space, s, context.clock);
    assembly::connect_memory(context, parts, name + "_protocol", osu->memory(s), compressor->upstream);
    assembly::connect_lookup(context, parts, name + "_matcher", compressor->matcher, *units.matcher);
    assembly::connect_lookup(context, parts, name + "_expander", compressor->expander, *units.expander);
    osu->connect_below(s, *compressor);
    parts.l1_clients.push_back(&compressor->downstream);
    parts.modules.push_back(std::move(compressor));
    for (auto& unit : units.modules) parts.modules.push_back(std::move(unit));
  }
  assembly::add_description(parts, [m = manager.get()] { return m->describe_stuck(); });
  parts.decode_point = manager.get();
  parts.gates.push_back(std::move(manager));
  parts.storage_banks = shards * osu_.banks;
  parts.storage = std::move(osu);
}

void RegLess::register_stats(support::StatGroup& g, const std::vector<support::StatGroup>& modules) {
  const auto sum = [&](const std::vector<support::StatQuery>& queries) { return StatSum(modules, queries); };
  const auto manager = [&](const std::string& name) { return sum({"sm*.capacity_manager.shard*." + name}); };
  const auto bank = [&](const std::string& name) { return sum({"sm*.osu.shard*.bank*." + name}); };
  const auto l1 = [&](const std::string& name) { return sum({"sm*.l1." + name}); };
  const auto total = [&](const std::string& name, const StatSum& all, const char* unit, const char* what) {
    g.derived(
        name, [all] { return value(all); }, unit, what);
  };
  const auto per = [&](const std::string& name, const StatSum& all, const StatSum& count, const char* unit,
                       const char* what) {
    g.derived(
        name, [all, count] { return ratio(value(all), value(count)); }, unit, what);
  };

  total("preloads", manager("preloads"), "warp registers", "staged before their region started");
  for (const char* source : {"osu", "compressor", "l1", "l2", "dram"}) {
    g.derived(
        std::string("preload_source.") + source,
        [all = manager(std::string("preloads_from_") + source)] { return value(all); }, "warp registers",
        std::string("preloads found in the ") + source +
            (std::string(source) == "osu"
                 ? ", or of registers without a value anywhere, for which a line is all it takes"
                 : ""));
  }
  const StatSum cycles = sum({"sm*.pipeline.active_cycles"});
  per("l1_requests_per_cycle.preload", l1("accesses_register_read"), cycles, "requests per cycle",
      "of an SM's L1: registers and lines of compressed ones read");
  per("l1_requests_per_cycle.evict", l1("accesses_register_write"), cycles, "requests per cycle",
      "of an SM's L1: registers and lines of compressed ones written");
  per("l1_requests_per_cycle.invalidate", l1("accesses_register_invalidate"), cycles, "requests per cycle",
      "of an SM's L1: registers dropped");

  const StatSum executed = manager("regions_executed");
  const StatSum lines = manager("lines_reserved");
  total("regions.executed", executed, "regions", "started");
  per("regions.mean_instructions", manager("instructions"), executed, "warp instructions", "issued per region");
  per("regions.mean_cycles", manager("active_cycles"), executed, "cycles", "that a region was active");
  per("regions.mean_preload_cycles", manager("preload_cycles"), executed, "cycles",
      "from a region's start to its last preload or invalidation");
  per("regions.mean_drain_cycles", manager("drain_cycles"), executed, "cycles",
      "from a region's last issue to its last result written");
  per("regions.mean_preloads", manager("preloads"), executed, "warp registers", "preloaded per region");
  per("regions.mean_live", lines, executed, "warp registers",
      "lines reserved per region, the sum of the most that each bank needs: at least as many as live at a time");
  g.derived(
      "regions.stddev_live",
      [lines, executed, squares = manager("lines_reserved_squared")] {
        const double mean = ratio(value(lines), value(executed));
        return std::sqrt(std::max(0.0, ratio(value(squares), value(executed)) - mean * mean));
      },
      "warp registers", "standard deviation of those, over the regions that ran");
  g.derived(
      "regions.max_live", [most = manager("lines_reserved_max")] { return static_cast<double>(most.largest()); },
      "warp registers", "most lines that a region reserved");

  for (const char* pattern : {"constant", "stride1", "stride4", "half1", "half4"}) {
    g.derived(
        std::string("compressor.matched.") + pattern,
        [all = sum({std::string("sm*.compressor*.matched_") + pattern})] { return value(all); }, "warp registers",
        std::string("evicted with a value of the pattern ") + pattern);
  }
  for (const char* name : {"incompressible", "hits", "misses"}) {
    total(std::string("compressor.") + name, sum({std::string("sm*.compressor*.") + name}), "requests",
          "of the compressors; see theirs");
  }
  total("metadata_instructions", manager("metadata_words"), "words", "region words fetched and decoded");
  total("osu.reads", bank("reads"), "warp registers", "operands read");
  total("osu.writes", bank("writes"), "warp registers", "results written");
  total("osu.conflicts", sum({"sm*.osu.shard*.bank*.conflicts", "sm*.osu.shard*.bank*.write_conflicts"}),
        "warp registers", "reads and writes that waited for their bank");
  total("osu.evictions", sum({"sm*.osu.shard*.evictions"}), "lines",
        "taken from the dirty list to make room; written back unless they are reclaimed or dropped first");
  per("warps_active", manager("active_cycles"), sum({"sm*.capacity_manager.resident_cycles"}), "warps",
      "of an SM with an active region, mean over the cycles with a resident warp");
}

void RegLess::add_laws(assembly::ConservationLaws& laws, const std::string& sm) const {
  const std::string pipeline = sm + ".pipeline.";
  const std::string manager = sm + ".capacity_manager.shard*.";
  const std::string osu = sm + ".osu.shard*.";
  const std::string bank = osu + "bank*.";
  const std::string compressor = sm + ".compressor*.";
  const std::string l1 = sm + ".l1.accesses_register_";
  laws.add("the capacity managers take the region words that are fetched", {pipeline + "inserted_instructions"},
           {manager + "metadata_words"});
  laws.add("every instruction issues in a region", {manager + "instructions"}, {pipeline + "warp_instructions"});
  laws.add("preloads asked for are done", {manager + "preloads"}, {osu + "preloads"});
  laws.add("every preload has a source", {manager + "preloads"},
           {manager + "preloads_from_osu", manager + "preloads_from_compressor", manager + "preloads_from_l1",
            manager + "preloads_from_l2", manager + "preloads_from_dram"});
  laws.add("invalidations asked for are done", {manager + "invalidations"}, {osu + "invalidations"});
  laws.add("the staging units serve what the collectors ask", {bank + "reads"}, {laws.operand_path(sm) + ".reads"});
  laws.add("the staging units take what is written back", {bank + "writes"}, {pipeline + "writeback.writes"});
  laws.add("what is evicted leaves, or is taken back or dropped before", {osu + "evictions"},
           {osu + "memory_writes", osu + "evictions_cancelled"});
  if (!compressor_.enabled) {
    laws.add("the L1 takes the registers that leave", {l1 + "write"}, {osu + "memory_writes"});
    laws.add("the L1 is asked for the registers that come back", {l1 + "read"}, {osu + "memory_reads"});
    laws.add("the L1 drops the registers that die", {l1 + "invalidate"}, {osu + "memory_invalidations"});
    return;
  }
  laws.add("what leaves is compressed or is not",
           {compressor + "matched_constant", compressor + "matched_stride1", compressor + "matched_stride4",
            compressor + "matched_half1", compressor + "matched_half4", compressor + "incompressible"},
           {osu + "memory_writes"});
  laws.add("the L1 takes the registers and the compressors' lines that leave", {l1 + "write"},
           {compressor + "incompressible", compressor + "lines_written_back"});
  laws.add("registers and the compressors' lines come back from where they are", {l1 + "read", compressor + "expanded"},
           {osu + "memory_reads", compressor + "lines_fetched"});
  laws.add("registers that die are dropped where they are", {l1 + "invalidate", compressor + "cleared"},
           {osu + "memory_invalidations"});
}

}  // namespace

void RegLess::add_waits(assembly::Waits& waits) const {
  using Of = assembly::Wait::Of;
  // With more lines, fewer registers are evicted, and fewer have to be preloaded.
  waits.add("sm*.capacity_manager.shard*.preload_cycles", Of::warps, {"osu.entries"});
  waits.add("sm*.capacity_manager.shard*.wait_lines_cycles", Of::module, {"osu.entries"});
  waits.add("sm*.osu.shard*.refusals", Of::warps, {"osu.entries"});
  waits.add("sm*.osu.shard*.buffer_full", Of::warps, {"osu.writeback_buffer"});
  waits.add_latency("sm*.osu.shard*.bank*.reads", "osu.latency");
  waits.add("sm*.compressor*.line_wait_cycles", Of::warps, {"compressor.lines"});
  waits.add("sm*.compressor*.place_wait_cycles", Of::module, {"compressor.lines"});
  waits.add("sm*.compressor*.fetch_wait_cycles", Of::module, {"compressor.lines", "compressor.fetches"});
  waits.add("sm*.compressor*.held_requests", Of::warps, {"compressor.queue"});
  waits.add_latency("sm*.compressor*.lookups", "compressor.lookup_latency");
  waits.add_latency("sm*.compressor*.expanded", "compressor.expand_latency");
}

void add_regless(assembly::SchemeRegistry& registry) { registry.add(std::make_unique<RegLess>()); }

}  // namespace regatta::schemes
