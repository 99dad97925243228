// SPDX-License-Identifier: Apache-2.0
//
// Addresses that kernels leave in memory: buffers lie elsewhere on a GPU than in the emulator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regatta::hardware {

/// A buffer that has an address on both sides.
struct BufferPlace {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t gpu = 0;       ///< its address there
  std::uint64_t emulator = 0;  ///< its address there
};

class Pointers {
 public:
  Pointers() = default;
  explicit Pointers(std::vector<BufferPlace> places) : places_(std::move(places)) {}

  /// Whether two words point to the same place: into a buffer, or to its end.
  bool same(std::uint64_t gpu, std::uint64_t emulator) const;
  /// Gives each aligned 64-bit word of the GPU's image that points where the emulator's does the emulator's value.
  /// Returns how many these are. Both images have the same size.
  std::uint64_t translate(std::vector<std::uint8_t>& gpu, const std::vector<std::uint8_t>& emulator) const;
  /// "'a' + 8 on the GPU, 'a' + 16 in the emulator", if both words point into buffers.
  std::optional<std::string> describe(std::uint64_t gpu, std::uint64_t emulator) const;

 private:
  std::optional<std::string> describe(std::uint64_t word, std::uint64_t BufferPlace::*side) const;

  std::vector<BufferPlace> places_;
};

}  // namespace regatta::hardware
