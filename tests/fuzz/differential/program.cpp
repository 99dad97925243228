// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include <algorithm>
#include <cstring>

namespace regatta::test::differential {

unsigned class_index(char c) { return static_cast<unsigned>(std::strchr(classes, c) - classes); }

unsigned class_bytes(char c) {
  constexpr unsigned bytes[class_count] = {2, 4, 8, 4, 8, 0};
  return bytes[class_index(c)];
}

unsigned result_bytes(const Program& program) {
  unsigned bytes = 3 * slot_bytes;
  for (const auto& variables : program.initial) bytes += 8 * static_cast<unsigned>(variables.size());
  return (bytes + 15) / 16 * 16;
}

std::uint64_t first_value(char c, unsigned variable, std::uint64_t initial, std::uint32_t thread) {
  const std::uint64_t mixed = initial + std::uint64_t{thread} * thread_multiplier;
  const bool wild = variable % wild_floats == 0;
  const auto small = static_cast<double>(static_cast<std::int32_t>(thread) - 40);
  if (c == 'f' && !wild) {
    const auto low = static_cast<std::uint32_t>(initial);
    float factor = 0;
    std::memcpy(&factor, &low, sizeof factor);
    const float v = static_cast<float>(small) * factor;
    std::uint32_t bits = 0;
    std::memcpy(&bits, &v, sizeof bits);
    return bits;
  }
  if (c == 'g' && !wild) {
    double factor = 0;
    std::memcpy(&factor, &initial, sizeof factor);
    const double v = small * factor;
    std::uint64_t bits = 0;
    std::memcpy(&bits, &v, sizeof bits);
    return bits;
  }
  if (c == 'p') return (initial >> (thread & 31)) & 1;
  const unsigned width = 8 * class_bytes(c);
  return width == 64 ? mixed : mixed & ((std::uint64_t{1} << width) - 1);
}

const std::vector<Reduction>& reductions() {
  using u32 = std::uint32_t;
  static const std::vector<Reduction> table = {
      {"add.u32", [](u32 a, u32 b) { return a + b; }},
      {"max.u32", [](u32 a, u32 b) { return std::max(a, b); }},
      {"min.s32", [](u32 a, u32 b) { return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b) ? a : b; }},
      {"or.b32", [](u32 a, u32 b) { return a | b; }},
      {"xor.b32", [](u32 a, u32 b) { return a ^ b; }},
  };
  return table;
}

namespace {

std::size_t count(const std::vector<Statement>& body) {
  std::size_t n = 0;
  for (const Statement& s : body) n += 1 + count(s.body) + count(s.other);
  return n;
}

}  // namespace

std::size_t statement_count(const Program& program) {
  std::size_t n = count(program.body);
  for (const Function& f : program.functions) n += count(f.body);
  return n;
}

}  // namespace regatta::test::differential
