// SPDX-License-Identifier: Apache-2.0
//
// Branches, calls, returns, traps, barriers and fences.
#include "forms.h"

namespace regatta::test::forms {
namespace {

u64 low(u64 v) { return v & 0xffffffffu; }

/// Threads of t's CTA for which f holds.
template <class F>
u64 count(const Threads& x, std::size_t t, F&& f) {
  const std::size_t first = t / Threads::block * Threads::block;
  u64 n = 0;
  for (std::size_t i = 0; i < Threads::block; ++i) n += f(x, first + i) ? 1 : 0;
  return n;
}

void flow(Rows& rows) {
  const auto row = [&](const std::string& form, char result, const std::string& body,
                       const std::function<u64(u64, u64, u64)>& f, const std::string& before = "") {
    rows.push_back({form, result, body, Values::integers, each(f), false, 0, before});
  };
  const auto smaller = [](u64 a, u64 b, u64) { return low(a) < low(b) ? low(a) : low(b); };
  row("bra", 'r',
      "setp.lt.u32 %q1, %ra, %rb; @%q1 bra TAKE; mov.u32 %r9, %rb; bra DONE; TAKE: mov.u32 %r9, %ra; DONE:", smaller);
  row("bra.uni", 'r',
      "setp.lt.u32 %q1, %ra, %rb; mov.u32 %r9, %ra; @%q1 bra DONE; mov.u32 %r9, %rb; bra.uni DONE; DONE:", smaller);
  // A loop that threads leave one by one.
  row("bra", 'r',
      "and.b32 %r1, %ra, 31; mov.u32 %r9, 0; LOOP: add.u32 %r9, %r9, %r1; sub.u32 %r1, %r1, 1;"
      "setp.gt.s32 %q1, %r1, 0; @%q1 bra LOOP;",
      [](u64 a, u64, u64) {
        const u64 n = a & 31u;
        return n * (n + 1) / 2;
      });
  for (const char* leave : {"exit", "ret", "ret.uni"})
    row(leave, 'd',
        std::string("mov.u64 %d9, 7; st.global.u64 [%po], %d9; setp.lt.u32 %q1, %ra, %rb; @%q1 ") + leave +
            "; mov.u64 %d9, 9;",
        [](u64 a, u64 b, u64) { return low(a) < low(b) ? u64{7} : u64{9}; });
  row("trap", 'r', "setp.ne.u32 %q1, %ra, %ra; mov.u32 %r9, %ra; @%q1 trap;", [](u64 a, u64, u64) { return low(a); });
  rows.push_back({"trap", 'r', "setp.eq.u32 %q1, %t, 37; mov.u32 %r9, %ra; @%q1 trap;", Values::integers,
                  each([](u64, u64, u64) { return u64{0}; }), false, 0, "", "thread (37,0,0): trap"});
  for (const char* branch : {"brx.idx", "brx.idx.uni"})
    row(branch, 'r',
        std::string("shr.u32 %r1, %ra, 30; TS: .branchtargets B0, B1, B1, B3; ") + branch +
            " %r1, TS; B0: mov.u32 %r9, %rb; bra DONE; B1: mov.u32 %r9, %ra; bra DONE; B3: mov.u32 %r9, 3; DONE:",
        [](u64 a, u64 b, u64) {
          const u64 index = low(a) >> 30;
          return index == 0 ? low(b) : index == 3 ? u64{3} : low(a);
        });
  // Hints, which change nothing.
  row("nanosleep.u32", 'r', "nanosleep.u32 %ra; nanosleep.u32 100; mov.u32 %r9, %rb;",
      [](u64, u64 b, u64) { return low(b); });
  row("prefetch.global.L2", 'r',
      "prefetch.global.L2 [%po+16]; prefetch.L1 [%po]; prefetchu.L1 [%po]; mov.u32 %r9, %rb;",
      [](u64, u64 b, u64) { return low(b); });
  // Calls, with results, arrays and nested scopes that declare the same names again.
  for (const char* call : {"call", "call.uni"}) {
    row(
        call, 'r',
        std::string("{ .reg .b32 %t1; .param .b32 p0; st.param.b32 [p0+0], %ra; .param .b32 p1;"
                    "st.param.b32 [p1+0], %rb; .param .b32 q0;\n") +
            call + " (q0),\ntwice_less,\n(\np0,\np1\n);\nld.param.b32 %t1, [q0+0]; mov.u32 %r9, %t1; }",
        [](u64 a, u64 b, u64) { return low(2 * a - b); },
        ".func (.param .b32 r) twice_less(.param .b32 x, .param .b32 y)\n{ .reg .b32 %r<4>; ld.param.u32 %r1, [x];"
        "ld.param.u32 %r2, [y]; shl.b32 %r3, %r1, 1; { .reg .b32 %r3x; sub.s32 %r3x, %r3, %r2;"
        "st.param.b32 [r+0], %r3x; } ret; }\n");
  }
  struct Passed {
    const char* type;
    const char* name;
    char kind;
    u64 mask;
  };
  for (const Passed& p :
       {Passed{"b8", "b8", 'h', 0xff}, Passed{"b16", "b16", 'h', 0xffff}, Passed{"b32", "b32", 'r', 0xffffffff},
        Passed{"b64", "b64", 'd', ~u64{0}}, Passed{"f32", "f32", 'f', 0xffffffff}, Passed{"f64", "f64", 'g', ~u64{0}},
        Passed{"u32", "u32", 'r', 0xffffffff}}) {
    const std::string type = p.type;
    const u64 mask = p.mask;
    row(
        "st.param." + type, p.kind,
        "{ .param ." + type + " p0; st.param." + type + " [p0], " + reg(p.kind, 'a') + "; .param ." + type +
            " q0; call.uni (q0), same, (p0); ld.param." + type + " " + reg(p.kind, '9') + ", [q0]; }",
        [mask](u64 a, u64, u64) { return a & mask; },
        ".func (.param ." + type + " r) same(.param ." + type + " x)\n{ .reg ." + (p.kind == 'h' ? "b16" : type) +
            " %v; ld.param." + type + " %v, [x]; st.param." + type + " [r], %v; ret; }\n");
  }
  row(
      "call.uni", 'd',
      "{ .param .align 8 .b8 p0[16]; st.param.b64 [p0], %da; st.param.v2.b32 [p0+8], {%rb, %rc};"
      ".param .b64 q0; call.uni (q0), pick, (p0); ld.param.b64 %d9, [q0]; }",
      [](u64 a, u64 b, u64 c) { return a ^ (low(b) | (c << 32)); },
      ".func (.param .b64 r) pick(.param .align 8 .b8 x[16])\n{ .reg .b64 %d<4>; ld.param.b64 %d1, [x];"
      "ld.param.b64 %d2, [x+8]; xor.b64 %d3, %d1, %d2; st.param.b64 [r], %d3; ret; }\n");
}

void barriers(Rows& rows) {
  // Every thread reads what another one wrote before the barrier.
  const Expected neighbour = [](const Threads& x, std::size_t t) {
    const std::size_t first = t / Threads::block * Threads::block;
    return x.a[first + Threads::block - 1 - (t - first)];
  };
  const std::string mirror =
      " mov.u32 %r1, %tid.x; sub.u32 %r1, 127, %r1; mov.u32 %r2, own; mad.lo.u32 %r2, %r1, 32, %r2;"
      "ld.shared.b64 %d9, [%r2];";
  for (const char* form : {"bar.sync", "barrier.sync", "barrier.sync.aligned", "bar.cta.sync", "barrier.cta.sync"}) {
    const std::string name = form;
    for (const char* operands : {" 0;", " 3, 128;"})
      rows.push_back({name, 'd', name + operands + mirror, Values::integers, neighbour, true});
    rows.push_back({name, 'd', "mov.u32 %r3, 5; " + name + " %r3;" + mirror, Values::integers, neighbour, true});
  }
  for (const char* form : {"membar.cta", "membar.gl", "membar.sys", "fence.sc.cta", "fence.sc.gpu", "fence.sc.sys",
                           "fence.acq_rel.cta", "fence.acq_rel.gpu", "fence.acq_rel.sys"})
    rows.push_back({form, 'd', std::string("st.global.b64 [%pg], %db; ") + form + "; ld.global.b64 %d9, [%pg];",
                    Values::integers, each([](u64, u64 b, u64) { return b; }), true});
  rows.push_back({"bar.warp.sync", 'd',
                  "bar.warp.sync -1; mov.u32 %r1, %laneid; shl.b32 %r1, %r1, 6; sub.u32 %r2, %ss, %r1;"
                  "ld.shared.b64 %d9, [%r2+992];",
                  Values::integers, [](const Threads& x, std::size_t t) { return x.a[t / 32 * 32 + 31 - t % 32]; },
                  true});
  const auto holds = [](const Threads& x, std::size_t t) { return low(x.a[t]) < 40; };
  for (const char* prefix : {"bar.red.", "barrier.red.", "barrier.cta.red.", "barrier.red.aligned."}) {
    const std::string name = prefix;
    std::string popc = name + "popc.u32", all = name + "and.pred", any = name + "or.pred";
    if (name == "barrier.red.aligned.") {
      popc = "barrier.red.popc.aligned.u32";
      all = "barrier.red.and.aligned.pred";
      any = "barrier.red.or.aligned.pred";
    }
    for (const char* number : {"0", "2, 128"}) {
      const std::string at = std::string(", ") + number + ", ";
      rows.push_back({popc, 'r', "setp.lt.u32 %q1, %ra, 40; " + popc + " %r9" + at + "%q1;", Values::integers,
                      [=](const Threads& x, std::size_t t) { return count(x, t, holds); }});
      rows.push_back({any, 'q', "setp.lt.u32 %q1, %ra, 40; " + any + " %q9" + at + "%q1;", Values::integers,
                      [=](const Threads& x, std::size_t t) { return u64{count(x, t, holds) != 0}; }});
      rows.push_back({all, 'q', "setp.lt.u32 %q1, %ra, 40; " + all + " %q9" + at + "!%q1;", Values::integers,
                      [=](const Threads& x, std::size_t t) { return u64{count(x, t, holds) == 0}; }});
      rows.push_back({all, 'q', "setp.lt.u32 %q1, %t, 1000000; " + all + " %q9" + at + "%q1;", Values::integers,
                      each([](u64, u64, u64) { return u64{1}; })});
    }
  }
}

/// The first 64 threads make values, the last 64 wait for them: twice, so that the barriers open again.
void arrivals(Rows& rows) {
  for (const std::string form : {"bar.arrive", "barrier.arrive", "barrier.cta.arrive"}) {
    const std::string body =
        "mov.u32 %r1, %tid.x; mov.u32 %r2, own; mov.u64 %d9, 0; setp.ge.u32 %q1, %r1, 64; @%q1 bra READER;"
        "st.shared.b64 [%ss], %db; " +
        form + " 1, 128; bar.sync 2, 128; st.shared.b64 [%ss], %dc; " + form +
        " 1, 128; bra DONE; READER: bar.sync 1, 128; sub.u32 %r3, %r1, 64; mad.lo.u32 %r3, %r3, 32, %r2;"
        "ld.shared.b64 %d1, [%r3]; bar.sync 2, 128; bar.sync 1, 128; ld.shared.b64 %d2, [%r3];"
        "xor.b64 %d9, %d1, %d2; DONE:";
    rows.push_back({form, 'd', body, Values::integers,
                    [](const Threads& x, std::size_t t) {
                      const std::size_t place = t % Threads::block;
                      return place < 64 ? u64{0} : x.b[t - 64] ^ x.c[t - 64];
                    },
                    true});
  }
}

}  // namespace

Rows control_rows() {
  Rows rows;
  flow(rows);
  barriers(rows);
  arrivals(rows);
  return rows;
}

}  // namespace regatta::test::forms
