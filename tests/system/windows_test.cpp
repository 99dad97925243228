// SPDX-License-Identifier: Apache-2.0
//
// Whole GPUs: neither the window of cycles in which an SM runs alone nor the threads that run SMs change a result.
#include <regatta/schemes/schemes.h>
#include <regatta/test/catch.h>

#include <nlohmann/json.hpp>

#include <filesystem>

#include "folder.h"
#include "kernels.h"
#include "process.h"

using namespace regatta;
using test::Folder;

namespace windows {
namespace {

using Words = std::vector<std::string>;

test::ProcessResult call(const char* program, Words words) {
  words.insert(words.begin(), program);
  return test::run_process(words);
}

std::string annotate(const Folder& folder, const std::string& kernel) {
  const std::string out = folder.file(kernel + ".rgt");
  const auto r =
      call(REGATTA_ANNOTATE, {"--launch", test::launch_path(kernel, test::Size::small), "--out", out, "--for", "all"});
  INFO(r.err);
  REQUIRE(r.status == 0);
  return out;
}

/// All statistics of a run, as text: what the host's time has to do with is left out.
std::string results(const Folder& folder, const std::string& trace, const Words& options) {
  Words words{trace, "--all-stats", "--stats", folder.file("stats.json")};
  words.insert(words.end(), options.begin(), options.end());
  const auto r = call(REGATTA_SIM, words);
  INFO(r.err);
  REQUIRE(r.status == 0);
  auto stats = nlohmann::ordered_json::parse(folder.read("stats.json"));
  CHECK(stats.at("checks").at("operands_checked") > 0);
  CHECK(stats.at("checks").at("mismatches") == 0);
  stats.erase("host");
  return stats.dump(1);
}

/// On six SMs of the machine of the scheme's paper.
void same_results(const Folder& folder, const std::string& trace, const std::string& scheme) {
  CAPTURE(trace, scheme);
  const auto run = [&](Words more) {
    more.insert(more.end(), {"--scheme", scheme, "--sms", "6"});
    return results(folder, trace, more);
  };
  const std::string expected = run({"--window", "1"});
  CHECK(run({}) == expected);
  CHECK(run({"--window", "5", "--quantum", "37"}) == expected);
  CHECK(run({"--threads", "3", "--hold-up", "7"}) == expected);
}

void all_schemes_on(const std::string& kernel) {
  const Folder folder;
  const std::string trace = annotate(folder, kernel);
  const assembly::SchemeRegistry registry = schemes::all();
  for (const auto& scheme : registry.schemes()) same_results(folder, trace, scheme->name());
}

}  // namespace

TEST_CASE("windows: every scheme on scan, whose CTAs wait at barriers") { all_schemes_on("scan"); }
TEST_CASE("windows: every scheme on spmv, whose accesses fill the queues of the interconnect", REGATTA_MORE) {
  all_schemes_on("spmv");
}
TEST_CASE("windows: every scheme on bfs, which has many launches", REGATTA_MORE) { all_schemes_on("bfs"); }

TEST_CASE("windows: pairs of schemes, and small queues") {
  const Folder folder;
  const std::string trace = annotate(folder, "histogram");
  for (const char* pair : {"finereg+greener", "rfv+sleep_reg"}) same_results(folder, trace, pair);
  const auto run = [&](Words more) {
    more.insert(more.end(), {"--sms", "9", "--interconnect.queue", "1", "--interconnect.latency", "2",
                             "--l1.fill_queue", "1", "--l1.response_queue", "1", "--l2.queue", "1",
                             "--l2.response_queue", "1", "--l1.data_policy", "cache"});
    return results(folder, trace, more);
  };
  const std::string expected = run({"--window", "1"});
  CHECK(run({}) == expected);
  CHECK(run({"--threads", "2", "--hold-up", "3"}) == expected);
}

TEST_CASE("windows: samples, cycles by instruction and a file of all SMs") {
  const Folder folder;
  const std::string trace = annotate(folder, "scan");
  const auto run = [&](Words more) {
    more.insert(more.end(), {"--sms", "4", "--sample-file", folder.file("s.csv"), "--sample", "100"});
    const std::string all = results(folder, trace, more);
    return all + folder.read("s.csv");
  };
  const std::string expected = run({"--window", "1"});
  CHECK(run({}) == expected);
  CHECK(run({"--threads", "2", "--hold-up", "3"}) == expected);
  // Recorders that share a file go by cycles, and change nothing.
  const std::string plain = results(folder, trace, {"--sms", "4"});
  CHECK(results(folder, trace, {"--sms", "4", "--threads", "2", "--cpi-ctas", folder.file("c.csv")}) == plain);
  CHECK(folder.read("c.csv").find("\n0,3,") != std::string::npos);
}

TEST_CASE("windows: the first wrong value is told, on one thread and on several") {
  const Folder folder;
  const std::string trace = annotate(folder, "scan");
  const auto run = [&](Words more) {
    more.insert(more.end(), {trace, "--machine", "gtx980", "--sms", "4", "--fault.sm", "2"});
    const auto r = call(REGATTA_SIM, more);
    CHECK(r.status == 3);
    CHECK(r.err.find("mismatch") != std::string::npos);
    return r.err;
  };
  const std::string expected = run({"--window", "1", "--fault.at", "read"});
  CHECK(run({"--fault.at", "read"}) == expected);
  CHECK(run({"--fault.at", "read", "--threads", "2"}) == expected);
}

}  // namespace windows
