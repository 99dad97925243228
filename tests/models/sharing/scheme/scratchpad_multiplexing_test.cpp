// SPDX-License-Identifier: Apache-2.0
//
// Shared memory multiplexing on programs made by hand: what it brings, and faults between its blocks, each of which is
// found.
#include "scheme_scratchpad_multiplexing.h"

#include <functional>

#include "put_before.h"
#include "scratchpad_support.h"

using namespace regatta;
using models::ReleaseBits;
using models::ScratchpadBoundary;
using models::ScratchpadPlaces;
using protocol::CtaSlot;
using test::Before;
using test::counter;
using test::put_before;
using test::run_scratchpad;
using test::scratchpad_trace;

namespace {

class PlacesBefore : public Before<ScratchpadPlaces> {
 public:
  using Before::Before;
  unsigned free_places() const override { return inner_.free_places(); }
  std::optional<unsigned> place(CtaSlot cta) const override { return inner_.place(cta); }
  void take(CtaSlot cta) override { inner_.take(cta); }
  void give_back(CtaSlot cta) override { inner_.give_back(cta); }
};

/// Every CTA has place 0, as far as the gate and the contents know.
class OnePlaceForAll : public PlacesBefore {
 public:
  using PlacesBefore::PlacesBefore;
  unsigned free_places() const override { return 1; }
  std::optional<unsigned> place(CtaSlot) const override { return 0; }
  void take(CtaSlot) override {}
  void give_back(CtaSlot) override {}
};

/// There is always a free place, and the table is told of who takes it.
class OneMore : public PlacesBefore {
 public:
  using PlacesBefore::PlacesBefore;
  unsigned free_places() const override { return inner_.free_places() + 1; }
};

/// The bytes of every CTA lie in place 0.
class SamePlace : public PlacesBefore {
 public:
  using PlacesBefore::PlacesBefore;
  std::optional<unsigned> place(CtaSlot) const override { return 0; }
};

/// The first place that is given back stays taken.
class LostPlace : public PlacesBefore {
 public:
  using PlacesBefore::PlacesBefore;
  void give_back(CtaSlot cta) override {
    if (lost_) inner_.give_back(cta);
    lost_ = true;
  }

 private:
  bool lost_ = false;
};

/// 400 bytes too high: the accesses of the bytes from 1,024 on look private.
class BoundaryTooHigh : public Before<ScratchpadBoundary> {
 public:
  using Before::Before;
  unsigned private_bytes() const override { return inner_.private_bytes() + 400; }
  unsigned cta_bytes() const override { return inner_.cta_bytes(); }
};

/// The bits of one thread count for all.
class FirstBit : public Before<ReleaseBits> {
 public:
  using Before::Before;
  void set(protocol::WarpSlot warp, protocol::LaneMask lanes) override { inner_.set(warp, lanes); }
  bool all_set(CtaSlot) const override { return true; }
};

struct MultiplexingFaults {
  std::function<ScratchpadPlaces&(assembly::SmParts&, ScratchpadPlaces&)> gate_places, content_places;
  std::function<ScratchpadBoundary&(assembly::SmParts&, ScratchpadBoundary&)> boundary;
  std::function<ReleaseBits&(assembly::SmParts&, ReleaseBits&)> bits;
};

class FaultyMultiplexing : public schemes::ScratchpadMultiplexing {
 public:
  explicit FaultyMultiplexing(MultiplexingFaults faults = {}) : faults_(std::move(faults)) {}

 protected:
  ScratchpadPlaces& places_for_gate(assembly::SmParts& parts, ScratchpadPlaces& p) override {
    return faults_.gate_places ? faults_.gate_places(parts, p) : p;
  }
  ScratchpadPlaces& places_for_contents(assembly::SmParts& parts, ScratchpadPlaces& p) override {
    return faults_.content_places ? faults_.content_places(parts, p) : p;
  }
  ScratchpadBoundary& boundary_for_gate(assembly::SmParts& parts, ScratchpadBoundary& b) override {
    return faults_.boundary ? faults_.boundary(parts, b) : b;
  }
  ReleaseBits& bits_for_gate(assembly::SmParts& parts, ReleaseBits& bits) override {
    return faults_.bits ? faults_.bits(parts, bits) : bits;
  }

 private:
  MultiplexingFaults faults_;
};

/// Without a private share, and with one of 0.2: two places, and two CTAs for each.
constexpr unsigned for_two = 2 * test::scratchpad_cta_bytes, for_two_and_private = 10240;

test::Knobs turns(const char* t, const char* relssp = "none", const char* ctas = "0") {
  return {{"scratchpad_multiplexing.t", t},
          {"scratchpad_multiplexing.relssp", relssp},
          {"scratchpad_multiplexing.ctas", ctas}};
}

std::string multiplexing_said(const std::string& path, MultiplexingFaults faults, const test::Knobs& knobs,
                              unsigned bytes = for_two) {
  FaultyMultiplexing scheme(std::move(faults));
  try {
    const assembly::SimulationResult r = run_scratchpad(path, scheme, bytes, knobs);
    CHECK((r.mismatches != 0 || r.ending != assembly::Ending::completed));
    return r.message;
  } catch (const std::exception& e) {
    return e.what();
  }
}

void multiplexing_contains(const std::string& message, const std::string& part) {
  CAPTURE(message, part);
  CHECK(message.find(part) != std::string::npos);
}

assembly::SimulationResult multiplexed(const std::string& name, const test::Knobs& knobs, unsigned bytes) {
  FaultyMultiplexing scheme;
  const auto r = run_scratchpad(scratchpad_trace(name), scheme, bytes, knobs);
  test::require_clean(r);
  CHECK(r.shared_words_checked == 12u * 64 * 4);
  return r;
}

double multiplexing_stat(const assembly::SimulationResult& r, const char* name) {
  return counter(r, "scratchpad_multiplexing", name);
}

}  // namespace

TEST_CASE("scratchpad multiplexing: two places, four CTAs, and each has one place in its life") {
  const auto r = multiplexed("mux_two", turns("0"), for_two);
  CHECK(multiplexing_stat(r, "multiplexed_ctas") == 12);
  CHECK(multiplexing_stat(r, "allocations") == 12);
  CHECK(multiplexing_stat(r, "queued") > 0);
  CHECK(multiplexing_stat(r, "wait_cycles") > 0);
  CHECK(counter(r, "sm0.allocation_table", "held_max") == 2);
}

TEST_CASE("scratchpad multiplexing: barriers in the common part and six CTAs for one place are no deadlock") {
  const auto r = multiplexed("mux_one", turns("0", "none", "6"), test::scratchpad_cta_bytes);
  CHECK(multiplexing_stat(r, "allocations") == 12);
  CHECK(counter(r, "sm0.allocation_table", "held_max") == 1);
}

TEST_CASE("scratchpad multiplexing: a private share") {
  const auto r = multiplexed("mux_share", turns("0.2"), for_two_and_private);
  CHECK(multiplexing_stat(r, "multiplexed_ctas") == 12);
  // Half of the accesses are of private bytes.
  CHECK(multiplexing_stat(r, "common_accesses") == 12 * 2 * 4);
}

TEST_CASE("scratchpad multiplexing: relssp gives the place up early") {
  const auto r = multiplexed("mux_optimal", turns("0.2", "optimal"), for_two_and_private);
  CHECK(multiplexing_stat(r, "relssp") == 24);
  CHECK(multiplexing_stat(r, "releases") == 12);
}

TEST_CASE("scratchpad multiplexing: where all is private, CTAs are the baseline's") {
  const auto r = multiplexed("mux_alone", turns("1"), for_two);
  CHECK(multiplexing_stat(r, "multiplexed_ctas") == 0);
  CHECK(multiplexing_stat(r, "whole_ctas") == 12);
  CHECK(multiplexing_stat(r, "allocations") == 0);
}

TEST_CASE("scratchpad multiplexing faults: a place is granted to all CTAs, and a word is lost") {
  MultiplexingFaults faults;
  faults.gate_places = faults.content_places = put_before<OnePlaceForAll, ScratchpadPlaces>;
  const std::string message = multiplexing_said(scratchpad_trace("mux_all"), faults, turns("0"));
  multiplexing_contains(message, "value mismatch");
  multiplexing_contains(message, "of the CTA's shared memory: lane 0 expected 0x");
}

TEST_CASE("scratchpad multiplexing faults: a place too many is refused by the table") {
  MultiplexingFaults faults;
  faults.gate_places = put_before<OneMore, ScratchpadPlaces>;
  multiplexing_contains(multiplexing_said(scratchpad_trace("mux_more"), faults, turns("0")),
                        "takes a place, and CTAs have all 2; expected that one is free");
}

TEST_CASE("scratchpad multiplexing faults: the bytes of two CTAs lie in one place, and a word is lost") {
  MultiplexingFaults faults;
  faults.content_places = put_before<SamePlace, ScratchpadPlaces>;
  multiplexing_contains(multiplexing_said(scratchpad_trace("mux_old"), faults, turns("0")), "value mismatch");
}

TEST_CASE("scratchpad multiplexing faults: a boundary that is too high for the gate, and a word is lost") {
  MultiplexingFaults faults;
  faults.boundary = put_before<BoundaryTooHigh, ScratchpadBoundary>;
  multiplexing_contains(multiplexing_said(scratchpad_trace("mux_high"), faults, turns("0.2"), for_two_and_private),
                        "value mismatch");
}

TEST_CASE("scratchpad multiplexing faults: release bits that are set too early") {
  MultiplexingFaults faults;
  faults.bits = put_before<FirstBit, ReleaseBits>;
  multiplexing_contains(
      multiplexing_said(scratchpad_trace("mux_bits"), faults, turns("0.2", "optimal"), for_two_and_private),
      "expected no access behind relssp");
}

TEST_CASE("scratchpad multiplexing faults: a relssp before the last access") {
  multiplexing_contains(
      multiplexing_said(scratchpad_trace("mux_early", 12, true), {}, turns("0.2", "optimal"), for_two_and_private),
      "after all threads of its CTA have released it; expected no access behind relssp");
}

TEST_CASE("scratchpad multiplexing faults: a place that is not given back is missed") {
  MultiplexingFaults faults;
  faults.gate_places = put_before<LostPlace, ScratchpadPlaces>;
  multiplexing_contains(multiplexing_said(scratchpad_trace("mux_lost"), faults, turns("0")),
                        "takes a place, and CTAs have all 2; expected that one is free");
}
