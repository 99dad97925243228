// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores in every space, width, vector length, order and cache modifier.
#include "forms.h"

namespace regatta::test::forms {
namespace {

constexpr u64 factor = 0x9e3779b97f4a7c15u;

unsigned bytes_of(const std::string& type) { return static_cast<unsigned>(std::stoul(type.substr(1))) / 8; }

/// How each space is reached. An empty space is generic addressing.
struct Space {
  const char* name;
  const char* address;
};
constexpr Space spaces[] = {{"", "%pg"},       {"", "%gs"},      {"", "%gl"},        {"global", "%pg"},
                            {"shared", "%ss"}, {"local", "%ll"}, {"const", "table"}, {"param", "s"}};

using Bytes = std::vector<u8>;

/// The 32 bytes of a thread, or of the table.
Bytes content(const Threads& x, std::size_t t, bool table) {
  Bytes bytes(32);
  const u64 words[4] = {x.a[t], x.b[t], x.c[t], x.a[t] ^ x.b[t]};
  std::memcpy(bytes.data(), words, 32);
  for (std::size_t i = 0; table && i < 32; ++i) bytes[i] = table_byte(i);
  return bytes;
}

/// Element bits as the register holds them, as 64 bits: 8-bit values in 16-bit registers.
u64 element(const Bytes& bytes, std::size_t at, const std::string& type) {
  const unsigned size = bytes_of(type);
  u64 value = 0;
  std::memcpy(&value, bytes.data() + at, size);
  if (type == "s8") value = static_cast<u16>(static_cast<s8>(value));
  return value;
}

std::string number(std::size_t n) { return std::to_string(n); }

void load(Rows& rows, const std::string& qualifier, const Space& space, unsigned vector, const std::string& type,
          const std::string& suffix = "") {
  const bool table = std::string(space.name) == "const" || std::string(space.name) == "param";
  std::string form = "ld";
  for (const std::string& part : {qualifier, std::string(space.name), suffix})
    if (!part.empty()) form += "." + part;
  if (vector > 1) form += ".v" + number(vector);
  form += "." + type;
  const char kind = letter(type);
  std::string registers;
  for (unsigned v = 0; v < vector; ++v) registers += (v == 0 ? "" : ", ") + reg(kind, static_cast<char>('1' + v));
  if (vector > 1) registers = "{" + registers + "}";
  const unsigned size = bytes_of(type);
  const unsigned at = size * vector <= 8 ? 8 : 16;
  std::string body = form + " " + registers + ", [" + space.address + "+" + number(at) + "]; mov.u64 %d9, 0;";
  for (unsigned v = 0; v < vector; ++v) {
    const std::string r = reg(kind, static_cast<char>('1' + v));
    if (kind == 'h') body += " cvt.u64.u16 %d8, " + r + ";";
    if (kind == 'r') body += " cvt.u64.u32 %d8, " + r + ";";
    if (kind == 'f') body += " mov.b32 %r8, " + r + "; cvt.u64.u32 %d8, %r8;";
    if (kind == 'd' || kind == 'g') body += " mov.b64 %d8, " + r + ";";
    body += " mad.lo.u64 %d9, %d9, 0x9e3779b97f4a7c15, %d8;";
  }
  rows.push_back({form, 'd', body, Values::integers,
                  [=](const Threads& x, std::size_t t) {
                    const Bytes bytes = content(x, t, table);
                    u64 out = 0;
                    for (unsigned v = 0; v < vector; ++v) out = out * factor + element(bytes, at + v * size, type);
                    return out;
                  },
                  true});
}

void store(Rows& rows, const std::string& qualifier, const Space& space, unsigned vector, const std::string& type,
           const std::string& suffix = "") {
  std::string form = "st";
  for (const std::string& part : {qualifier, std::string(space.name), suffix})
    if (!part.empty()) form += "." + part;
  if (vector > 1) form += ".v" + number(vector);
  form += "." + type;
  const char kind = letter(type);
  std::string registers;
  for (unsigned v = 0; v < vector; ++v) registers += (v == 0 ? "" : ", ") + reg(kind, "abca"[v]);
  if (vector > 1) registers = "{" + registers + "}";
  const unsigned size = bytes_of(type);
  const unsigned at = size * vector <= 8 ? 8 : 16;
  const std::string space_name = std::string(space.name).empty() ? "" : "." + std::string(space.name);
  std::string body = form + " [" + space.address + "+" + number(at) + "], " + registers + "; mov.u64 %d9, 0;";
  for (unsigned word = 0; word < 4; ++word) {
    body += " ld" + space_name + ".b64 %d8, [" + space.address + "+" + number(8 * word) +
            "]; mad.lo.u64 %d9, %d9, 0x9e3779b97f4a7c15, %d8;";
  }
  rows.push_back({form, 'd', body, Values::integers,
                  [=](const Threads& x, std::size_t t) {
                    Bytes bytes = content(x, t, false);
                    const u64 values[4] = {x.a[t], x.b[t], x.c[t], x.a[t]};
                    for (unsigned v = 0; v < vector; ++v) std::memcpy(bytes.data() + at + v * size, &values[v], size);
                    u64 out = 0;
                    for (unsigned word = 0; word < 4; ++word)
                      out = out * factor + from_bits<u64>([&] {
                              u64 w = 0;
                              std::memcpy(&w, bytes.data() + 8 * word, 8);
                              return w;
                            }());
                    return out;
                  },
                  true});
}

/// Addresses: conversions between spaces, what space an address is in, symbols and registers with offsets.
void addresses(Rows& rows) {
  const auto row = [&](const std::string& form, char result, const std::string& body, Expected expected,
                       const std::string& before = "") {
    rows.push_back({form, result, body, Values::integers, std::move(expected), true, 0, before});
  };
  const Expected second = each([](u64, u64 b, u64) { return b; });
  row("cvta.to.global.u64", 'd', "cvta.to.global.u64 %d1, %pg; ld.global.b64 %d9, [%d1+8];", second);
  row("cvta.global.u64", 'd', "cvta.global.u64 %d1, %pg; ld.b64 %d9, [%d1+8];", second);
  row("cvta.shared.u64", 'd', "cvt.u64.u32 %d1, %ss; cvta.shared.u64 %d2, %d1; ld.b64 %d9, [%d2+8];", second);
  row("cvta.to.shared.u64", 'd', "cvta.to.shared.u64 %d1, %gs; ld.shared.b64 %d9, [%d1+8];", second);
  row("cvta.local.u64", 'd', "cvta.local.u64 %d1, %ll; ld.b64 %d9, [%d1+8];", second);
  row("cvta.to.local.u64", 'd', "cvta.to.local.u64 %d1, %gl; ld.local.b64 %d9, [%d1+8];", second);
  const auto from_table = [](std::size_t at) {
    return each([at](u64, u64, u64) {
      u64 v = 0;
      for (std::size_t i = 0; i < 8; ++i) v |= u64{table_byte(at + i)} << (8 * i);
      return v;
    });
  };
  row("cvta.const.u64", 'd', "mov.u64 %d1, table; cvta.const.u64 %d2, %d1; ld.b64 %d9, [%d2+8];", from_table(8));
  row("cvta.to.const.u64", 'd',
      "mov.u64 %d1, table; cvta.const.u64 %d2, %d1; cvta.to.const.u64 %d3, %d2;"
      "ld.const.b64 %d9, [%d3+16];",
      from_table(16));
  // A parameter by a register that only the thread knows.
  row("ld.param.u64", 'd',
      "mov.b64 %d1, s; and.b32 %r1, %t, 3; mul.wide.u32 %d2, %r1, 8; add.s64 %d3, %d1, %d2;"
      "ld.param.u64 %d9, [%d3];",
      [from_table](const Threads& x, std::size_t t) { return from_table(8 * (t % 4))(x, t); });
  struct Home {
    const char* space;
    const char* address;
  };
  for (const Home& in : {Home{"global", "%pg"}, Home{"shared", "%gs"}, Home{"local", "%gl"}})
    for (const char* asked : {"global", "shared", "local", "const"}) {
      const bool same = std::string(in.space) == asked;
      row(std::string("isspacep.") + asked, 'q', std::string("isspacep.") + asked + " %q9, " + in.address + ";",
          each([same](u64, u64, u64) { return u64{same}; }));
    }
  // Initialisers: numbers of every kind, and addresses.
  row("ld.global.u32", 'd',
      "ld.global.u32 %d1, [words+4]; ld.global.u64 %d2, [pointers]; ld.global.u32 %d3, [%d2];"
      "ld.global.u64 %d4, [pointers+8]; ld.u32 %d5, [%d4]; mul.lo.u64 %d1, %d1, 1000000;"
      "mad.lo.u64 %d1, %d3, 1000, %d1; add.u64 %d9, %d1, %d5;",
      each([](u64, u64, u64) { return u64{7} * 1000000 + 9 * 1000 + 3; }),
      ".global .align 4 .u32 words[4] = {5, 7, 0x9};\n.const .align 4 .u32 fixed[2] = {2, 3};\n"
      ".global .align 8 .u64 pointers[2] = {words+8, generic(fixed)+4};\n");
  row("ldu.global.u32", 'd',
      "ldu.global.u32 %d1, [words+4]; ld.global.u32 %d2, [words+4]; ldu.global.v2.u32 {%r1, %r2}, [words];"
      "cvt.u64.u32 %d3, %r2; add.u64 %d9, %d1, %d2; sub.u64 %d9, %d9, %d3;",
      each([](u64, u64, u64) { return u64{7}; }), ".global .align 8 .u32 words[2] = {5, 7};\n");
  row("ld.global.f32", 'f', "ld.global.f32 %f1, [reals]; ld.global.f32 %f2, [reals+4]; add.f32 %f9, %f1, %f2;",
      each([](u64, u64, u64) { return to_bits(1.75f); }), ".global .align 4 .f32 reals[2] = {0f3FC00000, 0.25};\n");
  // A stack frame as the compilers write it.
  row("st.local.u32", 'r',
      ".local .align 8 .b8 __local_depot0[16]; .reg .b64 %SP; .reg .b64 %SPL;\n"
      "mov.u64 %SPL, __local_depot0; cvta.local.u64 %SP, %SPL; add.u64 %d1, %SP, 4;"
      "add.u64 %d2, %SPL, 4; st.local.u32 [%d2], %ra; ld.u32 %r9, [%d1];",
      each([](u64 a, u64, u64) { return a & 0xffffffffu; }));
}

}  // namespace

Rows memory_rows() {
  Rows rows;
  const std::vector<std::string> types = {"b8",  "b16", "b32", "b64", "u8",  "u16", "u32",
                                          "u64", "s8",  "s16", "s32", "s64", "f32", "f64"};
  const std::vector<std::string> scopes = {"cta", "gpu", "sys"};
  for (const std::string& type : types)
    for (const unsigned vector : {1u, 2u, 4u}) {
      if (bytes_of(type) * vector > 16) continue;
      for (const Space& space : spaces) {
        const std::string name = space.name;
        const bool read_only = name == "const" || name == "param";
        load(rows, "", space, vector, type);
        if (read_only) continue;
        store(rows, "", space, vector, type);
        if (name == "local") continue;
        load(rows, "volatile", space, vector, type);
        store(rows, "volatile", space, vector, type);
        if (vector > 2) continue;
        for (const std::string& scope : scopes) {
          load(rows, "relaxed." + scope, space, vector, type);
          load(rows, "acquire." + scope, space, vector, type);
          store(rows, "relaxed." + scope, space, vector, type);
          store(rows, "release." + scope, space, vector, type);
        }
      }
      for (const Space& space : {spaces[0], spaces[3]}) {
        for (const char* cache : {"ca", "cg", "cs", "lu", "cv"}) load(rows, "", space, vector, type, cache);
        for (const char* cache : {"wb", "cg", "cs", "wt"}) store(rows, "", space, vector, type, cache);
      }
      load(rows, "", spaces[3], vector, type, "nc");
    }
  addresses(rows);
  return rows;
}

}  // namespace regatta::test::forms
