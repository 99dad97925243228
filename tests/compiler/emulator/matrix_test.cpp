// SPDX-License-Identifier: Apache-2.0
//
// Instructions on matrices in the registers of a warp. Products: what an H100 computed (tensor_product_test.cpp says
// what the file holds), through PTX and the whole compiler, and integers by the layouts of the PTX ISA, written down
// again here. Loads, stores and transpositions: by what each element of a matrix is.
#include "harness.h"

#include <regatta/test/catch.h>

#include <lzma.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

namespace regatta::test {
namespace {

using Words = std::vector<std::uint32_t>;

/// "{%a0, %a1}"
std::string registers(const std::string& name, std::size_t count) {
  std::string text = "{";
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "%" : ", %") + name + std::to_string(i);
  return text + "}";
}

/// A kernel whose CTAs of one warp each put the words of their lanes through `instruction`: count[0] of A, count[1] of
/// B, count[2] of C and D, in registers %a0, %b0, %c0 and %d0 on.
std::string product_kernel(const std::string& instruction, const std::array<std::size_t, 3>& count) {
  std::string body = "mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %t, %i, %n, %t;\n";
  const auto access = [&](const std::string& name, std::size_t words, const std::string& parameter, bool store) {
    body += "ld.param.u64 %p, [" + parameter + "]; mul.lo.u32 %i, %t, " + std::to_string(4 * words) +
            "; cvt.u64.u32 %o, %i; add.u64 %p, %p, %o;\n";
    for (std::size_t w = 0; w < words; ++w) {
      const std::string reg = "%" + name + std::to_string(w), place = "[%p+" + std::to_string(4 * w) + "]";
      body += store ? "st.global.b32 " + place + ", " + reg + ";\n" : "ld.global.b32 " + reg + ", " + place + ";\n";
    }
  };
  access("a", count[0], "a", false);
  access("b", count[1], "b", false);
  access("c", count[2], "c", false);
  body += instruction + " " + registers("d", count[2]) + ", " + registers("a", count[0]) + ", " +
          registers("b", count[1]) + ", " + registers("c", count[2]) + ";\n";
  access("d", count[2], "d", true);
  return module_text(".param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d",
                     ".reg .b32 %t, %i, %n, %a<4>, %b<2>, %c<4>, %d<4>; .reg .b64 %p, %o;\n" + body + "ret;\n", "",
                     "sm_90");
}

struct Product {
  std::string instruction;
  std::array<std::size_t, 3> count{};
  Words a, b, c;

  Words run(unsigned warp_size = 32, unsigned max_registers = 255) const {
    Machine m(product_kernel(instruction, count), warp_size, max_registers);
    m.request.block = {warp_size, 1, 1};
    m.request.grid = {static_cast<unsigned>(a.size() / count[0] / warp_size), 1, 1};
    const Words d(c.size());
    m.parameter(m.buffer("a", a));
    m.parameter(m.buffer("b", b));
    m.parameter(m.buffer("c", c));
    const std::uint64_t at = m.buffer("d", d);
    m.parameter(at);
    m.run();
    return m.read<std::uint32_t>(at, d.size());
  }
};

std::vector<std::uint8_t> decompressed(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string packed{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::uint8_t> out(std::size_t{8} << 20);
  std::uint64_t memory = UINT64_MAX;
  std::size_t read = 0, written = 0;
  REQUIRE(lzma_stream_buffer_decode(&memory, 0, nullptr, reinterpret_cast<const std::uint8_t*>(packed.data()), &read,
                                    packed.size(), out.data(), &written, out.size()) == LZMA_OK);
  out.resize(written);
  return out;
}

/// "m16n8k32_s32_u8s8_sat" as PTX has it.
std::string instruction_named(const std::string& name) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('_', at), name.size());
    parts.push_back(name.substr(at, end - at));
    at = end + 1;
  }
  const std::string types = parts.at(2) == "u8s8" ? "u8.s8" : parts[2] + "." + parts[2];
  return "mma.sync.aligned." + parts[0] + ".row.col." + (parts.size() > 3 ? "satfinite." : "") + parts[1] + "." +
         types + "." + parts[1];
}

/// The layouts of the PTX ISA's figures, for elements of `bits` bits: row and k of element i of lane `lane`'s part of
/// A.
struct Place {
  unsigned row = 0, column = 0;
};
Place place_in_a(unsigned m, unsigned bits, unsigned lane, unsigned i) {
  const unsigned each = 32 / bits, reg = i / each, group = lane / 4, in_group = lane % 4;
  const bool second_row = m == 16 && reg % 2 == 1;
  const unsigned half = m == 16 ? reg / 2 : reg;
  return {group + (second_row ? 8 : 0), in_group * each + i % each + half * 4 * each};
}
Place place_in_b(unsigned bits, unsigned lane, unsigned i) {
  const unsigned each = 32 / bits;
  return {(lane % 4) * each + i % each + i / each * 4 * each, lane / 4};
}
Place place_in_c(unsigned lane, unsigned i) { return {lane / 4 + (i < 2 ? 0 : 8), lane % 4 * 2 + i % 2}; }

struct IntegerForm {
  unsigned m, k, bits;
  bool a_signed, b_signed, saturates;
  char product;  ///< '*', '^', '&'
  std::string text() const {
    const auto type = [&](bool is_signed) {
      return bits == 1 ? std::string("b1") : (is_signed ? "s" : "u") + std::to_string(bits);
    };
    return "mma.sync.aligned.m" + std::to_string(m) + "n8k" + std::to_string(k) + ".row.col" +
           (saturates ? ".satfinite" : "") + ".s32." + type(a_signed) + "." + type(b_signed) + ".s32" +
           (product == '^'   ? ".xor.popc"
            : product == '&' ? ".and.popc"
                             : "");
  }
};

std::int64_t number(std::uint32_t word, unsigned bits, unsigned n, bool is_signed) {
  const std::int64_t value = word >> (bits * n) & ((std::uint64_t{1} << bits) - 1);
  return is_signed && bits > 1 && (value >> (bits - 1)) != 0 ? value - (std::int64_t{1} << bits) : value;
}

Words expected_integers(const IntegerForm& f, const Product& p) {
  const unsigned each = 32 / f.bits;
  std::vector<std::vector<std::int64_t>> a(16, std::vector<std::int64_t>(f.k)), b(f.k, std::vector<std::int64_t>(8));
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < p.count[0] * each; ++i) {
      const Place at = place_in_a(f.m, f.bits, lane, i);
      a.at(at.row).at(at.column) = number(p.a[lane * p.count[0] + i / each], f.bits, i % each, f.a_signed);
    }
    for (unsigned i = 0; i < p.count[1] * each; ++i) {
      const Place at = place_in_b(f.bits, lane, i);
      b.at(at.row).at(at.column) = number(p.b[lane * p.count[1] + i / each], f.bits, i % each, f.b_signed);
    }
  }
  Words d(p.c.size());
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < p.count[2]; ++i) {
      const Place at = place_in_c(lane, i);
      std::int64_t sum = static_cast<std::int32_t>(p.c[lane * p.count[2] + i]);
      for (unsigned k = 0; k < f.k; ++k) {
        const std::int64_t x = a[at.row][k], y = b[k][at.column];
        sum += f.product == '*' ? x * y : f.product == '^' ? (x ^ y) : (x & y);
      }
      if (f.saturates) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
      d[lane * p.count[2] + i] = static_cast<std::uint32_t>(sum);
    }
  }
  return d;
}

}  // namespace

TEST_CASE("mma.sync: all words are those of an H100") {
  const char* const other = std::getenv("REGATTA_MMA_DATA");
  const std::vector<std::uint8_t> data = decompressed(other != nullptr ? other : REGATTA_MMA_DATA);
  std::size_t forms = 0;
  for (std::size_t at = 0; at < data.size(); ++forms) {
    Product p;
    const std::string name = reinterpret_cast<const char*>(data.data() + at);
    p.instruction = instruction_named(name);
    std::uint32_t head[4];
    std::memcpy(head, data.data() + at + 64, sizeof head);
    at += 64 + sizeof head;
    const auto take = [&](std::size_t words) {
      Words list(std::size_t{head[0]} * 32 * words);
      REQUIRE(at + 4 * list.size() <= data.size());
      std::memcpy(list.data(), data.data() + at, 4 * list.size());
      at += 4 * list.size();
      return list;
    };
    // The file has the same numbers of words for all forms; smaller fragments use the first ones.
    const bool is_small = name.rfind("m16n8k8_f32_f16", 0) == 0 || name.rfind("m16n8k8_f32_bf16", 0) == 0 ||
                          name.rfind("m16n8k4_", 0) == 0 || name.rfind("m16n8k16_s32", 0) == 0;
    p.count = {is_small ? 2u : 4u, is_small ? 1u : 2u, name.find("_f16_f16") != std::string::npos ? 2u : 4u};
    const auto first_words = [](const Words& from, std::size_t had, std::size_t keeps) {
      Words kept;
      for (std::size_t lane = 0; lane < from.size() / had; ++lane)
        kept.insert(kept.end(), from.begin() + static_cast<std::ptrdiff_t>(lane * had),
                    from.begin() + static_cast<std::ptrdiff_t>(lane * had + keeps));
      return kept;
    };
    p.a = first_words(take(head[1]), head[1], p.count[0]);
    p.b = first_words(take(head[2]), head[2], p.count[1]);
    p.c = first_words(take(head[3]), head[3], p.count[2]);
    const Words d = first_words(take(head[3]), head[3], p.count[2]);
    CAPTURE(name);
    const Words got = p.run();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < d.size(); ++i) wrong += got[i] != d[i] ? 1 : 0;
    CHECK(wrong == 0);
    if (head[0] % 2 == 0) CHECK(p.run(64, 16) == got);
  }
  CHECK(forms == 12);
}

TEST_CASE("mma.sync: integers of every shape, against sums of products") {
  std::mt19937 random(7);
  std::vector<IntegerForm> forms;
  for (const bool a : {false, true})
    for (const bool b : {false, true})
      for (const bool saturates : {false, true}) {
        for (const auto& [m, k] : std::vector<std::pair<unsigned, unsigned>>{{8, 16}, {16, 16}, {16, 32}})
          forms.push_back({m, k, 8, a, b, saturates, '*'});
        for (const auto& [m, k] : std::vector<std::pair<unsigned, unsigned>>{{8, 32}, {16, 32}, {16, 64}})
          forms.push_back({m, k, 4, a, b, saturates, '*'});
      }
  for (const char product : {'^', '&'})
    for (const auto& [m, k] : std::vector<std::pair<unsigned, unsigned>>{{8, 128}, {16, 128}, {16, 256}})
      forms.push_back({m, k, 1, false, false, false, product});
  for (const IntegerForm& f : forms) {
    Product p;
    p.instruction = f.text();
    p.count = {f.m * f.k * f.bits / 1024, 8 * f.k * f.bits / 1024, f.m * 8 / 32};
    const auto fill = [&](Words& words, std::size_t count) {
      for (std::size_t i = 0; i < 32 * count; ++i) words.push_back(static_cast<std::uint32_t>(random()));
    };
    fill(p.a, p.count[0]);
    fill(p.b, p.count[1]);
    fill(p.c, p.count[2]);
    // Sums that leave the range.
    if (f.saturates) p.c[3] = 0x7ffffff0u;
    CAPTURE(p.instruction);
    CHECK(p.run() == expected_integers(f, p));
  }
}

TEST_CASE("mma.sync: f64 is a chain of fused multiplications and additions") {
  const std::string body =
      ".reg .b32 %t; .reg .b64 %p, %o; .reg .f64 %a, %b, %c<2>, %d<2>;\n"
      "mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 32; ld.param.u64 %p, [data]; add.u64 %p, %p, %o;\n"
      "ld.global.v2.f64 {%a, %b}, [%p]; ld.global.v2.f64 {%c0, %c1}, [%p+16];\n"
      "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d0, %d1}, {%a}, {%b}, {%c0, %c1};\n"
      "st.global.v2.f64 [%p+16], {%d0, %d1};\nret;\n";
  Machine m(module_text(".param .u64 data", body, "", "sm_90"));
  m.request.block = {32, 1, 1};
  std::mt19937 random(11);
  std::uniform_real_distribution<double> in(-1, 1);
  std::vector<double> data(128);
  for (double& x : data) x = in(random);
  data[3 * 4] = std::nan("5");  // k = 3 of row 0 of A
  const std::uint64_t at = m.buffer("data", data);
  m.parameter(at);
  m.run();
  const std::vector<double> got = m.read<double>(at, data.size());
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 2; ++i) {
      const unsigned row = lane / 4, column = lane % 4 * 2 + i;
      double sum = data[lane * 4 + 2 + i];
      for (unsigned k = 0; k < 4; ++k) sum = std::fma(data[(row * 4 + k) * 4], data[(column * 4 + k) * 4 + 1], sum);
      std::uint64_t bits = 0;
      std::memcpy(&bits, &got[lane * 4 + 2 + i], sizeof bits);
      CHECK((row == 0 ? bits == 0xfff8000000000000 : got[lane * 4 + 2 + i] == sum));
    }
  }
}

TEST_CASE("mma.sync: what cannot be is refused") {
  const std::string kernel = product_kernel("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", {4, 2, 4});
  Machine m(kernel);
  m.request.block = {31, 1, 1};
  for (int i = 0; i < 4; ++i) m.parameter(m.buffer("data", Words(32 * 4)));
  CHECK(m.error().find("'mma.m16n8k16.f32.f16.f16' needs all 32 lanes of its warp, and lane 31 is not there") !=
        std::string::npos);
  const auto refusal = [](const std::string& instruction) {
    try {
      Machine(product_kernel(instruction, {4, 2, 4}));
    } catch (const trace::InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(refusal("mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32").find("form 'mma.sync.aligned") !=
        std::string::npos);
  CHECK(refusal("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32").find("has 4 data registers, expected 2") !=
        std::string::npos);
  CHECK(refusal("mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.popc")
            .find("has no operation, expected .and.popc or .xor.popc") != std::string::npos);
}

TEST_CASE("ldmatrix, stmatrix and movmatrix move elements by their place in a matrix") {
  std::mt19937 random(3);
  for (const unsigned count : {1u, 2u, 4u}) {
    for (const bool transposed : {false, true}) {
      for (const bool generic : {false, true}) {
        // Lane 8 m + r has the address of row r of matrix m: rows stand in any order, 32 of them.
        const std::string n = std::to_string(count), trans = transposed ? ".trans" : "";
        const std::string space = generic ? "" : ".shared";
        const std::string list = registers("v", count);
        std::string body =
            ".reg .b32 %t, %i, %s, %q, %w<4>, %v<4>; .reg .b64 %p, %o, %g; .shared .align 16 .b8 tile[1024];\n"
            "mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 16; ld.param.u64 %p, [from]; add.u64 %g, %p, %o;\n"
            "ld.global.v4.b32 {%w0, %w1, %w2, %w3}, [%g]; mov.u32 %s, tile; shl.b32 %i, %t, 4; add.u32 %i, %s, %i;\n"
            "st.shared.v4.b32 [%i], {%w0, %w1, %w2, %w3}; bar.sync 0;\n"
            "mul.wide.u32 %o, %t, 4; ld.param.u64 %p, [rows]; add.u64 %p, %p, %o; ld.global.u32 %q, [%p];\n"
            "shl.b32 %q, %q, 4; add.u32 %q, %s, %q; cvt.u64.u32 %g, %q; cvta.shared.u64 %g, %g;\n";
        const std::string at = generic ? "[%g]" : "[%q]", at_other = generic ? "[%g+512]" : "[%q+512]";
        body += "ldmatrix.sync.aligned.m8n8.x" + n + trans + space + ".b16 " + list + ", " + at + ";\n";
        body += "stmatrix.sync.aligned.m8n8.x" + n + trans + space + ".b16 " + at_other + ", " + list + ";\n";
        body += "ld.param.u64 %p, [to]; mul.wide.u32 %o, %t, 32; add.u64 %p, %p, %o;\n";
        for (unsigned v = 0; v < count; ++v)
          body += "st.global.b32 [%p+" + std::to_string(4 * v) + "], %v" + std::to_string(v) + ";\n";
        body += "bar.sync 0; setp.ge.u32 %z, %t, " + std::to_string(8 * count) +
                "; @%z bra DONE;\nld.shared.v4.b32 {%w0, %w1, %w2, %w3}, [%q+512];\n"
                "st.global.v4.b32 [%p+16], {%w0, %w1, %w2, %w3};\nDONE: ret;\n";
        Machine m(
            module_text(".param .u64 from, .param .u64 rows, .param .u64 to", ".reg .pred %z;\n" + body, "", "sm_90"));
        m.request.block = {32, 1, 1};
        std::vector<std::uint16_t> data(32 * 8);
        for (std::uint16_t& x : data) x = static_cast<std::uint16_t>(random());
        Words rows(32);
        for (unsigned i = 0; i < 32; ++i) rows[i] = i;
        std::shuffle(rows.begin(), rows.end(), random);
        m.parameter(m.buffer("from", data));
        m.parameter(m.buffer("rows", rows));
        const std::uint64_t to = m.buffer("to", Words(32 * 8));
        m.parameter(to);
        KeepCtas sink;
        m.run(&sink);
        const Words got = m.read<std::uint32_t>(to, 32 * 8);
        CAPTURE(count, transposed, generic);
        for (unsigned lane = 0; lane < 32; ++lane) {
          for (unsigned v = 0; v < count; ++v) {
            const auto element = [&](unsigned row, unsigned column) {
              return std::uint32_t{data[rows[8 * v + row] * 8 + column]};
            };
            const unsigned row = lane / 4, column = lane % 4 * 2;
            const std::uint32_t low = transposed ? element(column, row) : element(row, column);
            const std::uint32_t high = transposed ? element(column + 1, row) : element(row, column + 1);
            CHECK(got[lane * 8 + v] == (low | high << 16));
          }
          // stmatrix has put the rows back.
          if (lane >= 8 * count) continue;
          for (unsigned w = 0; w < 4; ++w) {
            const std::uint32_t word = data[rows[lane] * 8 + 2 * w] | std::uint32_t{data[rows[lane] * 8 + 2 * w + 1]}
                                                                          << 16;
            CHECK(got[lane * 8 + 4 + w] == word);
          }
        }
      }
    }
  }
  const std::string body =
      ".reg .b32 %t, %a, %b; .reg .b64 %p, %o;\nmov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; ld.param.u64 %p, [data]; "
      "add.u64 %p, %p, %o; ld.global.b32 %a, [%p];\nmovmatrix.sync.aligned.m8n8.trans.b16 %b, %a;\nst.global.b32 [%p], "
      "%b;\nret;\n";
  Machine m(module_text(".param .u64 data", body, "", "sm_90"));
  m.request.block = {32, 1, 1};
  std::vector<std::uint16_t> data(64);
  for (std::uint16_t& x : data) x = static_cast<std::uint16_t>(random());
  const std::uint64_t at = m.buffer("data", data);
  m.parameter(at);
  m.run();
  const auto got = m.read<std::uint16_t>(at, 64);
  for (unsigned row = 0; row < 8; ++row)
    for (unsigned column = 0; column < 8; ++column) CHECK(got[row * 8 + column] == data[column * 8 + row]);
}

TEST_CASE("ldmatrix: a row that is not aligned to 16 bytes is refused") {
  const std::string body =
      ".reg .b32 %t, %s, %v; .shared .align 16 .b8 tile[1024];\nmov.u32 %t, %tid.x; mad.lo.u32 %s, %t, 8, 0; "
      "st.shared.u32 [%s], %t; bar.sync 0;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%v}, [%s];\nst.shared.u32 [0], "
      "%v;\nret;\n";
  Machine m(module_text("", body, "", "sm_90"));
  m.request.block = {32, 1, 1};
  const std::string error = m.error();
  INFO(error);
  CHECK(error.find("misaligned row of a matrix at address 8, expected a multiple of 16") != std::string::npos);
}

namespace {

/// A product through wmma, of matrices of small integers, which every format holds exactly.
struct Wmma {
  unsigned m, n, k;
  std::string a, b, c;  ///< types as PTX has them
  unsigned a_registers, b_registers, c_registers;
  bool a_rows, b_rows, c_rows;  ///< .row, else .col
};

unsigned bits_of_type(const std::string& type) {
  for (const auto& [name, bits] : std::vector<std::pair<std::string, unsigned>>{
           {"f16", 16}, {"bf16", 16}, {"tf32", 32}, {"f32", 32}, {"s32", 32}, {"s8", 8}, {"u8", 8}, {"f64", 64}})
    if (name == type) return bits;
  return 0;
}

/// The bits of a small integer in a format.
std::uint64_t encoded(int value, const std::string& type) {
  const auto f = static_cast<float>(value);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &f, sizeof bits);
  if (type == "f32" || type == "tf32") return bits;
  if (type == "bf16") return bits >> 16;
  if (type == "f64") {
    const double d = value;
    std::uint64_t wide = 0;
    std::memcpy(&wide, &d, sizeof wide);
    return wide;
  }
  if (type == "f16") {
    if (value == 0) return 0;
    int exponent = 0;
    const double fraction = std::frexp(std::abs(static_cast<double>(value)), &exponent);
    return (value < 0 ? 0x8000u : 0u) | static_cast<std::uint32_t>(exponent + 14) << 10 |
           (static_cast<std::uint32_t>(std::ldexp(fraction, 11)) & 0x3ffu);
  }
  return static_cast<std::uint64_t>(value) & (bits_of_type(type) == 8 ? 0xffu : 0xffffffffu);
}

struct InMemory {
  std::vector<std::uint8_t> bytes;
  unsigned bits, stride;
  bool rows;
  InMemory(unsigned height, unsigned width, unsigned stride_of, const std::string& type, bool by_rows)
      : bytes(std::size_t{stride_of} * (by_rows ? height : width) * bits_of_type(type) / 8),
        bits(bits_of_type(type)),
        stride(stride_of),
        rows(by_rows) {}
  std::size_t at(unsigned row, unsigned column) const {
    return std::size_t{rows ? row * stride + column : column * stride + row} * bits / 8;
  }
  void put(unsigned row, unsigned column, std::uint64_t value) {
    std::memcpy(bytes.data() + at(row, column), &value, bits / 8);
  }
};

void check_wmma(const Wmma& w, bool shared, unsigned padding, bool register_stride, std::mt19937& random) {
  const std::string shape = "m" + std::to_string(w.m) + "n" + std::to_string(w.n) + "k" + std::to_string(w.k);
  const auto layout = [](bool rows) { return std::string(rows ? "row" : "col"); };
  const std::string space = shared ? ".shared" : ".global", head = ".sync.aligned.";
  const unsigned strides[3] = {(w.a_rows ? w.k : w.m) + padding, (w.b_rows ? w.n : w.k) + padding,
                               (w.c_rows ? w.n : w.m) + padding};
  InMemory a(w.m, w.k, strides[0], w.a, w.a_rows), b(w.k, w.n, strides[1], w.b, w.b_rows);
  InMemory c(w.m, w.n, strides[2], w.c, w.c_rows);
  std::vector<int> x(std::size_t{w.m} * w.k), y(std::size_t{w.k} * w.n), z(std::size_t{w.m} * w.n);
  const auto fill = [&](InMemory& to, std::vector<int>& values, unsigned height, unsigned width,
                        const std::string& type) {
    for (unsigned r = 0; r < height; ++r)
      for (unsigned col = 0; col < width; ++col) {
        const int value = static_cast<int>(random() % 9) - (type[0] == 'u' ? 0 : 4);
        values[std::size_t{r} * width + col] = value;
        to.put(r, col, encoded(value, type));
      }
  };
  fill(a, x, w.m, w.k, w.a);
  fill(b, y, w.k, w.n, w.b);
  fill(c, z, w.m, w.n, w.c);
  const bool is_double = w.a == "f64";
  std::string body =
      ".reg .pred %z; .reg .b32 %t, %i, %v, %s<3>, %a<8>, %b<8>, %c<8>; .reg .f64 %e<4>; .reg .b64 %p, %q, %o;\n"
      ".shared .align 32 .b8 tile[24576];\nmov.u32 %t, %tid.x;\n";
  const char* const names[] = {"a", "b", "c"};
  const std::size_t sizes[] = {a.bytes.size(), b.bytes.size(), c.bytes.size()};
  // In shared memory, the matrices stand 8 KiB apart; the warp copies them there, a word at a time.
  std::string places[3];
  for (int i = 0; i < 3; ++i) {
    const std::string n = names[i], base = std::to_string(8192 * i);
    body += "ld.param.u64 %p, [" + n + "]; ld.param.u32 %s" + std::to_string(i) + ", [stride_" + n + "];\n";
    if (!shared) continue;
    body += "mov.u32 %i, %t;\nL" + n + ": setp.ge.u32 %z, %i, " + std::to_string(sizes[i] / 4) + "; @%z bra D" + n +
            ";\nmul.wide.u32 %o, %i, 4; add.u64 %q, %p, %o; ld.global.b32 %v, [%q]; shl.b32 %v, %v, 0;\n" +
            "{ .reg .b32 %w; shl.b32 %w, %i, 2; st.shared.b32 [%w+" + base + "], %v; }\nadd.u32 %i, %i, 32; bra L" + n +
            ";\nD" + n + ":\n";
  }
  body += "bar.sync 0;\n";
  const auto place = [&](int i) { return shared ? "[tile+" + std::to_string(8192 * i) + "]" : std::string("[%p]"); };
  const auto stride = [&](int i) {
    if (padding == 0 && !register_stride) return std::string();
    return ", " + (register_stride ? "%s" + std::to_string(i) : std::to_string(strides[i]));
  };
  const auto list = [&](const std::string& name, unsigned count) {
    std::string text = "{";
    for (unsigned r = 0; r < count; ++r)
      text += (r == 0 ? "%" : ", %") + (is_double ? "e" + std::to_string(name == "a"   ? 0
                                                                         : name == "b" ? 1
                                                                                       : 2 + r)
                                                  : name + std::to_string(r));
    return text + "}";
  };
  const unsigned registers_of[] = {w.a_registers, w.b_registers, w.c_registers};
  const std::string types[] = {w.a, w.b, w.c};
  const bool layouts[] = {w.a_rows, w.b_rows, w.c_rows};
  for (int i = 0; i < 3; ++i)
    body += "ld.param.u64 %p, [" + std::string(names[i]) + "]; wmma.load." + names[i] + head + layout(layouts[i]) +
            "." + shape + space + "." + types[i] + " " + list(names[i], registers_of[i]) + ", " + place(i) + stride(i) +
            ";\n";
  const std::string product_types = w.a == "f16" ? w.c + "." + w.c : w.c + "." + w.a + "." + w.b + "." + w.c;
  body += "wmma.mma" + head + layout(w.a_rows) + "." + layout(w.b_rows) + "." + shape + "." + product_types + " " +
          list("c", w.c_registers) + ", " + list("a", w.a_registers) + ", " + list("b", w.b_registers) + ", " +
          list("c", w.c_registers) + ";\n";
  body += "ld.param.u64 %p, [d]; wmma.store.d" + head + layout(w.c_rows) + "." + shape + ".global." + w.c + " [%p], " +
          list("c", w.c_registers) + stride(2) + ";\nret;\n";
  Machine m(
      module_text(".param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u32 stride_a, .param .u32 "
                  "stride_b, .param .u32 stride_c",
                  body, "", "sm_90"));
  m.request.block = {32, 1, 1};
  m.parameter(m.buffer("a", a.bytes));
  m.parameter(m.buffer("b", b.bytes));
  m.parameter(m.buffer("c", c.bytes));
  const std::uint64_t d = m.buffer("d", std::vector<std::uint8_t>(c.bytes.size()));
  m.parameter(d);
  for (const unsigned s : strides) m.parameter(s);
  CAPTURE(shape, w.a, w.c, w.a_rows, w.b_rows, w.c_rows, shared, padding, register_stride);
  m.run();
  InMemory expected = c;
  std::fill(expected.bytes.begin(), expected.bytes.end(), std::uint8_t{0});
  for (unsigned row = 0; row < w.m; ++row)
    for (unsigned column = 0; column < w.n; ++column) {
      int sum = z[std::size_t{row} * w.n + column];
      for (unsigned k = 0; k < w.k; ++k) sum += x[std::size_t{row} * w.k + k] * y[std::size_t{k} * w.n + column];
      expected.put(row, column, encoded(sum, w.c));
    }
  CHECK(m.read<std::uint8_t>(d, c.bytes.size()) == expected.bytes);
}

}  // namespace

TEST_CASE("wmma: products of matrices in memory, of every shape, layout and type") {
  std::mt19937 random(5);
  struct Kind {
    unsigned m, n, k;
    const char *a, *c;
    unsigned registers[3];
  };
  const std::vector<Kind> kinds{{16, 16, 16, "f16", "f32", {8, 8, 8}},  {32, 8, 16, "f16", "f32", {8, 8, 8}},
                                {8, 32, 16, "f16", "f32", {8, 8, 8}},   {16, 16, 16, "f16", "f16", {8, 8, 4}},
                                {32, 8, 16, "f16", "f16", {8, 8, 4}},   {8, 32, 16, "f16", "f16", {8, 8, 4}},
                                {16, 16, 16, "bf16", "f32", {4, 4, 8}}, {32, 8, 16, "bf16", "f32", {8, 2, 8}},
                                {8, 32, 16, "bf16", "f32", {2, 8, 8}},  {16, 16, 8, "tf32", "f32", {4, 4, 8}},
                                {16, 16, 16, "s8", "s32", {2, 2, 8}},   {32, 8, 16, "u8", "s32", {4, 1, 8}},
                                {8, 32, 16, "s8", "s32", {1, 4, 8}},    {8, 8, 4, "f64", "f64", {1, 1, 2}}};
  for (const Kind& kind : kinds) {
    for (unsigned layouts = 0; layouts < 8; ++layouts) {
      const Wmma w{kind.m,
                   kind.n,
                   kind.k,
                   kind.a,
                   kind.a,
                   kind.c,
                   kind.registers[0],
                   kind.registers[1],
                   kind.registers[2],
                   (layouts & 1) != 0,
                   (layouts & 2) != 0,
                   (layouts & 4) != 0};
      for (const bool shared : {false, true}) {
        check_wmma(w, shared, 0, false, random);
        check_wmma(w, shared, 16, layouts % 2 != 0, random);
      }
    }
  }
}

}  // namespace regatta::test
