// SPDX-License-Identifier: Apache-2.0
//
// Sweeps of memory latency, cache size and bandwidth: more of what is good never hurts, where theory says so.
//
// It does for one warp whose loads wait for each other: nothing can change places, so every cycle of latency is paid by
// every load, and under LRU a cache with more sets keeps all that a smaller one kept. It does not for a whole kernel:
// a load that comes back earlier lets another warp go first, and the order in which warps meet the caches and the
// DRAM's rows is another one from there on. Such anomalies are those of list scheduling; they stay small, and the trend
// holds.
#include <regatta/test/catch.h>
#include <regatta/test/trace_builder.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <random>

#include "kernels.h"
#include "process.h"

using namespace regatta;
using test::Folder;

namespace {

struct Run {
  std::uint64_t cycles = 0;
  std::uint64_t l1_misses = 0;
  std::uint64_t l2_fetches = 0;
};

Run simulate(const Folder& folder, const std::string& trace, std::vector<std::string> options) {
  std::vector<std::string> command{REGATTA_SIM, trace, "--stats", folder.file("stats.json")};
  command.insert(command.end(), options.begin(), options.end());
  const auto run = test::run_process(command);
  INFO(run.err);
  REQUIRE(run.status == 0);
  const auto document = nlohmann::json::parse(folder.read("stats.json"));
  Run r;
  r.cycles = document.at("cycles");
  for (const auto& [path, group] : document.at("stats").items()) {
    if (path.find(".l1") != std::string::npos) r.l1_misses += group.value("read_misses", std::uint64_t{0});
    if (path.rfind("memory.l2", 0) == 0) r.l2_fetches += group.value("fetches", std::uint64_t{0});
  }
  return r;
}

constexpr unsigned loads = 400;

/// One warp, `loads` loads of one sector each, each of which needs the one before, from 1024 lines in random order.
std::string chain_trace(const Folder& folder) {
  test::TraceBuilder b;
  b.op(trace::OpClass::int_add, {1}, {});
  const std::uint32_t load = b.load(trace::MemorySpace::global, 1, 1);
  const std::uint32_t exit = b.exit();
  b.launch(1, 32);
  b.begin_cta();
  b.begin_warp();
  b.execute(0);
  std::mt19937_64 random(5);
  for (unsigned i = 0; i < loads; ++i) {
    // Most of them come back soon, some late.
    const std::uint64_t line = random() % 4 == 0 ? random() % 1024 : random() % 96;
    b.execute(load, 0, std::vector<std::uint64_t>(64, 0x100000 + line * 128));
  }
  b.execute(exit);
  b.end_warp();
  b.end_cta();
  return b.write(folder.file("chain"));
}

using Options = std::function<std::vector<std::string>(std::uint64_t)>;

std::vector<Run> sweep(const Folder& folder, const std::string& trace, const std::string& machine,
                       const std::vector<std::uint64_t>& values, const Options& options) {
  std::vector<Run> runs;
  for (const std::uint64_t v : values) {
    std::vector<std::string> all = options(v);
    all.insert(all.end(), {"--machine", machine});
    runs.push_back(simulate(folder, trace, all));
  }
  return runs;
}

std::vector<std::string> knob(const std::string& name, std::uint64_t value) {
  return {"--" + name, std::to_string(value)};
}

/// The way to the L2 is part of the way to DRAM.
std::vector<std::string> l2_latency(std::uint64_t value) {
  return {"--l2.latency", std::to_string(value), "--dram.latency", std::to_string(value + 300)};
}

std::vector<std::string> cached_l1(std::uint64_t kib) {
  return {"--l1.data_policy", "cache", "--l1.size_bytes", std::to_string(kib * 1024)};
}

void check_chain(const std::string& machine) {
  const Folder folder;
  const std::string trace = chain_trace(folder);
  CAPTURE(machine);
  {
    const auto runs = sweep(folder, trace, machine, {500, 600, 800}, [](auto v) { return knob("dram.latency", v); });
    for (std::size_t i = 1; i < runs.size(); ++i) {
      // Each miss pays in full; the DRAM's clock may round either way.
      const std::uint64_t step = i == 1 ? 100 : 200;
      const std::uint64_t misses = runs[i].l2_fetches;
      REQUIRE(misses > 50);
      REQUIRE(runs[i - 1].l2_fetches == misses);
      const std::uint64_t more = runs[i].cycles - runs[i - 1].cycles;
      REQUIRE(more >= misses * (step - 1));
      REQUIRE(more <= misses * (step + 1));
    }
  }
  {
    const auto bypass = [](std::uint64_t v) {
      auto o = l2_latency(v);
      o.insert(o.end(), {"--l1.data_policy", "bypass"});
      return o;
    };
    const auto runs = sweep(folder, trace, machine, {200, 250, 400}, bypass);
    for (std::size_t i = 1; i < runs.size(); ++i) {
      const std::uint64_t step = i == 1 ? 50 : 150;
      const std::uint64_t more = runs[i].cycles - runs[i - 1].cycles;
      REQUIRE(more >= loads * step - runs[i].l2_fetches);
      REQUIRE(more <= loads * step + runs[i].l2_fetches);
    }
  }
  {
    const auto runs = sweep(folder, trace, machine, {4, 8, 16, 32, 64, 128, 256}, [](auto v) { return cached_l1(v); });
    for (std::size_t i = 1; i < runs.size(); ++i) {
      REQUIRE(runs[i].l1_misses <= runs[i - 1].l1_misses);
      REQUIRE(runs[i].cycles <= runs[i - 1].cycles);
    }
    REQUIRE(runs.back().l1_misses < runs.front().l1_misses);
    REQUIRE(runs.back().cycles < runs.front().cycles);
  }
  {
    const auto runs = sweep(folder, trace, machine, {96, 192, 384, 1536, 6144, 12288},
                            [](auto v) { return knob("l2.size_bytes", v * 1024); });
    for (std::size_t i = 1; i < runs.size(); ++i) REQUIRE(runs[i].l2_fetches <= runs[i - 1].l2_fetches);
    REQUIRE(runs.back().l2_fetches < runs.front().l2_fetches);
  }
  {
    const auto runs =
        sweep(folder, trace, machine, {2, 10, 50, 200, 800}, [](auto v) { return knob("dram.bandwidth", v * 1000); });
    for (std::size_t i = 1; i < runs.size(); ++i) REQUIRE(runs[i].cycles <= runs[i - 1].cycles);
    REQUIRE(runs.back().cycles < runs.front().cycles);
  }
}

/// A step of a whole kernel the wrong way, as a share of its cycles, that scheduling anomalies explain.
constexpr double anomaly = 0.05;

void check_kernel(const std::string& kernel, const std::string& machine) {
  const Folder folder;
  const std::string trace = test::annotate_kernel(folder, kernel, test::Size::small);
  CAPTURE(kernel, machine);
  const auto falls = [&](const std::vector<Run>& runs) {
    for (std::size_t i = 1; i < runs.size(); ++i) {
      REQUIRE(double(runs[i].cycles) <= double(runs[i - 1].cycles) * (1 + anomaly));
    }
    REQUIRE(runs.back().cycles <= runs.front().cycles);
  };
  falls(sweep(folder, trace, machine, {2400, 1200, 600}, [](auto v) { return knob("dram.latency", v); }));
  falls(sweep(folder, trace, machine, {800, 400, 200}, l2_latency));
  falls(sweep(folder, trace, machine, {4, 16, 64, 256}, cached_l1));
  falls(
      sweep(folder, trace, machine, {256, 1024, 4096, 16384}, [](auto v) { return knob("l2.size_bytes", v * 1024); }));
  falls(sweep(folder, trace, machine, {25, 100, 400}, [](auto v) { return knob("dram.bandwidth", v * 1000); }));
}

}  // namespace

TEST_CASE("sweeps of a chain of loads are monotone on gtx980") { check_chain("gtx980"); }
TEST_CASE("sweeps of a chain of loads are monotone on gtx480") { check_chain("gtx480"); }
TEST_CASE("sweeps of kernels go the right way on gtx980") {
  for (const char* kernel : {"hotspot", "bfs", "spmv", "stencil3d"}) check_kernel(kernel, "gtx980");
}
TEST_CASE("sweeps of kernels go the right way on gtx480") {
  for (const char* kernel : {"hotspot", "bfs", "spmv", "stencil3d"}) check_kernel(kernel, "gtx480");
}
