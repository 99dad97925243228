// SPDX-License-Identifier: Apache-2.0
//
// The release bits alone: the AND over the threads that exist, against a set of threads.
#include <regatta/sharing/release_table.h>

#include <random>
#include <set>

#include "../sharing_blocks.h"

using namespace regatta;
using namespace regatta::test::sharing;

namespace {

/// Five CTAs of three warps; the last warp of each has 5 threads.
struct ReleaseBench {
  static constexpr unsigned warps = 3;
  ReleaseBench() : table("table"), launch(5, warps, 8) {
    run_to(1);
    table.kernel_started(launch.context);
  }
  void begin(unsigned cta) {
    table.cta_launched(launch.cta(cta));
    launch.for_warps(cta, [&](WarpInfo w) {
      w.lanes = lanes(w.warp.value());
      table.warp_started(w);
    });
  }
  static protocol::LaneMask lanes(unsigned warp) { return warp % warps == 2 ? 0x1f : 0xffffffff; }

  models::ReleaseTable table;
  Launch launch;
};

}  // namespace

TEST_CASE("release table alone: all threads that exist, and no others") {
  ReleaseBench b;
  b.begin(3);
  CHECK_FALSE(b.table.all_set(cta_at(3)));
  b.table.set(warp_at(9), 0xffffffff);
  b.table.set(warp_at(10), 0xfffffff7);
  b.table.set(warp_at(11), 0x1f);
  CHECK_FALSE(b.table.all_set(cta_at(3)));
  b.table.set(warp_at(10), 8);
  CHECK(b.table.all_set(cta_at(3)));
  CHECK(stat_of(b.table, "writes") == 4);
  b.begin(3);
  CHECK_FALSE(b.table.all_set(cta_at(3)));
}

TEST_CASE("release table alone: random threads against a set") {
  ReleaseBench b;
  std::mt19937 random(9);
  std::map<unsigned, std::set<unsigned>> left;  // by CTA: threads that have not released
  const auto launch = [&](unsigned cta) {
    b.begin(cta);
    left[cta].clear();
    for (unsigned t = 0; t < 69; ++t) left[cta].insert(t);
  };
  for (unsigned cta = 0; cta < 5; ++cta) launch(cta);
  unsigned complete = 0;
  for (unsigned n = 0; n < 5000; ++n) {
    const unsigned warp = random() % 15;
    const protocol::LaneMask lanes = (random() | random()) & ReleaseBench::lanes(warp);
    b.table.set(warp_at(warp), lanes);
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (((lanes >> lane) & 1) != 0) left[warp / 3].erase(warp % 3 * 32 + lane);
    }
    const unsigned cta = random() % 5;
    REQUIRE(b.table.all_set(cta_at(cta)) == left[cta].empty());
    if (!left[cta].empty()) continue;
    ++complete;
    launch(cta);
  }
  CHECK(complete > 20);
}
