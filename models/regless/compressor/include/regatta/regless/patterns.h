// SPDX-License-Identifier: Apache-2.0
//
// Values that fit into a few bytes (RegLess, MICRO 2017, section 5.3), and lines of 15 of them.
#pragma once

#include <cstdint>

namespace regatta::models {

/// The state of a compressed register, 3 bits. If several patterns match a value, the first one here is used.
enum class Pattern : std::uint8_t {
  none,      ///< not compressed
  constant,  ///< v
  stride1,   ///< v + lane
  stride4,   ///< v + 4 lane
  half1,     ///< lanes 0-15 and 16-31: a base each, + lane
  half4      ///< a base each, + 4 lane
};
inline constexpr unsigned pattern_count = 6;
const char* to_string(Pattern p);

inline constexpr unsigned pattern_lanes = 32;
inline constexpr unsigned slot_bytes = 8;  ///< bytes of a compressed register; half the patterns use 4 of them
inline constexpr unsigned compressed_line_bytes = 128;
inline constexpr unsigned line_slots = 15;  ///< 15 x 8 bytes, then 15 x 3 bits

/// The pattern of 32 lanes, exact in arithmetic modulo 2^32.
Pattern match(const std::uint32_t* lanes);
/// The slot's 8 bytes for lanes that match `p`.
void compress(Pattern p, const std::uint32_t* lanes, unsigned char* slot);
/// The 32 lanes represented by a slot; `p` is not none.
void expand(Pattern p, const unsigned char* slot, std::uint32_t* lanes);

/// State of slot `i` of a line of 128 bytes. An unknown state (6, 7) reads as none.
Pattern state_of(const unsigned char* line, unsigned i);
void set_state(unsigned char* line, unsigned i, Pattern p);
inline unsigned char* slot_of(unsigned char* line, unsigned i) { return line + i * slot_bytes; }
inline const unsigned char* slot_of(const unsigned char* line, unsigned i) { return line + i * slot_bytes; }

}  // namespace regatta::models
