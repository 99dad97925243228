// SPDX-License-Identifier: Apache-2.0
//
// What a careless or hostile user does to the tools: the cases stand in the text files of this folder.
#include <regatta/test/catch.h>

#include "cases.h"

using namespace regatta::test;

namespace {

void check_all(const std::string& name) {
  for (const HostileCase& c : read_cases(name)) {
#if defined(__SANITIZE_ADDRESS__)
    // A sanitizer reserves more addresses than any limit leaves it.
    if (c.memory_bytes != 0) continue;
#endif
    check_case(c);
  }
}

}  // namespace

TEST_CASE("hostile: options of regatta-annotate") { check_all("annotate_options.txt"); }
TEST_CASE("hostile: options of regatta-sim") { check_all("sim_options.txt"); }
TEST_CASE("hostile: options of regatta-trace") { check_all("trace_options.txt"); }
TEST_CASE("hostile: files that are read") { check_all("inputs.txt"); }
TEST_CASE("hostile: files that are written") { check_all("outputs.txt"); }
TEST_CASE("hostile: limits of memory and of file size") { check_all("limits.txt"); }

TEST_CASE("hostile: the suite holds 300 cases") {
  std::size_t cases = 0;
  for (const char* name :
       {"annotate_options.txt", "sim_options.txt", "trace_options.txt", "inputs.txt", "outputs.txt", "limits.txt"}) {
    cases += read_cases(name).size();
  }
  CHECK(cases >= 300);
}

TEST_CASE("hostile: patterns") {
  CHECK(matches("", ""));
  CHECK(matches("*", "any"));
  CHECK(matches("a*c*e", "abcde"));
  CHECK(matches("a*a", "aba"));
  CHECK_FALSE(matches("a", "ab"));
  CHECK_FALSE(matches("a*b", "abc"));
  CHECK_FALSE(matches("", "a"));
}
