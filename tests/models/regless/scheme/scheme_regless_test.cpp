// SPDX-License-Identifier: Apache-2.0
//
// The scheme regless on kernels annotated by hand: what it reports, refuses, and says when it is stuck.
#include "harness.h"
#include "regless_support.h"

#include <regatta/regless/capacity_manager.h>
#include <regatta/schemes/schemes.h>
#include <regatta/trace/region_words.h>

#include "../capacity_manager/fake_staging.h"

#include <cmath>

using namespace regatta;
using Catch::Matchers::Contains;
using trace::LastUse;
using trace::OpClass;
using trace::RegionEntry;

namespace {

/// R0 is set, loaded through in a second region, and used up in a third; a barrier between. 3 regions per warp.
std::string annotated_trace(const std::string& name, bool with_words = true, unsigned warp_size = 32) {
  test::TraceBuilder b(warp_size);
  b.op(OpClass::constant_load, {0}, {});      // 0: region A
  b.op(OpClass::int_add, {1}, {0});           // 1
  b.load(trace::MemorySpace::global, 2, 1);   // 2
  b.barrier();                                // 3
  b.op(OpClass::fp32_mul, {3}, {2, 0});       // 4: region B
  b.op(OpClass::fp32_mul, {4}, {3, 2});       // 5
  b.store(trace::MemorySpace::global, 0, 4);  // 6: region C
  b.exit();                                   // 7
  if (with_words) {
    trace::RegionWords a;
    a.lines = {1, 1, 1};
    a.uses.resize(4);
    a.uses[1] = {LastUse::evict, LastUse::none, LastUse::none};
    a.uses[2] = {LastUse::erase, LastUse::evict, LastUse::none};
    test::add_region(b, 0, a);
    trace::RegionWords c;
    c.lines = {1, 0, 1, 1, 1};
    c.entries = {{RegionEntry::Kind::preload, 0}, {RegionEntry::Kind::invalidating_preload, 2}};
    c.uses.resize(2);
    c.uses[0] = {LastUse::none, LastUse::evict, LastUse::none};
    c.uses[1] = {LastUse::erase, LastUse::erase, LastUse::evict};
    test::add_region(b, 4, c);
    trace::RegionWords d;
    d.lines = {1, 0, 0, 0, 1};
    d.entries = {{RegionEntry::Kind::invalidating_preload, 0}, {RegionEntry::Kind::invalidating_preload, 4}};
    d.uses.resize(2);
    d.uses[0] = {LastUse::erase, LastUse::erase, LastUse::none};
    test::add_region(b, 6, d);
  }
  b.launch(6, 128);
  std::vector<std::uint64_t> addresses;
  for (unsigned lane = 0; lane < 64; ++lane) addresses.push_back(0x10000 + lane * 4);
  b.run_all(addresses);
  return b.write(name);
}

/// The scheme with its knobs as the command line sets them.
assembly::SimulationResult run(const std::string& path, const std::vector<std::pair<std::string, std::string>>& knobs,
                               assembly::MachineConfig machine = {}) {
  assembly::SchemeRegistry registry = schemes::all();
  assembly::Scheme& scheme = registry.get("regless");
  support::OptionSet options;
  scheme.declare(options);
  for (const auto& [name, value] : knobs) options.set(name, value, "test", name);
  return test::simulate(path, scheme, machine);
}

double number(const assembly::SimulationResult& r, const char* key) { return r.stats.at("regless").at(key); }

}  // namespace

TEST_CASE("regless: statistics of the scheme as a whole") {
  const auto r = run(annotated_trace("regless_stats"), {});
  test::require_clean(r);
  const unsigned warps = 6 * 4;
  CHECK(r.stats.count("sm0.register_file") == 0);
  CHECK(number(r, "regions.executed") == 3 * warps);
  CHECK(number(r, "regions.mean_instructions") == Approx(8.0 / 3));
  CHECK(number(r, "preloads") == 4 * warps);
  CHECK(number(r, "regions.mean_preloads") == Approx(4.0 / 3));
  double sources = 0;
  for (const char* s : {"osu", "compressor", "l1", "l2", "dram"}) {
    sources += number(r, (std::string("preload_source.") + s).c_str());
  }
  CHECK(sources == 4 * warps);
  // The compact form has one number for all banks, here the same.
  CHECK(number(r, "regions.mean_live") == Approx((3 + 4 + 2) / 3.0));
  CHECK(number(r, "regions.stddev_live") == Approx(std::sqrt((9 + 16 + 4) / 3.0 - 9)));
  CHECK(number(r, "regions.max_live") == 4);
  CHECK(number(r, "regions.mean_preload_cycles") > 0);
  CHECK(number(r, "regions.mean_drain_cycles") > 0);
  CHECK(number(r, "metadata_instructions") == 3 * warps);
  CHECK(number(r, "osu.reads") == warps * (0 + 1 + 1 + 2 + 2 + 2));
  CHECK(number(r, "osu.writes") == warps * 5);
  CHECK(number(r, "warps_active") > 0);
  CHECK(number(r, "warps_active") < 64);
  for (const char* key :
       {"l1_requests_per_cycle.preload", "l1_requests_per_cycle.evict", "l1_requests_per_cycle.invalidate",
        "compressor.matched.constant", "compressor.matched.stride1", "compressor.matched.stride4",
        "compressor.matched.half1", "compressor.matched.half4", "compressor.incompressible", "compressor.hits",
        "compressor.misses", "osu.conflicts", "osu.evictions"}) {
    CHECK(r.stats.at("regless").contains(key));
    CHECK(r.stat_descriptions.at("regless").contains(key));
  }
}

TEST_CASE("regless: laws of conservation are there for every part") {
  const auto with = run(annotated_trace("regless_laws"), {});
  test::require_clean(with);
  // 3 of the pipeline, 7 of the L1's arbiter, 5 of the memory, 12 of the scheme; one whose counter is missing is left
  // out.
  CHECK(with.laws >= 3 + 7 + 5 + 12);
}

TEST_CASE("regless: without compressors registers go to the L1 as they are") {
  const auto r = run(annotated_trace("regless_plain"), {{"compressor.enabled", "false"}, {"osu.entries", "64"}});
  test::require_clean(r);
  CHECK(number(r, "compressor.hits") == 0);
  CHECK(r.stats.count("sm0.compressor0") == 0);
  CHECK(number(r, "osu.evictions") > 0);
  CHECK(number(r, "preload_source.compressor") == 0);
}

TEST_CASE("regless: as many warps are resident as the machine's register file holds, unless it is said") {
  assembly::MachineConfig m;
  // A warp of this kernel has 8 registers, a CTA 4 warps.
  m.register_file.registers = 64;
  const auto r = run(annotated_trace("regless_resident"), {}, m);
  test::require_clean(r);
  CHECK(r.stats.at("sm0.pipeline").at("resident_ctas_mean").get<double>() <= 2);
}

TEST_CASE("regless: backed registers bound how many warps are resident") {
  const auto r = run(annotated_trace("regless_backed"), {{"osu.backed_registers", "32"}});
  test::require_clean(r);
  CHECK(r.stats.at("sm0.pipeline").at("resident_ctas_mean").get<double>() <= 1);
}

TEST_CASE("regless: refuses warps of another width") {
  assembly::MachineConfig m;
  m.sm.lanes = 64;
  CHECK_THROWS_WITH(run(annotated_trace("regless_lanes"), {}, m), Contains("sm.lanes = 32, found 64"));
}

TEST_CASE("regless: refuses lines that are no warp register") {
  assembly::MachineConfig m;
  m.l1.line_bytes = 64;
  m.memory.l2.line_bytes = 64;
  CHECK_THROWS_WITH(run(annotated_trace("regless_lines"), {}, m), Contains("l1.line_bytes = 128, found 64"));
}

TEST_CASE("regless: refuses another number of banks than the words count") {
  CHECK_THROWS_WITH(run(annotated_trace("regless_banks"), {{"osu.banks", "4"}}), Contains("osu.banks = 8, found 4"));
}

TEST_CASE("regless: refuses units of the compressor that the program does not have") {
  CHECK_THROWS_WITH(run(annotated_trace("regless_units"), {{"compressor.implementation", "glass"}}),
                    Contains("compressor.implementation = glass") && Contains("expected one of: model"));
}

TEST_CASE("regless: refuses entries that do not divide") {
  CHECK_THROWS_WITH(run(annotated_trace("regless_entries"), {{"osu.entries", "100"}}), Contains("osu.entries = 100"));
}

TEST_CASE("regless: refuses a trace without region words") {
  CHECK_THROWS_WITH(run(annotated_trace("regless_bare", false), {}), Contains("regatta-annotate"));
}

TEST_CASE("regless: refuses a region that a bank cannot hold") {
  test::TraceBuilder b;
  for (unsigned i = 0; i < 4; ++i) b.op(OpClass::constant_load, {8 * i}, {});
  b.exit();
  trace::RegionWords words;
  words.lines = {4};
  words.uses.resize(5);
  test::add_region(b, 0, words);
  b.launch(1, 32);
  b.run_all();
  const std::string path = b.write("regless_bank");
  CHECK_THROWS_WITH(run(path, {{"osu.entries", "96"}}), Contains("needs 4 lines") && Contains("--region-bank-lines 3"));
}

TEST_CASE("regless: a run that locks up says what each warp waits for") {
  // A staging unit that never acknowledges, over a register file that serves the operands.
  class Silent : public test::FakeStaging {
   public:
    using FakeStaging::FakeStaging;
    void preload(protocol::WarpSlot, protocol::RegisterId, bool) override {}
  };
  const std::string path = annotated_trace("regless_stuck");
  test::FunctionScheme scheme([](const assembly::BuildContext& c) {
    assembly::SmParts parts = assembly::baseline_parts(c);
    auto manager = std::make_unique<models::CapacityManager>("capacity_manager", models::CapacityManagerConfig{},
                                                             c.machine.sm.schedulers, c.clock);
    for (unsigned s = 0; s < c.machine.sm.schedulers; ++s) {
      auto unit = std::make_unique<Silent>(("silent" + std::to_string(s)).c_str(), 16, c.clock, [] { return 1u; });
      manager->staging(s).bind(*unit);
      parts.modules.push_back(std::move(unit));
    }
    parts.describe_stuck = [m = manager.get()] { return m->describe_stuck(); };
    parts.decode_point = manager.get();
    parts.gates.push_back(std::move(manager));
    return parts;
  });
  const auto r = test::simulate(path, scheme);
  CHECK(r.ending == assembly::Ending::deadlock);
  CHECK_THAT(r.message,
             Contains("capacity_manager.shard0 warp 0: preloading, 2 not acknowledged, region at instruction 4"));
  CHECK_THAT(r.message, Contains("unreserved lines by bank: "));
}
