// SPDX-License-Identifier: Apache-2.0
// The encoder and the cursor against a plain record of what a warp did.
#include <regatta/test/catch.h>
#include <regatta/trace/warp_stream.h>

#include <algorithm>
#include <functional>

#include "sample.h"

using namespace regatta::trace;
using namespace regatta::test;

namespace {

/// One instruction per value: a kernel of one register.
Kernel one_result_kernel(unsigned warp_size) {
  Kernel kernel = sample_kernel(warp_size);
  kernel.instructions.resize(1);
  return kernel;
}

struct Encoded {
  ValueKind kind;
  std::size_t bytes;
};

/// Encodes one value, checks that it comes back, and tells how it was stored.
Encoded round_trip(unsigned warp_size, const WarpValue& value, LaneMask active) {
  const Kernel kernel = one_result_kernel(warp_size);
  Step step;
  step.simt = step.active = active;
  step.results.push_back(value);
  const WarpColumns columns = encode(kernel, {step});
  REQUIRE(difference(kernel, columns, {step}) == "");
  REQUIRE(columns.value_kind.size() == 1);
  return {static_cast<ValueKind>(columns.value_kind[0]), columns.value_data.size()};
}

/// The smallest number of bytes any kind needs, by trying each.
std::size_t smallest(unsigned warp_size, const WarpValue& value, LaneMask active) {
  std::vector<std::pair<unsigned, std::uint32_t>> lanes;
  for (unsigned i = 0; i < warp_size; ++i) {
    if ((active >> i & 1) != 0) lanes.emplace_back(i, value.lane[i]);
  }
  if (lanes.empty()) return 0;
  const std::size_t n = lanes.size();
  std::size_t best = 4 * n;
  const unsigned half = warp_size / 2;
  bool constant = true;
  for (const auto& l : lanes) constant = constant && l.second == lanes[0].second;
  if (constant) return 4;
  std::int64_t low = 0;
  std::int64_t high = 0;
  for (const auto& l : lanes) {
    const std::int64_t d = static_cast<std::int32_t>(l.second - lanes[0].second);
    low = std::min(low, d);
    high = std::max(high, d);
  }
  if (high - low < 256) best = std::min(best, 4 + n);
  if (high - low < 65536) best = std::min(best, 4 + 2 * n);
  // Steps that some two lanes of one half (or of the warp, if halves have one each) suggest as whole numbers.
  const auto fits = [&](std::uint32_t step, bool whole) {
    const std::pair<unsigned, std::uint32_t>* first[2] = {nullptr, nullptr};
    for (const auto& l : lanes) {
      const auto*& f = first[whole ? 0 : l.first / half];
      if (!f) f = &l;
      if (l.second != f->second + (l.first - f->first) * step) return false;
    }
    return true;
  };
  for (std::size_t b = 1; b < n; ++b) {
    const std::int64_t d = static_cast<std::int32_t>(lanes[b].second - lanes[b - 1].second);
    const std::int64_t gap = std::int64_t{lanes[b].first} - lanes[b - 1].first;
    if (d % gap != 0) continue;
    const auto step = static_cast<std::uint32_t>(d / gap);
    if (fits(step, true)) best = std::min<std::size_t>(best, 8);
    if (fits(step, false)) best = std::min<std::size_t>(best, 12);
  }
  return best;
}

}  // namespace

TEST_CASE("each value kind is chosen where it is the smallest") {
  for (const unsigned warp_size : {32u, 64u}) {
    const LaneMask all = all_lanes(warp_size);
    const unsigned half = warp_size / 2;
    WarpValue v;
    v.lane.fill(42);
    CHECK(round_trip(warp_size, v, 0).kind == ValueKind::none);
    CHECK(round_trip(warp_size, v, 0).bytes == 0);
    CHECK(round_trip(warp_size, v, all).kind == ValueKind::constant);
    for (unsigned i = 0; i < max_lanes; ++i) v.lane[i] = 0xfffffff0u + 4 * i;
    CHECK(round_trip(warp_size, v, all).kind == ValueKind::stride);
    for (unsigned i = 0; i < max_lanes; ++i) v.lane[i] = 100 - 1000 * i;
    CHECK(round_trip(warp_size, v, all).kind == ValueKind::stride);
    for (unsigned i = 0; i < max_lanes; ++i) v.lane[i] = (i < half ? 7 : 0x80000000u) + i % half * 0x30001;
    CHECK(round_trip(warp_size, v, all).kind == ValueKind::half_stride);
    CHECK(round_trip(warp_size, v, all).bytes == 12);
    for (unsigned i = 0; i < max_lanes; ++i) v.lane[i] = 0xffffff80u + (i * 37) % 256;
    v.lane[1] = 0x7f;
    CHECK(round_trip(warp_size, v, all).kind == ValueKind::delta8);
    CHECK(round_trip(warp_size, v, all).bytes == 4 + warp_size);
    v.lane[1] = 0x7f + 0xff00;
    CHECK(round_trip(warp_size, v, all).kind == ValueKind::delta16);
    v.lane[1] = 0x80 + 0xff00;
    CHECK(round_trip(warp_size, v, all).kind == ValueKind::raw);
    CHECK(round_trip(warp_size, v, all).bytes == 4 * warp_size);
  }
}

TEST_CASE("a stride in a few lanes is a stride from the fifth lane on, where entries for each would be longer") {
  WarpValue v;
  for (unsigned i = 0; i < max_lanes; ++i) v.lane[i] = 1000 + 3 * i;
  CHECK(round_trip(32, v, 0x7).bytes == 7);  // a base and a byte for each
  CHECK(round_trip(32, v, 0x1f).kind == ValueKind::stride);
  CHECK(round_trip(32, v, 0x1f).bytes == 8);
  CHECK(round_trip(64, v, 0x3f00000000).kind == ValueKind::stride);
}

TEST_CASE("inactive lanes do not decide the kind") {
  WarpValue v;
  v.lane.fill(5);
  v.lane[3] = 77777;
  CHECK(round_trip(32, v, 0xfffffff7).kind == ValueKind::constant);
  for (unsigned i = 0; i < 32; ++i) v.lane[i] = 1000000 * i;
  v.lane[9] = 1;
  CHECK(round_trip(32, v, 0xfffffdff).kind == ValueKind::stride);
  v.lane[16] += 3;
  CHECK(round_trip(32, v, 0xfffefdff).kind == ValueKind::stride);
}

TEST_CASE("random values take the fewest bytes and come back") {
  Random random(1);
  std::array<unsigned, 7> seen{};
  for (unsigned n = 0; n < 20000; ++n) {
    const unsigned warp_size = n % 2 == 0 ? 32 : 64;
    const WarpValue value = random_value(random, warp_size);
    const LaneMask active = random_mask(random, warp_size);
    const Kernel kernel = one_result_kernel(warp_size);
    const Encoded e = round_trip(warp_size, value, active);
    ++seen[static_cast<unsigned>(e.kind)];
    CAPTURE(n, warp_size, active, static_cast<unsigned>(e.kind));
    REQUIRE(e.bytes == smallest(warp_size, value, active));
  }
  for (const unsigned count : seen) CHECK(count > 100);
}

TEST_CASE("random warps come back step by step") {
  Random random(2);
  for (unsigned n = 0; n < 300; ++n) {
    const Kernel kernel = sample_kernel(n % 2 == 0 ? 32 : 64);
    const auto steps = random_steps(random, kernel, random() % 200);
    const WarpColumns columns = encode(kernel, steps);
    REQUIRE(difference(kernel, columns, steps) == "");
    std::uint64_t threads = 0;
    for (const Step& s : steps) threads += static_cast<unsigned>(__builtin_popcountll(s.active));
    CHECK(columns.warp_instructions == steps.size());
    CHECK(columns.thread_instructions == threads);
  }
}

TEST_CASE("decoders that are not used do not disturb the walk") {
  Random random(3);
  const Kernel kernel = sample_kernel(32);
  const auto steps = random_steps(random, kernel, 500);
  const WarpColumns columns = encode(kernel, steps);
  WarpCursor cursor(kernel, columns);
  std::vector<StackEvent> events;
  std::size_t expected = 0;
  for (const Step& s : steps) {
    REQUIRE(cursor.next());
    CHECK(cursor.index() == s.index);
    CHECK(cursor.active_mask() == s.active);
    expected += s.events.size();
  }
  CHECK(cursor.stack_events(events) == expected);
  CHECK(WarpCursor().next() == false);
  CHECK(WarpCursor().at_end());
}

TEST_CASE("a column that runs dry names itself and the place") {
  Random random(4);
  const Kernel kernel = sample_kernel(32);
  Step load;
  load.index = 3;
  load.simt = load.active = 0xffffffff;
  load.results.assign(4, random_value(random, 32));
  for (unsigned i = 0; i < 32; ++i) load.addresses.push_back(random());
  const WarpColumns whole = encode(kernel, {load});

  const auto message = [&](const std::function<void(WarpColumns&)>& spoil) {
    WarpColumns columns = whole;
    columns.cta = 5;
    columns.warp = 2;
    spoil(columns);
    try {
      WarpCursor cursor(kernel, columns);
      cursor.next();
      std::uint64_t address[max_lanes];
      cursor.addresses(address);
      WarpValue v;
      for (unsigned d = 0; d < 4; ++d) cursor.result(v);
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string("nothing");
  };
  const std::string place = "kernel sample32, CTA 5, warp 2, instruction 1 (static index 3): ";
  CHECK(message([](WarpColumns&) {}) == "nothing");
  CHECK(message([](WarpColumns& c) { c.value_kind.pop_back(); }) ==
        place + "column value_kind ends early; the trace is malformed");
  CHECK(message([](WarpColumns& c) { c.value_data.pop_back(); }) ==
        place + "column value_data ends early; the trace is malformed");
  CHECK(message([](WarpColumns& c) { c.address_delta.pop_back(); }) ==
        place + "column address_delta ends early; the trace is malformed");
  CHECK(message([](WarpColumns& c) { c.address_base.clear(); }) ==
        place + "column address_base ends early; the trace is malformed");
  CHECK(message([](WarpColumns& c) { c.value_kind[0] = 7; }) ==
        place + "value kind 7 is unknown; the trace is malformed");
  CHECK(message([](WarpColumns& c) { c.address_kind[0] = 9; }) ==
        place + "address kind 9 is unknown; the trace is malformed");
  CHECK(message([](WarpColumns& c) { c.value_kind[0] = 0; }) ==
        place + "no result though lanes are active; the trace is malformed");
  CHECK(message([](WarpColumns& c) { c.run_start[0] = 11; }) ==
        "kernel sample32, CTA 5, warp 2, instruction 0: run of 1 instructions from static index 11, the kernel has "
        "11; the trace is malformed");
}

TEST_CASE("the encoder refuses what would not come back") {
  const Kernel kernel = sample_kernel(32);
  const WarpValue v{};
  const std::uint64_t address[32] = {};
  SECTION("a result is missing") {
    WarpEncoder e(kernel);
    e.instruction(0, 1, 1);
    CHECK_THROWS_AS(e.instruction(1, 1, 1), std::logic_error);
    CHECK_THROWS_AS(e.finish(), std::logic_error);
  }
  SECTION("a result too many") {
    WarpEncoder e(kernel);
    e.instruction(0, 1, 1);
    e.result(v);
    CHECK_THROWS_AS(e.result(v), std::logic_error);
  }
  SECTION("addresses of an instruction without") {
    WarpEncoder e(kernel);
    e.instruction(7, 1, 1);
    CHECK_THROWS_AS(e.addresses(address), std::logic_error);
  }
  SECTION("lanes and indices out of range") {
    WarpEncoder e(kernel);
    CHECK_THROWS_AS(e.instruction(11, 1, 1), std::logic_error);
    CHECK_THROWS_AS(e.instruction(0, LaneMask{1} << 32, 0), std::logic_error);
    CHECK_THROWS_AS(e.instruction(0, 1, 3), std::logic_error);
    CHECK_THROWS_AS(e.instruction(0, 3, 1), std::logic_error);
    CHECK_THROWS_AS(e.push(1, 1), std::logic_error);
  }
}

namespace {

/// A kernel whose instruction 0 writes 8 bytes of shared memory, instruction 1 a byte of generic memory.
Kernel storing_kernel(unsigned warp_size) {
  Kernel kernel = one_result_kernel(warp_size);
  kernel.shared_values = true;
  StaticInstruction& store = kernel.instructions[0];
  store = StaticInstruction{};
  store.op_class = OpClass::store;
  store.space = MemorySpace::shared;
  store.access_bytes = 8;
  store.writes_memory = true;
  kernel.instructions.push_back(store);
  kernel.instructions[1].space = MemorySpace::generic;
  kernel.instructions[1].access_bytes = 1;
  return kernel;
}

}  // namespace

TEST_CASE("values of random writes of shared memory come back") {
  Random random(11);
  for (unsigned n = 0; n < 400; ++n) {
    const unsigned warp_size = n % 2 == 0 ? 32 : 64;
    const Kernel kernel = storing_kernel(warp_size);
    struct Write {
      std::uint32_t index = 0;
      LaneMask active = 0, shared = 0;
      std::vector<std::uint64_t> addresses;
      std::vector<WarpValue> words;
    };
    std::vector<Write> writes(1 + random() % 20);
    WarpEncoder encoder(kernel);
    for (Write& w : writes) {
      w.index = random() % 2;
      w.active = random_mask(random, warp_size);
      for (unsigned lane = 0; lane < warp_size; ++lane) {
        const bool in_shared = w.index == 0 || random() % 2 == 0;
        w.addresses.push_back((w.index == 1 && in_shared ? shared_window : 0) + random() % 4096);
        if (in_shared) w.shared |= (LaneMask{1} << lane) & w.active;
      }
      encoder.instruction(w.index, w.active, w.active);
      encoder.addresses(w.addresses.data());
      for (unsigned i = 0; w.shared != 0 && i < (w.index == 0 ? 2 : 1); ++i) {
        w.words.push_back(random_value(random, warp_size));
        encoder.stored(w.words.back());
      }
    }
    const WarpColumns columns = encoder.finish();
    WarpCursor cursor(kernel, columns);
    for (const Write& w : writes) {
      REQUIRE(cursor.next());
      std::uint64_t addresses[max_lanes];
      cursor.addresses(addresses);
      REQUIRE(cursor.stored_words() == w.words.size());
      for (const WarpValue& expected : w.words) {
        REQUIRE(cursor.stored_lanes() == w.shared);
        WarpValue got;
        cursor.stored(got);
        for (unsigned lane = 0; lane < warp_size; ++lane) {
          if ((w.shared >> lane & 1) != 0) REQUIRE(got.lane[lane] == expected.lane[lane]);
        }
      }
    }
    CHECK(cursor.leftover() == nullptr);
  }
}

TEST_CASE("columns of shared values that are damaged, and an encoder that is not told") {
  const Kernel kernel = storing_kernel(32);
  const std::uint64_t address[32] = {};
  WarpEncoder encoder(kernel);
  const auto begin = [&] {
    encoder.instruction(0, 0xffffffff, 0xffffffff);
    encoder.addresses(address);
  };
  WarpValue value;
  for (unsigned lane = 0; lane < 32; ++lane) value.lane[lane] = lane * lane * 77777;
  begin();
  encoder.stored(value);
  CHECK_THROWS_AS(encoder.finish(), std::logic_error);
  encoder.stored(value);
  CHECK_THROWS_AS(encoder.stored(value), std::logic_error);
  const WarpColumns whole = encoder.finish();
  const auto message = [&](const std::function<void(WarpColumns&)>& spoil) {
    WarpColumns columns = whole;
    spoil(columns);
    try {
      WarpCursor cursor(kernel, columns);
      cursor.next();
      std::uint64_t addresses[max_lanes];
      cursor.addresses(addresses);
      WarpValue v;
      const unsigned words = cursor.stored_words();
      for (unsigned i = 0; i < words; ++i) cursor.stored(v);
      const char* const left = cursor.leftover();
      return std::string(left == nullptr ? "nothing" : left);
    } catch (const InputError& e) {
      return std::string(e.what());
    }
  };
  const std::string place = "kernel sample32, CTA 0, warp 0, instruction 1 (static index 0): ";
  CHECK(message([](WarpColumns&) {}) == "nothing");
  CHECK(message([](WarpColumns& c) { c.shared_value_kind.pop_back(); }) ==
        place + "column shared_value_kind ends early; the trace is malformed");
  CHECK(message([](WarpColumns& c) { c.shared_value_data.pop_back(); }) ==
        place + "column shared_value_data ends early; the trace is malformed");
  CHECK(message([](WarpColumns& c) { c.shared_value_kind[0] = 9; }) ==
        place + "value kind 9 is unknown; the trace is malformed");
  CHECK(message([](WarpColumns& c) { c.shared_value_kind.push_back(1); }) == "shared_value_kind");
}
