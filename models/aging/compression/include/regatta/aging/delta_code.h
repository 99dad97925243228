// SPDX-License-Identifier: Apache-2.0
//
// The redundancy that register compression uses (Valero et al., aging-aware register file, sections 3 and 4): the
// components of a register, one per lane, are C_i = b + (i div 8) x block delta + (i mod 8) x element delta, modulo
// 2^32.
#pragma once

#include <cstdint>

namespace regatta::models::aging {

/// Components of a block: the row size of most tiles (section 4).
inline constexpr unsigned block_size = 8;
/// Deltas are zero or a power of two up to 64 (section 5.1.1), stored as the logarithm; this is the code of zero.
inline constexpr std::uint8_t zero_delta = 7;
inline constexpr unsigned largest_log_delta = 6;

/// The classes of register writes in Figure 7.
enum class Pattern : std::uint8_t {
  constant,      ///< both deltas zero
  single_delta,  ///< one sequence: the block delta is 8 times the element delta
  double_delta,  ///< any other pair of deltas
  other          ///< not compressible
};
inline constexpr unsigned pattern_count = 4;
const char* to_string(Pattern p);

/// Whether a difference of components is a representable delta.
constexpr bool is_delta(std::uint32_t d) { return d <= (1u << largest_log_delta) && (d & (d - 1)) == 0; }
/// The three-bit code of a delta for which is_delta() holds.
constexpr std::uint8_t encode_delta(std::uint32_t d) {
  return d == 0 ? zero_delta : static_cast<std::uint8_t>(__builtin_ctz(d));
}
constexpr std::uint32_t decode_delta(std::uint8_t code) { return code == zero_delta ? 0 : 1u << code; }

/// A compressed register: 38 bits.
struct DeltaCode {
  std::uint32_t base = 0;             ///< C_0
  std::uint8_t element = zero_delta;  ///< 3 bits: log2 of the element delta
  std::uint8_t block = zero_delta;    ///< 3 bits: log2 of the block delta

  Pattern pattern() const;
  friend bool operator==(const DeltaCode& a, const DeltaCode& b) {
    return a.base == b.base && a.element == b.element && a.block == b.block;
  }
};

/// A decompression unit's output for one sub-wavefront (section 5.1.2, Figure 10): `lanes` components, a multiple of
/// the block size, from component `first`, a multiple of it too. Shifts and adds only, as in the circuit.
void decompress(const DeltaCode& code, unsigned first, unsigned lanes, std::uint32_t* components);

}  // namespace regatta::models::aging
