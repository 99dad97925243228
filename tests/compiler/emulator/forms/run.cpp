// SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include "../operations.h"

#include <regatta/trace/types.h>

#include <cstdio>

namespace regatta::test::forms {
namespace {

constexpr std::size_t own_bytes = 32;

std::vector<u64> edge_halves() {
  std::vector<u64> v;
  for (const u64 h : {0x0000u, 0x8000u, 0x0001u, 0x8001u, 0x03ffu, 0x0400u, 0x3c00u, 0xbc00u, 0x3c01u, 0x3800u, 0x7bffu,
                      0xfbffu, 0x7c00u, 0xfc00u, 0x7e00u, 0xfd55u, 0x4248u, 0x1234u, 0x6400u, 0x6401u, 0x0200u, 0x5bffu,
                      0x5f40u, 0x3c40u, 0xbcc0u, 0x1400u, 0x1600u,
                      // bf16: limits, 1 and its neighbour, infinities, NaN
                      0x007fu, 0x0080u, 0x3f80u, 0xbf80u, 0x3f81u, 0x7f7fu, 0xff7fu, 0x7f80u, 0xff80u, 0x7fc0u})
    v.push_back(h | ((h * 0x9e37u & 0xffffu) << 16));
  for (unsigned i = 0; i < 8; ++i) v.push_back(launch::random_word(12, i) & 0xffffffffu);
  return v;
}

/// Limits, ties and subnormal numbers of e4m3, e5m2, f16, bf16 and tf32, and what lies just beside them.
std::vector<u64> narrow_floats() {
  std::vector<u64> v{0x00000000u, 0x80000000u, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc12345u, 0x00000001u,
                     0x80400000u, 0x7f7fffffu, 0xff7fffffu, 0x7f7fe000u, 0x7f7ff000u, 0x7f7fefffu, 0x3f801000u,
                     0x3f803000u, 0x3f801001u, 0xbf803000u, 0x00001000u, 0x00003000u, 0x7f7f8000u};
  for (const float x :
       {448.0f,   464.0f,          464.5f,      -463.5f,          57344.0f,  61440.0f,   61440.5f,  -61439.0f,
        65504.0f, 65520.0f,        -65519.0f,   1.0625f,          1.1875f,   -1.0626f,   1.125f,    1.25f,
        -1.375f,  0x1p-9f,         0x1p-10f,    -0x1.000002p-10f, 0x1.8p-9f, 0x1.4p-8f,  0x1.fp-7f, 0x1p-16f,
        0x1p-17f, 0x1.000002p-17f, -0x1.8p-16f, 0x1.8p-15f,       0x1p-25f,  0x1.8p-24f, 0.1f,      -200.0f})
    v.push_back(bits(x));
  return v;
}

std::vector<u64> edges(Values kind) {
  switch (kind) {
    case Values::narrow_floats:
      return narrow_floats();
    case Values::floats:
      return edge_floats();
    case Values::doubles: {
      std::vector<u64> v = edge_doubles();
      for (const u64 bits : {u64{1}, 0x800fffffffffffffu, 0x0010000000000000u, 0x7fefffffffffffffu, 0x36a0000000000001u,
                             0x3810000000000000u, 0x47efffffefffffffu, 0x47effffff0000000u})
        v.push_back(bits);
      return v;
    }
    case Values::halves:
      return edge_halves();
    case Values::integers:
      break;
  }
  return edge_integers();
}

/// Every pair of the values, each with a third.
Threads make_threads(const Row& row) {
  std::vector<u64> values = edges(row.values);
  if (row.memory) {
    // What is done to the bytes matters less than which bytes: half of the values will do.
    std::size_t kept = 0;
    for (std::size_t i = 0; i < values.size(); i += 2) values[kept++] = values[i];
    values.resize(kept);
  }
  Threads x;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t k = 0; k < values.size(); ++k) {
      x.a.push_back(values[i]);
      x.b.push_back(values[k]);
      x.c.push_back(values[(i + k) % values.size()]);
    }
  while (x.a.size() % Threads::block != 0) {
    x.a.push_back(launch::random_word(1, x.a.size()));
    x.b.push_back(launch::random_word(2, x.a.size()));
    x.c.push_back(launch::random_word(3, x.a.size()));
  }
  return x;
}

const char* result_text(char result) {
  switch (result) {
    case 'h':
      return "cvt.u64.u16 %out, %h9;\n";
    case 'r':
      return "cvt.u64.u32 %out, %r9;\n";
    case 'f':
      return "mov.b32 %r9, %f9; cvt.u64.u32 %out, %r9;\n";
    case 'd':
      return "mov.b64 %out, %d9;\n";
    case 'g':
      return "mov.b64 %out, %g9;\n";
    default:
      return "selp.u64 %out, 1, 0, %q9;\n";
  }
}

std::string text_of(const Row& row) {
  std::string before = row.before;
  std::string body =
      ".reg .b64 %d<10>, %da, %db, %dc, %out, %po, %pg, %ll, %gs, %gl; .reg .b32 %r<10>, %ra, %rb, %rc, %t, %ss;\n"
      ".reg .f32 %f<10>, %fa, %fb, %fc; .reg .f64 %g<10>, %ga, %gb, %gc; .reg .b16 %h<10>, %ha, %hb, %hc; .reg .pred "
      "%q<10>;\n"
      "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %t, %r2, %r3, %r1;\n"
      "mul.wide.u32 %d1, %t, 8; ld.param.u64 %d2, [a]; add.u64 %d2, %d2, %d1; ld.global.u64 %da, [%d2];\n"
      "ld.param.u64 %d2, [b]; add.u64 %d2, %d2, %d1; ld.global.u64 %db, [%d2];\n"
      "ld.param.u64 %d2, [c]; add.u64 %d2, %d2, %d1; ld.global.u64 %dc, [%d2];\n"
      "ld.param.u64 %d2, [out]; add.u64 %po, %d2, %d1;\n"
      "cvt.u32.u64 %ra, %da; cvt.u32.u64 %rb, %db; cvt.u32.u64 %rc, %dc;\n"
      "cvt.u16.u64 %ha, %da; cvt.u16.u64 %hb, %db; cvt.u16.u64 %hc, %dc;\n"
      "mov.b32 %fa, %ra; mov.b32 %fb, %rb; mov.b32 %fc, %rc;\n"
      "mov.b64 %ga, %da; mov.b64 %gb, %db; mov.b64 %gc, %dc;\n";
  if (row.memory) {
    before += ".const .align 16 .b8 table[32] = {";
    for (std::size_t i = 0; i < 32; ++i) before += (i == 0 ? "" : ", ") + std::to_string(table_byte(i));
    before += "};\n.shared .align 16 .b8 own[" + std::to_string(own_bytes * Threads::block) + "];\n";
    body +=
        ".local .align 16 .b8 mine[32];\n"
        "mul.wide.u32 %d1, %t, 32; ld.param.u64 %d2, [memory]; add.u64 %pg, %d2, %d1;\n"
        "mov.u32 %ss, own; mad.lo.u32 %ss, %r1, 32, %ss; cvt.u64.u32 %gs, %ss; cvta.shared.u64 %gs, %gs;\n"
        "mov.u64 %ll, mine; cvta.local.u64 %gl, %ll; xor.b64 %d2, %da, %db;\n";
    for (const char* access : {"st.global.b64 [%pg", "st.shared.b64 [%ss", "st.local.b64 [%ll"}) {
      const char* values[] = {"%da", "%db", "%dc", "%d2"};
      for (unsigned word = 0; word < 4; ++word)
        body += std::string(access) + "+" + std::to_string(8 * word) + "], " + values[word] + "; ";
      body += "\n";
    }
  }
  body += row.body + "\n" + result_text(row.result) + "st.global.u64 [%po], %out;\nret;\n";
  return module_text(
      ".param .u64 a, .param .u64 b, .param .u64 c, .param .u64 out, .param .u64 memory, .param .align 16 .b8 s[32]",
      body, before, row.target);
}

/// Distance on the line of floating-point numbers, in units in the last place.
u64 distance(u64 a, u64 b, char result) {
  const unsigned bits = result == 'h' ? 16 : result == 'f' || result == 'r' ? 32 : 64;
  const u64 sign = u64{1} << (bits - 1);
  const auto place = [&](u64 v) {
    return (v & sign) != 0 ? 0 - static_cast<s64>(v & (sign - 1)) : static_cast<s64>(v);
  };
  const s64 x = place(a), y = place(b);
  return x > y ? static_cast<u64>(x) - static_cast<u64>(y) : static_cast<u64>(y) - static_cast<u64>(x);
}
bool agree(const Row& row, u64 got, u64 expected) {
  if (got == expected || row.tolerance == 0) return got == expected;
  // Pairs of halves are apart half by half.
  if (row.result == 'r')
    return distance(got & 0xffffu, expected & 0xffffu, 'h') <= row.tolerance &&
           distance(got >> 16, expected >> 16, 'h') <= row.tolerance;
  return distance(got, expected, row.result) <= row.tolerance;
}

std::string described(const Row& row, const Threads& x, std::size_t t, u64 got, u64 expected) {
  char text[256];
  std::snprintf(text, sizeof text, "thread %zu, a %llx, b %llx, c %llx: expected %llx, got %llx", t,
                static_cast<unsigned long long>(x.a[t]), static_cast<unsigned long long>(x.b[t]),
                static_cast<unsigned long long>(x.c[t]), static_cast<unsigned long long>(expected),
                static_cast<unsigned long long>(got));
  return row.form + ": " + text + "\n" + row.body;
}

}  // namespace

std::string run_row(const Row& row, const Configuration& configuration) {
  const Threads x = make_threads(row);
  try {
    Machine m(text_of(row), configuration.warp_size, configuration.max_registers);
    m.parameter(m.buffer("a", x.a));
    m.parameter(m.buffer("b", x.b));
    m.parameter(m.buffer("c", x.c));
    const u64 out = m.buffer("out", x.a.size() * 8);
    m.parameter(out);
    m.parameter(m.buffer("memory", x.a.size() * own_bytes, false));
    std::array<u8, 32> table{};
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = table_byte(i);
    m.parameter(table);
    m.request.block = {static_cast<u32>(Threads::block), 1, 1};
    m.request.grid = {static_cast<u32>(x.a.size() / Threads::block), 1, 1};
    if (row.prepare) row.prepare(m);
    m.run();
    if (!row.message.empty()) return row.form + ": expected an error with '" + row.message + "'";
    const std::vector<u64> got = m.read<u64>(out, x.a.size());
    for (std::size_t t = 0; t < got.size(); ++t) {
      const u64 expected = row.expected(x, t);
      if (!agree(row, got[t], expected)) return described(row, x, t, got[t], expected);
    }
  } catch (const trace::InputError& e) {
    if (!row.message.empty() && std::string(e.what()).find(row.message) != std::string::npos) return "";
    return row.form + ": " + e.what() + "\n" + row.body;
  }
  return "";
}

}  // namespace regatta::test::forms
