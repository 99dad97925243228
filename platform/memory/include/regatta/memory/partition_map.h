// SPDX-License-Identifier: Apache-2.0
//
// The L2 partition of an address.
#pragma once

#include <regatta/memory/divisor.h>

#include <cstdint>

namespace regatta::memory {

/// Addresses are distributed over the partitions in chunks, in rounds of one chunk per partition, so the chunks of a
/// partition have consecutive numbers, whatever the number of partitions. With the hash, a round begins at another
/// partition than the previous one, so strides of many chunks do not stay in one.
class PartitionMap {
 public:
  PartitionMap(unsigned chunk_bytes, unsigned partitions, bool hashed)
      : chunk_(chunk_bytes),
        round_(std::uint64_t{chunk_bytes} * partitions),
        partitions_(partitions),
        hashed_(hashed) {}

  unsigned partition(std::uint64_t address) const {
    std::uint64_t n = chunk_.quotient(address);
    if (hashed_) n = partitions_.remainder(n) + fold(round(address));
    return static_cast<unsigned>(partitions_.remainder(n));
  }
  /// The number of the address's chunk within its partition.
  std::uint64_t round(std::uint64_t address) const { return round_.quotient(address); }

 private:
  static std::uint64_t fold(std::uint64_t n) {
    return n ^ (n >> 3) ^ (n >> 7) ^ (n >> 12) ^ (n >> 16) ^ (n >> 20) ^ (n >> 22);
  }
  Divisor chunk_, round_, partitions_;
  bool hashed_;
};

}  // namespace regatta::memory
