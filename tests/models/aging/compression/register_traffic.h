// SPDX-License-Identifier: Apache-2.0
//
// Constrained-random registers for the compression unit and table entries for the decompression unit, and what of them
// has been met.
#pragma once

#include <regatta/aging/unit_operations.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <random>
#include <string>

namespace regatta::test {

/// How a register differs from base and deltas.
enum class Defect : std::uint8_t { none, bit, plus, minus, step, block, noise };
inline constexpr unsigned defect_count = 7;

/// Deltas that can be kept and others near them, bases at carries, defects anywhere.
class RegisterTraffic {
 public:
  explicit RegisterTraffic(unsigned seed) : random_(seed) {}

  models::aging::CompressionOperation operation() {
    models::aging::CompressionOperation o;
    o.lanes = random_() % 3 == 0 ? 32 : 64;
    const std::uint32_t base = this->base(), element = delta();
    const std::uint32_t block = random_() % 3 == 0 ? 8 * element : delta();
    for (std::uint32_t i = 0; i < o.lanes; ++i) o.components[i] = base + i / 8 * block + i % 8 * element;
    defect_ = random_() % 2 == 0 ? Defect::none : static_cast<Defect>(1 + random_() % (defect_count - 1));
    std::uint32_t& one = o.components[random_() % o.lanes];
    const std::uint32_t step = 1u << random_() % 32;
    switch (defect_) {
      case Defect::none:
        break;
      case Defect::bit:
        one ^= step;
        break;
      case Defect::plus:
        one += 1;
        break;
      case Defect::minus:
        one -= 1;
        break;
      case Defect::step:  // from one component on, to the end
        for (auto i = static_cast<std::uint32_t>(random_()) % o.lanes; i < o.lanes; ++i) o.components[i] += step;
        break;
      case Defect::block:  // a block that does not continue
        for (std::uint32_t b = static_cast<std::uint32_t>(random_()) % (o.lanes / 8) * 8, i = b; i < b + 8; ++i) {
          o.components[i] += step;
        }
        break;
      case Defect::noise: {
        const auto shift = static_cast<unsigned>(random_() % 32);
        for (std::uint32_t i = 0; i < o.lanes; ++i) o.components[i] = static_cast<std::uint32_t>(random_()) >> shift;
      }
    }
    return o;
  }
  models::aging::DecompressionRequest request() {
    models::aging::DecompressionRequest r;
    r.lanes = random_() % 3 == 0 ? 32 : 64;
    r.code.base = base();
    r.code.element = static_cast<std::uint8_t>(random_() % 8);
    r.code.block = static_cast<std::uint8_t>(random_() % 8);
    return r;
  }
  /// Of the last register.
  Defect defect() const { return defect_; }

 private:
  std::uint32_t delta() {
    static constexpr std::uint32_t other[] = {3, 5, 12, 65, 96, 127, 128, 192, 0x80, 0x10001, 0x80000000, 0xffffffff};
    if (random_() % 5 == 0) return other[random_() % 12];
    const auto log = static_cast<unsigned>(random_() % 8);
    return log == models::aging::zero_delta ? 0 : 1u << log;
  }
  std::uint32_t base() {
    const auto any = static_cast<std::uint32_t>(random_());
    switch (random_() % 4) {
      case 0:
        return any % 256 - 128;  // around 0
      case 1:
        return (any & 0xffffff00u) | (0xffu - any % 64);  // carries into the upper bits
      case 2:
        return 0x80000000u - any % 512;  // around the sign
      default:
        return any;
    }
  }
  std::mt19937 random_;
  Defect defect_ = Defect::none;
};

/// Counts with names, printed; every one must have been met.
class Coverage {
 public:
  void add(const std::string& what) { ++met_[what]; }
  /// All that there is, so that what was never met has a count of 0.
  void expect(const std::string& what) { met_[what]; }
  void print(const char* title) const {
    std::printf("%s\n", title);
    for (const auto& [what, count] : met_)
      std::printf("  %-28s %9llu\n", what.c_str(), static_cast<unsigned long long>(count));
  }
  /// Names that were met less than `least` times.
  std::string missing(std::uint64_t least) const {
    std::string names;
    for (const auto& [what, count] : met_) names += count < least ? what + "; " : "";
    return names;
  }

 private:
  std::map<std::string, std::uint64_t> met_;
};

}  // namespace regatta::test
