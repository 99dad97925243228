// SPDX-License-Identifier: Apache-2.0
//
// What writes leave in shared memory, as the trace holds it: replaying it into bytes of its own gives what loads read.
#include "harness.h"

#include <regatta/ir/address_windows.h>
#include <regatta/test/catch.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

using namespace regatta;
using namespace regatta::test;

namespace {

/// Words by opcode and lane, of the writes in the order of the program.
struct Stored {
  std::string opcode;
  trace::LaneMask lanes;
  std::vector<trace::WarpValue> words;
};

struct Replay {
  std::vector<Stored> writes;
  std::array<std::uint8_t, 1024> bytes{};
  unsigned loads = 0;
};

/// The words of the one write with this opcode: independent stores may change places.
const std::vector<trace::WarpValue>& words_of(const Replay& r, const std::string& opcode) {
  const auto found =
      std::find_if(r.writes.begin(), r.writes.end(), [&](const Stored& s) { return s.opcode == opcode; });
  CAPTURE(opcode);
  REQUIRE(found != r.writes.end());
  return found->words;
}

/// One warp. Every load of shared memory must read what the writes before it left.
Replay replay(Machine& m, const trace::WarpColumns& columns) {
  Replay r;
  trace::WarpCursor cursor(m.kernel, columns);
  while (cursor.next()) {
    const trace::StaticInstruction& i = cursor.instruction();
    std::array<std::uint64_t, 64> address{};
    if (trace::has_addresses(i)) cursor.addresses(address.data());
    std::vector<trace::WarpValue> results(i.destination_count);
    for (trace::WarpValue& v : results) cursor.result(v);
    for (unsigned p = 0; p < i.destination_predicate_count; ++p) cursor.predicate();
    const trace::LaneMask lanes =
        trace::has_addresses(i) ? trace::shared_lanes(i, cursor.active_mask(), address.data()) : 0;
    const auto at = [&](unsigned lane) { return address[lane] & ir::window_offset_mask; };
    const auto each = [lanes](auto&& f) {
      for (trace::LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
        f(static_cast<unsigned>(__builtin_ctzll(rest)));
      }
    };
    if (i.op_class == trace::OpClass::load) {
      each([&](unsigned lane) {
        ++r.loads;
        std::vector<std::uint8_t> read(4 * results.size());
        for (std::size_t w = 0; w < results.size(); ++w) std::memcpy(&read[4 * w], &results[w].lane[lane], 4);
        for (unsigned b = 0; b < i.access_bytes; ++b) REQUIRE(read[b] == r.bytes[at(lane) + b]);
      });
    }
    const unsigned words = cursor.stored_words();
    REQUIRE(words == (lanes == 0 || !i.writes_memory ? 0 : (i.access_bytes + 3u) / 4));
    if (words == 0) continue;
    REQUIRE(cursor.stored_lanes() == lanes);
    Stored s{i.opcode, lanes, std::vector<trace::WarpValue>(words)};
    for (trace::WarpValue& w : s.words) cursor.stored(w);
    each([&](unsigned lane) {
      for (unsigned b = 0; b < i.access_bytes; ++b) {
        r.bytes[at(lane) + b] = static_cast<std::uint8_t>(s.words[b / 4].lane[lane] >> (8 * (b % 4)));
      }
    });
    r.writes.push_back(std::move(s));
  }
  CHECK(cursor.leftover() == nullptr);
  return r;
}

/// Runs `body` in one warp of 32 lanes (or 64) and replays it. %t: the lane, %s: a shared address of its own, 16 bytes
/// apart; %p: 8 bytes of global memory.
Replay run_stored(const std::string& body, unsigned warp_size = 32) {
  Machine m(module_text(".param .u64 out",
                        ".reg .b64 %p, %o, %d<8>; .reg .b32 %t, %s, %r<12>; .reg .b16 %h<4>; .reg .f64 %f<4>; .reg "
                        ".pred %q<4>;\n.shared .align 16 .b8 s[1024];\n"
                        "mov.u32 %t, %tid.x; ld.param.u64 %p, [out]; mul.wide.u32 %o, %t, 8; add.u64 %p, %p, %o;\n"
                        "mov.u32 %s, s; shl.b32 %r0, %t, 4; add.u32 %s, %s, %r0;\n" +
                            body + "\nret;\n"),
            warp_size);
  m.kernel.shared_values = true;
  m.parameter(m.buffer("out", 64 * 8));
  m.request.block = {warp_size, 1, 1};
  KeepCtas kept;
  m.run(&kept);
  REQUIRE(kept.ctas.size() == 1);
  REQUIRE(kept.ctas[0].warps.size() == 1);
  return replay(m, kept.ctas[0].warps[0]);
}

}  // namespace

TEST_CASE("stored values: every width, low bits first") {
  for (const unsigned warp_size : {32u, 64u}) {
    const Replay r = run_stored(
        "add.u32 %r1, %t, 0x12345600; st.shared.u32 [%s], %r1; cvt.u16.u32 %h1, %r1; st.shared.u16 [%s+4], %h1;\n"
        "st.shared.u8 [%s+6], %r1; ld.shared.u8 %r2, [%s+6]; st.global.u32 [%p], %r2; ld.shared.u32 %r2, [%s];\n"
        "st.shared.v2.u32 [%s+8], {%t, %r1}; ld.shared.v2.u32 {%r3, %r4}, [%s+8]; st.global.v2.u32 [%p], {%r3, %r4};\n"
        "st.shared.v4.u32 [%s], {%t, %r1, %r2, %t}; ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%s];\n"
        "st.global.v2.u32 [%p], {%r3, %r4}; st.global.v2.u32 [%p], {%r5, %r6};\n"
        "cvt.rn.f64.u32 %f1, %t; st.shared.f64 [%s+8], %f1; ld.shared.f64 %f2, [%s+8]; st.global.f64 [%p], %f2;\n",
        warp_size);
    REQUIRE(r.writes.size() == 6);
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      const std::uint32_t v = 0x12345600 + lane;
      CHECK(words_of(r, "st.shared.u32")[0].lane[lane] == v);
      CHECK(words_of(r, "st.shared.u16")[0].lane[lane] == (v & 0xffff));
      CHECK(words_of(r, "st.shared.u8")[0].lane[lane] == (v & 0xff));
      CHECK(words_of(r, "st.shared.v2.u32")[0].lane[lane] == lane);
      CHECK(words_of(r, "st.shared.v2.u32")[1].lane[lane] == v);
      CHECK(words_of(r, "st.shared.v4.u32")[3].lane[lane] == lane);
      const double d = lane;
      std::uint64_t bits = 0;
      std::memcpy(&bits, &d, 8);
      CHECK(words_of(r, "st.shared.f64")[0].lane[lane] == static_cast<std::uint32_t>(bits));
      CHECK(words_of(r, "st.shared.f64")[1].lane[lane] == static_cast<std::uint32_t>(bits >> 32));
    }
    CHECK(r.loads == 5 * warp_size);
  }
}

TEST_CASE("stored values: atomics leave what memory holds afterwards, in every lane of one address") {
  const Replay r = run_stored(
      "mov.u32 %r1, s; mov.u32 %r2, 5; st.shared.u32 [%r1], %r2; atom.shared.add.u32 %r3, [%r1], 2;\n"
      "ld.shared.u32 %r4, [%r1]; st.global.u32 [%p], %r4; red.shared.max.u32 [%r1], %t;\n"
      "ld.shared.u32 %r4, [%r1]; st.global.u32 [%p], %r4;\n"
      "st.shared.u32 [%s], %t; atom.shared.exch.b32 %r5, [%s], 77; atom.shared.cas.b32 %r6, [%s], 77, %t;\n"
      "ld.shared.u32 %r7, [%s]; st.global.u32 [%p], %r7;\n");
  REQUIRE(r.writes.size() == 6);
  CHECK(r.loads == 3 * 32);
  for (unsigned lane = 0; lane < 32; ++lane) {
    CHECK(r.writes[0].words[0].lane[lane] == 5);
    CHECK(r.writes[1].words[0].lane[lane] == 5 + 2 * 32);
    CHECK(r.writes[2].words[0].lane[lane] == 69);
    CHECK(r.writes[4].words[0].lane[lane] == 77);
    CHECK(r.writes[5].words[0].lane[lane] == lane);
  }
}

TEST_CASE("stored values: lanes that write one address with a plain store have its final content") {
  const Replay r =
      run_stored("mov.u32 %r1, s; st.shared.u32 [%r1], %t; ld.shared.u32 %r2, [%r1]; st.global.u32 [%p], %r2;\n");
  REQUIRE(r.writes.size() == 1);
  for (unsigned lane = 1; lane < 32; ++lane) CHECK(r.writes[0].words[0].lane[lane] == r.writes[0].words[0].lane[0]);
}

TEST_CASE("stored values: guards, and generic stores that lie in shared memory in some lanes") {
  const Replay r = run_stored(
      "setp.lt.u32 %q1, %t, 7; @%q1 st.shared.u32 [%s], %t;\n"
      "setp.gt.u32 %q3, %t, 1000; @%q3 st.shared.u32 [%s], %t;\n"
      "cvt.u64.u32 %d1, %s; cvta.shared.u64 %d2, %d1; and.b32 %r1, %t, 1; setp.eq.u32 %q2, %r1, 0;\n"
      "selp.b64 %d3, %d2, %p, %q2; st.u32 [%d3], %t; ld.u32 %r2, [%d3]; st.global.u32 [%p+4], %r2;\n");
  REQUIRE(r.writes.size() == 2);
  CHECK(r.writes[0].lanes == 0x7f);
  CHECK(r.writes[1].lanes == 0x55555555);
  for (unsigned lane = 0; lane < 32; lane += 2) CHECK(r.writes[1].words[0].lane[lane] == lane);
  CHECK(r.loads == 16);
}

TEST_CASE("stored values: none without the switch, and the other columns are the same") {
  const auto columns_of = [](bool wanted) {
    Machine m(module_text(".param .u64 out",
                          ".reg .b32 %t, %s, %r<4>; .shared .align 4 .b8 s[128];\n"
                          "mov.u32 %t, %tid.x; shl.b32 %r1, %t, 2; mov.u32 %s, s; add.u32 %s, %s, %r1;\n"
                          "st.shared.u32 [%s], %t; ld.shared.u32 %r2, [%s]; ret;\n"));
    m.kernel.shared_values = wanted;
    m.parameter(m.buffer("out", 64));
    m.request.block = {32, 1, 1};
    KeepCtas kept;
    m.run(&kept);
    return kept.ctas.at(0).warps.at(0);
  };
  const trace::WarpColumns with = columns_of(true), without = columns_of(false);
  CHECK(with.shared_value_kind.size() == 1);
  CHECK(without.shared_value_kind.empty());
  CHECK(without.shared_value_data.empty());
  CHECK(with.value_kind == without.value_kind);
  CHECK(with.value_data == without.value_data);
  CHECK(with.address_base == without.address_base);
}
