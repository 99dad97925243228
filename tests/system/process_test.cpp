// SPDX-License-Identifier: Apache-2.0
#include "process.h"

#include <regatta/test/catch.h>

using regatta::test::ProcessOptions;
using regatta::test::run_process;

TEST_CASE("processes: a program's streams and status") {
  const auto r = run_process({"/bin/sh", "-c", "echo out; echo err >&2; exit 3"});
  CHECK(r.out == "out\n");
  CHECK(r.err == "err\n");
  CHECK(r.status == 3);
  CHECK(r.signal == 0);
}

TEST_CASE("processes: a program that ends silently with 127 is told from one that cannot be run") {
  CHECK(run_process({"/bin/sh", "-c", "exit 127"}).status == 127);
  CHECK_THROWS_WITH(run_process({"/nowhere/program"}), "cannot run /nowhere/program: No such file or directory");
  CHECK_THROWS_WITH(run_process({"/"}), "cannot run /: Permission denied");
  ProcessOptions elsewhere;
  elsewhere.directory = "/nowhere";
  CHECK_THROWS_WITH(run_process({"/bin/sh", "-c", "exit 0"}, elsewhere),
                    "cannot run /bin/sh: No such file or directory");
}

TEST_CASE("processes: a signal ends a program, and one that takes too long is killed") {
  const auto ended = run_process({"/bin/sh", "-c", "kill -TERM $$"});
  CHECK(ended.signal == 15);
  CHECK(ended.status == -1);
  ProcessOptions o;
  o.timeout_seconds = 0;
  CHECK(run_process({"/bin/sh", "-c", "while :; do :; done"}, o).signal == 9);
}
