// SPDX-License-Identifier: Apache-2.0
//
// .tracez, the paged form of Accel-Sim 2.0. The layout, integers little endian:
//
//   text         the header as in a .traceg, then a byte 0
//   u32 u32      size of a zstd dictionary; instructions per page, at most
//   bytes        the dictionary
//   warps        u32 instructions, u32 pages, then each page: u32 size, and a zstd frame with that many bytes, whose
//   text
//                is lines of a .traceg
//   index        u32 thread blocks; for each: u32 x, y, z; u32 x 7 about its cluster; u32 warps; for each warp:
//                u32 instructions, u32 pages, u64 place of the warp in the file, and u32 instructions of each page
//   u64          place of the index
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "kernel_file.h"

namespace regatta::import {

/// A file that is read at any place.
class Bytes {
 public:
  virtual ~Bytes() = default;
  virtual std::uint64_t size() const = 0;
  /// Reads exactly `count` bytes from `at`, which lie in the file.
  virtual void read(std::uint64_t at, char* to, std::size_t count) const = 0;
};

std::unique_ptr<Bytes> tracez_bytes(const std::string& path);
std::unique_ptr<Bytes> tracez_bytes(std::string_view bytes);
std::unique_ptr<KernelFile> open_tracez(const std::string& path, std::unique_ptr<Bytes> bytes);

}  // namespace regatta::import
