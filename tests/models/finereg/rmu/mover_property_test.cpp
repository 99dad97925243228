// SPDX-License-Identifier: Apache-2.0
//
// Random moves of the mover alone.
#include "mover_oracle.h"

using namespace regatta;
using namespace regatta::test::cta_blocks;

namespace {

void check_moves(unsigned places, unsigned entries, unsigned warps, unsigned registers, unsigned held, unsigned seed) {
  CAPTURE(places, entries, warps, registers, held, seed);
  MoverOracle oracle(places, entries, warps, registers, held, seed);
  oracle.run(400);
  CHECK(oracle.exchanges > 50);
  CHECK(oracle.tight > 5);
  CHECK(oracle.stat("merged_results") > 20);
  CHECK(oracle.stat("early_results") > 0);
  CHECK(oracle.stat("dead_results") > 10);
  CHECK(oracle.stat("waiting_results") > 0);
}

}  // namespace

// A SystemC program elaborates once: a test case for each.
#define REGATTA_MOVES(places, entries, warps, registers, held, seed)                                        \
  TEST_CASE("mover alone: random moves, " #places " places, " #entries " entries, " #warps " warps, " #held \
            " % of accesses held, seed " #seed) {                                                           \
    check_moves(places, entries, warps, registers, held, seed);                                             \
  }
REGATTA_MOVES(1, 16, 2, 8, 0, 1)
REGATTA_MOVES(1, 16, 2, 8, 50, 2)
REGATTA_MOVES(2, 20, 2, 8, 20, 3)
REGATTA_MOVES(3, 10, 1, 12, 30, 4)
REGATTA_MOVES(2, 5, 1, 8, 90, 5)
REGATTA_MOVES(1, 40, 4, 10, 10, 6)
REGATTA_MOVES(2, 3, 1, 6, 40, 7)
REGATTA_MOVES(2, 60, 3, 20, 30, 8)
