// SPDX-License-Identifier: Apache-2.0
//
// A small trace of Accel-Sim by hand, whole and in pieces that a test changes; the same compressed and in pages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::test {

/// One warp of a block: its instructions.
using TracegWarp = std::vector<std::string>;

struct Traceg {
  std::vector<std::string> header = {"-kernel name = _Z5sidesPi",
                                     "-kernel id = 1",
                                     "-grid dim = (2,1,1)",
                                     "-block dim = (48,1,1)",
                                     "-shmem = 256",
                                     "-nregs = 12",
                                     "-binary version = 70",
                                     "-cuda stream id = 0",
                                     "-shmem base_addr = 0x00007f0000000000",
                                     "-local mem base_addr = 0x00007f0001000000",
                                     "-nvbit version = 1.5",
                                     "-accelsim tracer version = 3"};
  std::vector<std::vector<TracegWarp>> blocks;

  /// Replaces the header line of a key.
  void set(const std::string& key, const std::string& value);
  void remove(const std::string& key);
  std::string header_text() const;
  std::string text() const;
  /// Paged, with `page` instructions in a page; `dictionary`: with a zstd dictionary of these bytes.
  std::string paged(std::size_t page, const std::string& dictionary = "") const;
};

/// Both sides of a branch, a load and a store in each space, a barrier, a shuffle, and a guard: two blocks of 48
/// threads.
Traceg two_sides_traceg();
/// One block of 32 threads with these instructions.
Traceg one_warp_traceg(TracegWarp warp);
std::string as_xz(const std::string& text);

}  // namespace regatta::test
