// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <cmath>
#include <sstream>

namespace regatta::test {

Expected near(const std::string& buffer, std::vector<double> values, double tolerance) {
  Expected e;
  e.buffer = buffer;
  e.values = std::move(values);
  e.tolerance = tolerance;
  return e;
}

std::string compare(const Expected& expected, const std::string& bytes) {
  const std::size_t count = expected.words.empty() ? expected.values.size() : expected.words.size();
  std::ostringstream text;
  if (bytes.size() != 4 * count || count == 0) {
    text << expected.buffer << " has " << bytes.size() << " bytes, expected " << 4 * count;
    return text.str();
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t word;
    std::memcpy(&word, bytes.data() + 4 * i, sizeof word);
    float number;
    std::memcpy(&number, &word, sizeof number);
    if (!expected.words.empty()) {
      if (word == expected.words[i]) continue;
      text << expected.buffer << "[" << i << "] is 0x" << std::hex << word << ", expected 0x" << expected.words[i];
      return text.str();
    }
    const double should = expected.values[i];
    if (std::fabs(static_cast<double>(number) - should) <= expected.tolerance * std::fabs(should)) continue;
    text.precision(10);
    text << expected.buffer << "[" << i << "] is " << number << ", expected " << should << " within "
         << expected.tolerance << " of it";
    return text.str();
  }
  return "";
}

}  // namespace regatta::test
