// SPDX-License-Identifier: Apache-2.0
//
// The places of CTAs in a register file: the block by itself, between the mapping of a file and the ports of those that
// move CTAs.
#include <regatta/finereg/cta_places.h>

#include <optional>
#include <random>
#include <set>

#include <regatta/test/cta_blocks.h>

using namespace regatta;
using namespace regatta::test::cta_blocks;
using models::CtaPlaces;
using models::CtaPlaceWindows;
using models::WindowMapping;
using models::WindowPolicy;
using protocol::RegisterId;

namespace {

struct PlacesUser : sc_core::sc_module {
  sc_core::sc_port<CtaPlaces> places;
  sc_core::sc_port<WindowPolicy> windows;
  explicit PlacesUser(const sc_core::sc_module_name& name) : sc_module(name), places("places"), windows("windows") {}
};

/// Stands for a file of `rows` and its SM: 8 CTA slots of 2 warps of 10 registers.
struct PlacesBench {
  static constexpr unsigned slots = 8, warps = 2, registers = 10;
  explicit PlacesBench(std::uint32_t rows, unsigned slices = 1)
      : block("places", slices), launch(slots, warps, registers) {
    user.places.bind(block.places);
    user.windows.bind(block.windows);
    run_to(0);
    block.connect(mapping, [this] { return held; });
    mapping.start(rows, registers);
    user.windows->kernel_started(rows, registers);
    block.kernel_started(launch.context);
  }
  CtaPlaces& ctas() { return *user.places.operator->(); }
  void start_warp(unsigned w) {
    const std::string wrong = mapping.map(warp_at(w), user.windows->assign(warp_at(w)));
    REQUIRE(wrong.empty());
  }
  void start(unsigned cta) {
    for (unsigned i = 0; i < warps; ++i) start_warp(cta * warps + i);
  }
  void end_warp(unsigned w) {
    if (mapping.mapped(warp_at(w))) mapping.unmap(warp_at(w));
    user.windows->release(warp_at(w));
  }
  void end(unsigned cta) {
    for (unsigned i = 0; i < warps; ++i) end_warp(cta * warps + i);
  }
  /// First row of the CTA; -1: it has none.
  int base(unsigned cta) const {
    const auto row = mapping.place(warp_at(cta * warps), RegisterId(0));
    return row ? static_cast<int>(row->value()) : -1;
  }

  CtaPlaceWindows block;
  PlacesUser user{"user"};
  Launch launch;
  WindowMapping mapping;
  const protocol::WarpAccess* held = nullptr;
};

}  // namespace

TEST_CASE("CTA places alone: a CTA takes the lowest free place, which has the rows of that slot in a plain file") {
  PlacesBench b(64);  // three places of 20 rows
  CHECK(b.ctas().free_places() == 3);
  b.start(5);
  b.start(2);
  CHECK(b.ctas().free_places() == 1);
  CHECK(b.base(5) == 0);
  CHECK(b.base(2) == 20);
  CHECK(b.mapping.place(warp_at(5), RegisterId(3))->value() == 33);  // second warp of CTA 2
  CHECK(b.ctas().has_place(cta_at(5)));
  CHECK_FALSE(b.ctas().has_place(cta_at(0)));
  b.end(5);
  CHECK(b.ctas().free_places() == 2);
  b.start(0);
  CHECK(b.base(0) == 0);
}

TEST_CASE("CTA places alone: slices hold whole warps") {
  PlacesBench b(60, 4);  // 15 rows a slice: one warp each, two CTAs
  CHECK(b.ctas().free_places() == 2);
  b.start(3);
  b.start(4);
  CHECK(b.ctas().free_places() == 0);
  CHECK(b.mapping.place(warp_at(6), RegisterId(0))->value() == 0);
  CHECK(b.mapping.place(warp_at(7), RegisterId(0))->value() == 15);
  CHECK(b.mapping.place(warp_at(8), RegisterId(0))->value() == 30);
  CHECK(b.mapping.place(warp_at(9), RegisterId(0))->value() == 45);
}

TEST_CASE("CTA places alone: a CTA leaves, and comes back into a free place") {
  PlacesBench b(40);
  b.start(0);
  b.start(1);
  b.ctas().leave(cta_at(0));
  CHECK(b.base(0) == -1);
  CHECK(b.ctas().free_places() == 1);
  b.start(2);
  CHECK(b.base(2) == 0);
  b.end(1);
  b.ctas().enter(cta_at(0));
  CHECK(b.base(0) == 20);
  CHECK(b.ctas().free_places() == 0);
  CHECK(stat_of(b.block, "entered") == 1);
  CHECK(stat_of(b.block, "left") == 1);
}

TEST_CASE("CTA places alone: two CTAs exchange a place, and both reach its rows meanwhile") {
  PlacesBench b(40);
  b.start(0);
  b.start(1);
  b.ctas().leave(cta_at(1));
  b.start(2);
  b.ctas().enter_place_of(cta_at(1), cta_at(0));
  CHECK(b.base(0) == 0);
  CHECK(b.base(1) == 0);
  CHECK(b.ctas().free_places() == 0);
  b.ctas().leave(cta_at(0));
  CHECK(b.base(0) == -1);
  CHECK(b.base(1) == 0);
  CHECK(b.ctas().free_places() == 0);
  // The rows are CTA 1's alone again: no other may name them.
  CHECK(b.mapping.map(warp_at(0), models::RegisterWindow{0, 0, 256}) ==
        "the window of warp 0 has row 0 for R0, which is warp 2's");
}

TEST_CASE("CTA places alone: only warps that are left come back") {
  PlacesBench b(40);
  b.start(0);
  b.start(1);
  b.end_warp(0);
  b.ctas().leave(cta_at(0));
  b.ctas().enter(cta_at(0));
  CHECK_FALSE(b.mapping.mapped(warp_at(0)));
  CHECK(b.mapping.mapped(warp_at(1)));
  b.end_warp(1);
  CHECK(b.ctas().free_places() == 1);
}

TEST_CASE("CTA places alone: the CTA that leaves ends during the exchange") {
  PlacesBench b(20);
  b.start(0);
  b.ctas().leave(cta_at(0));
  b.start(1);
  b.ctas().enter_place_of(cta_at(0), cta_at(1));
  b.end(1);
  CHECK(b.base(0) == 0);
  CHECK(b.ctas().free_places() == 0);
  b.end(0);
  CHECK(b.ctas().free_places() == 1);
}

TEST_CASE("CTA places alone: the CTA that comes ends during the exchange") {
  PlacesBench b(20);
  b.start(0);
  b.ctas().leave(cta_at(0));
  b.start(1);
  b.ctas().enter_place_of(cta_at(0), cta_at(1));
  b.end(0);
  CHECK(b.base(1) == 0);
  CHECK(b.ctas().free_places() == 0);
  b.ctas().leave(cta_at(1));
  CHECK(b.ctas().free_places() == 1);
}

TEST_CASE("CTA places alone: a CTA that ends while it is away gives no place back") {
  PlacesBench b(20);
  b.start(0);
  b.ctas().leave(cta_at(0));
  b.start(1);
  b.end(0);
  CHECK(b.ctas().free_places() == 0);
  CHECK(b.base(1) == 0);
}

TEST_CASE("CTA places alone: a result of the CTA that waits at a bank unsettles it") {
  PlacesBench b(60);
  protocol::WarpAccess access;
  CHECK(b.ctas().settled(cta_at(1)));
  access.warp = warp_at(3);
  b.held = &access;
  CHECK_FALSE(b.ctas().settled(cta_at(1)));
  CHECK(b.ctas().settled(cta_at(0)));
  CHECK(b.ctas().settled(cta_at(2)));
}

TEST_CASE("CTA places alone: what does not fit is refused") {
  PlacesBench b(40);
  b.start(0);
  b.start(1);
  CHECK(error_of([&] { b.start(2); }) == "places: a CTA takes a place when none is free, expected a free one of 2");
  const std::string exchange = ", expected one that has a place, for one that has none";
  CHECK(error_of([&] { b.ctas().enter_place_of(cta_at(1), cta_at(0)); }) ==
        "places: CTA slot 1 enters the place of CTA slot 0" + exchange);
  CHECK(error_of([&] { b.ctas().enter_place_of(cta_at(3), cta_at(4)); }) ==
        "places: CTA slot 3 enters the place of CTA slot 4" + exchange);
}

TEST_CASE("CTA places alone: any order of entering and leaving keeps rows apart") {
  PlacesBench b(60);
  std::mt19937 random(5);
  enum class State { none, in, away };
  State state[PlacesBench::slots] = {};
  std::optional<std::pair<unsigned, unsigned>> exchange;  // out, in
  for (unsigned n = 0; n < 4000; ++n) {
    const unsigned cta = random() % PlacesBench::slots, other = random() % PlacesBench::slots;
    const bool in_exchange = exchange && (exchange->first == cta || exchange->second == cta);
    switch (random() % 6) {
      case 0:
        if (state[cta] == State::none && b.ctas().free_places() != 0) {
          b.start(cta);
          state[cta] = State::in;
        }
        break;
      case 1:
        if (state[cta] == State::none || random() % 4 != 0) break;
        b.end(cta);
        state[cta] = State::none;
        if (in_exchange) exchange.reset();
        break;
      case 2:
        if (state[cta] == State::in && !in_exchange) {
          b.ctas().leave(cta_at(cta));
          state[cta] = State::away;
        }
        break;
      case 3:
        if (state[cta] == State::away && b.ctas().free_places() != 0) {
          b.ctas().enter(cta_at(cta));
          state[cta] = State::in;
        }
        break;
      case 4:
        if (!exchange && state[cta] == State::away && state[other] == State::in) {
          b.ctas().enter_place_of(cta_at(cta), cta_at(other));
          state[cta] = State::in;
          exchange = {other, cta};
        }
        break;
      default:
        if (!exchange) break;
        b.ctas().leave(cta_at(exchange->first));
        state[exchange->first] = State::away;
        exchange.reset();
    }
    // Places in use, each of one CTA, but for the one that is exchanged.
    std::set<int> bases;
    unsigned inside = 0;
    for (unsigned c = 0; c < PlacesBench::slots; ++c) {
      REQUIRE((b.base(c) >= 0) == (state[c] == State::in));
      if (state[c] != State::in) continue;
      ++inside;
      bases.insert(b.base(c));
    }
    REQUIRE(bases.size() == inside - (exchange ? 1 : 0));
    if (exchange) REQUIRE(b.base(exchange->first) == b.base(exchange->second));
    REQUIRE(b.ctas().free_places() == 3 - bases.size());
  }
}
