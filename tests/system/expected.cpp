// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <cmath>
#include <sstream>

#include "references/small_float.h"

namespace regatta::test {

Expected near(const std::string& buffer, std::vector<double> values, double tolerance) {
  Expected e;
  e.buffer = buffer;
  e.values = std::move(values);
  e.tolerance = tolerance;
  return e;
}

Expected near(const std::string& buffer, Float type, std::vector<double> values, double tolerance, double absolute) {
  Expected e = near(buffer, std::move(values), tolerance);
  e.type = type;
  e.absolute = absolute;
  return e;
}

namespace {

double element(const std::string& bytes, Float type, std::size_t i) {
  if (type == Float::f32) {
    float number;
    std::memcpy(&number, bytes.data() + 4 * i, sizeof number);
    return static_cast<double>(number);
  }
  std::uint16_t bits;
  std::memcpy(&bits, bytes.data() + 2 * i, sizeof bits);
  return type == Float::f16 ? reference::half.decode(bits) : reference::bf16.decode(bits);
}

}  // namespace

std::string compare(const Expected& expected, const std::string& bytes) {
  const bool exact = !expected.words.empty();
  const std::size_t count = exact ? expected.words.size() : expected.values.size();
  const std::size_t size = exact || expected.type == Float::f32 ? 4 : 2;
  std::ostringstream text;
  if (bytes.size() != size * count || count == 0) {
    text << expected.buffer << " has " << bytes.size() << " bytes, expected " << size * count;
    return text.str();
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (exact) {
      std::uint32_t word;
      std::memcpy(&word, bytes.data() + 4 * i, sizeof word);
      if (word == expected.words[i]) continue;
      text << expected.buffer << "[" << i << "] is 0x" << std::hex << word << ", expected 0x" << expected.words[i];
      return text.str();
    }
    const double number = element(bytes, expected.type, i);
    const double should = expected.values[i];
    if (std::fabs(number - should) <= expected.tolerance * std::fabs(should) + expected.absolute) continue;
    text.precision(10);
    text << expected.buffer << "[" << i << "] is " << number << ", expected " << should << " within "
         << expected.tolerance << " of it";
    if (expected.absolute != 0) text << " and " << expected.absolute;
    return text.str();
  }
  return "";
}

}  // namespace regatta::test
