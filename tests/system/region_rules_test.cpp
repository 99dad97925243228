// SPDX-License-Identifier: Apache-2.0
//
// The paper's own algorithm for soft definitions on a real kernel: it lets a value die that lanes still read, and the
// simulation says where. (What the algorithm misses: compiler/passes/README.md.)
#include <regatta/test/catch.h>

#include "kernels.h"
#include "process.h"

using namespace regatta;

namespace {

test::ProcessResult simulate(const test::Folder& folder, const std::string& rule) {
  const std::string trace = folder.file(rule + ".rgt");
  const auto run = test::run_process({REGATTA_ANNOTATE, "--launch", test::launch_path("reduction", test::Size::small),
                                      "--out", trace, "--region-lanes", rule});
  REQUIRE(run.status == 0);
  return test::run_process({REGATTA_SIM, trace, "--scheme", "regless"});
}

}  // namespace

TEST_CASE("a reduction whose soft definitions are found as printed computes something else") {
  const test::Folder folder;
  for (const std::string rule : {"printed", "mended"}) {
    CAPTURE(rule);
    const test::ProcessResult r = simulate(folder, rule);
    CHECK(r.status == 3);
    CHECK(r.err.find("value mismatch: kernel reduction") != std::string::npos);
  }
  const test::ProcessResult right = simulate(folder, "every-path");
  CHECK(right.status == 0);
  CHECK(right.out.find("mismatches: 0") != std::string::npos);
}
