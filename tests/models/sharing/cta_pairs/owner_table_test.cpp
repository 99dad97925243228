// SPDX-License-Identifier: Apache-2.0
//
// The owner table alone: whose CTA is the owner, which classes its warps get, and who is told.
#include <regatta/sharing/owner_table.h>

#include <random>

#include "../sharing_blocks.h"

using namespace regatta;
using namespace regatta::test::sharing;

namespace {

class Heirs : public sc_core::sc_module, public models::OwnerListener {
 public:
  explicit Heirs(const sc_core::sc_module_name& name) : sc_module(name) {}
  void became_owner(CtaSlot cta) override { ctas.push_back(cta.value()); }
  std::vector<unsigned> ctas;
};

/// One CTA that shares nothing in slot 0; pairs of slots 1 and 3, 2 and 4; two warps each.
struct OwnerBench {
  OwnerBench() : pairs("pairs", 1, 2, 3), heirs("heirs"), table("table"), launch(5, 2, 8) {
    table.pairs.bind(pairs);
    table.listeners.bind(heirs);
    table.attach(classes);
    run_to(1);
    table.kernel_started(launch.context);
  }
  void begin(unsigned cta) {
    table.cta_launched(launch.cta(cta));
    launch.for_warps(cta, [&](const WarpInfo& w) { table.warp_started(w); });
  }
  void end(unsigned cta) {
    launch.for_warps(cta, [&](const WarpInfo& w) { table.warp_finished(w); });
    table.cta_finished(launch.cta(cta));
  }
  WarpRole role(unsigned cta) { return table.role(cta_at(cta)); }
  /// The class of the CTA's warps, which is its role.
  void expect(unsigned cta, WarpRole role_expected) {
    CAPTURE(cta);
    CHECK(role(cta) == role_expected);
    CHECK(classes.of[2 * cta] == static_cast<unsigned>(role_expected));
    CHECK(classes.of[2 * cta + 1] == static_cast<unsigned>(role_expected));
  }
  double stat(const std::string& name) { return stat_of(table, name); }

  FixedPairs pairs;
  Heirs heirs;
  models::OwnerTable table;
  Launch launch;
  Classes classes;
};

}  // namespace

TEST_CASE("owner table alone: the first CTA of a pair is the owner, the second is not") {
  OwnerBench b;
  for (unsigned cta = 0; cta < 5; ++cta) b.begin(cta);
  b.expect(0, WarpRole::unshared);
  b.expect(1, WarpRole::owner);
  b.expect(2, WarpRole::owner);
  b.expect(3, WarpRole::non_owner);
  b.expect(4, WarpRole::non_owner);
  CHECK(b.stat("owners_launched") == 2);
  CHECK(b.heirs.ctas.empty());
}

TEST_CASE("owner table alone: the partner of an owner that ends inherits, and a new CTA joins it") {
  OwnerBench b;
  for (const unsigned cta : {1u, 3u}) b.begin(cta);
  b.end(1);
  b.expect(3, WarpRole::owner);
  CHECK(b.heirs.ctas == std::vector<unsigned>{3});
  b.begin(1);
  b.expect(1, WarpRole::non_owner);
  b.expect(3, WarpRole::owner);
  b.end(1);  // a non-owner that ends leaves nothing
  b.expect(3, WarpRole::owner);
  CHECK(b.heirs.ctas.size() == 1);
  b.end(3);
  b.begin(3);
  b.expect(3, WarpRole::owner);
  CHECK(b.stat("transfers") == 1);
  CHECK(b.stat("owners_launched") == 2);
  CHECK(b.stat("owners_ended") == 2);
}

TEST_CASE("owner table alone: who takes a lock is the owner") {
  OwnerBench b;
  for (unsigned cta = 0; cta < 5; ++cta) b.begin(cta);
  b.table.took(cta_at(1));  // is the owner already
  CHECK(b.heirs.ctas.empty());
  b.table.took(cta_at(4));
  b.expect(4, WarpRole::owner);
  b.expect(2, WarpRole::non_owner);
  b.expect(1, WarpRole::owner);
  CHECK(b.heirs.ctas == std::vector<unsigned>{4});
  CHECK(b.stat("takeovers") == 1);
}

TEST_CASE("owner table alone: beside an owner that has released, CTAs count as if they shared nothing") {
  OwnerBench b;
  for (const unsigned cta : {1u, 3u}) b.begin(cta);
  b.table.released(cta_at(1));
  b.expect(1, WarpRole::owner);
  b.expect(3, WarpRole::unshared);
  b.table.took(cta_at(3));  // may take the lock, and stays what it is
  b.expect(1, WarpRole::owner);
  b.expect(3, WarpRole::unshared);
  b.end(3);
  b.begin(3);
  b.expect(3, WarpRole::unshared);
  b.end(1);
  b.expect(3, WarpRole::owner);
  b.begin(1);
  b.expect(1, WarpRole::non_owner);
  CHECK(b.stat("releases") == 1);
}

TEST_CASE("owner table alone: a non-owner that has released and inherits lets its next partner go on") {
  OwnerBench b;
  for (const unsigned cta : {1u, 3u}) b.begin(cta);
  b.table.released(cta_at(3));
  b.expect(3, WarpRole::non_owner);
  b.end(1);
  b.expect(3, WarpRole::owner);
  b.begin(1);
  b.expect(1, WarpRole::unshared);
}

TEST_CASE("owner table alone: only resident warps get a class") {
  OwnerBench b;
  for (const unsigned cta : {1u, 3u}) b.begin(cta);
  b.table.warp_finished(b.launch.warp(6));
  b.classes.of.clear();
  b.end(1);
  CHECK(b.classes.of == std::map<unsigned, unsigned>{{7, 0}});
}

TEST_CASE("owner table alone: at any time a pair with a CTA has exactly one owner") {
  OwnerBench b;
  std::mt19937 random(3);
  std::set<unsigned> resident;
  for (unsigned n = 0; n < 20000; ++n) {
    const unsigned cta = random() % 5;
    if (resident.count(cta) == 0) {
      b.begin(cta);
      resident.insert(cta);
    } else if (random() % 2 == 0) {
      b.end(cta);
      resident.erase(cta);
    } else if (cta != 0) {
      b.table.took(cta_at(cta));
      REQUIRE(b.role(cta) == WarpRole::owner);
    }
    for (unsigned pair = 1; pair <= 2; ++pair) {
      unsigned owners = 0, members = 0;
      for (const unsigned member : {pair, pair + 2}) {
        if (resident.count(member) == 0) continue;
        ++members;
        owners += b.role(member) == WarpRole::owner ? 1 : 0;
        REQUIRE(b.classes.of[2 * member] == static_cast<unsigned>(b.role(member)));
      }
      REQUIRE(owners == (members == 0 ? 0 : 1));
    }
  }
  for (const unsigned cta : resident) b.end(cta);
  CHECK(b.stat("owners_launched") + b.stat("transfers") == b.stat("owners_ended"));
}
