// SPDX-License-Identifier: Apache-2.0
//
// The kernels as machine code of sm_90: they compute what their references do, and their traces run on a machine of
// that generation and on an older one without a wrong operand.
#include <regatta/test/catch.h>

#include <filesystem>
#include <set>
#include <string>

#include "kernel_references.h"
#include "kernels.h"
#include "statistics.h"

using namespace regatta;
using test::Expected;
using test::Folder;
using test::Size;

namespace {

void check_target(const std::string& kernel, test::Ptx ptx = test::Ptx::nvcc) {
  INFO(kernel);
  const auto expected = test::expected_results(kernel, Size::small);
  REQUIRE(!expected.empty());
  const Folder folder;
  tool::AnnotateOptions o;
  o.launch = test::launch_path(kernel, Size::small);
  o.ptx = test::ptx_path(kernel, ptx);
  o.target = "sm_90";
  o.out = folder.file("k.rgt");
  for (const Expected& e : expected) o.dumps.emplace_back(e.buffer, folder.file(e.buffer));
  tool::annotate(o);
  for (const Expected& e : expected) CHECK(test::compare(e, folder.read(e.buffer)) == "");
  test::statistics_of(folder, o.out, {"--machine", "h100"});
  if (!test::uses_tensor_cores(kernel)) test::statistics_of(folder, o.out, {"--machine", "gtx980"});
}

/// With branches, loops, divisions and roots, and launches that depend on each other.
const std::set<std::string> usual{"bfs", "black_scholes", "hotspot", "lud", "srad"};

}  // namespace

TEST_CASE("kernels that a target changes most compute what their references do") {
  for (const std::string& kernel : usual) check_target(kernel);
}

TEST_CASE("all kernels as code of sm_90 compute what their references do", REGATTA_MORE) {
  for (const std::string& kernel : test::kernel_names())
    if (usual.count(kernel) == 0) check_target(kernel);
}

TEST_CASE("clang's PTX as code of sm_90 computes what its references do", REGATTA_MORE) {
  unsigned checked = 0;
  for (const std::string& kernel : test::kernel_names()) {
    if (!std::filesystem::exists(test::ptx_path(kernel, test::Ptx::sm35))) continue;
    check_target(kernel, test::Ptx::sm35);
    ++checked;
  }
  CHECK(checked >= 17);
}
