// SPDX-License-Identifier: Apache-2.0
#include <regatta/sharing/threshold.h>

#include <regatta/support/config.h>

#include <numeric>

namespace regatta::models {

namespace {
constexpr std::size_t most_places = 6;  ///< behind the point: keeps all products below 2^64

bool is_digit(char c) { return c >= '0' && c <= '9'; }
}  // namespace

Threshold Threshold::parse(const std::string& knob, const std::string& text) { return parse(knob, text, false); }

Threshold Threshold::parse_or_zero(const std::string& knob, const std::string& text) { return parse(knob, text, true); }

Threshold Threshold::parse(const std::string& knob, const std::string& text, bool may_be_zero) {
  std::uint64_t numerator = 0, denominator = 1;
  std::size_t at = 0, digits = 0, places = 0;
  bool behind_point = false, good = true;
  for (; at < text.size() && good; ++at) {
    if (text[at] == '.' && !behind_point) {
      behind_point = true;
    } else if (is_digit(text[at])) {
      ++digits;
      places += behind_point ? 1 : 0;
      numerator = numerator * 10 + static_cast<unsigned>(text[at] - '0');
      denominator *= behind_point ? 10 : 1;
      good = digits <= most_places + 1 && places <= most_places;
    } else {
      good = false;
    }
  }
  if (!good || digits == 0 || (numerator == 0 && !may_be_zero) || numerator > denominator) {
    throw support::ConfigError("configuration: " + knob + " = " + text + ", expected a decimal number " +
                               (may_be_zero ? "from 0 to 1" : "above 0 and at most 1") + ", with at most " +
                               std::to_string(most_places) + " places, as in 0.1");
  }
  const std::uint64_t divisor = std::gcd(numerator, denominator);
  return Threshold(text, numerator / divisor, denominator / divisor);
}

}  // namespace regatta::models
