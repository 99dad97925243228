// SPDX-License-Identifier: Apache-2.0
//
// Whose value a shuffle may take: a lane outside the member mask, or one that does not execute it, has none (PTX ISA,
// shfl.sync: "results are undefined").
#include "harness.h"

#include <catch2/catch.hpp>

#include <random>

namespace regatta::test {
namespace {

/// Threads below `threads` store what they shuffled where the bit of `stores` is set. `before` runs first, with %t the
/// thread and %v = 100 + thread.
std::string kernel(const std::string& before, const std::string& shuffle, std::uint32_t stores, const char* head) {
  return std::string(head) +
         ".address_size 64\n.visible .entry k(.param .u64 data)\n{\n.reg .pred %q<4>; .reg .b32 %t, %v, %r<6>; .reg "
         ".b64 "
         "%p, %a;\nld.param.u64 %p, [data]; mov.u32 %t, %tid.x; add.u32 %v, %t, 100; mul.wide.u32 %a, %t, 4; add.s64 "
         "%p, %p, %a; shr.u32 %r4, " +
         std::to_string(stores) + ", %t; and.b32 %r4, %r4, 1; setp.ne.u32 %q3, %r4, 0;\n" + before + "\n" + shuffle +
         "\n@%q3 st.global.u32 [%p], %r2;\nDONE: ret;\n}\n";
}

constexpr const char* recent = ".version 8.0\n.target sm_75\n";
constexpr const char* old = ".version 6.0\n.target sm_50\n";

struct Outcome {
  std::string error;
  std::vector<std::uint32_t> words;
};

Outcome run(const std::string& text, unsigned threads) {
  Machine m(text);
  m.request.block = {threads, 1, 1};
  const std::uint64_t data = m.buffer("data", std::vector<std::uint32_t>(32, 7));
  m.parameter(data);
  Outcome o;
  o.error = m.error();
  o.words = m.read<std::uint32_t>(data, 32);
  return o;
}

struct Shuffle {
  const char* mode;
  std::uint32_t b, c, mask;
};

/// The lane that `lane` reads (PTX ISA, shfl.sync).
unsigned source_of(const Shuffle& s, unsigned lane) {
  const std::uint32_t segment = s.c >> 8 & 31, clamp = s.c & 31, b = s.b & 31;
  const int max_lane = static_cast<int>((lane & segment) | (clamp & ~segment)), own = static_cast<int>(lane);
  const int min_lane = static_cast<int>(lane & segment);
  const std::string mode = s.mode;
  int from = own;
  bool inside = false;
  if (mode == "up") {
    from = own - static_cast<int>(b);
    inside = from >= max_lane;
  } else if (mode == "down") {
    from = own + static_cast<int>(b);
    inside = from <= max_lane;
  } else if (mode == "bfly") {
    from = own ^ static_cast<int>(b);
    inside = from <= max_lane;
  } else {
    from = min_lane | static_cast<int>(b & ~segment);
    inside = from <= max_lane;
  }
  return static_cast<unsigned>(inside ? from : own);
}

}  // namespace

TEST_CASE("public report: cuda-oxide 542: a shuffle from a lane outside the mask has no value") {
  // Lanes 0 to 15 alone execute it; their partners are in the upper half.
  const std::string lower = "setp.ge.u32 %q1, %t, 16; @%q1 bra DONE;";
  const Outcome outside = run(kernel(lower, "shfl.sync.bfly.b32 %r2|%q2, %v, 16, 0x1f, 0x0000ffff;", ~0u, recent), 32);
  CHECK(
      outside.error ==
      "k.ptx:10:6: error: kernel 'k', CTA (0,0,0), thread (0,0,0): '@P0 st.global.u32 [R0.64], R2;' reads register R2, "
      "which 'shfl.sync.bfly.b32 R2, R2, 0x10, 0x1f, 0xffff;' on line 9 takes from a lane outside its member mask");
  // The mask names lanes that have left.
  const Outcome gone = run(
      kernel("setp.ge.u32 %q1, %t, 16; @%q1 exit;", "shfl.sync.bfly.b32 %r2, %v, 16, 0x1f, 0xffffffff;", ~0u, recent),
      32);
  CHECK(gone.error.find("takes from a lane that does not execute it") != std::string::npos);
  // A block of 16 threads has no others.
  const Outcome none = run(kernel("", "shfl.sync.down.b32 %r2, %v, 8, 0x1f, 0xffffffff;", 0xffff, recent), 16);
  CHECK(none.error.find("takes from a lane that does not execute it") != std::string::npos);
  // A lane that does not store what it got does no harm.
  const Outcome guarded = run(kernel("", "shfl.sync.down.b32 %r2, %v, 8, 0x1f, 0xffffffff;", 0x00ff, recent), 16);
  CHECK(guarded.error.empty());
  CHECK(guarded.words[0] == 108);
  CHECK(guarded.words[7] == 115);
  // Nor does a value that a condition puts aside.
  const Outcome selected = run(
      kernel("", "shfl.sync.down.b32 %r2, %v, 8, 0x1f, 0xffffffff; setp.lt.u32 %q1, %t, 8; selp.u32 %r2, %r2, 3, %q1;",
             0xffff, recent),
      16);
  CHECK(selected.error.empty());
  CHECK(selected.words[7] == 115);
  CHECK(selected.words[8] == 3);
  // The same without a mask, where PTX still has that.
  const Outcome unmasked = run(kernel(lower, "shfl.bfly.b32 %r2, %v, 16, 0x1f;", ~0u, old), 32);
  CHECK(unmasked.error.find("takes from a lane that does not execute it") != std::string::npos);
}

TEST_CASE("shuffles of random masks take what the oracle says, or nothing") {
  std::mt19937 generator(42);
  const auto random = [&] { return static_cast<std::uint32_t>(generator()); };
  const char* modes[] = {"up", "down", "bfly", "idx"};
  unsigned refused = 0, accepted = 0;
  for (unsigned n = 0; n < 300; ++n) {
    Shuffle s{modes[n % 4], random() % 40, random() & 0x1f1fu, random() | random()};
    if (n % 3 == 0) s.c = std::string(s.mode) == "up" ? 0 : 0x1f;
    if (n % 5 == 0) s.mask = ~0u;
    if (s.mask == 0) continue;
    std::uint32_t defined = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((s.mask >> lane & 1u) != 0 && (s.mask >> source_of(s, lane) & 1u) != 0) defined |= 1u << lane;
    }
    const std::string members =
        "shr.u32 %r5, " + std::to_string(s.mask) + ", %t; and.b32 %r5, %r5, 1; setp.eq.u32 %q1, %r5, 0; @%q1 bra DONE;";
    const std::string shuffle = "shfl.sync." + std::string(s.mode) + ".b32 %r2, %v, " + std::to_string(s.b) + ", " +
                                std::to_string(s.c) + ", " + std::to_string(s.mask) + ";";
    const Outcome safe = run(kernel(members, shuffle, defined, recent), 32);
    INFO(shuffle);
    REQUIRE(safe.error.empty());
    for (unsigned lane = 0; lane < 32; ++lane) {
      REQUIRE(safe.words[lane] == ((defined >> lane & 1u) != 0 ? 100 + source_of(s, lane) : 7));
    }
    const Outcome all = run(kernel(members, shuffle, ~0u, recent), 32);
    REQUIRE(all.error.empty() == (defined == s.mask));
    ++(all.error.empty() ? accepted : refused);
  }
  CHECK(refused > 50);
  CHECK(accepted > 50);
}

TEST_CASE("member masks that do not name their lane, or differ among their members") {
  const auto error = [](const std::string& text) { return run(text, 32).error; };
  const std::string prefix = "k.ptx:9:1: error: kernel 'k', CTA (0,0,0), thread ";
  CHECK(error(kernel("", "vote.sync.ballot.b32 %r2, %q3, 0xfffffff0;", ~0u, recent)) ==
        prefix + "(0,0,0): member mask 0xfffffff0 does not name lane 0, which executes it");
  CHECK(error(kernel("", "shfl.sync.idx.b32 %r2, %v, 5, 0x1f, 0xfffffff0;", ~0u, recent)) ==
        prefix + "(0,0,0): member mask 0xfffffff0 does not name lane 0, which executes it");
  const std::string masks = "setp.lt.u32 %q1, %t, 16; selp.b32 %r3, 0x0000ffff, ";
  CHECK(error(kernel(masks + "0xffff0000, %q1;", "match.any.sync.b32 %r2, %v, %r3;", ~0u, recent)).empty());
  CHECK(error(kernel(masks + "0xffff8000, %q1;", "match.any.sync.b32 %r2, %v, %r3;", ~0u, recent)) ==
        prefix + "(16,0,0): member mask 0xffff8000 names lane 15, whose own is 0xffff");
  CHECK(error(kernel(masks + "0xffffffff, %q1;", "redux.sync.add.u32 %r2, %t, %r3;", ~0u, recent)) ==
        prefix + "(16,0,0): member mask 0xffffffff names lane 0, whose own is 0xffff");
}

TEST_CASE("shfl and vote without .sync are refused where PTX has removed them") {
  const auto refusal = [](const char* version, const char* target, const char* instruction) -> std::string {
    const std::string head = std::string(".version ") + version + "\n.target " + target + "\n";
    try {
      Machine m(kernel("", instruction, ~0u, head.c_str()));
    } catch (const trace::InputError& e) {
      return e.what();
    }
    return "";
  };
  const char* shuffle = "shfl.idx.b32 %r2, %v, 0, 31;";
  CHECK(refusal("6.4", "sm_70", shuffle) ==
        "k.ptx:9:1: error: 'shfl.idx.b32' without .sync is not supported for .target sm_70 and later since PTX 6.4, "
        "expected 'shfl.sync' with a member mask");
  CHECK(refusal("8.3", "sm_90", "vote.ballot.b32 %r2, %q3;") ==
        "k.ptx:9:1: error: 'vote.ballot.b32' without .sync is not supported for .target sm_70 and later since PTX 6.4, "
        "expected 'vote.sync' with a member mask");
  CHECK_FALSE(refusal("8.3", "sm_80", "vote.all.pred %q2, %q3; selp.u32 %r2, 1, 0, %q2;").empty());
  // ptxas accepts these with a warning.
  CHECK(refusal("6.3", "sm_70", shuffle).empty());
  CHECK(refusal("8.0", "sm_61", shuffle).empty());
}

}  // namespace regatta::test
