// SPDX-License-Identifier: Apache-2.0
//
// The scenarios of the WIR paper's figures 4, 6, 9 and 11 and of section V-D, and the cycles that its stages take.
#include <regatta/wir/h3_hash.h>

#include <algorithm>

#include "wir_support.h"

using namespace regatta;
using test::bare;
using test::Fate;
using test::Knobs;
using test::read_cycles;
using test::run_each;
using test::TraceBuilder;
using test::Values;
using test::Watched;

namespace {

std::uint64_t reused(const Watched& w) {
  return w.counter("reuse.reused_arithmetic") + w.counter("reuse.reused_load") + w.counter("reuse.reused_pending");
}

/// From the issue of an addition to that of one that needs its result: `delay` cycles more than without reuse.
void check_delay(unsigned delay) {
  TraceBuilder b;
  Values v(b);
  v.op("id.0", 0, {});
  v.op("id.1", 1, {});
  const auto first = v.op("add", 2, {0, 1});
  const auto second = v.op("add", 3, {2, 1});
  b.exit();
  run_each(b, v, 1);
  const Watched w = test::watch(b, "wir_delay_" + std::to_string(delay), {{"wir.delay", std::to_string(delay)}});
  test::require_clean(w.result);
  CHECK(w.of(0, second).issued - w.of(0, first).issued == bare + delay);
  CHECK(w.of(0, first).is_written);
}

/// Six warps add the same registers, as in figure 11.
Watched figure_11(const std::string& model) {
  TraceBuilder b;
  Values v(b);
  v.op("lane.1", 1, {});
  v.op("lane.2", 2, {});
  v.op("add", 0, {1, 2});
  b.exit();
  run_each(b, v, 6);
  const Watched w =
      test::watch(b, "wir_figure_11_" + model, {{"wir.model", model}, {"reuse_buffer.associative", "true"}});
  test::require_clean(w.result);
  return w;
}

}  // namespace

TEST_CASE("figure 4: equal results share a register, and what computes with it is reused") {
  TraceBuilder b;
  Values v(b);
  v.mine = [](std::uint32_t own, std::uint32_t k, unsigned lane) { return k == 0 ? lane * (2 - own) : 2 + 2 * own; };
  v.op("id.0", 0, {});  // [0, 2, 4, 6] and [0, 1, 2, 3]
  v.op("id.1", 1, {});  // [2, 2, 2, 2] and [4, 4, 4, 4]
  v.op("const.1", 6, {});
  const auto mul = v.op("mul", 2, {0, 1});  // [0, 4, 8, 12] of both
  const auto add = v.op("add", 7, {2, 6});
  b.exit();
  run_each(b, v, 2);
  const Watched w = test::watch(b, "wir_figure_4", {{"wir.model", "rlp"}});
  test::require_clean(w.result);
  CHECK_FALSE(w.of(0, mul).is_bypassed);
  CHECK_FALSE(w.of(1, mul).is_bypassed);
  CHECK(w.of(0, mul).is_written != w.of(1, mul).is_written);
  CHECK(w.of(0, add).is_bypassed != w.of(1, add).is_bypassed);
  CHECK(reused(w) == 2);  // the addition, and the constant
  CHECK(w.counter("vsb.hits") == 1);
  CHECK(w.counter("allocator.allocations") == 7);
  CHECK(w.wir.at("vsb.hits") == 1);
  CHECK(w.wir.at("bypass_fraction").get<double>() == Approx(2.0 / 12));
}

TEST_CASE("figure 6: miss, equal value, and another value of the same hash") {
  const models::wir::H3Hash hash(32, 4);
  const auto hash_of = [&](std::uint32_t n) {
    std::array<std::uint32_t, 32> value{};
    for (unsigned lane = 0; lane < 32; ++lane) value[lane] = lane * n + n;
    return hash(value.data());
  };
  std::uint32_t first = 1;
  while (hash_of(first) == 0) ++first;  // zero has that
  std::uint32_t second = first + 1;
  while (hash_of(second) != hash_of(first)) ++second;
  TraceBuilder b;
  Values v(b);
  v.op("const.0", 0, {});
  const auto one = v.op("const." + std::to_string(first), 1, {});
  const auto same = v.op("add", 2, {0, 1});
  const auto other = v.op("const." + std::to_string(second), 3, {2});
  const auto use = v.op("add", 4, {2, 3});
  b.exit();
  run_each(b, v, 1);
  const Watched w = test::watch(b, "wir_figure_6", {{"wir.model", "rlp"}, {"wir.hash_bits", "4"}});
  test::require_clean(w.result);
  CHECK(w.of(0, one).is_written);
  CHECK_FALSE(w.of(0, same).is_written);
  CHECK(w.of(0, other).is_written);
  CHECK(w.counter("allocation.false_positives") >= 1);
  // A candidate costs a read of its bank, behind arbitration; then nothing is written, which takes a cycle as well.
  CHECK(w.of(0, other).issued - w.of(0, same).issued == bare + 4 + read_cycles);
  // Nor is a false candidate's write done before the comparison.
  CHECK(w.of(0, use).issued - w.of(0, other).issued == bare + 4 + read_cycles);
}

TEST_CASE("a verify cache miss takes a cycle more than the bank, a hit one in all") {
  TraceBuilder b;
  Values v(b);
  v.op("const.0", 0, {});
  v.op("const.3", 1, {});
  const auto miss = v.op("add", 2, {1, 0});
  const auto hit = v.op("mul", 3, {2, 2});  // keeps the next behind the first
  const auto again = v.op("add", 4, {0, 2});
  const auto end = v.op("add", 5, {4, 3});
  b.exit();
  run_each(b, v, 1);
  const Watched w = test::watch(b, "wir_verify_cache", {});
  test::require_clean(w.result);
  CHECK(w.of(0, hit).issued - w.of(0, miss).issued == bare + 4 + read_cycles + 1);
  CHECK(w.of(0, end).issued - w.of(0, again).issued == bare + 4 + 1);
  CHECK(w.counter("verify_cache.misses") == 1);
  CHECK(w.counter("verify_cache.hits") == 1);
  CHECK(w.counter("verify_reads") == 1);
}

TEST_CASE("the stages take 3 cycles") { check_delay(3); }
TEST_CASE("the stages take 4 cycles") { check_delay(4); }
TEST_CASE("the stages take 5 cycles") { check_delay(5); }
TEST_CASE("the stages take 6 cycles") { check_delay(6); }
TEST_CASE("the stages take 7 cycles") { check_delay(7); }

TEST_CASE("figure 11: without pending-retry what looks before the first result is there executes") {
  const Watched w = figure_11("r");
  std::uint64_t first_result = ~std::uint64_t{0};
  for (unsigned warp = 0; warp < 6; ++warp) {
    const Fate& f = w.of(warp, 2);
    if (!f.is_bypassed) first_result = std::min(first_result, f.retired);
  }
  unsigned executed = 0;
  for (unsigned warp = 0; warp < 6; ++warp) {
    const Fate& f = w.of(warp, 2);
    CAPTURE(warp, f.issued, f.bypassed, first_result);
    // Two cycles after issue the buffer is asked; an entry made in that cycle is found.
    CHECK(f.is_bypassed == (f.issued + 2 >= first_result));
    if (f.is_bypassed) CHECK(f.bypassed == f.issued + 2);
    executed += f.is_bypassed ? 0 : 1;
  }
  CHECK(executed > 1);
}

TEST_CASE("figure 11: with pending-retry all but the first take its result") {
  const Watched w = figure_11("rlp");
  std::uint64_t result = 0;
  unsigned executed = 0;
  for (unsigned warp = 0; warp < 6; ++warp) {
    const Fate& f = w.of(warp, 2);
    if (f.is_bypassed) continue;
    ++executed;
    result = f.retired;
  }
  CHECK(executed == 1);
  CHECK(w.counter("reuse.reused_pending") >= 5);
  for (unsigned warp = 0; warp < 6; ++warp) {
    const Fate& f = w.of(warp, 2);
    if (!f.is_bypassed) continue;
    // One looks per cycle, and each has to come round once at most.
    CHECK(f.bypassed >= result);
    CHECK(f.bypassed <= result + 2 * 6);
    // Then it passes by the units: a cycle to write-back, and one there.
    CHECK(f.retired == f.bypassed + 2);
  }
}

TEST_CASE("figure 9: operands in another order, and other opcodes, are other computations") {
  TraceBuilder b;
  Values v(b);
  v.op("lane.1", 1, {});
  v.op("const.2", 2, {});
  v.op("add", 3, {1, 2});
  v.op("mul", 4, {1, 2});
  v.op("add", 5, {2, 1});
  v.op("add", 6, {1, 2});
  b.exit();
  run_each(b, v, 1);
  const Watched w = test::watch(b, "wir_figure_9", {{"reuse_buffer.associative", "true"}});
  test::require_clean(w.result);
  CHECK_FALSE(w.of(0, 3).is_bypassed);
  CHECK_FALSE(w.of(0, 4).is_bypassed);
  CHECK(w.of(0, 5).is_bypassed);
  CHECK(reused(w) == 1);
}

TEST_CASE("section V-D: the first divergent write takes the other lanes along, the next ones none") {
  TraceBuilder b;
  Values v(b);
  v.op("lane.5", 0, {});
  v.op("const.0", 1, {});
  v.op("add", 2, {0, 1});  // shares the register of R0
  const auto low = v.op("const.7", 0, {1});
  const auto high = v.op("const.9", 0, {1});
  const auto both = v.op("add", 3, {0, 2});
  const auto copy = v.op("add", 4, {0, 2});
  const auto anew = v.op("lane.8", 0, {1});
  v.op("add", 5, {0, 2});
  const auto last = v.op("add", 6, {0, 2});
  const auto unmapped = v.op("const.11", 7, {1});
  v.op("add", 8, {7, 7});
  b.exit();
  b.launch(1, 32);
  b.begin_cta();
  b.begin_warp();
  for (std::uint32_t i = 0; i < b.kernel().instructions.size(); ++i) {
    const bool partial = i == unmapped || i == unmapped + 1;
    b.execute(i, i == low ? 0xffff : i == high ? 0xff00ff00 : partial ? 0xf : 0);
  }
  b.end_warp();
  b.end_cta();
  const Watched w = test::watch(b, "wir_divergence", {{"reuse_buffer.associative", "true"}});
  test::require_clean(w.result);
  CHECK(w.counter("allocation.dummy_movs") == 1);
  CHECK(w.counter("moves") == 1);
  // The sources of these two are pinned: neither is entered or looked up.
  CHECK_FALSE(w.of(0, both).is_bypassed);
  CHECK_FALSE(w.of(0, copy).is_bypassed);
  // The register is an ordinary one again behind a convergent write.
  CHECK(w.of(0, anew).is_written);
  CHECK(w.of(0, last).is_bypassed);
}

TEST_CASE("a load whose warp has stored looks again, another warp's does not") {
  TraceBuilder b;
  Values v(b);
  v.op("lane.64", 0, {});
  const auto load = [&](unsigned destination) {
    const auto index = b.load(trace::MemorySpace::global, destination, 0);
    b.kernel().instructions[index].opcode = "load";
    return index;
  };
  const auto first = load(1);
  v.op("add", 5, {1, 1});
  const auto second = load(2);
  b.store(trace::MemorySpace::global, 0, 1);
  const auto third = load(3);
  v.op("add", 4, {2, 3});
  b.exit();
  b.launch(1, 32);
  b.begin_cta();
  b.begin_warp();
  for (std::uint32_t i = 0; i < b.kernel().instructions.size(); ++i) {
    if (i == third) v.memory = 1;
    b.execute(i, 0, {4096});
  }
  b.end_warp();
  b.end_cta();
  const Watched w = test::watch(b, "wir_own_store", {});
  test::require_clean(w.result);
  CHECK_FALSE(w.of(0, first).is_bypassed);
  CHECK(w.of(0, second).is_bypassed);
  CHECK_FALSE(w.of(0, third).is_bypassed);
  CHECK(w.wir.at("reused.load") == 1);
}

namespace {

/// Six warps compute the same once, at about the same time.
Watched one_for_all(const std::string& entries) {
  TraceBuilder b;
  Values v(b);
  v.op("lane.1", 1, {});
  b.exit();
  run_each(b, v, 6);
  const Watched w =
      test::watch(b, "wir_retry_" + entries,
                  {{"wir.model", "rlp"}, {"reuse_buffer.associative", "true"}, {"retry_queue.entries", entries}});
  test::require_clean(w.result);
  return w;
}

}  // namespace

TEST_CASE("a retry queue with a place for each that waits takes them all") {
  const Watched w = one_for_all("5");
  CHECK(w.counter("retry_queue.queued") == 5);
  CHECK(w.counter("retry_queue.full") == 0);
  CHECK(w.counter("reuse.reused_pending") == 5);
}
TEST_CASE("a retry queue with one place less has one execute") {
  const Watched w = one_for_all("4");
  CHECK(w.counter("retry_queue.queued") == 4);
  CHECK(w.counter("retry_queue.full") == 1);
  CHECK(w.counter("reuse.reused_pending") == 4);
}

TEST_CASE("places that only the offset tells apart are different loads") {
  TraceBuilder b;
  Values v(b);
  v.op("lane.64", 0, {});
  const auto load = [&](unsigned destination, std::int64_t offset) {
    const auto index = b.load(trace::MemorySpace::global, destination, 0);
    b.kernel().instructions[index].opcode = "load";
    b.kernel().instructions[index].address_offset = offset;
    return index;
  };
  const auto first = load(1, 0);
  v.op("add", 5, {1, 1});
  const auto other = load(2, 4);
  v.op("add", 6, {2, 2});
  const auto same = load(3, 4);
  v.op("add", 7, {3, 3});
  b.exit();
  b.launch(1, 32);
  b.begin_cta();
  b.begin_warp();
  for (std::uint32_t i = 0; i < b.kernel().instructions.size(); ++i) {
    v.memory = i == first ? 0 : 1;
    b.execute(i, 0, {4096});
  }
  b.end_warp();
  b.end_cta();
  const Watched w = test::watch(b, "wir_offsets", {{"reuse_buffer.associative", "true"}});
  test::require_clean(w.result);
  CHECK_FALSE(w.of(0, first).is_bypassed);
  CHECK_FALSE(w.of(0, other).is_bypassed);
  CHECK(w.of(0, same).is_bypassed);
}

TEST_CASE("results of two registers are reused by entries that have room for them") {
  TraceBuilder b;
  Values v(b);
  v.op("lane.3", 0, {});
  v.op("const.5", 1, {});
  const auto wide = [&](unsigned destination) {
    const auto index = b.op(trace::OpClass::int64, {destination, destination + 1}, {0, 1, 1, 0});
    b.kernel().instructions[index].opcode = "mul";
    return index;
  };
  const auto first = wide(2);
  const auto same = wide(4);
  v.op("add", 6, {4, 5});
  v.op("add", 7, {2, 3});
  b.exit();
  run_each(b, v, 1);
  const Watched w = test::watch(b, "wir_pairs", {{"reuse_buffer.pairs", "true"}});
  test::require_clean(w.result);
  CHECK_FALSE(w.of(0, first).is_bypassed);
  CHECK(w.of(0, same).is_bypassed);
  CHECK(w.counter("reuse.reused_registers") == 2 + 1);
}

TEST_CASE("a kernel of a trace that names no carries is refused") {
  TraceBuilder b;
  Values v(b);
  v.op("id.0", 0, {});
  b.exit();
  b.kernel().static_revision = 0;
  run_each(b, v, 1);
  CHECK_THROWS_WITH(test::watch(b, "wir_old_trace", {}), Catch::Matchers::Contains("annotate it anew"));
}

TEST_CASE("fewer physical registers than a CTA has logical ones are refused") {
  TraceBuilder b;
  Values v(b);
  for (unsigned r = 0; r < 20; ++r) v.op("id." + std::to_string(r), r, {});
  b.exit();
  b.launch(1, 128);
  b.begin_cta();
  for (unsigned w = 0; w < 4; ++w) {
    b.begin_warp();
    b.execute_straight();
    b.end_warp();
  }
  b.end_cta();
  CHECK_THROWS_WITH(test::watch(b, "wir_too_few", {{"wir.physical_registers", "79"}}),
                    Catch::Matchers::Contains("wir.physical_registers = 79, expected at least 80"));
}
