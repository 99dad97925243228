// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/threads.h>
#include <regatta/test/catch.h>

#include <sched.h>

#include <cstdlib>
#include <string>

namespace threads {

namespace {

struct Variable {
  explicit Variable(const char* value) { setenv("REGATTA_THREADS", value, 1); }
  ~Variable() { unsetenv("REGATTA_THREADS"); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
};

}  // namespace

TEST_CASE("threads: as many as the processors that the process may run on") {
  const Variable none("");
  cpu_set_t all, one;
  REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
  CHECK(regatta::base::threads() == static_cast<unsigned>(CPU_COUNT(&all)));
  CPU_ZERO(&one);
  int first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  CPU_SET(first, &one);
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  CHECK(regatta::base::threads() == 1);
  REQUIRE(sched_setaffinity(0, sizeof all, &all) == 0);
}

TEST_CASE("threads: as the environment says") {
  const Variable seven("7");
  CHECK(regatta::base::threads() == 7);
}

TEST_CASE("threads: what the environment says must be a number of threads") {
  const char* const bad = GENERATE("0", "-1", "1025", "two", "99999999999999999999");
  const Variable variable(bad);
  CHECK_THROWS_WITH(regatta::base::threads(),
                    "REGATTA_THREADS: found '" + std::string(bad) + "', expected a number from 1 to 1024");
}

}  // namespace threads
