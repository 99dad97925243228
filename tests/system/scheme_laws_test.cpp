// SPDX-License-Identifier: Apache-2.0
//
// Under every scheme: how many conservation laws are checked, how many statistics are told as waits, that the storage
// serves the operands that the trace has, that a timeline adds up to the statistics, and that the energy report is what
// counters and table say. A law that vanished, or
// counters that agree with one another and not with the program, would not be noticed otherwise.
#include <regatta/protocol/observer.h>
#include <regatta/test/catch.h>
#include <regatta/trace/file.h>

#include <map>
#include <set>

#include "scheme_runs.h"
#include "timeline_laws.h"

using namespace regatta;
using test::SchemeCase;
using test::SchemeRun;

namespace {

/// Registers that instructions name, counted from the static code of the trace.
struct Registers {
  std::uint64_t read = 0, written = 0;
  void add(const trace::StaticInstruction& i, std::uint64_t times = 1) {
    const std::set<unsigned> distinct(i.sources.begin(), i.sources.begin() + i.source_count);
    read += times * distinct.size();
    written += times * i.destination_count;
  }
};

Registers of_trace(const std::string& path) {
  const trace::Reader reader(path);
  Registers all;
  const auto stream = reader.stream(0, reader.ctas().size());
  while (const auto cta = stream->next()) {
    const trace::Kernel& kernel = reader.kernels()[reader.launches()[cta->launch].kernel];
    for (const trace::WarpColumns& warp : cta->warps) {
      trace::WarpCursor cursor(kernel, warp);
      while (cursor.next()) all.add(kernel.instructions[cursor.index()]);
    }
  }
  return all;
}

/// What is issued, and what of it takes another's result in place of being executed.
class Watcher : public protocol::Observer {
 public:
  std::vector<protocol::Event> interests() const override {
    return {protocol::Event::issued, protocol::Event::bypassed};
  }
  bool keeps_cycle_time() const override { return true; }
  void issued(protocol::Cycle, const protocol::DynamicInstruction& d) override {
    if (!d.injected) issued().add(*d.info);
    if (d.injected && d.info->scheme.empty()) ++moves();
  }
  void bypassed(protocol::Cycle, const protocol::DynamicInstruction& d) override { reused().add(*d.info); }
  static Registers& issued() {
    static Registers r;
    return r;
  }
  static Registers& reused() {
    static Registers r;
    return r;
  }
  static std::uint64_t& moves() {
    static std::uint64_t n = 0;
    return n;
  }
};

/// Laws of one SM's parts.
std::size_t laws_of_sm(const SchemeCase& c, const assembly::MachineConfig& machine) {
  // The L1's arbiter has a port for the load-store unit and for each shard.
  const std::size_t pipeline = 3, file = 2, l1 = 5, ports = machine.sm.schedulers + 1, arbiter = 2;
  if (c.scheme == "regless") {
    const bool compresses = c.name != "regless without compressors";
    return pipeline + ports + arbiter + (l1 - 2) + 8 + (compresses ? 4 : 3);
  }
  // A port more, for live-register vectors or registers in memory.
  const std::size_t arbitrated_l1 = 2 + arbiter + (l1 - 2);
  if (c.scheme == "vt_regmutex") return pipeline + file + l1 + 1;
  if (c.scheme == "finereg" || c.scheme == "finereg_um") return pipeline + file + arbitrated_l1 + 5;
  if (c.scheme == "reg_dram") return pipeline + file + arbitrated_l1 + 3;
  if (c.scheme == "register_sharing") return pipeline + file + l1 + 4;
  if (c.scheme == "scratchpad_sharing") return pipeline + file + l1 + 5;
  if (c.scheme == "warp_level_divergence") return pipeline + file + l1 + 2;
  if (c.scheme == "rfh") return pipeline + file + l1 + 4;
  if (c.scheme == "scratchpad_multiplexing") return pipeline + file + l1 + 4;
  if (c.name == "rfv that spills") return pipeline + file + arbitrated_l1 + 6 + 7;
  if (c.scheme == "rfv") return pipeline + file + l1 + 6;
  const bool reuses = c.scheme == "wir" && c.name != "wir affine";
  return pipeline + file + l1 + (reuses ? 2 : 0);
}

/// Statistics that count waits of the scheme's blocks.
std::size_t waits_of(const SchemeCase& c) {
  if (c.scheme == "regless") return c.name == "regless without compressors" ? 5 : 11;
  if (c.scheme == "wir") return c.name == "wir affine" ? 1 : 13;
  if (c.scheme == "rfv") return 5;
  if (c.scheme == "rfh") return 3;
  if (c.scheme == "greener") return 5;
  if (c.scheme == "sleep_reg") return 4;
  if (c.scheme == "rc" || c.scheme == "rc_rar") return 4;
  if (c.scheme == "always_on" || c.scheme == "rar" || c.scheme == "wc" || c.scheme == "argo") return 3;
  if (c.scheme == "finereg" || c.scheme == "finereg_um") return 5;
  if (c.scheme == "reg_dram" || c.scheme == "vt_regmutex") return 3;
  if (c.scheme == "virtual_thread" || c.scheme == "vt_um") return 1;
  if (c.name == "register_sharing, dynamic") return 2;
  const std::set<std::string> one{"register_sharing", "scratchpad_sharing", "scratchpad_multiplexing",
                                  "warp_level_divergence"};
  return one.count(c.scheme);
}

/// What a scheme does to warps and CTAs is in the timeline, and nothing else is.
void check_gates(const SchemeCase& c, const SchemeRun& run, const test::PerfettoFacts& timeline) {
  std::map<std::string, std::uint64_t> warps = timeline.numbers("SM 0/warp slots/");
  for (const auto& [name, number] : timeline.numbers("SM 1/warp slots/")) warps[name] += number;
  // RegLess activates the region of a warp that it had closed.
  if (c.scheme == "regless") CHECK(warps["closed"] > 100);
  if (c.scheme == "baseline") CHECK(warps["closed"] == 0);
  CHECK((warps["inside"] != 0) == (run.machine.sm.scheduler == "two_level"));
  std::uint64_t out = 0;
  for (unsigned i = 0; i < run.sms; ++i) {
    const std::string sm = "SM " + std::to_string(i) + "/CTA slots/";
    const auto phases = timeline.numbers(sm);
    std::uint64_t left = 0;
    for (const char* phase : {"draining", "quiesced", "parked"}) left += phases.count(phase) != 0 ? 1 : 0;
    out += left;
  }
  const bool switches = run.result.stats.at("sm0.pipeline").contains("cta_switches_out") &&
                        run.stat("sm*.pipeline", "cta_switches_out") != 0;
  CHECK((out != 0) == switches);
  CHECK((warps["switched out"] != 0) == switches);
}

void check(const SchemeCase& c) {
  const test::Folder folder;
  const std::string trace = test::annotate_events(folder, c.warp_size);
  const Registers traced = of_trace(trace);
  assembly::Recording recording;
  recording.timeline_file = folder.file("t.pftrace");
  recording.timeline_sample_cycles = 700;
  const SchemeRun run = test::run_scheme_on(
      trace, c, [](assembly::SmParts& parts) { parts.observers.push_back(std::make_unique<Watcher>()); }, recording);
  CAPTURE(c.name);
  const test::PerfettoFacts timeline = test::check_perfetto(folder.read("t.pftrace"));
  test::check_timeline(timeline, run.result.stats, run.sms, run.warp_size);
  check_gates(c, run, timeline);
  const auto& memory = run.machine.memory;
  CHECK(run.result.laws == run.sms * laws_of_sm(c, run.machine) + 9 + 3 * memory.l2.partitions);

  CHECK(run.waits.size() == waits_of(c));

  const Registers &issued = Watcher::issued(), &reused = Watcher::reused();
  CHECK(issued.read == traced.read);
  CHECK(issued.written == traced.written);
  CHECK((reused.written != 0) == (c.scheme == "wir" && c.name != "wir affine"));
  const std::string storage = c.scheme == "regless" ? "sm*.osu.shard*.bank*" : "sm*.register_file";
  // A move reads the register that it writes.
  CHECK(run.stat(storage, "reads") == double(traced.read - reused.read + Watcher::moves()));
  const double dropped = run.stat("sm*.pipeline.writeback", "dropped");
  CHECK(run.stat("sm*.pipeline.writeback", "writes") + dropped == double(traced.written + Watcher::moves()));
  test::check_energy(c, run);
}

const test::ForEachScheme laws("laws and energy: all are checked, and the operands are the trace's", check);

}  // namespace
