// SPDX-License-Identifier: Apache-2.0
//
// What fuzzing found, minimised: each file of findings/<target>/ once more.
#include <regatta/test/catch.h>
#include <regatta/test/patience.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <vector>

#include "probes.h"
#include "watchdog.h"

using namespace regatta::test;
namespace fs = std::filesystem;

namespace {

void check_findings(const std::string& target, const std::function<void(const std::string&)>& probe) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(REGATTA_FINDINGS) / target)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  REQUIRE_FALSE(files.empty());
  Watchdog watchdog(target, std::chrono::seconds(60 * patience));
  for (const fs::path& file : files) {
    INFO(file.string());
    watchdog.restart(file.string());
    std::ifstream in(file, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    REQUIRE(!bytes.empty());
    CHECK_NOTHROW(probe(bytes));
  }
}

}  // namespace

TEST_CASE("launch files that fuzzing found") {
  check_findings("launch", [](const std::string& bytes) { probe_launch(bytes); });
}
