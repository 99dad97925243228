// SPDX-License-Identifier: Apache-2.0
//
// RegLess end to end: every kernel with every size of the operand staging units, with and without compressors, for one
// scheduler and for four; and random runs. Every operand is checked, nothing is lost, nothing locks up.
//
// REGATTA_REGLESS_RUNS says how many random runs (the default is few), REGATTA_SEED which.
#include <regatta/test/catch.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>

#include "dice.h"
#include "kernels.h"
#include "process.h"
#include "random_program.h"

using namespace regatta;
using test::Folder;

namespace regless_kernels {
namespace {

constexpr unsigned banks = 8;
constexpr unsigned most_lines = 31;  // that a region's words can say

/// A trace whose regions fit into `lines` lines per bank and half of `shard` entries.
std::string annotate(const Folder& folder, const std::string& launch, const std::string& name, unsigned lines,
                     unsigned registers) {
  const std::string trace = folder.file(name + "_" + std::to_string(lines) + "_" + std::to_string(registers) + ".rgt");
  const auto run = test::run_process({REGATTA_ANNOTATE, "--launch", launch, "--out", trace, "--region-bank-lines",
                                      std::to_string(lines), "--region-registers", std::to_string(registers)});
  INFO(launch << "\n" << run.err);
  REQUIRE(run.status == 0);
  return trace;
}

void check_sizes(const std::string& kernel) {
  const Folder folder;
  std::map<unsigned, std::string> traces;
  for (const unsigned entries : {128u, 192u, 256u, 384u, 512u, 1024u, 2048u}) {
    for (const unsigned schedulers : {1u, 4u}) {
      const unsigned shard = entries / schedulers;
      if (traces[shard].empty()) {
        traces[shard] = annotate(folder, test::launch_path(kernel, test::Size::small), kernel,
                                 std::min(shard / banks, most_lines), std::min(shard / 2, 248u));
      }
      for (const std::string compressor : {"true", "false"}) {
        CAPTURE(entries, schedulers, compressor);
        const auto run = test::run_process({REGATTA_SIM, traces[shard], "--scheme", "regless", "--osu.entries",
                                            std::to_string(entries), "--sm.schedulers", std::to_string(schedulers),
                                            "--compressor.enabled", compressor, "--stats", folder.file("stats.json")});
        INFO(run.err);
        REQUIRE(run.status == 0);
        const auto stats = nlohmann::json::parse(folder.read("stats.json"));
        REQUIRE(stats.at("ending") == "completed");
        REQUIRE(stats.at("checks").at("mismatches") == 0);
        REQUIRE(stats.at("checks").at("operands_checked") > 0);
      }
    }
  }
}

/// Knobs of the staging units and of what they share with others, many of them as small as they can be.
std::vector<std::string> random_knobs(test::Dice& dice, unsigned entries, unsigned schedulers) {
  std::vector<std::string> knobs{"--osu.entries", std::to_string(entries), "--sm.schedulers",
                                 std::to_string(schedulers)};
  const auto maybe = [&](const char* name, std::initializer_list<const char*> values) {
    if (!dice.one_in(2)) return;
    knobs.emplace_back(std::string("--") + name);
    knobs.emplace_back(dice.any(values));
  };
  maybe("compressor.enabled", {"true", "false"});
  maybe("compressor.lines", {"1", "2", "3", "16"});
  maybe("osu.writeback_buffer", {"4", "5", "16"});
  maybe("osu.request_queue", {"1", "2"});
  maybe("osu.write_queue", {"1", "3"});
  maybe("compressor.queue", {"1", "2"});
  maybe("compressor.fetches", {"1", "8"});
  maybe("capacity_manager.fall_through", {"1", "50"});
  maybe("capacity_manager.metadata_words", {"8", "30"});
  maybe("l1.size_bytes", {"2048", "4096", "16384"});
  maybe("l1.mshrs", {"1", "2", "8"});
  maybe("l1.miss_queue", {"1", "2"});
  maybe("l1.enabled", {"true", "false"});
  maybe("l1.data_policy", {"cache", "bypass"});
  maybe("lsu.queue", {"1", "2"});
  maybe("writeback.queue", {"1", "2", "16"});
  maybe("writeback.width", {"1", "2"});
  maybe("collector.units", {"1", "2"});
  maybe("fetch.width", {"1", "2", "4"});
  maybe("fetch.buffer_entries", {"1", "2", "8"});
  maybe("icache.enabled", {"true", "false"});
  maybe("icache.size_bytes", {"512", "1024"});
  maybe("interconnect.latency", {"1", "30"});
  maybe("l2.size_bytes", {"65536", "2097152"});
  maybe("sm.issue_width", {"1", "2"});
  maybe("sm.warps", {"8", "16", "64"});
  maybe("scheduler.active_warps", {"1", "2", "8"});
  return knobs;
}

}  // namespace

TEST_CASE("vector_add under regless", REGATTA_MORE) { check_sizes("vector_add"); }
TEST_CASE("sgemm under regless", REGATTA_MORE) { check_sizes("sgemm"); }
TEST_CASE("hotspot under regless") { check_sizes("hotspot"); }
TEST_CASE("bfs under regless") { check_sizes("bfs"); }
TEST_CASE("pathfinder under regless", REGATTA_MORE) { check_sizes("pathfinder"); }
TEST_CASE("needleman_wunsch under regless", REGATTA_MORE) { check_sizes("needleman_wunsch"); }
TEST_CASE("srad under regless", REGATTA_MORE) { check_sizes("srad"); }
TEST_CASE("stencil3d under regless", REGATTA_MORE) { check_sizes("stencil3d"); }
TEST_CASE("spmv under regless", REGATTA_MORE) { check_sizes("spmv"); }
TEST_CASE("black_scholes under regless", REGATTA_MORE) { check_sizes("black_scholes"); }
TEST_CASE("histogram under regless", REGATTA_MORE) { check_sizes("histogram"); }
TEST_CASE("reduction under regless") { check_sizes("reduction"); }

TEST_CASE("random runs of regless are clean or refused by a sentence") {
  const std::uint64_t count = test::from_environment("REGATTA_REGLESS_RUNS", test::times(10, 30));
  const std::uint64_t seed = test::from_environment("REGATTA_SEED", 1);
  const Folder folder;
  const std::vector<std::string> kernels{"bfs",  "hotspot", "histogram",       "reduction",
                                         "spmv", "sgemm",   "needleman_wunsch"};
  std::uint64_t finished = 0;
  std::map<std::string, unsigned> refusals;  // by the beginning of their sentence
  for (std::uint64_t i = 0; i < count; ++i) {
    test::Dice dice(seed * 1000003 + i);
    const unsigned schedulers = dice.any({1u, 2u, 4u});
    const unsigned lines = dice.any({3u, 4u, 4u, 5u, 6u, 8u, 12u, 16u, 24u});
    const unsigned entries = lines * banks * schedulers;
    // Now and then the regions are cut for a larger unit than there is.
    const unsigned cut_for = dice.one_in(5) ? lines + 1 + static_cast<unsigned>(dice.below(8)) : lines;
    const auto limit = static_cast<unsigned>(1 + dice.below(std::uint64_t{lines} * banks));
    const std::string launch =
        dice.one_in(3) ? test::launch_path(kernels[dice.below(kernels.size())], test::Size::small)
                       : test::random_program(folder, seed * 7919 + i, static_cast<unsigned>(1 + dice.below(24)));
    const std::string trace = annotate(folder, launch, "random", std::min(cut_for, most_lines), std::min(limit, 248u));
    std::vector<std::string> command{REGATTA_SIM,   trace,
                                     "--scheme",    "regless",
                                     "--sms",       std::to_string(1 + dice.below(3)),
                                     "--scheduler", dice.any({"lrr", "gto", "two_level"}),
                                     "--stats",     folder.file("stats.json")};
    const std::vector<std::string> knobs = random_knobs(dice, entries, schedulers);
    command.insert(command.end(), knobs.begin(), knobs.end());
    if (dice.one_in(3)) command.emplace_back("--check-protocol");
    const auto run = test::run_process(command);
    std::string line;
    for (const std::string& word : command) line += word + " ";
    INFO("seed " << seed << ", run " << i << ", random kernel " << seed * 7919 + i << ", regions of " << limit
                 << " registers, " << cut_for << " lines per bank\n"
                 << line << "\n"
                 << run.err);
    if (run.status == 2) {
      REQUIRE(run.err.rfind("regatta-sim: ", 0) == 0);
      REQUIRE(run.err.size() > 40);
      ++refusals[std::regex_replace(run.err.substr(13, 90), std::regex("[0-9]+|\\s+$"), "#")];
      continue;
    }
    REQUIRE(run.status == 0);
    const auto stats = nlohmann::json::parse(folder.read("stats.json"));
    REQUIRE(stats.at("ending") == "completed");
    REQUIRE(stats.at("checks").at("mismatches") == 0);
    ++finished;
  }
  std::cout << count << " runs: " << finished << " clean, " << count - finished << " refused\n";
  for (const auto& [sentence, times] : refusals) std::cout << "  " << times << " x " << sentence << "...\n";
  // A test that only met refusals would show nothing.
  REQUIRE(finished * 2 > count);
}

}  // namespace regless_kernels
