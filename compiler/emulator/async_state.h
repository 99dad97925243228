// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous copies of a CTA that nobody has waited for yet. A copy takes effect at the last moment that PTX allows:
// when its group is waited for, when a wait on its mbarrier needs it, or when the CTA ends. A program that does not
// wait finds what was there before.
#pragma once

#include "decode.h"

#include <array>
#include <cstdint>
#include <vector>

namespace regatta::emulator {

/// A cp.async of a warp.
struct PendingCopy {
  struct Lane {
    const std::uint8_t* from = nullptr;
    const std::uint8_t* from_written = nullptr;  ///< nullptr: all of it
    std::uint64_t source = 0;                    ///< address
    std::uint32_t to = 0;                        ///< offset in shared memory
    std::uint32_t group = 0;
    std::uint8_t read = 0;  ///< bytes; the others become zero
  };
  const Op* op = nullptr;
  trace::LaneMask lanes = 0;  ///< whose copy is still to be made
  std::uint64_t number = 0;   ///< in the order of the CTA's asynchronous operations
  std::array<Lane, trace::max_lanes> lane{};
};

/// A cp.async.mbarrier.arrive of a thread whose copies are not complete.
struct PendingArrival {
  const Op* op = nullptr;
  unsigned warp = 0, lane = 0;
  std::uint32_t mbarrier = 0;  ///< offset in shared memory
  std::uint64_t number = 0;
};

/// A part of a bulk copy whose bytes lie together on both sides.
struct BulkRun {
  std::uint8_t* global = nullptr;  ///< nullptr: outside of the tensor
  std::uint8_t* written = nullptr;
  std::uint64_t address = 0;
  std::uint32_t shared = 0;  ///< offset
  std::uint32_t bytes = 0;
};

struct BulkCopy {
  const Op* op = nullptr;
  unsigned warp = 0, lane = 0;
  bool to_shared = false;
  std::uint32_t mbarrier = 0;  ///< to_shared: offset in shared memory
  std::uint32_t group = 0;     ///< else
  std::uint32_t bytes = 0;     ///< what it counts
  std::uint64_t number = 0;
  std::uint64_t fill = 0;  ///< outside of a tensor: the element, repeated over 8 bytes
  std::vector<BulkRun> runs;
  bool was_read = false;  ///< from shared memory, into `data`
  std::vector<std::uint8_t> data;
};

struct AsyncState {
  struct Warp {
    std::vector<PendingCopy> copies;
    std::array<std::uint32_t, trace::max_lanes> group{}, bulk_group{};  ///< that is open, per thread
  };
  std::vector<Warp> warps;
  std::vector<PendingArrival> arrivals;
  std::vector<BulkCopy> bulk;
  std::uint64_t next = 0;  ///< number

  void begin(std::size_t count) {
    warps.resize(count);
    for (Warp& w : warps) {
      w.copies.clear();
      w.group.fill(0);
      w.bulk_group.fill(0);
    }
    arrivals.clear();
    bulk.clear();
    next = 0;
  }
};

}  // namespace regatta::emulator
