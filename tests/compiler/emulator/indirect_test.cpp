// SPDX-License-Identifier: Apache-2.0
//
// Branches to one of several places, against what the same program computes in C++.
#include "harness.h"

#include <regatta/launch/fill.h>
#include <regatta/test/catch.h>

#include <string>

using namespace regatta;
using namespace regatta::test;

namespace indirect_branches {
namespace {

constexpr const char* head =
    ".reg .b64 %p<4>; .reg .b32 %r<8>, %acc, %n; .reg .pred %q<4>;\n"
    "mov.u32 %r1, %tid.x; ld.param.u64 %p1, [out]; mul.wide.u32 %p2, %r1, 4; add.u64 %p1, %p1, %p2;\n"
    "mul.lo.u32 %acc, %r1, 2654435761; mov.u32 %n, 20;\n";

/// A state machine of `blocks` blocks: 20 times, a number decides which one comes next.
struct States {
  std::vector<unsigned> list;  ///< the blocks of the list of targets
  unsigned blocks = 0;
};

States random_states(std::uint64_t seed) {
  auto below = [&, at = std::uint64_t{0}](unsigned n) mutable {
    return static_cast<unsigned>(launch::random_word(seed, at++) >> 33) % n;
  };
  States s;
  s.blocks = 1 + below(9);
  const unsigned entries = 1 + below(40);
  for (unsigned n = 0; n < entries; ++n) s.list.push_back(n != 0 && below(2) == 0 ? s.list.back() : below(s.blocks));
  return s;
}

std::string program(const States& s) {
  std::string body = head;
  body += "LOOP: setp.eq.u32 %q1, %n, 0; @%q1 bra DONE; sub.u32 %n, %n, 1;\n";
  body += "shr.u32 %r2, %acc, 11; rem.u32 %r2, %r2, " + std::to_string(s.list.size()) + ";\n";
  body += "ts: .branchtargets ";
  for (std::size_t n = 0; n < s.list.size(); ++n) body += (n == 0 ? "B" : ", B") + std::to_string(s.list[n]);
  body += ";\nbrx.idx %r2, ts;\n";
  for (unsigned b = 0; b < s.blocks; ++b) {
    const std::string n = std::to_string(b);
    body += "B" + n + ": mad.lo.u32 %acc, %acc, 1664525, " + n + ";\n";
    // Some fall into the next block.
    body += b % 3 == 2 && b + 1 < s.blocks ? "" : "bra LOOP;\n";
  }
  return body + "DONE: st.global.u32 [%p1], %acc; ret;\n";
}

std::uint32_t expected(const States& s, std::uint32_t thread) {
  std::uint32_t acc = thread * 2654435761u;
  for (unsigned n = 0; n < 20; ++n) {
    unsigned b = s.list[(acc >> 11) % s.list.size()];
    acc = acc * 1664525u + b;
    while (b % 3 == 2 && b + 1 < s.blocks) acc = acc * 1664525u + ++b;
  }
  return acc;
}

}  // namespace

TEST_CASE("lanes go to the blocks that their indices choose") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const States s = random_states(seed);
    for (const unsigned warp_size : {32u, 64u}) {
      Machine m(module_text(".param .u64 out", program(s)), warp_size);
      const std::uint64_t out = m.buffer("out", 160 * 4);
      m.parameter(out);
      m.request.block = {160, 1, 1};
      m.run();
      const auto found = m.read<std::uint32_t>(out, 160);
      INFO("seed " << seed << ", " << warp_size << " lanes");
      for (std::uint32_t t = 0; t < 160; ++t) REQUIRE(found[t] == expected(s, t));
    }
  }
}

TEST_CASE("an index behind the list ends the run") {
  const std::string text = module_text(
      ".param .u64 out",
      std::string(head) + "add.u32 %r2, %r1, 1;\nts: .branchtargets A, B, C;\nbrx.idx %r2, ts;\nA: B: C: ret;\n");
  Machine m(text);
  m.parameter(m.buffer("out", 64));
  m.request.block = {2, 1, 1};
  CHECK(m.error().empty());
  m.request.block = {32, 1, 1};
  CHECK(m.error() ==
        "k.ptx:11:1: error: kernel 'k', CTA (0,0,0), thread (2,0,0): brx.idx with index 3, expected less than 3");
}

}  // namespace indirect_branches
