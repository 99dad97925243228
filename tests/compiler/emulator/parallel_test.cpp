// SPDX-License-Identifier: Apache-2.0
//
// CTAs on several threads leave what they leave one after another.
#include "access_log.h"

#include "harness.h"

#include <catch2/catch.hpp>

#include <random>
#include <set>

namespace regatta::test::parallel {
namespace {

constexpr unsigned ctas = 96, words = 4096;

/// `body` has the thread in the grid at %t, its CTA at %c and the buffer at %p. Before it, each warp spends some time,
/// so that threads are worth it.
std::string text(const std::string& body) {
  return module_text(".param .u64 data",
                     ".reg .pred %q<4>; .reg .b32 %t, %c, %n, %r<10>; .reg .b64 %p, %a<6>; .shared .align 4 .b8 "
                     "s[128];\nld.param.u64 %p, [data]; mov.u32 %c, %ctaid.x; mov.u32 %t, %tid.x; mad.lo.u32 %t, %c, "
                     "32, %t; mov.u32 %n, 0;\nSPEND: add.u32 %n, %n, 1; setp.lt.u32 %q0, %n, 500; @%q0 bra SPEND;\n" +
                         body + "\nret;\n");
}

struct Outcome {
  std::string error;
  std::vector<std::uint32_t> data;
  emulator::RunCounts counts;
  std::uint64_t strays = 0;
};

Outcome run(const std::string& kernel, unsigned threads, const std::function<void(Machine&)>& set_up = {}) {
  Machine m(kernel);
  m.options.threads = threads;
  m.request.block = {32, 1, 1};
  m.request.grid = {ctas, 1, 1};
  std::vector<std::uint32_t> data(words);
  for (unsigned i = 0; i < words; ++i) data[i] = i * 2654435761u;
  const std::uint64_t at = m.buffer("data", data);
  m.parameter(at);
  if (set_up) set_up(m);
  Outcome o;
  o.error = m.error();
  o.data = m.read<std::uint32_t>(at, words);
  if (o.error.empty()) o.counts = m.run();
  return o;
}

void compare(const std::string& body, const std::function<void(Machine&)>& set_up = {}) {
  const std::string kernel = text(body);
  const Outcome one = run(kernel, 1, set_up);
  for (const unsigned threads : {2u, 3u, 8u}) {
    const Outcome several = run(kernel, threads, set_up);
    INFO(body);
    REQUIRE(several.error == one.error);
    // What an error leaves is what it left in order.
    REQUIRE(several.data == one.data);
    REQUIRE(several.counts.warp_instructions == one.counts.warp_instructions);
    REQUIRE(several.counts.thread_instructions == one.counts.thread_instructions);
    REQUIRE(several.counts.divergent_branches == one.counts.divergent_branches);
  }
}

const std::string own_address = "mul.wide.u32 %a1, %t, 4; add.s64 %a1, %p, %a1;\n";

}  // namespace

TEST_CASE("CTAs that depend on each other, and those that do not, leave the same on several threads") {
  // Each its own words; all read one that nobody writes.
  compare(own_address +
          "ld.global.u32 %r1, [%p+16380]; ld.global.u32 %r2, [%a1]; add.u32 %r2, %r2, %r1; "
          "st.global.u32 [%a1], %r2;");
  // A chain: a CTA reads what the one before has written.
  compare(own_address + "ld.global.u32 %r1, [%a1]; add.u32 %r1, %r1, 1; st.global.u32 [%a1+128], %r1;");
  // Backwards: what the next one will have written.
  compare(own_address + "ld.global.u32 %r1, [%a1+128]; add.u32 %r1, %r1, 1; st.global.u32 [%a1], %r1;");
  // All write one word: the last one counts.
  compare("st.global.u32 [%p], %c;");
  // Bytes of one word, by different CTAs.
  compare("cvt.u64.u32 %a1, %c; add.s64 %a1, %p, %a1; st.global.u8 [%a1], %c;");
  // Atomic operations: global, and global through generic addresses.
  compare(
      "atom.global.add.u32 %r1, [%p], 1; mul.wide.u32 %a1, %t, 4; add.s64 %a1, %p, %a1; st.global.u32 [%a1+4], %r1;");
  compare("cvta.global.u64 %a2, %p; atom.add.u32 %r1, [%a2], 1; " + own_address + "st.global.u32 [%a1+4], %r1;");
  // Vectors and 8 bytes; a gap of one word.
  compare(
      "mul.wide.u32 %a1, %t, 4; and.b64 %a1, %a1, -16; add.s64 %a1, %p, %a1; ld.global.v4.u32 {%r1,%r2,%r3,%r4}, "
      "[%a1]; st.global.v4.u32 [%a1], {%r4,%r3,%r2,%r1};");
}

TEST_CASE("errors on several threads are those in order") {
  const auto error = [](const std::string& body) { return run(text(body), 4).error; };
  const std::string late = "setp.ge.u32 %q1, %c, 40; @%q1 st.global.u32 [%p+16384], %c;";
  compare(late);
  CHECK(error(late).find("CTA (40,0,0), thread (0,0,0): out-of-bounds write of 4 bytes") != std::string::npos);
  // CTA 50 fails because of what CTA 49 has written.
  const std::string because = own_address +
                              "ld.global.u32 %r1, [%a1]; setp.eq.u32 %q1, %c, 49; @%q1 mov.u32 %r1, 7; st.global.u32 "
                              "[%a1+128], %r1; setp.eq.u32 "
                              "%q2, %c, 50; setp.eq.u32 %q3, %r1, 7; and.pred %q3, %q3, %q2; @%q3 trap;";
  compare(because);
  CHECK(error(because).find("CTA (50,0,0)") != std::string::npos);
  // It waits for what a later one would write.
  const std::string waits =
      "setp.eq.u32 %q1, %c, 20; @!%q1 bra PASS;\nWAIT: ld.volatile.global.u32 %r1, [%p+256]; setp.ne.u32 %q2, %r1, 5; "
      "@%q2 "
      "bra WAIT;\nPASS: setp.eq.u32 %q1, %c, 21; @%q1 st.volatile.global.u32 [%p+256], 5;";
  compare(waits);
  CHECK(error(waits).find("CTA (20,0,0)") != std::string::npos);
}

TEST_CASE("reads outside of buffers are counted in order, and memory may be partly written") {
  compare(own_address + "ld.global.u32 %r1, [%a1+16000]; st.global.u32 [%a1], %r1;",
          [](Machine& m) { m.options.stray_reads = true; });
  const std::string through = text(own_address +
                                   "ld.global.u64 %a2, [%p+16376]; mul.wide.u32 %a3, %t, 4; add.s64 %a2, %a2, %a3; "
                                   "st.global.u32 [%a2], %t; ld.global.u32 %r1, [%a2+128]; st.global.u32 [%a1], %r1;");
  const auto scratch = [](Machine& m) {
    const std::uint64_t at = m.buffer("scratch", 4 * words, false);
    m.memory.write(emulator::DeviceMemory::first_address + 16376, &at, 8);
  };
  const Outcome one = run(through, 1, scratch), four = run(through, 4, scratch);
  CHECK(one.error.find("which was never written") != std::string::npos);
  CHECK(four.error == one.error);
  CHECK(four.data == one.data);
}

TEST_CASE("random programs on several threads leave the same") {
  std::mt19937 random(3);
  for (unsigned n = 0; n < 60; ++n) {
    std::string body;
    // Word of an access: (CTA * a + thread in it * b + c) mod d, within its own 32 words, or anywhere.
    const auto address = [&] {
      const unsigned kind = random() % 4;
      const std::string c = std::to_string(random() % words);
      if (kind != 0) return "and.b32 %r5, %t, " + std::to_string(kind == 1 ? 0xfe0 : 0xfff) + ";";
      return "mad.lo.u32 %r5, %t, " + std::to_string(random() % 9) + ", " + c + "; and.b32 %r5, %r5, 4095;";
    };
    for (unsigned k = 0; k < 4; ++k) {
      body += address() + " mul.wide.u32 %a1, %r5, 4; add.s64 %a1, %p, %a1;\n";
      body +=
          random() % 3 == 0 ? "st.global.u32 [%a1], %r1;\n" : "ld.global.u32 %r2, [%a1]; mad.lo.u32 %r1, %r2, 5, %t;\n";
    }
    compare("mov.u32 %r1, %t;\n" + body + own_address + "st.global.u32 [%a1], %r1;");
  }
}

TEST_CASE("logs conflict exactly where sets of words do, and memory comes back") {
  std::mt19937 random(11);
  for (unsigned n = 0; n < 300; ++n) {
    emulator::DeviceMemory memory;
    for (unsigned b = 0; b < 3; ++b) memory.allocate("b", 50'000, b != 2);
    std::vector<std::vector<std::uint8_t>> before;
    for (const auto& a : memory.allocations()) before.push_back(a.data);
    emulator::StartState start(memory);
    emulator::AccessLog logs[2] = {{memory, start}, {memory, start}};
    std::set<std::pair<unsigned, std::uint64_t>> reads[2], writes[2];
    const unsigned spread = n % 3 == 0 ? 50'000 - 600 : 2000;
    for (unsigned k = 0; k < 12; ++k) {
      const unsigned who = random() % 2, buffer = random() % 3;
      const bool is_write = random() % 3 == 0;
      emulator::Allocation& a = memory.allocations()[buffer];
      auto& set = is_write ? writes[who] : reads[who];
      if (random() % 2 == 0) {
        const std::uint64_t at = random() % spread, bytes = 1 + random() % 300;
        is_write ? logs[who].write(a, at, bytes) : logs[who].read(a, at, bytes);
        for (std::uint64_t i = at; i < at + bytes; ++i) set.insert({buffer, i / 4});
        if (is_write) std::fill_n(a.data.begin() + static_cast<std::ptrdiff_t>(at), bytes, std::uint8_t{1});
      } else {
        std::uint64_t address[64] = {};
        const std::uint64_t active = random(), bytes = 1u << random() % 5;
        for (unsigned i = 0; i < 32; ++i) address[i] = a.base + random() % (spread / bytes) * bytes;
        logs[who].lanes(a, address, active, bytes, is_write);
        for (unsigned i = 0; i < 32; ++i) {
          if ((active >> i & 1) == 0) continue;
          for (std::uint64_t b = 0; b < bytes; ++b) set.insert({buffer, (address[i] - a.base + b) / 4});
          if (is_write) a.data[address[i] - a.base] = 2;
        }
      }
    }
    const auto meet = [](const auto& a, const auto& b) {
      return std::any_of(a.begin(), a.end(), [&](const auto& x) { return b.count(x) != 0; });
    };
    const bool expected = meet(writes[0], reads[1]) || meet(writes[0], writes[1]) || meet(reads[0], writes[1]);
    REQUIRE(logs[0].conflicts(logs[1]) == expected);
    REQUIRE(logs[1].conflicts(logs[0]) == expected);
    start.restore();
    for (unsigned b = 0; b < 3; ++b) REQUIRE(memory.allocations()[b].data == before[b]);
  }
}

}  // namespace regatta::test::parallel
