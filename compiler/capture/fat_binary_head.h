// SPDX-License-Identifier: Apache-2.0
//
// Heads of a fat binary and of its parts. The runtime reads the first to know how long one is.
#pragma once

#include <cstdint>
#include <cstring>

namespace regatta::capture {

inline constexpr std::uint32_t fat_binary_magic = 0xba55ed50;

/// Of the structure with which the compiler registers a fat binary.
inline constexpr std::uint32_t fat_binary_wrapper_magic = 0x466243b1;

struct FatBinaryHead {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t head_bytes;
  std::uint64_t bytes;  ///< behind the head
};
static_assert(sizeof(FatBinaryHead) == 16);

/// Kinds of a part.
inline constexpr std::uint16_t fat_binary_ptx = 1, fat_binary_elf = 2;

struct FatBinaryPartHead {
  std::uint16_t kind = 0;
  std::uint16_t version = 0;
  std::uint32_t head_bytes = 0;
  std::uint64_t bytes = 0;             ///< behind the head, padded
  std::uint32_t compressed_bytes = 0;  ///< 0: not compressed
  std::uint32_t options_offset = 0;
  std::uint16_t minor = 0, major = 0;
  std::uint32_t architecture = 0;
  std::uint32_t name_offset = 0;  ///< of the source's name, from the head's begin; 0: none
  std::uint32_t name_bytes = 0;
  std::uint64_t flags = 0;
  std::uint64_t unused = 0;
  std::uint64_t plain_bytes = 0;  ///< of compressed contents
};
static_assert(sizeof(FatBinaryPartHead) == 64);

/// Whether a fat binary begins at `from`, where there are `bytes` bytes.
inline bool is_fat_binary(const void* from, std::uint64_t bytes) {
  std::uint32_t magic = 0;
  if (bytes >= sizeof magic) std::memcpy(&magic, from, sizeof magic);
  return magic == fat_binary_magic;
}

}  // namespace regatta::capture
