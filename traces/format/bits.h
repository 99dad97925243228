// SPDX-License-Identifier: Apache-2.0
// Bit and byte helpers of the cursor and the encoder.
#pragma once

#include <cstdint>
#include <cstring>

namespace regatta::trace {

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "value_data is little endian and is decoded in place: a big-endian host is not supported"
#endif

inline unsigned count_lanes(std::uint64_t mask) { return static_cast<unsigned>(__builtin_popcountll(mask)); }
inline unsigned first_lane(std::uint64_t mask) { return static_cast<unsigned>(__builtin_ctzll(mask)); }

template <class T>
T load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace regatta::trace
