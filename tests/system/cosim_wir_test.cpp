// SPDX-License-Identifier: Apache-2.0
//
// RTL in place of WIR's value signature buffer and reuse buffer in whole runs: values, and statistics equal to the
// models'. REGATTA_COSIM_KERNELS=all runs all twelve kernels.
#include <regatta/test/catch.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "twin_statistics.h"

using namespace regatta;
using Catch::Matchers::Contains;
using test::Folder;

namespace {

struct BufferRuns {
  std::string machine = "gtx480";
  std::vector<std::string> knobs;
  unsigned lanes = 32;
};

std::vector<std::string> wir_command(const std::string& trace, const BufferRuns& r, const std::string& reuse,
                                     const std::string& signatures) {
  std::vector<std::string> words{REGATTA_SIM,
                                 trace,
                                 "--machine",
                                 r.machine,
                                 "--scheme",
                                 "wir",
                                 "--reuse_buffer.implementation",
                                 reuse,
                                 "--vsb.implementation",
                                 signatures};
  words.insert(words.end(), r.knobs.begin(), r.knobs.end());
  return words;
}

nlohmann::json run_buffers(const Folder& folder, const std::string& trace, const BufferRuns& r,
                           const std::string& implementation) {
  const auto words = wir_command(trace, r, implementation, implementation);
  return test::statistics_of(folder, trace, {words.begin() + 2, words.end()});
}

/// The twins' statistics are taken out of `groups` and returned.
nlohmann::json take_twins(nlohmann::json& groups) {
  nlohmann::json twins = nlohmann::json::object();
  for (auto it = groups.begin(); it != groups.end();) {
    if (it.key().find("_twin") == std::string::npos) {
      ++it;
      continue;
    }
    twins[it.key()] = it.value();
    it = groups.erase(it);
  }
  return twins;
}

/// Returns the statistics.
nlohmann::json check_buffers(const std::string& kernel, const BufferRuns& r = {}) {
  const Folder folder;
  CAPTURE(kernel, r.knobs);
  const std::string trace = test::annotate_kernel(folder, kernel, test::Size::small, r.lanes);
  auto model = run_buffers(folder, trace, r, "model");
  CHECK(take_twins(model.at("stats")).empty());
  for (const std::string implementation : {"rtl", "lockstep"}) {
    auto stats = run_buffers(folder, trace, r, implementation);
    const auto twins = take_twins(stats.at("stats"));
    CHECK(stats.at("stats") == model.at("stats"));
    CHECK(stats.at("cycles") == model.at("cycles"));
    REQUIRE(twins.size() == 2);
    for (const auto& [name, group] : twins.items()) {
      const double operations = group.at("rtl_operations");
      CHECK(operations > 0);
      CHECK(group.at("lockstep_compared") == (implementation == "lockstep" ? operations : 0));
      std::printf("%s, %s: %s, %.0f operations\n", kernel.c_str(), implementation.c_str(), name.c_str(), operations);
    }
  }
  return model.at("stats");
}

void refused(const BufferRuns& r, const std::string& reuse, const std::string& signatures, const std::string& why) {
  const Folder folder;
  const std::string trace = test::annotate_kernel(folder, "vector_add", test::Size::small);
  const auto run = test::run_process(wir_command(trace, r, reuse, signatures));
  CHECK(run.status == 2);
  CHECK_THAT(run.err, Contains(why));
}

}  // namespace

TEST_CASE("kernels with WIR's buffers in RTL") {
  std::vector<std::string> kernels{"sgemm", "bfs", "hotspot", "pathfinder"};
  if (test::every_cosim_kernel()) {
    kernels.insert(kernels.end(), {"vector_add", "needleman_wunsch", "srad", "stencil3d", "spmv", "black_scholes",
                                   "histogram", "reduction"});
  }
  for (const std::string& kernel : kernels) check_buffers(kernel);
}

TEST_CASE("WIR's buffers in RTL: without pending-retry, results are entered at retirement") {
  check_buffers("sgemm", {"gtx480", {"--wir.model", "rl"}, 32});
}
TEST_CASE("WIR's buffers in RTL: registers are scarce, and entries are given up") {
  const auto stats =
      check_buffers("sgemm", {"gtx480", {"--wir.physical_registers", "288", "--wir.recount", "100"}, 32});
  CHECK(stats.at("sm0.wir.reuse_buffer").at("low_evictions") > 0);
  CHECK(stats.at("sm0.wir.vsb").at("low_evictions") > 0);
}
TEST_CASE("WIR's buffers in RTL: pairs, with checkers between the blocks") {
  check_buffers("srad", {"gtx980", {"--reuse_buffer.pairs", "true", "--check-protocol"}, 32});
}
TEST_CASE("WIR's buffers in RTL: 64 lanes") { check_buffers("bfs", {"hd7770", {}, 64}); }

TEST_CASE("WIR's buffers in RTL: shapes that they are not built for are refused") {
  refused({"gtx480", {"--reuse_buffer.entries", "128"}, 32}, "rtl", "model",
          "reuse_buffer.implementation is one in RTL, and reuse_buffer.entries = 128; expected 256");
  refused({"gtx480", {"--reuse_buffer.associative", "true"}, 32}, "lockstep", "model",
          "reuse_buffer.associative = true; expected false");
  refused({"gtx480", {"--wir.model", "affine"}, 32}, "lockstep", "model", "this configuration has no reuse buffer");
  refused({"gtx480", {"--vsb.entries", "32"}, 32}, "model", "rtl", "vsb.entries = 32; expected 256");
  refused({"gtx480", {"--wir.hash_bits", "16"}, 32}, "model", "rtl", "wir.hash_bits = 16; expected 32");
  refused({"gtx480", {"--wir.model", "novsb"}, 32}, "model", "lockstep",
          "this configuration has no value signature buffer");
}
