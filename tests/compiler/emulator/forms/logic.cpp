// SPDX-License-Identifier: Apache-2.0
//
// Logic, shifts, integer comparison, selection and moves.
#include "forms.h"

#include <type_traits>

namespace regatta::test::forms {
namespace {

template <class T>
void bitwise(Rows& rows, const std::string& size) {
  constexpr unsigned bits = 8 * sizeof(T);
  const char kind = letter("b" + size);
  const auto row = [&](const std::string& form, unsigned sources, const std::function<u64(u64, u64)>& f) {
    rows.push_back({form, kind, plain(form, kind, sources), Values::integers,
                    each([f](u64 a, u64 b, u64) { return u64{static_cast<T>(f(a, b))}; })});
  };
  row("and.b" + size, 2, [](u64 a, u64 b) { return a & b; });
  row("or.b" + size, 2, [](u64 a, u64 b) { return a | b; });
  row("xor.b" + size, 2, [](u64 a, u64 b) { return a ^ b; });
  row("not.b" + size, 1, [](u64 a, u64) { return ~a; });
  const auto shift = [&](const std::string& form, const std::function<u64(u64, u32)>& f) {
    rows.push_back({form, kind, form + " " + reg(kind, '9') + ", " + reg(kind, 'a') + ", %rb;", Values::integers,
                    each([f](u64 a, u64 b, u64) { return u64{static_cast<T>(f(a, static_cast<u32>(b)))}; })});
  };
  shift("shl.b" + size, [](u64 a, u32 n) { return n < bits ? a << n : 0; });
  for (const char* type : {"u", "b"})
    shift("shr." + (type + size), [](u64 a, u32 n) { return n < bits ? u64{static_cast<T>(a)} >> n : 0; });
  shift("shr.s" + size, [](u64 a, u32 n) {
    // Division by a power of two, rounded down.
    s64 v = static_cast<std::make_signed_t<T>>(a);
    for (u32 i = 0; i < n && i < bits; ++i) v = (v - (v & 1)) / 2;
    return static_cast<u64>(v);
  });
}

struct Relation {
  const char* name;
  bool less, equal, greater;
};

template <class T>
void comparisons(Rows& rows, const std::string& type) {
  const Relation relations[] = {{"eq", false, true, false}, {"ne", true, false, true},  {"lt", true, false, false},
                                {"le", true, true, false},  {"gt", false, false, true}, {"ge", false, true, true},
                                {"lo", true, false, false}, {"ls", true, true, false},  {"hi", false, false, true},
                                {"hs", false, true, true}};
  const char kind = letter(type);
  const std::string sources = ", " + reg(kind, 'a') + ", " + reg(kind, 'b');
  for (const Relation& r : relations) {
    const bool is_unsigned_name = r.name[0] == 'h' || std::string(r.name) == "lo" || std::string(r.name) == "ls";
    if (type[0] == 'b' && r.less + r.greater == 1) continue;
    if (is_unsigned_name && type[0] != 'u') continue;
    const auto holds = [r](u64 a, u64 b) {
      const T x = static_cast<T>(a), y = static_cast<T>(b);
      return x < y ? r.less : x == y ? r.equal : r.greater;
    };
    const std::string form = std::string("setp.") + r.name;
    rows.push_back({form + "." + type, 'q', form + "." + type + " %q9" + sources + ";", Values::integers,
                    each([holds](u64 a, u64 b, u64) { return u64{holds(a, b)}; })});
    // The pair, and a boolean operation with a third predicate.
    rows.push_back({form + ".xor." + type, 'r',
                    "setp.ne.u32 %q1, %rc, 5; " + form + ".xor." + type + " %q2|%q3" + sources +
                        ", %q1; selp.u32 %r9, 1, 0, %q2; @%q3 add.u32 %r9, %r9, 2;",
                    Values::integers, each([holds](u64 a, u64 b, u64 c) {
                      const bool third = static_cast<u32>(c) != 5;
                      return u64{holds(a, b) != third} + 2 * u64{!holds(a, b) != third};
                    })});
  }
}

void predicates(Rows& rows) {
  const auto row = [&](const std::string& form, const std::string& body, bool (*f)(bool, bool)) {
    rows.push_back({form, 'q', "setp.lt.u32 %q1, %ra, 65; setp.gt.s32 %q2, %rb, 0; " + body, Values::integers,
                    each([f](u64 a, u64 b, u64) {
                      return u64{f(static_cast<u32>(a) < 65, static_cast<s32>(static_cast<u32>(b)) > 0)};
                    })});
  };
  row("and.pred", "and.pred %q9, %q1, %q2;", [](bool a, bool b) { return a && b; });
  row("and.pred", "and.pred %q9, %q1, !%q2;", [](bool a, bool b) { return a && !b; });
  row("or.pred", "or.pred %q9, %q1, %q2;", [](bool a, bool b) { return a || b; });
  row("xor.pred", "xor.pred %q9, %q1, %q2;", [](bool a, bool b) { return a != b; });
  row("not.pred", "not.pred %q9, %q1;", [](bool a, bool) { return !a; });
  row("mov.pred", "mov.pred %q9, %q2;", [](bool, bool b) { return b; });
  row("mov.pred", "mov.pred %q9, %q2; @!%q1 mov.pred %q9, 1;", [](bool a, bool b) { return !a || b; });
}

void selections(Rows& rows) {
  for (const char* type : {"b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"}) {
    const char kind = letter(type);
    const u64 mask = kind == 'h' ? 0xffffu : kind == 'r' || kind == 'f' ? 0xffffffffu : ~u64{0};
    const std::string form = std::string("selp.") + type;
    std::string select = plain(form, kind, 2);
    select.back() = ',';
    rows.push_back({form, kind, "setp.lt.u32 %q1, %rc, 100; " + select + " %q1;", Values::integers,
                    each([mask](u64 a, u64 b, u64 c) { return (static_cast<u32>(c) < 100 ? a : b) & mask; })});
    const std::string move = std::string("mov.") + type;
    rows.push_back(
        {move, kind, plain(move, kind, 1), Values::integers, each([mask](u64 a, u64, u64) { return a & mask; })});
  }
  const auto row = [&](const std::string& form, char result, const std::string& body,
                       const std::function<u64(u64, u64, u64)>& f) {
    rows.push_back({form, result, body, Values::integers, each(f)});
  };
  row("mov.b64", 'd', "mov.b64 %d9, {%rb, %ra};", [](u64 a, u64 b, u64) { return (a << 32) | (b & 0xffffffffu); });
  row("mov.b64", 'r', "mov.b64 {%r1, %r2}, %da; add.u32 %r9, %r1, %r2;",
      [](u64 a, u64, u64) { return (a + (a >> 32)) & 0xffffffffu; });
  row("mov.b64", 'd', "mov.b64 %d9, {%hb, %ha, %hc, %hb};",
      [](u64 a, u64 b, u64 c) { return (b & 0xffffu) | ((a & 0xffffu) << 16) | ((c & 0xffffu) << 32) | (b << 48); });
  row("mov.b32", 'r', "mov.b32 {%h1, %h2}, %ra; mov.b32 %r9, {%h2, %h1};",
      [](u64 a, u64, u64) { return ((a >> 16) & 0xffffu) | ((a & 0xffffu) << 16); });
  row("mov.u32", 'r', "mov.u32 %r9, 0xfffffff7;", [](u64, u64, u64) { return u64{0xfffffff7u}; });
  row("mov.f32", 'f', "mov.f32 %f9, 0f3FC00000;", [](u64, u64, u64) { return u64{0x3fc00000u}; });
  row("mov.f64", 'g', "mov.f64 %g9, 0d3FF8000000000000;", [](u64, u64, u64) { return u64{0x3ff8000000000000u}; });
}

/// lop3's table by the text of its definition: F(0xF0, 0xCC, 0xAA) is the table of F.
void tables(Rows& rows) {
  for (unsigned table = 0; table < 256; table += table < 8 ? 1 : 23) {
    rows.push_back({"lop3.b32", 'r', "lop3.b32 %r9, %ra, %rb, %rc, " + std::to_string(table) + ";", Values::integers,
                    each([table](u64 a, u64 b, u64 c) {
                      u64 r = 0;
                      for (unsigned i = 0; i < 32; ++i) {
                        const u64 entry = ((a >> i) & 1u) * 4 + ((b >> i) & 1u) * 2 + ((c >> i) & 1u);
                        r |= u64{(table >> entry) & 1u} << i;
                      }
                      return r;
                    })});
  }
  const auto named = [&](unsigned table, const std::function<u64(u64, u64, u64)>& f) {
    rows.push_back({"lop3.b32", 'r', "lop3.b32 %r9, %ra, %rb, %rc, " + std::to_string(table) + ";", Values::integers,
                    each([f](u64 a, u64 b, u64 c) { return f(a, b, c) & 0xffffffffu; })});
  };
  named(0xf0 & 0xcc & 0xaa, [](u64 a, u64 b, u64 c) { return a & b & c; });
  named(0xf0 ^ 0xcc ^ 0xaa, [](u64 a, u64 b, u64 c) { return a ^ b ^ c; });
  named((0xf0 & 0xcc) | (0xf0 & 0xaa) | (0xcc & 0xaa), [](u64 a, u64 b, u64 c) { return (a & b) | (c & (a | b)); });
}

/// cnot and slct.
void choices(Rows& rows) {
  for (const char* type : {"b16", "b32", "b64"}) {
    const char kind = letter(type);
    const u64 mask = kind == 'h' ? 0xffffu : kind == 'r' ? 0xffffffffu : ~u64{0};
    const std::string form = std::string("cnot.") + type;
    rows.push_back({form, kind, plain(form, kind, 1), Values::integers,
                    each([mask](u64 a, u64, u64) { return u64{(a & mask) == 0}; })});
  }
  for (const char* type : {"b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"}) {
    const char kind = letter(type);
    const u64 mask = kind == 'h' ? 0xffffu : kind == 'r' || kind == 'f' ? 0xffffffffu : ~u64{0};
    const auto row = [&](const std::string& end, const char* third, Values values, bool (*first)(u32)) {
      const std::string form = std::string("slct.") + end;
      const std::string body =
          form + " " + reg(kind, '9') + ", " + reg(kind, 'a') + ", " + reg(kind, 'b') + ", " + third;
      rows.push_back({form, kind, body + ";", values, each([mask, first](u64 a, u64 b, u64 c) {
                        return (first(static_cast<u32>(c)) ? a : b) & mask;
                      })});
    };
    row(std::string(type) + ".s32", "%rc", Values::integers, [](u32 c) { return (c >> 31) == 0; });
    // Of floats: what is greater than or equal to zero, either zero; no NaN is.
    const auto not_negative = [](u32 c) {
      return (c & 0x7fffffffu) <= 0x7f800000u && (c >> 31 == 0 || c == 0x80000000u);
    };
    row(std::string(type) + ".f32", "%fc", Values::floats, not_negative);
    row(std::string("ftz.") + type + ".f32", "%fc", Values::floats,
        [](u32 c) { return (c & 0x7fffffffu) <= 0x7f800000u && (c >> 31 == 0 || (c & 0x7f800000u) == 0); });
  }
}

/// Special registers, by the thread's place in a launch of one-dimensional CTAs.
void specials(Rows& rows) {
  const auto row = [&](const std::string& name, const std::function<u64(u64, u64, u64)>& f) {
    rows.push_back(
        {"mov.u32", 'r', "mov.u32 %r9, " + name + ";", Values::integers, [f](const Threads& x, std::size_t t) {
           return f(t % Threads::block, t / Threads::block, x.a.size() / Threads::block);
         }});
  };
  row("%tid.x", [](u64 t, u64, u64) { return t; });
  row("%tid.y", [](u64, u64, u64) { return u64{0}; });
  row("%ntid.x", [](u64, u64, u64) { return u64{Threads::block}; });
  row("%ntid.z", [](u64, u64, u64) { return u64{1}; });
  row("%ctaid.x", [](u64, u64 c, u64) { return c; });
  row("%nctaid.x", [](u64, u64, u64 n) { return n; });
  row("%nctaid.y", [](u64, u64, u64) { return u64{1}; });
  row("%laneid", [](u64 t, u64, u64) { return t % 32; });
  row("%warpid", [](u64 t, u64, u64) { return t / 32; });
  row("%nwarpid", [](u64, u64, u64) { return u64{Threads::block / 32}; });
  row("WARP_SZ", [](u64, u64, u64) { return u64{32}; });
  row("%lanemask_eq", [](u64 t, u64, u64) { return u64{1} << (t % 32); });
  row("%lanemask_lt", [](u64 t, u64, u64) { return (u64{1} << (t % 32)) - 1; });
  row("%lanemask_le", [](u64 t, u64, u64) { return (u64{2} << (t % 32)) - 1; });
  row("%lanemask_ge", [](u64 t, u64, u64) { return 0xffffffffu - ((u64{1} << (t % 32)) - 1); });
  row("%lanemask_gt", [](u64 t, u64, u64) { return 0xffffffffu - ((u64{2} << (t % 32)) - 1); });
  row("%gridid", [](u64, u64, u64) { return u64{0}; });
  rows.push_back({"mov.u64", 'd', "mov.u64 %d9, %gridid; add.u64 %d9, %d9, %da;", Values::integers,
                  each([](u64 a, u64, u64) { return a; })});
  row("%envreg3", [](u64, u64, u64) { return u64{0}; });
  row("%dynamic_smem_size", [](u64, u64, u64) { return u64{0}; });
  // A clock goes forward.
  for (const char* clock : {"%clock64", "%globaltimer"}) {
    const std::string name = clock;
    rows.push_back({"mov.u64", 'q', "mov.u64 %d1, " + name + "; mov.u64 %d2, " + name + "; setp.ge.u64 %q9, %d2, %d1;",
                    Values::integers, each([](u64, u64, u64) { return u64{1}; })});
  }
  rows.push_back({"mov.u32", 'q', "mov.u32 %r1, %clock; mov.u32 %r2, %clock; setp.gt.u32 %q9, %r2, %r1;",
                  Values::integers, each([](u64, u64, u64) { return u64{1}; })});
}

}  // namespace

Rows logic_rows() {
  Rows rows;
  bitwise<u16>(rows, "16");
  bitwise<u32>(rows, "32");
  bitwise<u64>(rows, "64");
  comparisons<u16>(rows, "b16");
  comparisons<u32>(rows, "b32");
  comparisons<u64>(rows, "b64");
  comparisons<u16>(rows, "u16");
  comparisons<u32>(rows, "u32");
  comparisons<u64>(rows, "u64");
  comparisons<s16>(rows, "s16");
  comparisons<s32>(rows, "s32");
  comparisons<s64>(rows, "s64");
  predicates(rows);
  selections(rows);
  tables(rows);
  choices(rows);
  specials(rows);
  return rows;
}

}  // namespace regatta::test::forms
