// SPDX-License-Identifier: Apache-2.0
//
// The energy report against an account of its own: for every scheme, each event of each structure from counters that
// are named here, times the table's number, scaled by the table's rules as they are written down in platform/energy.
#include <regatta/schemes/schemes.h>
#include <regatta/test/catch.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "scheme_runs.h"

using namespace regatta;
using test::SchemeCase;
using test::SchemeRun;

namespace {

struct Row {
  std::string structure, event;
  double count = 0;  ///< events; static: seconds x what is powered
  double bytes = 0;  ///< of the array, 0: the table's
  double banks = 0;
};

/// What platform/energy/README.md says of capacity and node, for the built-in tables.
double scaled(const Row& row, double value, bool power, const std::string& table, double node) {
  const double reference_bytes = table == "fermi40" ? 131072 : 262144;
  const double reference_banks = table == "fermi40" ? 8 : table == "kepler28" ? 32 : 16;
  if (row.event.compare(0, 18, "register_renaming.") == 0) {
    // Of 1 KB; no banks are known.
    if (row.bytes != 0) value *= std::pow(row.bytes / 1024, power ? 1.0 : 0.5);
  } else if (row.bytes != 0) {
    const double capacity = row.bytes / reference_bytes, banks = row.banks / reference_banks;
    if (std::abs(capacity - 1) > 1e-9) {
      const bool size_kept = std::abs(banks / capacity - 1) < 1e-9, count_kept = std::abs(banks - 1) < 1e-9;
      value *= std::pow(capacity, power ? (count_kept && !size_kept ? 0.41 : 1.0)
                                        : (size_kept    ? 0.68
                                           : count_kept ? 0.15
                                                        : 0.5));
    }
  }
  if (node == 0 || power) return value;
  const std::string structure = row.event.substr(0, row.event.find('.'));
  const bool registers = structure == "register_file" || structure == "sleep_transistors";
  const double exponent = structure == "dram" ? 0 : registers ? 1.71 : 1.81;
  return value * std::pow(node / (table == "fermi40" ? 40 : 28), exponent);
}

class Account {
 public:
  Account(const SchemeRun& run, const SchemeCase& c) : run_(run), case_(c), lanes_(run.warp_size / 32.0) {}

  std::vector<Row> rows() {
    pipeline();
    memory();
    if (case_.scheme == "regless") {
      regless();
    } else if (case_.scheme == "wir") {
      wir();
    } else if (case_.scheme == "baseline" || case_.scheme == "um") {
      register_file(s("sm*.pipeline.collectors", "reads"), s("sm*.pipeline.writeback", "writes"),
                    run_.machine.register_file.registers);
    } else if (case_.scheme == "register_sharing") {
      sharing();
    } else if (case_.scheme == "scratchpad_sharing") {
      scratchpad();
    } else if (case_.scheme == "warp_level_divergence") {
      divergence();
    } else if (case_.scheme == "scratchpad_multiplexing") {
      multiplexing();
    } else if (case_.scheme == "rfv") {
      virtualization();
    } else if (case_.scheme == "rfh") {
      hierarchy();
    } else if (run_.has("sm*.switch_engine")) {
      switching();
    } else {
      gated();
    }
    return rows_;
  }

 private:
  double s(const std::string& path, const std::string& name) const { return run_.stat(path, name); }
  void add(const std::string& structure, const std::string& event, double count, double bytes = 0, double banks = 0) {
    rows_.push_back({structure, event, count, bytes, banks});
  }
  double seconds() const { return double(run_.result.cycles) / (run_.machine.clock_mhz * 1e6); }
  double cycle_seconds() const { return 1e-6 / run_.machine.clock_mhz; }

  void pipeline() {
    const bool moves = run_.has("sm*.move_inserter");
    // Acquires and releases, and relssp, are fetched and issued like the program's own.
    const bool inserted = run_.has("sm*.register_pool") || run_.has("sm*.release_table");
    const double program =
        double(run_.result.warp_instructions) + (inserted ? s("sm*.pipeline", "issued_insertions") : 0);
    const double issued = program + (moves ? s("sm*.pipeline", "injected_moves") : 0);
    add("front_end", "instruction_cache.access", s("sm*.pipeline", "fetched_instructions"));
    add("front_end", "instruction_buffer.instruction", program);
    add("front_end", "scheduler.issue", issued);
    add("pipeline", "pipeline.instruction", issued * lanes_);
    add("sm_static", "sm.static", seconds() * run_.sms);
    add("sm_static", "sm.clock", s("sm*.pipeline", "active_cycles") * cycle_seconds());
    add("register_structures", "operand_collector.instruction", s("sm*.pipeline.collectors", "instructions") * lanes_);
    for (const std::string use : {"integer", "fp32", "special", "fp64"}) {
      double lanes = s("sm*.pipeline.execution", use + "_lanes");
      // Half of the lanes take the branch: without gating it costs as much as what all do.
      const double all = s("sm*.pipeline.execution", use + "_instructions") * run_.warp_size;
      if (use == "integer") CHECK((lanes < all) == run_.machine.energy.lane_gating);
      if (!run_.machine.energy.lane_gating) CHECK(lanes == all);
      const bool affine = run_.has("sm*.affine") && (use == "integer" || use == "fp32");
      if (affine) lanes -= s("sm*.affine", "saved_" + use + "_lanes");
      add("execution", "execution." + use, lanes / 32);
    }
    add("load_store", "load_store.address", s("sm*.pipeline.execution", "address_lanes") / 32);
    add("constant_cache", "constant_cache.access", s("sm*.pipeline.execution", "constant_instructions"));
    const double contexts = run_.has("sm*.switch_engine") ? s("sm*.pipeline", "context_passes") : 0;
    add("shared_memory", "shared_memory.access", s("sm*.pipeline.lsu", "shared_passes") + contexts);
  }

  // As far as they can be, amounts are those that the other side of a link has counted.
  void memory() {
    const double line = run_.machine.l1.line_bytes / 128.0;
    add("l1", "l1.read", line * (s("sm*.l1", "read_hits") + s("sm*.l1", "read_misses") + s("sm*.l1", "writebacks")));
    add("l1", "l1.write", line * (s("sm*.l1", "array_writes") + s("sm*.l1", "fills_installed")));
    const double asked = s("sm*.l1", "bytes_fetched") + s("sm*.l1", "bytes_bypassed");
    const double atomics = 32 * s("sm*.pipeline.lsu", "atomic_sectors");
    add("l2", "l2.read", asked / 32);
    add("l2", "l2.write", (s("memory.interconnect", "bytes_written") - atomics) / 32);
    add("interconnect", "interconnect.flit",
        (s("memory.interconnect", "request_flits") + s("memory.interconnect", "response_flits")) *
            run_.machine.memory.interconnect.flit_bytes / 32);
    const double fetched = s("memory.l2_*", "bytes_fetched") / 32,
                 written = s("memory.l2_*", "bytes_written_back") / 32;
    add("memory_controller", "memory_controller.access", fetched + written);
    add("dram", "dram.read", fetched);
    add("dram", "dram.write", written);
    if (!run_.machine.memory.dram.fixed()) {
      add("dram", "dram.activate", s("memory.dram_*", "row_misses") + s("memory.dram_*", "row_conflicts"));
    }
    const double share = double(run_.sms) / run_.machine.sms * seconds();
    add("l2", "l2.leakage", share * run_.machine.memory.l2.partitions);
    add("dram", "dram.background", share);
    add("card", "chip.constant", share);
  }

  void register_file(double reads, double writes, double registers) {
    const double bytes = registers * run_.warp_size * 4, banks = run_.machine.register_file.banks;
    add("register_structures", "register_file.read", reads * lanes_, bytes, banks);
    add("register_structures", "register_file.write", writes * lanes_, bytes, banks);
    add("register_structures", "register_file.leakage", seconds() * run_.sms, bytes, banks);
  }

  void regless() {
    const std::string bank = "sm*.osu.shard*.bank*";
    double entries = 512;
    const double shards = run_.machine.sm.schedulers, banks = 8;
    double lines = 16;
    for (const auto& [knob, value] : case_.knobs) {
      if (knob == "compressor.lines") lines = std::stod(value);
      if (knob == "osu.entries") entries = std::stod(value);
    }
    const double bytes = entries * 128;
    add("register_structures", "register_file.read", s("sm*.pipeline.collectors", "reads") + s(bank, "readouts"), bytes,
        shards * banks);
    add("register_structures", "register_file.write", s("sm*.pipeline.writeback", "writes") + s(bank, "fills"), bytes,
        shards * banks);
    add("register_structures", "register_file.leakage", seconds() * run_.sms, bytes, shards * banks);
    add("register_structures", "osu.tag", s(bank, "tag_lookups") * entries / shards / banks / 16);
    if (!run_.has("sm*.compressor*")) return;
    const std::string compressor = "sm*.compressor*";
    double matches = s(compressor, "incompressible");
    for (const char* pattern : {"constant", "stride1", "stride4", "half1", "half4"}) {
      matches += s(compressor, std::string("matched_") + pattern);
    }
    add("register_structures", "compressor.lookup", s(compressor, "lookups"));
    add("register_structures", "compressor.match", matches);
    add("register_structures", "compressor.expand", s(compressor, "expanded"));
    const double slot = 8.0 / 128;
    if (lines < 12) CHECK(s(compressor, "lines_filled") > 0);
    add("register_structures", "register_file.read",
        s(compressor, "lines_written_back") + slot * s(compressor, "expanded"), lines * 128 * shards, shards);
    add("register_structures", "register_file.write",
        s(compressor, "lines_filled") + slot * s(compressor, "slot_writes"), lines * 128 * shards, shards);
    add("register_structures", "register_file.leakage", seconds() * run_.sms * shards, lines * 128, 1);
  }

  void wir() {
    const std::string file = "sm*.register_file";
    const bool reuses = run_.result.stats.contains("sm0.wir.allocator");
    double reads = s("sm*.pipeline.collectors", "reads"), writes = s("sm*.pipeline.writeback", "writes");
    double registers = run_.machine.register_file.registers;
    for (const auto& [knob, value] : case_.knobs) {
      if (knob == "wir.physical_registers") registers = std::stod(value);
    }
    if (reuses) {
      reads += s(file, "verify_reads") + s(file, "moves") - s(file, "unmapped_reads");
      writes = s(file, "writes") + s(file, "moves");
      const auto table = [&](const char* event, const std::string& block, const std::vector<const char*>& names,
                             double factor = 1) {
        double count = 0;
        for (const char* name : names) count += s("sm*.wir." + block, name);
        add("reuse_structures", std::string("wir.") + event, factor * count);
      };
      table("rename_table", "rename_tables", {"reads", "writes"});
      table("reuse_buffer", "reuse_buffer", {"reads", "retries", "writes"});
      // A miss that waits for its claim looks again.
      CHECK(s("sm*.wir.reuse_buffer", "reads") >= s("sm*.wir.reuse_buffer", "lookups"));
      table("hash", "vsb", {"hashes"});
      table("vsb", "vsb", {"hits", "misses", "writes"});
      table("register_allocator", "allocator", {"allocations"}, 2);
      table("reference_count", "allocator", {"references"}, 2);
      table("verify_cache", "verify_cache", {"hits", "misses", "fills"});
    }
    if (run_.has("sm*.affine")) {
      // A tuple is read and written in one bank of eight.
      reads -= 7.0 / 8 * (s("sm*.affine", "affine_reads") + s("sm*.affine", "affine_verify_reads"));
      writes -= 7.0 / 8 * s("sm*.affine", "affine_writes");
    }
    register_file(reads, writes, registers);
  }

  void switching() {
    const auto table = [&](const char* event, double count) {
      add("cta_switching", std::string("cta_switching.") + event, count);
    };
    table("status", s("sm*.status_monitor", "updates") + 2 * s("sm*.status_monitor", "searches"));
    double reads = s("sm*.pipeline.collectors", "reads"), writes = s("sm*.pipeline.writeback", "writes");
    double registers = run_.machine.register_file.registers, pending = 1024;
    if (run_.has("sm*.cta_places")) {
      reads += s("sm*.register_file", "move_reads");
      writes += s("sm*.register_file", "move_writes");
    }
    if (run_.has("sm*.register_spill")) {
      table("buffer", s("sm*.register_spill", "lines_written") + s("sm*.register_spill", "lines_read"));
    }
    if (run_.has("sm*.register_pool")) {
      table("section", s("sm*.register_pool", "acquires") + s("sm*.register_pool", "releases"));
    }
    if (run_.has("sm*.rmu.mover")) {
      registers = 1024;
      if (case_.scheme == "finereg_um") pending = (272 - 16) * 8;
      for (const auto& [knob, value] : case_.knobs) {
        if (knob == "finereg.active_registers") registers = std::stod(value);
        if (knob == "finereg.pending_registers") pending = std::stod(value);
      }
      table("vector", s("sm*.rmu.vectors", "hits") + 2 * s("sm*.rmu.vectors", "misses"));
      table("decode", s("sm*.rmu.counter", "live_registers"));
      table("pointer", s("sm*.rmu.pointers", "accesses"));
      table("free_space", s("sm*.rmu.free_space", "updates"));
      table("buffer", s("sm*.rmu.mover", "moved_out") + s("sm*.rmu.mover", "moved_in"));
      const std::string file = "sm*.pending_register_file";
      table("tag", s(file, "tag_accesses"));
      CHECK(s(file, "reads") == s("sm*.rmu.mover", "moved_in"));
      add("register_structures", "register_file.read", s(file, "reads"), pending * 128);
      add("register_structures", "register_file.write", s(file, "writes") + s(file, "merges"), pending * 128);
      add("register_structures", "register_file.leakage", seconds() * run_.sms, pending * 128);
    }
    register_file(reads, writes, registers);
  }

  void scratchpad() {
    const auto table = [&](const char* event, double count) {
      add("resource_sharing", std::string("resource_sharing.") + event, count);
    };
    register_file(s("sm*.pipeline.collectors", "reads"), s("sm*.pipeline.writeback", "writes"),
                  run_.machine.register_file.registers);
    table("check", s("sm*.scratchpad_gate", "checks"));
    table("lock", 2 * s("sm*.scratchpad_gate", "acquires"));
    table("owner", s("sm*.owner_table", "bits_written"));
    // Warps of pairs leave once, with relssp before.
    table("release", s("sm*.scratchpad_gate", "relssp"));
    CHECK(s("sm*.scratchpad_gate", "relssp") == 4 * s("sm*.residency", "paired_ctas"));
  }

  void sharing() {
    const auto table = [&](const char* event, double count) {
      add("resource_sharing", std::string("resource_sharing.") + event, count);
    };
    register_file(s("sm*.pipeline.collectors", "reads"), s("sm*.pipeline.writeback", "writes"),
                  run_.machine.register_file.registers);
    const double locks = 2 * s("sm*.register_gate", "acquires");
    table("check", s("sm*.register_gate", "checks"));
    table("lock", locks);
    table("rule", locks);
    // A bit for every warp of a pair that starts, and for resident warps when their CTA becomes the owner or loses
    // that.
    table("owner", s("sm*.owner_table", "bits_written"));
    const double warps = 4 * s("sm*.residency", "paired_ctas"), takeovers = s("sm*.owner_table", "takeovers");
    const double changes = s("sm*.owner_table", "transfers") + 2 * takeovers;
    CHECK(s("sm*.owner_table", "bits_written") >= warps);
    CHECK(s("sm*.owner_table", "bits_written") <= warps + 4 * changes);
    if (run_.has("sm*.dynamic_warps")) table("draw", s("sm*.dynamic_warps", "draws"));
  }

  void divergence() {
    register_file(s("sm*.pipeline.collectors", "reads"), s("sm*.pipeline.writeback", "writes"),
                  run_.machine.register_file.registers);
    // An entry is written when a warp starts, and cleared when it ends: four warps of every CTA.
    add("resource_sharing", "resource_sharing.rows", 2 * 4 * s("sm*.pipeline", "ctas"));
  }

  void virtualization() {
    double share = 0.5;
    for (const auto& [knob, value] : case_.knobs) {
      if (knob == "rfv.share") share = std::stod(value);
    }
    const double banks = run_.machine.register_file.banks;
    const double rows = std::floor(share * run_.machine.register_file.registers / banks) * banks;
    const double bytes = rows * run_.warp_size * 4, table_bytes = s("sm*.rename_table", "bits") / run_.sms / 8;
    double reads = s("sm*.pipeline.collectors", "reads"), writes = s("sm*.pipeline.writeback", "writes");
    if (run_.has("sm*.spill_unit")) {
      const double spilled = s("sm*.spill_unit", "spilled"), refilled = s("sm*.spill_unit", "refilled");
      CHECK(spilled > 100);
      reads += spilled;
      writes += refilled;
      add("register_renaming", "cta_switching.buffer", (spilled + refilled) * lanes_);
    }
    add("register_structures", "register_file.read", reads * lanes_, bytes, banks);
    add("register_structures", "register_file.write", writes * lanes_, bytes, banks);
    // Sub-arrays that are off do not leak.
    add("register_structures", "register_file.leakage",
        s("sm*.availability", "powered_cycles") / rows * cycle_seconds(), bytes, banks);
    const auto event = [&](const char* name, double count, double size = 0) {
      add("register_renaming", std::string("register_renaming.") + name, count, size);
    };
    // No register is exempt: each operand is looked up; an entry is written with each row, and cleared.
    event("table", reads + writes, table_bytes);
    event("table", s("sm*.availability", "taken") + s("sm*.availability", "given_back"), table_bytes);
    event("table_leakage", seconds() * run_.sms, table_bytes);
    event("row", s("sm*.availability", "taken") + s("sm*.availability", "given_back"));
    event("flag_cache", s("sm*.flag_cache", "lookups") + s("sm*.flag_cache", "fills"));
    event("word", s("sm*.pipeline", "inserted_instructions"));
    event("wake", s("sm*.availability", "wakeups"));
  }

  void multiplexing() {
    const auto table = [&](const char* event, double count) {
      add("resource_sharing", std::string("resource_sharing.") + event, count);
    };
    register_file(s("sm*.pipeline.collectors", "reads"), s("sm*.pipeline.writeback", "writes"),
                  run_.machine.register_file.registers);
    table("check", s("sm*.allocation_gate", "checks"));
    // Every CTA accesses the common part, and has one place.
    table("lock", 2 * s("sm*.pipeline", "ctas"));
    table("release", 4 * s("sm*.pipeline", "ctas"));
    CHECK(s("sm*.allocation_gate", "relssp") == 4 * s("sm*.residency", "multiplexed_ctas"));
  }

  /// A thread has three entries in the operand register file and one in the last-result file.
  void hierarchy() {
    const double orf = s("sm*.orf", "reads"), lrf = s("sm*.lrf", "reads");
    CHECK(orf > 0);
    CHECK(lrf > 0);
    register_file(s("sm*.pipeline.collectors", "reads") - orf - lrf, s("sm*.register_file", "main_writes"),
                  run_.machine.register_file.registers);
    const auto& machine = run_.machine;
    const bool active_set = machine.sm.scheduler == "two_level";
    const double warps = active_set ? machine.sm.schedulers * machine.scheduler.active_warps : machine.sm.max_warps;
    for (const auto& [name, entries] : {std::pair<const char*, double>{"orf", 3}, {"lrf", 1}}) {
      const std::string file = std::string("sm*.") + name;
      const double bytes = warps * entries * run_.warp_size * 4;
      add("register_structures", "register_file.read", s(file, "reads") * lanes_, bytes);
      add("register_structures", "register_file.write", s(file, "writes") * lanes_, bytes);
      add("register_structures", "register_file.leakage", seconds() * run_.sms, bytes);
    }
  }

  void gated() {
    const std::string file = "sm*.register_file", rows = "sm*.sleep_transistors";
    const auto& machine = run_.machine;
    const bool aging = case_.machine == "hd7770";
    // A compressed register is a piece of 16 lanes.
    register_file(s(file, "row_reads") + s(file, "elsewhere_reads") * 16 / run_.warp_size, s(file, "row_writes"),
                  machine.register_file.registers);
    rows_.pop_back();  // what leaks is what is on
    add("register_structures", "sleep_transistors.wake_sleep", s(rows, "bits_woken_sleep") / 1024);
    add("register_structures", aging ? "sleep_transistors.wake_gated" : "sleep_transistors.wake_off",
        s(rows, "bits_woken_off") / 1024);
    const double powered = s(rows, "row_cycles_on") + s(rows, "row_cycles_sleep") * knob("sleep_leakage", 0.1) +
                           s(rows, "row_cycles_off") * knob("off_leakage", 0);
    add("register_structures", "register_file.leakage", powered / machine.register_file.registers * cycle_seconds(),
        machine.register_file.registers * run_.warp_size * 4.0, machine.register_file.banks);
    // The scheme's own account (GREENER, table 4.4 and section 4.3.9): 409.5 mW for 1,024 rows of 32 lanes at 22 nm.
    const double wake_sleep_pj = 37.3 / 2048, wake_off_pj = 117.74 / 2048;
    const double pj = powered * 409.5 / 1024 * cycle_seconds() * 1e9 + s("power", "wakeups.sleep") * wake_sleep_pj +
                      s("power", "wakeups.off") * wake_off_pj;
    CHECK(s("power", "leakage_energy") == Approx(pj * machine.sm.lanes / 32 / 1000).epsilon(1e-3));
  }
  double knob(const std::string& name, double value) const {
    for (const auto& [knob, text] : case_.knobs) {
      if (knob == "sleep_transistors." + name) value = std::stod(text);
    }
    return value;
  }

  const SchemeRun& run_;
  const SchemeCase& case_;
  double lanes_;
  std::vector<Row> rows_;
};

/// Which case provokes an event of the tables, for what the baseline does not.
const std::map<std::string, std::string>& provoked_by() {
  static const std::map<std::string, std::string> cases{{"l1.read", "baseline that caches"},
                                                        {"l1.write", "baseline that caches"},
                                                        {"osu.tag", "regless"},
                                                        {"compressor.lookup", "regless"},
                                                        {"compressor.match", "regless"},
                                                        {"compressor.expand", "regless"},
                                                        {"sleep_transistors.wake_sleep", "greener"},
                                                        {"sleep_transistors.wake_off", "greener"},
                                                        {"sleep_transistors.wake_gated", "rc"},
                                                        {"cta_switching.status", "virtual_thread"},
                                                        {"cta_switching.vector", "finereg"},
                                                        {"cta_switching.decode", "finereg"},
                                                        {"cta_switching.pointer", "finereg"},
                                                        {"cta_switching.free_space", "finereg"},
                                                        {"cta_switching.tag", "finereg"},
                                                        {"cta_switching.buffer", "finereg"},
                                                        {"cta_switching.section", "vt_regmutex"},
                                                        {"resource_sharing.check", "register_sharing"},
                                                        {"resource_sharing.lock", "register_sharing"},
                                                        {"resource_sharing.rule", "register_sharing"},
                                                        {"resource_sharing.owner", "register_sharing"},
                                                        {"resource_sharing.draw", "register_sharing, dynamic"},
                                                        {"resource_sharing.release", "scratchpad_sharing"},
                                                        {"resource_sharing.rows", "warp_level_divergence"},
                                                        {"register_renaming.table", "rfv"},
                                                        {"register_renaming.table_leakage", "rfv"},
                                                        {"register_renaming.row", "rfv"},
                                                        {"register_renaming.flag_cache", "rfv"},
                                                        {"register_renaming.word", "rfv"},
                                                        {"register_renaming.wake", "rfv"},
                                                        {"wir.rename_table", "wir"},
                                                        {"wir.reuse_buffer", "wir"},
                                                        {"wir.hash", "wir"},
                                                        {"wir.vsb", "wir"},
                                                        {"wir.register_allocator", "wir"},
                                                        {"wir.reference_count", "wir"},
                                                        {"wir.verify_cache", "wir"}};
  return cases;
}

std::string provoking_case(const std::string& event) {
  const auto found = provoked_by().find(event);
  return found == provoked_by().end() ? "baseline" : found->second;
}

}  // namespace

void test::check_energy(const SchemeCase& c, const SchemeRun& run) {
  const support::EnergyTable table = run.machine.energy.load();
  const double node = run.machine.energy.node_nm;
  // By structure, event and pJ or mW, as one array's rows may be declared in parts.
  using Key = std::pair<std::string, std::string>;
  std::map<Key, double> expected, reported;
  double counted = 0, expected_count = 0;  // events of all kinds: terms of several launches add up
  std::map<std::string, double> by_structure;
  for (const Row& row : Account(run, c).rows()) {
    const support::EnergyValue& value = table.at(row.event);
    const double each = scaled(row, value.value, value.is_power, table.name(), node);
    const double nj = row.count * each * (value.is_power ? 1e6 : 1e-3);
    expected[{row.structure, row.event}] += nj;
    if (!value.is_power) expected_count += row.count;
    by_structure[row.structure] += nj;
  }
  for (const support::EnergyTerm& t : run.result.energy.terms()) {
    reported[{t.structure, t.value.value.name}] += t.nj;
    CHECK(t.is_static == t.value.value.is_power);
    if (!t.is_static) counted += t.count;
  }
  for (const auto& [key, nj] : expected) {
    CAPTURE(c.name, key.first, key.second);
    CHECK(reported.count(key) == 1);
    CHECK(reported[key] == Approx(nj).epsilon(1e-9));
  }
  for (const auto& [key, nj] : reported) {
    CAPTURE(c.name, key.first, key.second);
    CHECK(expected.count(key) == 1);
  }
  for (const std::string& event : table.names()) {
    // Matrix products need a machine with tensor cores: tensor_test.cpp counts them.
    if (event == "execution.tensor" || provoking_case(event) != c.name) continue;
    CAPTURE(c.name, event);
    double nj = 0;
    for (const auto& [key, part] : reported) nj += key.second == event ? part : 0;
    CHECK(nj > 0);
  }
  CHECK(counted == Approx(expected_count).epsilon(1e-9));
  double total = 0;
  for (const auto& [structure, nj] : by_structure) {
    CAPTURE(structure);
    CHECK(run.result.energy.of(structure) == Approx(nj).epsilon(1e-9));
    total += nj;
  }
  CHECK(run.result.energy.total_nj() == Approx(total).epsilon(1e-9));
  CHECK(run.result.energy.dynamic_nj() + run.result.energy.static_nj() == Approx(total).epsilon(1e-9));
}

TEST_CASE("energy: every scheme is accounted for, and every event of the tables has a case that provokes it") {
  const assembly::SchemeRegistry registry = schemes::all();
  std::set<std::string> schemes, cases;
  for (const SchemeCase& c : test::scheme_cases()) {
    schemes.insert(c.scheme);
    cases.insert(c.name);
  }
  for (const auto& scheme : registry.schemes()) {
    CAPTURE(scheme->name());
    CHECK(schemes.count(scheme->name()) == 1);
  }
  std::set<std::string> events;
  for (const std::string& name : assembly::energy_table_names()) {
    assembly::EnergyConfig config;
    config.table = name;
    for (const std::string& event : config.load().names()) events.insert(event);
  }
  CHECK(events.size() > 40);
  for (const auto& [event, provoker] : provoked_by()) {
    CAPTURE(event, provoker);
    CHECK(events.count(event) == 1);
    CHECK(cases.count(provoker) == 1);
  }
}
