// SPDX-License-Identifier: Apache-2.0
//
// Shuffles, votes, matches and reductions between the lanes of a warp of 32 threads.
#include "forms.h"

namespace regatta::test::forms {
namespace {

/// The last target for which PTX has lane exchanges without .sync.
constexpr const char* without_sync = "sm_62";

constexpr std::size_t warp = 32;

std::size_t first_of(std::size_t t) { return t / warp * warp; }

/// Lanes of t's warp for which f holds, as a mask.
template <class F>
u32 ballot(std::size_t t, F&& f) {
  u32 mask = 0;
  for (std::size_t i = 0; i < warp; ++i)
    if (f(first_of(t) + i)) mask |= u32{1} << i;
  return mask;
}

void shuffles(Rows& rows) {
  struct Mode {
    const char* name;
    unsigned amount, width;
  };
  // Segments of 32, 16 and 4 lanes; the clamp operand is what __shfl_sync builds.
  for (const Mode& m : {Mode{"up", 1, 32}, Mode{"up", 3, 4}, Mode{"down", 1, 32}, Mode{"down", 16, 32},
                        Mode{"down", 5, 16}, Mode{"bfly", 1, 32}, Mode{"bfly", 16, 32}, Mode{"bfly", 7, 4},
                        Mode{"idx", 0, 32}, Mode{"idx", 31, 32}, Mode{"idx", 9, 16}}) {
    const std::string mode = m.name, form = "shfl.sync." + mode + ".b32";
    const unsigned segment = (32 - m.width) << 8, clamp = segment | (mode == "up" ? 0 : 31);
    const auto source = [m, mode](std::size_t lane, bool& inside) {
      const std::size_t base = lane / m.width * m.width, end = base + m.width;
      std::size_t from = lane;
      inside = true;
      if (mode == "up") {
        inside = lane >= base + m.amount;
        from = lane - m.amount;
      } else if (mode == "down") {
        from = lane + m.amount;
        inside = from < end;
      } else if (mode == "bfly") {
        from = lane ^ m.amount;
        inside = from < end;
      } else {
        from = base + m.amount % m.width;
      }
      return inside ? from : lane;
    };
    const std::string operands = ", %ra, " + std::to_string(m.amount) + ", " + std::to_string(clamp);
    const Expected expected = [source](const Threads& x, std::size_t t) {
      bool inside = false;
      const std::size_t from = first_of(t) + source(t % warp, inside);
      return (static_cast<u64>(inside) << 32) | static_cast<u32>(x.a[from]);
    };
    rows.push_back({form, 'd', form + " %r9|%q1" + operands + ", -1; selp.u32 %r1, 1, 0, %q1; mov.b64 %d9, {%r9, %r1};",
                    Values::integers, expected});
    rows.push_back({"shfl." + mode + ".b32", 'd',
                    "shfl." + mode + ".b32 %r9|%q1" + operands + "; selp.u32 %r1, 1, 0, %q1; mov.b64 %d9, {%r9, %r1};",
                    Values::integers, expected});
    rows.back().target = without_sync;
  }
  // Half a warp shuffles while the other half is elsewhere.
  rows.push_back({"shfl.sync.bfly.b32", 'r',
                  "mov.u32 %r1, %laneid; setp.lt.u32 %q1, %r1, 16; mov.u32 %r9, 77; @!%q1 bra OVER;"
                  "shfl.sync.bfly.b32 %r9, %ra, 1, 31, 0xffff; OVER:",
                  Values::integers, [](const Threads& x, std::size_t t) {
                    return t % warp < 16 ? u64{static_cast<u32>(x.a[t ^ 1])} : u64{77};
                  }});
}

/// Votes, with full masks and in tiles of 8 lanes.
void votes(Rows& rows) {
  const std::string predicate = "setp.gt.s32 %q1, %ra, 63; ";
  const std::string tile = "mov.u32 %r1, %laneid; and.b32 %r2, %r1, 24; shl.b32 %r3, 255, %r2; ";
  const auto holds = [](const Threads& x, std::size_t t) { return static_cast<s32>(static_cast<u32>(x.a[t])) > 63; };
  struct Mask {
    std::string prologue, operand;
    bool tiles;
  };
  for (const Mask& m : {Mask{"", ", -1", false}, Mask{tile, ", %r3", true}, Mask{"", "", false}}) {
    const bool sync = !m.operand.empty();
    const auto members = [m](std::size_t t) { return m.tiles ? u32{255} << (t % warp / 8 * 8) : ~u32{0}; };
    const auto yes = [holds, members](const Threads& x, std::size_t t) {
      return ballot(t, [&](std::size_t i) { return holds(x, i); }) & members(t);
    };
    const auto row = [&](const std::string& form, char result, Expected expected) {
      rows.push_back({form, result, predicate + m.prologue + form + " " + reg(result, '9') + ", %q1" + m.operand + ";",
                      Values::integers, std::move(expected)});
      if (!sync) rows.back().target = without_sync;
    };
    const Expected mask = [yes](const Threads& x, std::size_t t) { return u64{yes(x, t)}; };
    row(sync ? "vote.sync.ballot.b32" : "vote.ballot.b32", 'r', mask);
    if (sync) row("vote.ballot.sync.b32", 'r', mask);
    const std::string name = sync ? "vote.sync." : "vote.";
    row(name + "all.pred", 'q', [=](const Threads& x, std::size_t t) { return u64{yes(x, t) == members(t)}; });
    row(name + "any.pred", 'q', [=](const Threads& x, std::size_t t) { return u64{yes(x, t) != 0}; });
    row(name + "uni.pred", 'q',
        [=](const Threads& x, std::size_t t) { return u64{yes(x, t) == 0 || yes(x, t) == members(t)}; });
  }
  // Whoever is there.
  const std::string part = "setp.gt.s32 %q1, %ra, 63; mov.u32 %r9, 0; @!%q1 bra OVER; ";
  const Expected there = [holds](const Threads& x, std::size_t t) {
    return holds(x, t) ? u64{ballot(t, [&](std::size_t i) { return holds(x, i); })} : u64{0};
  };
  rows.push_back({"activemask.b32", 'r', part + "activemask.b32 %r9; OVER:", Values::integers, there});
  rows.push_back({"vote.ballot.b32", 'r', part + "vote.ballot.b32 %r9, %q1; OVER:", Values::integers, there});
  rows.back().target = without_sync;
  rows.push_back({"activemask.b32", 'r', "activemask.b32 %r9;", Values::integers,
                  each([](u64, u64, u64) { return u64{0xffffffffu}; })});
}

void matches(Rows& rows) {
  for (const bool wide : {false, true}) {
    const std::string size = wide ? "b64" : "b32", source = wide ? "%d1" : "%r1";
    // A few distinct values, so that lanes meet.
    const std::string value = wide ? "and.b64 %d1, %da, 0x8000000000000003; " : "and.b32 %r1, %ra, 0x80000003; ";
    const auto key = [wide](const Threads& x, std::size_t t) {
      return wide ? x.a[t] & 0x8000000000000003u : x.a[t] & 0x80000003u;
    };
    const auto same = [key](const Threads& x, std::size_t t) {
      return ballot(t, [&](std::size_t i) { return key(x, i) == key(x, t); });
    };
    rows.push_back({"match.any.sync." + size, 'r', value + "match.any.sync." + size + " %r9, " + source + ", -1;",
                    Values::integers, [same](const Threads& x, std::size_t t) { return u64{same(x, t)}; }});
    rows.push_back({"match.all.sync." + size, 'd',
                    value + "match.all.sync." + size + " %r9|%q1, " + source +
                        ", -1; selp.u32 %r2, 1, 0, %q1; mov.b64 %d9, {%r9, %r2};",
                    Values::integers,
                    [same](const Threads& x, std::size_t t) { return same(x, t) == ~u32{0} ? 0x1ffffffffu : u64{0}; }});
    // In pairs of lanes.
    rows.push_back({"match.any.sync." + size, 'r',
                    value + "mov.u32 %r2, %laneid; and.b32 %r2, %r2, 30; shl.b32 %r3, 3, %r2; match.any.sync." + size +
                        " %r9, " + source + ", %r3;",
                    Values::integers, [same](const Threads& x, std::size_t t) {
                      return u64{same(x, t) & (u32{3} << (t % warp / 2 * 2))};
                    }});
  }
}

void reductions(Rows& rows) {
  const auto row = [&](const std::string& operation, const std::string& type,
                       const std::function<u32(u32, u32)>& combine) {
    const std::string form = "redux.sync." + operation + "." + type;
    rows.push_back({form, 'r', form + " %r9, %ra, -1;", Values::integers, [combine](const Threads& x, std::size_t t) {
                      u32 v = static_cast<u32>(x.a[first_of(t)]);
                      for (std::size_t i = 1; i < warp; ++i) v = combine(v, static_cast<u32>(x.a[first_of(t) + i]));
                      return u64{v};
                    }});
  };
  const auto signed_less = [](u32 a, u32 b) { return (a ^ 0x80000000u) < (b ^ 0x80000000u); };
  row("add", "u32", [](u32 a, u32 b) { return a + b; });
  row("add", "s32", [](u32 a, u32 b) { return a + b; });
  row("min", "u32", [](u32 a, u32 b) { return a < b ? a : b; });
  row("max", "u32", [](u32 a, u32 b) { return a < b ? b : a; });
  row("min", "s32", [=](u32 a, u32 b) { return signed_less(a, b) ? a : b; });
  row("max", "s32", [=](u32 a, u32 b) { return signed_less(a, b) ? b : a; });
  row("and", "b32", [](u32 a, u32 b) { return a & b; });
  row("or", "b32", [](u32 a, u32 b) { return a | b; });
  row("xor", "b32", [](u32 a, u32 b) { return a ^ b; });
}

}  // namespace

Rows lane_rows() {
  Rows rows;
  shuffles(rows);
  votes(rows);
  matches(rows);
  reductions(rows);
  return rows;
}

}  // namespace regatta::test::forms
