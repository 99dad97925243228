// SPDX-License-Identifier: Apache-2.0
//
// Memory addresses of warp registers that memory backs (RegLess, MICRO 2017, sections 5.2.3 and 5.3): all warps of
// R0, then all warps of R1, and so on. Compressed registers have a separate space after these, 15 per line, in the same
// order. Every SM has such a buffer. It lies beyond the address windows of a trace.
//
// Each shard has its own compressed lines: only that shard's compressor holds and modifies them.
#pragma once

#include <regatta/protocol/ids.h>

#include <cstdint>

namespace regatta::models {

/// The registers of an SM that memory backs: up to 256 of each warp, a line each. Warps are dealt to the shards in
/// turn.
struct RegisterSpace {
  unsigned sm = 0;            ///< index of the SM
  unsigned warps = 64;        ///< warp slots of the SM
  unsigned shards = 4;        ///< one per warp scheduler
  unsigned line_bytes = 128;  ///< of the L1; a warp register is one line

  unsigned warps_per_shard() const { return (warps + shards - 1) / shards; }
};

class RegisterMap {
 public:
  explicit RegisterMap(const RegisterSpace& space)
      : warps_(space.warps),
        line_bytes_(space.line_bytes),
        shards_(space.shards),
        shard_warps_(space.warps_per_shard()),
        shard_lines_((registers * shard_warps_ + slots_per_line - 1) / slots_per_line),
        base_(window + std::uint64_t{space.sm} * window_of_sm),
        compressed_(base_ + std::uint64_t{registers} * space.warps * space.line_bytes) {}

  /// A register's place in register order, 0 .. registers x warps - 1.
  std::uint32_t index(protocol::WarpSlot warp, protocol::RegisterId reg) const {
    return reg.value() * warps_ + warp.value();
  }
  protocol::WarpSlot warp_of(std::uint32_t index) const {
    return protocol::WarpSlot(static_cast<std::uint16_t>(index % warps_));
  }
  protocol::RegisterId register_of(std::uint32_t index) const {
    return protocol::RegisterId(static_cast<std::uint8_t>(index / warps_));
  }

  std::uint64_t address(std::uint32_t index) const { return base_ + std::uint64_t{index} * line_bytes_; }
  /// Inverse of address().
  std::uint32_t index_of(std::uint64_t address) const {
    return static_cast<std::uint32_t>((address - base_) / line_bytes_);
  }
  /// First byte of the line that holds the register's compressed form, and its slot in it.
  std::uint64_t compressed_line(std::uint32_t index) const {
    const std::uint64_t shard = index % warps_ % shards_;
    return compressed_ + (shard * shard_lines_ + shard_order(index) / slots_per_line) * line_bytes_;
  }
  /// True if this address of the buffer belongs to a compressed line.
  bool is_compressed_space(std::uint64_t address) const { return address >= compressed_; }
  unsigned compressed_slot(std::uint32_t index) const { return shard_order(index) % slots_per_line; }
  std::uint32_t size() const { return registers * warps_; }

  static constexpr unsigned slots_per_line = 15;  ///< section 5.3: 15 x 8 bytes + 15 x 3 bits
  static constexpr unsigned registers = 256;

  /// Place in register order among the registers of the shard.
  std::uint32_t shard_order(std::uint32_t index) const {
    return index / warps_ * shard_warps_ + index % warps_ / shards_;
  }

 private:
  static constexpr std::uint64_t window = base::first_address(base::Window::registers);
  static constexpr std::uint64_t window_of_sm = std::uint64_t{1} << 32;  // bytes
  std::uint32_t warps_;
  unsigned line_bytes_;
  std::uint32_t shards_, shard_warps_, shard_lines_;
  std::uint64_t base_, compressed_;
};

}  // namespace regatta::models
