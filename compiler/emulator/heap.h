// SPDX-License-Identifier: Apache-2.0
//
// malloc() and free() of kernels. All that the heap knows stands in its own memory, in front of the blocks, so that it
// goes with the memory wherever that is copied, and depends on the order of calls alone.
#pragma once

#include <regatta/emulator/device_memory.h>

#include <cstdint>
#include <optional>
#include <string>

namespace regatta::emulator {

/// Blocks follow each other without gaps. A header of 16 bytes stands in front of each: its size with the header and
/// whether it is taken, and a check word. The first 64 bytes of the heap are its own. Addresses and sizes in bytes.
class Heap {
 public:
  static constexpr std::uint64_t own_bytes = 64, header_bytes = 16;

  /// `memory` must outlive the heap. A new heap is made of it if it does not hold one.
  explicit Heap(Allocation& memory);

  /// The address of a block that takes `bytes`, a multiple of 16: the first free one that is large enough from where
  /// the last search ended on. 0 if there is none, or for 0 bytes. Nobody has written the block.
  std::uint64_t allocate(std::uint64_t bytes);
  /// Gives a block back. What was wrong, if it is none.
  std::optional<std::string> release(std::uint64_t address);
  /// What is wrong with the heap itself, empty: nothing. allocate() and release() look at the headers that they pass.
  const std::string& fault() const { return fault_; }

  std::uint64_t bytes_taken() const { return word(taken_word); }  ///< headers included
  std::uint64_t blocks_taken() const { return word(count_word); }

 private:
  enum OwnWord : std::uint64_t { magic_word = 0, next_word = 8, taken_word = 16, count_word = 24 };
  struct Block {
    std::uint64_t at = 0;  ///< offset of its header
    std::uint64_t bytes = 0;
    bool taken = false;
    std::uint64_t end() const { return at + bytes; }
  };

  std::uint64_t word(std::uint64_t offset) const;
  void set_word(std::uint64_t offset, std::uint64_t value);
  static std::uint64_t check_of(std::uint64_t at, std::uint64_t size);
  std::optional<Block> block(std::uint64_t at) const;
  Block require(std::uint64_t at);
  void write(const Block& b);
  void forget(std::uint64_t from, std::uint64_t to);
  /// A free block with the free ones behind it, which become parts of it.
  Block joined(Block b);
  std::uint64_t take(Block b, std::uint64_t bytes);

  Allocation& memory_;
  std::uint64_t end_;
  std::string fault_;
};

}  // namespace regatta::emulator
