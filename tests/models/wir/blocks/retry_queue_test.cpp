// SPDX-License-Identifier: Apache-2.0
//
// The block by itself, driven over its ports only, as a test bench of an RTL twin would.
#include "blocks_bench.h"

using namespace regatta::test::wir_blocks;

TEST_CASE("retry queue alone: a FIFO of limited length") {
  RetryBench r(RetryBench::places(3));
  block_run_to(10);
  CHECK(r.head() == nullptr);
  CHECK(r.push(r.a));
  CHECK(r.push(r.b));
  CHECK(r.push(r.c));
  CHECK_FALSE(r.push(r.d));
  CHECK(stat_of(r.queue, "queued") == 3);
  CHECK(stat_of(r.queue, "full") == 1);
  for (DynamicInstruction* const expected : {&r.a, &r.b, &r.c}) {
    CHECK(r.head() == expected);
    r.user.access->pop(false);
  }
  CHECK(r.head() == nullptr);
  CHECK(r.push(r.d));
  CHECK(r.head() == &r.d);
  CHECK(r.skipped == 0);
  CHECK(stat_of(r.queue, "queued") == 4);
}

TEST_CASE("retry queue alone: one retries per cycle, and goes to the tail if its result is pending") {
  RetryBench r(RetryBench::places(4));
  block_run_to(10);
  r.push(r.a);
  r.push(r.b);
  r.push(r.c);
  CHECK(r.head() == &r.a);
  CHECK(r.head() == &r.a);
  r.user.access->to_tail();
  block_run_to(11);
  CHECK(r.head() == &r.b);
  r.user.access->to_tail();
  CHECK(r.skipped == 0);
  // Cycles 12 and 13 pass: c and a have retried.
  block_run_to(14);
  CHECK(r.head() == &r.b);
  CHECK(r.skipped == 2);
  CHECK(r.head() == &r.b);
  CHECK(r.skipped == 2);
  r.user.access->to_tail();
  // Cycles 15 to 18: c, a, b, c. One that comes meanwhile is behind the one that has retried last.
  block_run_to(19);
  CHECK(r.push(r.d));
  CHECK(r.skipped == 2 + 4);
  for (DynamicInstruction* const expected : {&r.a, &r.b, &r.c, &r.d}) {
    CHECK(r.head() == expected);
    r.user.access->to_tail();
  }
  CHECK(r.skipped == 6);
  for (unsigned i = 0; i < 4; ++i) {
    CHECK(r.head() != nullptr);
    r.user.access->pop(false);
  }
  // Nobody retries while the queue is empty.
  block_run_to(30);
  r.push(r.a);
  CHECK(r.head() == &r.a);
  CHECK(r.skipped == 6);
}

TEST_CASE("retry queue alone: one that may come back keeps its place") {
  RetryBench r(RetryBench::places(2));
  block_run_to(1);
  r.push(r.a);
  r.push(r.b);
  CHECK(r.head() == &r.a);
  r.user.access->pop(true);
  CHECK_FALSE(r.push(r.c));
  CHECK(r.head() == &r.b);
  block_run_to(4);
  r.user.access->put_back(r.a, r.skipped);
  CHECK(r.skipped == 2);  // b in cycles 2 and 3
  CHECK(r.head() == &r.b);
  CHECK_FALSE(r.push(r.c));
  r.user.access->pop(true);
  CHECK(r.head() == &r.a);
  CHECK_FALSE(r.push(r.c));
  r.user.access->free_place();
  CHECK(r.push(r.c));
  CHECK_FALSE(r.push(r.d));
  CHECK(r.head() == &r.a);
  CHECK(stat_of(r.queue, "queued") == 3);  // coming back is no new wait
  CHECK(stat_of(r.queue, "full") == 4);
}

TEST_CASE("retry queue alone: after a change all that wait have to retry") {
  RetryBench r(RetryBench::places(3));
  block_run_to(1);
  r.user.access->retry_all();
  CHECK_FALSE(r.user.access->must_retry());
  r.push(r.a);
  r.push(r.b);
  CHECK_FALSE(r.user.access->must_retry());
  r.user.access->retry_all();
  for (unsigned i = 0; i < 2; ++i) {
    CHECK(r.user.access->must_retry());
    r.user.access->to_tail();
  }
  CHECK_FALSE(r.user.access->must_retry());
  r.user.access->retry_all();
  CHECK(r.user.access->must_retry());
  r.user.access->pop(false);
  r.user.access->pop(false);
  CHECK_FALSE(r.user.access->must_retry());
}

TEST_CASE("retry queue alone: a model without pending-retry has no places") {
  WirMachine config = RetryBench::places(16);
  config.model = "rl";
  RetryBench r(config);
  CHECK_FALSE(r.push(r.a));
  CHECK(r.head() == nullptr);
  CHECK(stat_of(r.queue, "full") == 1);
}
