// SPDX-License-Identifier: Apache-2.0
//
// Register files whose rows are switched, on whole programs.
#include <regatta/test/catch.h>

#include <nlohmann/json.hpp>

#include "kernels.h"
#include "process.h"
#include "statistics.h"

using namespace regatta;
using test::Folder;
using test::Size;

TEST_CASE("system: a file whose rows are always on is the conventional one, to the cycle") {
  const std::string kernel = GENERATE("vector_add", "bfs", "reduction", "sgemm", "hotspot");
  const std::string machine = GENERATE("gtx980", "gtx480");
  const Folder folder;
  const std::string trace = test::annotate_kernel(folder, kernel, Size::small);
  const auto baseline = test::statistics_of(folder, trace, {"--machine", machine});
  const auto gated = test::statistics_of(folder, trace, {"--machine", machine, "--scheme", "always_on"});
  CAPTURE(kernel, machine);
  CHECK(gated.at("cycles") == baseline.at("cycles"));
  CHECK(gated.at("stall_cycles") == baseline.at("stall_cycles"));
  CHECK(gated.at("checks") == baseline.at("checks"));
  CHECK(gated.at("energy").at("total_nj").get<double>() ==
        Approx(baseline.at("energy").at("total_nj").get<double>()).epsilon(1e-9));
}
