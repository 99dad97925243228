// SPDX-License-Identifier: Apache-2.0
//
// The bytes of lines that carry contents, sparse. Lines never written read as zero.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace regatta::memory {

class LineStore {
 public:
  explicit LineStore(unsigned line_bytes) : line_bytes_(line_bytes) {}
  /// Copies up to a line.
  void read(std::uint64_t address, unsigned char* to, unsigned bytes) const;
  void write(std::uint64_t address, const unsigned char* from, unsigned bytes);
  std::size_t lines() const { return index_.size(); }

 private:
  static constexpr std::size_t lines_per_block = 256;
  unsigned line_bytes_;
  std::unordered_map<std::uint64_t, unsigned char*> index_;
  std::vector<std::unique_ptr<unsigned char[]>> blocks_;
};

}  // namespace regatta::memory
