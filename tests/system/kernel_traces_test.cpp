// SPDX-License-Identifier: Apache-2.0
//
// What the traces of the kernels cost, on disk and in memory.
#include <regatta/test/catch.h>
#include <regatta/trace/verify.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "kernel_references.h"
#include "kernels.h"
#include "process.h"

using namespace regatta;
using test::Folder;
using test::Size;

TEST_CASE("traces are what the kernels do, and have at most 40 bytes a warp instruction on average") {
  double sum = 0;
  const auto kernels = test::some_of(test::kernel_names(), 5);
  for (const std::string& kernel : kernels) {
    const Folder folder;
    const std::string path = test::annotate_kernel(folder, kernel, Size::small);
    const trace::Reader reader(path);
    std::uint64_t instructions = 0;
    for (const trace::Launch& l : reader.launches()) instructions += l.warp_instructions;
    REQUIRE(instructions > 0);
    CHECK_NOTHROW(trace::verify(reader, trace::VerifyDepth::program));
    sum += static_cast<double>(std::filesystem::file_size(path)) / static_cast<double>(instructions);
  }
  const double mean = sum / static_cast<double>(kernels.size());
  CAPTURE(mean);
  REQUIRE(mean <= 40);
}

#ifdef REGATTA_FULL_SIZE
TEST_CASE("reading a trace of five million warp instructions takes less than 400 MiB") {
  const Folder folder;
  const std::string path = test::annotate_kernel(folder, "pathfinder", Size::full);
  const auto run = test::run_process({REGATTA_SIM, path, "--replay", "--stats", folder.file("stats.json")});
  INFO(run.err);
  REQUIRE(run.status == 0);
  const auto stats = nlohmann::json::parse(folder.read("stats.json"));
  REQUIRE(stats.at("warp_instructions").get<std::uint64_t>() >= 5000000);
  const double peak = stats.at("host").at("peak_rss_mib").get<double>();
  REQUIRE(peak > 0);
  REQUIRE(peak < 400);
}
#endif
