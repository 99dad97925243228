// SPDX-License-Identifier: Apache-2.0
//
// Returns from within divergent branches and loops: the lanes that stay meet again where they would without them.
#include "harness.h"

#include <regatta/test/catch.h>

#include <functional>
#include <random>

using namespace regatta;
using namespace regatta::test;

namespace {

constexpr unsigned lanes_of_block = 64;
using Ints = std::vector<int>;

/// One thread of the kernels of early_return.cu up to its barrier: whether it comes there, and with what in its place
/// of the tile.
struct Arrival {
  bool comes = false;
  int value = 0;
};

Arrival in_branch(const Ints& in, Ints& out, int n, int t) {
  const int v = in[static_cast<unsigned>(t)];
  if (t < n) {
    if (v < 0) return {};
    out[static_cast<unsigned>(64 + t)] = 1000 / (v + 1);
  }
  return {true, v};
}

Arrival in_loop(const Ints& in, Ints& out, int n, int t) {
  int v = in[static_cast<unsigned>(t)];
  for (int i = 0; i < v; ++i) {
    if (in[static_cast<unsigned>((t + i) & 63)] == n) {
      out[static_cast<unsigned>(64 + t)] = i;
      return {};
    }
    v -= in[static_cast<unsigned>((i + t) & 63)] & 1;
  }
  return {true, v};
}

Arrival error_exit(const Ints& in, Ints& out, int n, int t) {
  const auto at = [&](int i) { return in[static_cast<unsigned>(i & 63)]; };
  int v = at(t);
  const auto error = [&] {
    out[static_cast<unsigned>(t)] = -v;
    out[static_cast<unsigned>(64 + t)] = t;
    return Arrival{};
  };
  if (at(63 - t) == 3000) return error();
  for (int i = 0; i < (t & 15) + n; ++i) {
    if (at(t * 3 + i) == 1000) return error();
    if (v > (t & 7)) {
      if (at(t + i * 5) == 2000) return error();
      v = v * 2 - at(i);
    }
    if (v >= 100000) return error();
  }
  return v == 7 ? error() : Arrival{true, v};
}

struct Kernel {
  std::string entry;
  std::function<Arrival(const Ints&, Ints&, int, int)> thread;
  int empty;                      ///< what the tile holds for those that left
  std::function<int(int)> reads;  ///< the place of the tile that a thread reads
  int n;
  Ints special;  ///< inputs at which threads leave
};

void check_kernel(const Kernel& c, const std::string& ptx, unsigned warp_size, unsigned seed) {
  std::mt19937 random(seed);
  Ints in(lanes_of_block);
  for (int& v : in) v = static_cast<int>(random() % 12);
  for (const int value : c.special)
    if (random() % 2 == 0) in[random() % lanes_of_block] = value;
  Machine m(ptx, warp_size, 255, c.entry);
  m.request.block = {lanes_of_block, 1, 1};
  m.parameter(m.buffer("in", in));
  const std::uint64_t out = m.buffer("out", 4 * 2 * lanes_of_block);
  m.parameter(out);
  m.parameter(c.n);
  CAPTURE(c.entry, warp_size, seed);
  REQUIRE(m.error() == "");
  Ints expected(2 * lanes_of_block, 0), tile(lanes_of_block, c.empty);
  std::vector<bool> comes(lanes_of_block, false);
  for (unsigned t = 0; t < lanes_of_block; ++t) {
    const Arrival a = c.thread(in, expected, c.n, static_cast<int>(t));
    comes[t] = a.comes;
    if (a.comes) tile[t] = a.value;
  }
  for (unsigned t = 0; t < lanes_of_block; ++t)
    if (comes[t]) expected[t] = tile[static_cast<unsigned>(c.reads(static_cast<int>(t)))];
  REQUIRE(m.read<int>(out, 2 * lanes_of_block) == expected);
}

std::uint64_t warp_instructions(const std::string& body) {
  Machine m(
      module_text(".param .u64 out",
                  ".reg .b64 %p, %a; .reg .b32 %t, %i, %k, %v, %s; .reg .pred %q<4>; .shared .align 4 .b8 tile[256];\n"
                  "mov.u32 %t, %tid.x; ld.param.u64 %p, [out]; mul.wide.u32 %a, %t, 4; add.u64 %a, %a, %p;\n" +
                      body));
  m.parameter(m.buffer("out", 4 * lanes_of_block));
  m.request.block = {lanes_of_block, 1, 1};
  return m.run().warp_instructions;
}

}  // namespace

TEST_CASE("public report: numba 2655: lanes that stay come to the barrier together") {
  const auto mirrored = [](int t) { return 63 - t; };
  const std::vector<Kernel> cases{
      {"in_branch", in_branch, -1, mirrored, 40, {-1, -2, -3}},
      {"in_branch", in_branch, -1, mirrored, 64, {}},
      {"in_loop", in_loop, -1, mirrored, 11, {}},
      {"in_loop", in_loop, -1, mirrored, 100, {}},
      {"error_exit", error_exit, 0, [](int t) { return t ^ 1; }, 3, {1000, 2000, 3000}},
      {"error_exit", error_exit, 0, [](int t) { return t ^ 1; }, 9, {2000}},
  };
  for (const char* file : {"early_return.sm75.ptx", "early_return.sm35.ptx"}) {
    const std::string ptx = sample(file);
    for (const Kernel& c : cases)
      for (const unsigned warp_size : {32u, 64u})
        for (unsigned seed = 0; seed < 6; ++seed) check_kernel(c, ptx, warp_size, seed);
  }
}

TEST_CASE("early return: from loops over the grid and from a search") {
  for (const char* file : {"early_return.sm75.ptx", "early_return.sm35.ptx"}) {
    const std::string ptx = sample(file);
    for (unsigned seed = 0; seed < 12; ++seed) {
      std::mt19937 random(seed);
      Ints in(lanes_of_block);
      for (int& v : in) v = static_cast<int>(random() % 40);
      if (seed % 3 == 1) in[random() % lanes_of_block] = 4000;
      if (seed % 3 == 2) in[random() % lanes_of_block] = seed % 2 == 0 ? 5000 : -5;
      const auto at = [&](int i) { return in[static_cast<unsigned>(i & 63)]; };
      for (const std::string entry : {"strided", "search"}) {
        const int n = entry == "strided" ? 300 : 12;
        Machine m(ptx, seed % 2 == 0 ? 32 : 64, 255, entry);
        m.request.block = {lanes_of_block, 1, 1};
        m.request.grid = {entry == "strided" ? 2u : 1u, 1, 1};
        m.parameter(m.buffer("in", in));
        const std::uint64_t out = m.buffer("out", 4 * 300);
        m.parameter(out);
        m.parameter(n);
        CAPTURE(file, seed, entry);
        REQUIRE(m.error() == "");
        Ints expected(300, 0);
        for (int t = 0; entry == "strided" && t < 128; ++t) {
          for (int i = t; i < n; i += 128) {
            const int v = at(i);
            bool leaves = v == 4000;
            int sum = 0;
            for (int k = 0; !leaves && k < (v & 7); ++k) {
              leaves = at(i + k) == 5000;
              sum += at(i ^ k);
            }
            if (leaves) break;
            expected[static_cast<unsigned>(i)] = sum;
          }
        }
        for (int t = 0; entry == "search" && t < static_cast<int>(lanes_of_block); ++t) {
          int place = 0, result = -1;
          for (int i = 0; i < n; ++i) {
            const int here = at(place);
            if (here == at(t)) {
              result = place;
              break;
            }
            if (at(t) < here && at(2 * place + 2) < 0) {
              result = -2;
              break;
            }
            place = (2 * place + (at(t) < here ? 1 : 2)) & 511;
          }
          expected[static_cast<unsigned>(t)] = result;
        }
        REQUIRE(m.read<int>(out, 300) == expected);
      }
    }
  }
}

TEST_CASE("public report: numba 2655: a branch to a return costs what a predicated return costs") {
  // Lanes skip the inner loop, each turns it another number of times, and nobody returns.
  const auto loop = [](const std::string& leave, const std::string& end) {
    return "mov.u32 %i, 0; mov.u32 %s, 0; setp.gt.u32 %q3, %t, 1000;\n"
           "L: and.b32 %v, %t, 3; setp.eq.u32 %q1, %v, 0; @%q1 bra NEXT;\n" +
           leave +
           "\nK: add.u32 %s, %s, 1; sub.u32 %v, %v, 1; setp.ne.u32 %q2, %v, 0; @%q2 bra K;\n"
           "NEXT: st.global.u32 [%a], %s; add.u32 %i, %i, 1; setp.lt.u32 %q1, %i, 9; @%q1 bra L;\n" +
           end;
  };
  const std::uint64_t predicated = warp_instructions(loop("@%q3 ret;", "ret;"));
  CHECK(warp_instructions(loop("@%q3 bra END;", "END: ret;")) == predicated);
  CHECK(warp_instructions(loop("@!%q3 bra STAYS; bra END; STAYS:", "END: ret;")) == predicated);
  CHECK(warp_instructions(loop("@!%q3 bra STAYS; ret; STAYS:", "ret;")) == predicated);
  // Nor does a return with work of its own keep the others from meeting.
  CHECK(warp_instructions(loop("@%q3 bra ERROR;", "ret; ERROR: st.global.u32 [%a], %t; ret;")) == predicated);
  CHECK(warp_instructions(loop("@%q3 bra ERROR;", "bra END; ERROR: st.global.u32 [%a], %t; END: ret;")) == predicated);
  // 9 turns of 15 + 2 * 4 instructions and what is around them, for 2 warps.
  CHECK(predicated == 2 * (3 + 3 + 9 * (3 + 1 + 3 * 4 + 4) + 1));
}
