// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace regatta::models {

/// The threshold t of resource sharing (Jatala, thesis, section 2.2): the part of its resources that each CTA of a pair
/// has for itself, 0 < t <= 1. A fraction, because one CTA more or less can depend on the last bit: 3 + 0.2 / 0.1 CTAs
/// are 5, and 4 in binary floating point.
class Threshold {
 public:
  /// `text`: a decimal number without exponent ("0.1", "1"). Throws support::ConfigError that names the `knob`.
  static Threshold parse(const std::string& knob, const std::string& text);
  /// The same, and t may be 0: nothing of a CTA is its own. quotient() is not defined then.
  static Threshold parse_or_zero(const std::string& knob, const std::string& text);

  /// t x n, rounded down.
  std::uint64_t of(std::uint64_t n) const { return n * numerator_ / denominator_; }
  /// (n / d) / t, rounded down. Products stay below 2^64 for n and d below 2^40.
  std::uint64_t quotient(std::uint64_t n, std::uint64_t d) const { return n * denominator_ / (d * numerator_); }
  /// As it was written.
  const std::string& text() const { return text_; }
  std::uint64_t numerator() const { return numerator_; }
  std::uint64_t denominator() const { return denominator_; }

 private:
  static Threshold parse(const std::string& knob, const std::string& text, bool may_be_zero);
  Threshold(std::string text, std::uint64_t numerator, std::uint64_t denominator)
      : text_(std::move(text)), numerator_(numerator), denominator_(denominator) {}

  std::string text_;
  std::uint64_t numerator_, denominator_;
};

}  // namespace regatta::models
