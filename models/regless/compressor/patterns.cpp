// SPDX-License-Identifier: Apache-2.0
#include <regatta/regless/patterns.h>

#include <cstring>

namespace regatta::models {

namespace {

constexpr unsigned half = pattern_lanes / 2;
constexpr unsigned state_bits = 3;
constexpr unsigned states_at = line_slots * slot_bytes;  // byte of a line at which the states begin

std::uint32_t stride_of(Pattern p) {
  return p == Pattern::stride1 || p == Pattern::half1 ? 1 : p == Pattern::stride4 || p == Pattern::half4 ? 4 : 0;
}
bool has_halves(Pattern p) { return p == Pattern::half1 || p == Pattern::half4; }

std::uint64_t states(const unsigned char* line) {
  std::uint64_t s = 0;
  std::memcpy(&s, line + states_at, compressed_line_bytes - states_at);
  return s;
}

}  // namespace

const char* to_string(Pattern p) {
  static const char* const names[] = {"none", "constant", "stride1", "stride4", "half1", "half4"};
  return names[static_cast<unsigned>(p)];
}

Pattern match(const std::uint32_t* lanes) {
  const std::uint32_t stride = lanes[1] - lanes[0];
  if (stride != 0 && stride != 1 && stride != 4) return Pattern::none;
  std::uint32_t differs = 0;
  for (unsigned i = 1; i < half; ++i) {
    differs |= (lanes[i] - lanes[i - 1]) ^ stride;
    differs |= (lanes[half + i] - lanes[half + i - 1]) ^ stride;
  }
  if (differs != 0) return Pattern::none;
  const bool whole = lanes[half] - lanes[half - 1] == stride;
  if (stride == 0) return whole ? Pattern::constant : Pattern::none;
  if (stride == 1) return whole ? Pattern::stride1 : Pattern::half1;
  return whole ? Pattern::stride4 : Pattern::half4;
}

void compress(Pattern p, const std::uint32_t* lanes, unsigned char* slot) {
  std::memset(slot, 0, slot_bytes);
  std::memcpy(slot, &lanes[0], sizeof lanes[0]);
  if (has_halves(p)) std::memcpy(slot + sizeof lanes[0], &lanes[half], sizeof lanes[0]);
}

void expand(Pattern p, const unsigned char* slot, std::uint32_t* lanes) {
  const std::uint32_t stride = stride_of(p);
  std::uint32_t low = 0;
  std::memcpy(&low, slot, sizeof low);
  std::uint32_t high = low + half * stride;
  if (has_halves(p)) std::memcpy(&high, slot + sizeof low, sizeof high);
  for (unsigned i = 0; i < half; ++i) {
    lanes[i] = low + i * stride;
    lanes[half + i] = high + i * stride;
  }
}

Pattern state_of(const unsigned char* line, unsigned i) {
  const auto s = static_cast<unsigned>(states(line) >> (i * state_bits) & 7);
  return s < pattern_count ? static_cast<Pattern>(s) : Pattern::none;
}

void set_state(unsigned char* line, unsigned i, Pattern p) {
  std::uint64_t s = states(line);
  s &= ~(std::uint64_t{7} << (i * state_bits));
  s |= std::uint64_t{static_cast<unsigned>(p)} << (i * state_bits);
  std::memcpy(line + states_at, &s, compressed_line_bytes - states_at);
}

}  // namespace regatta::models
