// SPDX-License-Identifier: Apache-2.0
//
// The head of a fat binary, which the runtime reads to know how long one is.
#pragma once

#include <cstdint>
#include <cstring>

namespace regatta::capture {

inline constexpr std::uint32_t fat_binary_magic = 0xba55ed50;

struct FatBinaryHead {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t head_bytes;
  std::uint64_t bytes;  ///< behind the head
};
static_assert(sizeof(FatBinaryHead) == 16);

/// Whether a fat binary begins at `from`, where there are `bytes` bytes.
inline bool is_fat_binary(const void* from, std::uint64_t bytes) {
  std::uint32_t magic = 0;
  if (bytes >= sizeof magic) std::memcpy(&magic, from, sizeof magic);
  return magic == fat_binary_magic;
}

}  // namespace regatta::capture
