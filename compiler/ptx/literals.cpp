// SPDX-License-Identifier: Apache-2.0
#include "literals.h"

#include <cstring>

namespace regatta::ptx {

namespace {

template <class To, class From>
To reinterpret(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to{};
  std::memcpy(&to, &from, sizeof to);
  return to;
}

}  // namespace

std::uint64_t real_bits(std::uint64_t bits, bool single, unsigned size) {
  if (single == (size == 4)) return bits;
  if (size == 4) return reinterpret<std::uint32_t>(static_cast<float>(reinterpret<double>(bits)));
  return reinterpret<std::uint64_t>(static_cast<double>(reinterpret<float>(static_cast<std::uint32_t>(bits))));
}

std::uint64_t integer_bits(std::uint64_t value, ir::Type type) {
  const auto number = static_cast<std::int64_t>(value);
  if (type == ir::Type::f32) return reinterpret<std::uint32_t>(static_cast<float>(number));
  if (type == ir::Type::f64) return reinterpret<std::uint64_t>(static_cast<double>(number));
  const unsigned size = ir::size_of(type);
  return size >= 8 ? value : value & ((std::uint64_t{1} << (8 * size)) - 1);
}

}  // namespace regatta::ptx
