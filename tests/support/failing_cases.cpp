// SPDX-License-Identifier: Apache-2.0
// Cases that pass, fail and end the process: what session_test.sh runs.
#include <regatta/test/catch.h>

#include <cstdlib>

TEST_CASE("passes, \"quoted\", with [brackets]") { CHECK(true); }
TEST_CASE("fails") { CHECK(1 == 2); }
TEST_CASE("aborts") { std::abort(); }
TEST_CASE("passes again") { CHECK(true); }
TEST_CASE("more of the same", REGATTA_MORE) { CHECK(true); }
