// SPDX-License-Identifier: Apache-2.0
#include "matrix.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace regatta::test::differential {
namespace {

__extension__ using f128 = __float128;

constexpr unsigned lanes = 32, row_lanes = 4, group_rows = 8;

bool is_float(MatrixElement e) {
  return e == MatrixElement::f16 || e == MatrixElement::bf16 || e == MatrixElement::tf32 || e == MatrixElement::e4m3 ||
         e == MatrixElement::e5m2 || e == MatrixElement::f32;
}
bool is_signed(MatrixElement e) { return e == MatrixElement::s8 || e == MatrixElement::s4; }
bool has_8_bits(MatrixElement e) { return e == MatrixElement::e4m3 || e == MatrixElement::e5m2; }

const char* name(MatrixElement e) {
  constexpr const char* names[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8",
                                   "s4",  "u4",   "b1",   "f64",  "f32",  "s32"};
  return names[static_cast<unsigned>(e)];
}

/// Bits of exponent and fraction.
std::pair<int, int> fields(MatrixElement e) {
  switch (e) {
    case MatrixElement::f16:
      return {5, 10};
    case MatrixElement::bf16:
      return {8, 7};
    case MatrixElement::tf32:
      return {8, 10};
    case MatrixElement::e4m3:
      return {4, 3};
    case MatrixElement::e5m2:
      return {5, 2};
    default:
      return {8, 23};
  }
}

/// A number and the exponent that it is aligned by, which for subnormals is the least one.
struct Number {
  double value = 0;
  int exponent = 0;
};

Number number(MatrixElement e, std::uint64_t bits) {
  const auto [exponent_bits, fraction] = fields(e);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto exponent = static_cast<int>(bits >> fraction & ((1u << exponent_bits) - 1));
  const auto low = static_cast<double>(bits & ((1u << fraction) - 1));
  const double sign = (bits >> (exponent_bits + fraction) & 1) != 0 ? -1 : 1;
  const int last = (1 << exponent_bits) - 1;
  if (e == MatrixElement::e4m3 ? (bits & 0x7f) == 0x7f : exponent == last) {
    return {e == MatrixElement::e4m3 || low != 0 ? NAN : sign * INFINITY, 0};
  }
  const int scale = std::max(exponent, 1) - bias;
  return {sign * std::ldexp(low + (exponent == 0 ? 0 : std::ldexp(1.0, fraction)), scale - fraction), scale};
}

/// The sum of terms, each cut off 25 bits behind the largest exponent of those that are not zero.
double cut_sum(const std::vector<Number>& terms) {
  int top = INT32_MIN;
  double special = 0;
  for (const Number& t : terms) {
    if (!std::isfinite(t.value)) special += t.value;  // of two infinities a NaN
    if (t.value != 0) top = std::max(top, t.exponent);
  }
  if (special != 0) return special;
  if (top == INT32_MIN) return 0;
  double units = 0;
  for (const Number& t : terms) units += std::trunc(std::ldexp(t.value, 25 - top));
  return std::ldexp(units, top - 25);
}

std::uint32_t nan_or_infinity(double v, std::uint32_t nan, std::uint32_t infinity, std::uint32_t sign) {
  return std::isnan(v) ? nan : v < 0 ? sign | infinity : infinity;
}

/// Cut off.
std::uint32_t to_single(double v) {
  if (!std::isfinite(v)) return nan_or_infinity(v, 0x7fffffff, 0x7f800000, 0x80000000);
  if (v == 0) return 0;
  const int exponent = std::max(std::ilogb(v), -126);
  if (exponent > 127) return v < 0 ? 0xff800000 : 0x7f800000;
  const auto whole = static_cast<float>(std::ldexp(std::trunc(std::ldexp(v, 23 - exponent)), exponent - 23));
  std::uint32_t bits = 0;
  std::memcpy(&bits, &whole, sizeof bits);
  return whole == 0 ? (v < 0 ? 0x80000000 : 0) : bits;
}

/// To the nearest, ties to even. `plus_zero`: what is exactly zero has no sign.
std::uint32_t to_half(f128 v, bool negative_zero) {
  const auto near = static_cast<double>(v);
  if (!std::isfinite(near)) return nan_or_infinity(near, 0x7fff, 0x7c00, 0x8000);
  if (v == 0) return negative_zero ? 0x8000 : 0;
  const f128 magnitude = v < 0 ? -v : v;
  int exponent = std::ilogb(near);
  if (static_cast<f128>(std::ldexp(1.0, exponent)) > magnitude) --exponent;
  exponent = std::max(exponent, -14);
  const std::uint32_t sign = v < 0 ? 0x8000 : 0;
  if (exponent > 15) return sign | 0x7c00;
  const f128 units = magnitude / static_cast<f128>(std::ldexp(1.0, exponent - 10));
  auto whole = static_cast<std::uint32_t>(units);
  const f128 rest = units - static_cast<f128>(whole);
  if (rest * 2 > 1 || (rest * 2 == 1 && whole % 2 != 0)) ++whole;
  // 1024 units of a normal number are its hidden bit; a carry goes into the exponent.
  return sign | (static_cast<std::uint32_t>(exponent + 14) * 1024 + whole);
}

float single(std::uint64_t bits) {
  const auto low = static_cast<std::uint32_t>(bits);
  float v = 0;
  std::memcpy(&v, &low, sizeof v);
  return v;
}

std::uint64_t float_element(const MatrixForm& f, const std::vector<std::uint64_t>& a,
                            const std::vector<std::uint64_t>& b, std::uint64_t c) {
  std::vector<Number> products;
  for (unsigned k = 0; k < f.k; ++k) {
    const Number x = number(f.a, a[k]), y = number(f.b, b[k]);
    products.push_back({x.value * y.value, x.exponent + y.exponent});
  }
  if (!has_8_bits(f.a)) {
    products.push_back(number(f.c, c));
    const double sum = cut_sum(products);
    return f.c == MatrixElement::f16 ? to_half(sum, false) : to_single(sum);
  }
  std::vector<Number> steps[2];
  for (unsigned k = 0; k < f.k; ++k) steps[k / 2 % 2].push_back(products[k]);
  const std::uint32_t first = to_single(cut_sum(steps[0]));
  steps[1].push_back(number(MatrixElement::f32, first));
  const float second = single(to_single(cut_sum(steps[1])));
  if (f.c == MatrixElement::f16) {
    const double addend = number(MatrixElement::f16, c).value;
    const bool zero = std::signbit(second) && (c & 0x8000) != 0;
    return to_half(static_cast<f128>(second) + static_cast<f128>(addend), zero);
  }
  const float sum = second + single(c);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &sum, sizeof bits);
  return std::isnan(sum) ? 0x7fffffff : bits;
}

std::int64_t integer(MatrixElement e, std::uint64_t bits) {
  const auto value = static_cast<std::int64_t>(bits);
  return is_signed(e) && bits >> (bits_of(e) - 1) != 0 ? value - (std::int64_t{1} << bits_of(e)) : value;
}

std::uint64_t double_element(const MatrixForm& f, const std::vector<std::uint64_t>& a,
                             const std::vector<std::uint64_t>& b, std::uint64_t c) {
  const auto value = [](std::uint64_t bits) {
    double v = 0;
    std::memcpy(&v, &bits, sizeof v);
    return v;
  };
  double sum = value(c);
  for (unsigned k = 0; k < f.k; ++k) sum = std::fma(value(a[k]), value(b[k]), sum);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &sum, sizeof bits);
  return std::isnan(sum) ? 0xfff8000000000000 : bits;
}

/// MatrixElement `i` of a lane's words.
std::uint64_t element(const std::vector<std::uint32_t>& words, MatrixElement e, unsigned i) {
  const unsigned bits = bits_of(e);
  if (bits == 64) return words[2 * i] | std::uint64_t{words[2 * i + 1]} << 32;
  const std::uint64_t word = words[i * bits / 32];
  if (e == MatrixElement::tf32) return word >> 13;
  return word >> (i * bits % 32) & ((std::uint64_t{1} << bits) - 1);
}
void set_element(std::vector<std::uint32_t>& words, MatrixElement e, unsigned i, std::uint64_t v) {
  const unsigned bits = bits_of(e);
  if (bits == 64) {
    words[2 * i] = static_cast<std::uint32_t>(v);
    words[2 * i + 1] = static_cast<std::uint32_t>(v >> 32);
  } else {
    words[i * bits / 32] |= static_cast<std::uint32_t>(v << (i * bits % 32));
  }
}

std::vector<MatrixForm> all_forms() {
  using E = MatrixElement;
  std::vector<MatrixForm> all;
  for (const unsigned k : {8u, 16u}) {
    all.push_back({16, 8, k, E::f16, E::f16, E::f16});
    all.push_back({16, 8, k, E::f16, E::f16, E::f32});
    all.push_back({16, 8, k, E::bf16, E::bf16, E::f32});
    all.push_back({16, 8, k / 2, E::tf32, E::tf32, E::f32});
  }
  for (const unsigned k : {16u, 32u}) {
    for (const E a : {E::e4m3, E::e5m2})
      for (const E b : {E::e4m3, E::e5m2})
        for (const E c : {E::f32, E::f16}) all.push_back({16, 8, k, a, b, c});
  }
  all.push_back({8, 8, 4, E::f64, E::f64, E::f64});
  for (const bool saturates : {false, true}) {
    for (const auto& [m, k] : {std::pair<unsigned, unsigned>{8, 16}, {16, 16}, {16, 32}}) {
      for (const E a : {E::s8, E::u8})
        for (const E b : {E::s8, E::u8}) all.push_back({m, 8, k, a, b, E::s32, saturates});
      for (const E a : {E::s4, E::u4})
        for (const E b : {E::s4, E::u4}) all.push_back({m, 8, 2 * k, a, b, E::s32, saturates});
    }
  }
  for (const char product : {'^', '&'}) {
    for (const auto& [m, k] : {std::pair<unsigned, unsigned>{8, 128}, {16, 128}, {16, 256}}) {
      all.push_back({m, 8, k, E::b1, E::b1, E::s32, false, product});
    }
  }
  return all;
}

}  // namespace

unsigned bits_of(MatrixElement e) {
  constexpr unsigned bits[] = {16, 16, 32, 8, 8, 8, 8, 4, 4, 1, 64, 32, 32};
  return bits[static_cast<unsigned>(e)];
}

std::string MatrixForm::text() const {
  const std::string operation = product == '^' ? ".xor.popc" : product == '&' ? ".and.popc" : "";
  return "mma.sync.aligned.m" + std::to_string(m) + "n" + std::to_string(n) + "k" + std::to_string(k) + ".row.col." +
         (saturates ? "satfinite." : "") + name(c) + "." + name(a) + "." + name(b) + "." + name(c) + operation;
}

const std::vector<MatrixForm>& matrix_forms() {
  static const std::vector<MatrixForm> all = all_forms();
  return all;
}

const std::vector<MatrixForm>& wmma_forms() {
  using E = MatrixElement;
  static const std::vector<MatrixForm> all{
      {16, 16, 16, E::f16, E::f16, E::f32},   {16, 16, 16, E::f16, E::f16, E::f16},
      {16, 16, 16, E::bf16, E::bf16, E::f32}, {16, 16, 16, E::s8, E::s8, E::s32},
      {16, 16, 16, E::u8, E::u8, E::s32},     {16, 16, 16, E::s8, E::s8, E::s32, true}};
  return all;
}

std::uint64_t product_element(const MatrixForm& f, const std::vector<std::uint64_t>& a,
                              const std::vector<std::uint64_t>& b, std::uint64_t c) {
  if (f.a == MatrixElement::f64) return double_element(f, a, b, c);
  if (is_float(f.a)) return float_element(f, a, b, c);
  std::int64_t sum = static_cast<std::int32_t>(static_cast<std::uint32_t>(c));
  for (unsigned k = 0; k < f.k; ++k) {
    const std::int64_t x = integer(f.a, a[k]), y = integer(f.b, b[k]);
    sum += f.product == '*' ? x * y : f.product == '^' ? (x ^ y) : (x & y);
  }
  if (f.saturates) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
  return static_cast<std::uint32_t>(sum);
}

Fragment product(const MatrixForm& f, const Fragment& a, const Fragment& b, const Fragment& c) {
  std::vector<std::vector<std::uint64_t>> rows(f.m, std::vector<std::uint64_t>(f.k)), columns = rows;
  columns.assign(f.n, std::vector<std::uint64_t>(f.k));
  const unsigned wide = bits_of(f.a), each = wide == 64 ? 1 : 32 / wide;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const unsigned group = lane / row_lanes, first = lane % row_lanes * each;
    for (unsigned i = 0; i < f.m * f.k / lanes; ++i) {
      const unsigned word = i / each, half = f.m == 16 ? word / 2 : word;
      const unsigned row = group + (f.m == 16 ? word % 2 * group_rows : 0);
      rows.at(row).at(first + i % each + half * row_lanes * each) = element(a[lane], f.a, i);
    }
    for (unsigned i = 0; i < f.n * f.k / lanes; ++i) {
      columns.at(group).at(first + i % each + i / each * row_lanes * each) = element(b[lane], f.b, i);
    }
  }
  Fragment d;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    d[lane].assign(c[lane].size(), 0);
    for (unsigned i = 0; i < f.m * f.n / lanes; ++i) {
      const unsigned row = lane / row_lanes + i / 2 * group_rows, column = lane % row_lanes * 2 + i % 2;
      set_element(d[lane], f.c, i, product_element(f, rows[row], columns[column], element(c[lane], f.c, i)));
    }
  }
  return d;
}

}  // namespace regatta::test::differential
