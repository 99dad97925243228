// SPDX-License-Identifier: Apache-2.0
#include <regatta/launch/fill.h>

#include <regatta/base/threads.h>
#include <regatta/ir/half.h>

#include "structured.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

namespace regatta::launch {
namespace {

std::uint64_t high_product(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t al = a & 0xffffffffu, ah = a >> 32, bl = b & 0xffffffffu, bh = b >> 32;
  const std::uint64_t middle = ah * bl + ((al * bl) >> 32);
  const std::uint64_t cross = al * bh + (middle & 0xffffffffu);
  return ah * bh + (middle >> 32) + (cross >> 32);
}

double real_element(const FillSpec& s, std::uint64_t i) {
  switch (s.init) {
    case Init::iota:
      return s.low + static_cast<double>(i) * s.step;
    case Init::constant:
      return s.value;
    case Init::uniform:
      return s.low + (s.high - s.low) * unit(random_word(s.seed, i));
    case Init::normal: {
      double sum = 0;
      for (std::uint64_t k = 0; k < 12; ++k) sum += unit(random_word(s.seed, 12 * i + k));
      return s.mean + s.stddev * (sum - 6);
    }
    default:
      break;
  }
  return 0;
}

std::uint64_t integer_element(const FillSpec& s, std::uint64_t i) {
  switch (s.init) {
    case Init::iota:
      return static_cast<std::uint64_t>(s.integer_low) + i * static_cast<std::uint64_t>(s.integer_step);
    case Init::constant:
      return static_cast<std::uint64_t>(s.integer_value);
    case Init::uniform: {
      const std::uint64_t low = static_cast<std::uint64_t>(s.integer_low);
      const std::uint64_t count = static_cast<std::uint64_t>(s.integer_high) - low + 1;
      const std::uint64_t word = random_word(s.seed, i);
      return low + (count == 0 ? word : high_product(word, count));
    }
    case Init::normal:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(std::nearbyint(real_element(s, i))));
    default:
      break;
  }
  return 0;
}

/// Numbers beyond 64 bits become the last ones that fit.
std::int64_t to_integer(double value) {
  constexpr double beyond = 0x1p63;
  if (!(value < beyond)) return INT64_MAX;
  return value < -beyond ? INT64_MIN : static_cast<std::int64_t>(value);
}

std::uint32_t half_element(const FillSpec& s, double value) {
  const std::uint32_t h = ir::double_to_small(s.type, value, ir::Rounding::rn);
  if (s.init != Init::uniform || !(s.low < s.high) || ir::small_to_double(s.type, h) < s.high) return h;
  // The largest half below the bound.
  const std::uint32_t below = ir::double_to_small(s.type, s.high, ir::Rounding::rm);
  if (ir::small_to_double(s.type, below) < s.high) return below;
  if ((below & 0x7fffu) == 0) return 0x8001;
  return (below & 0x8000u) != 0 ? below + 1 : below - 1;
}

/// `fill(first, end)` for parts of `count` elements, on several threads if there are many: an element depends on its
/// number alone.
template <class Fill>
void in_parts(std::size_t count, const Fill& fill) {
  constexpr std::size_t least = std::size_t{1} << 15;
  const std::size_t parts = std::clamp<std::size_t>(count / least, 1, base::threads());
  std::vector<std::thread> threads;
  threads.reserve(parts);
  for (std::size_t p = 1; p < parts; ++p) {
    const auto part = [&fill, count, parts, p] { fill(count * p / parts, count * (p + 1) / parts); };
    try {
      threads.emplace_back(part);
    } catch (const std::system_error&) {  // no more threads
      part();
    }
  }
  fill(0, count / parts);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

void fill_buffer(const FillSpec& s, std::vector<std::uint8_t>& bytes) {
  if (s.init == Init::file || s.init == Init::none) return;
  const std::size_t size = ir::size_of(s.type);
  if (size == 0 || bytes.size() % size != 0) {
    throw std::invalid_argument("fill_buffer: " + std::to_string(bytes.size()) +
                                " bytes are no whole number of elements");
  }
  const std::size_t count = bytes.size() / size;
  const bool structured = is_structured(s.init);
  const std::vector<double> elements = structured ? structured_elements(s, count) : std::vector<double>{};
  const auto real = [&](std::size_t i) { return structured ? elements[i] : real_element(s, i); };
  const auto element = [&](std::size_t i) {
    std::uint8_t* to = bytes.data() + i * size;
    if (s.init == Init::zero) {
      std::memset(to, 0, size);
    } else if (s.type == ir::Type::f32) {
      auto v = static_cast<float>(real(i));
      if (s.init == Init::uniform && static_cast<double>(v) >= s.high && s.low < s.high) {
        v = std::nextafter(static_cast<float>(s.high), static_cast<float>(s.low));
      }
      std::memcpy(to, &v, size);
    } else if (ir::is_small_float(s.type)) {
      const std::uint32_t h = half_element(s, real(i));
      std::memcpy(to, &h, size);
    } else if (s.type == ir::Type::f64) {
      double v = real(i);
      if (s.init == Init::uniform && v >= s.high && s.low < s.high) v = std::nextafter(s.high, s.low);
      std::memcpy(to, &v, size);
    } else {
      const std::uint64_t v = structured ? static_cast<std::uint64_t>(to_integer(elements[i])) : integer_element(s, i);
      for (std::size_t b = 0; b < size; ++b) to[b] = static_cast<std::uint8_t>(v >> (8 * b));
    }
  };
  in_parts(count, [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) element(i);
  });
}

}  // namespace regatta::launch
