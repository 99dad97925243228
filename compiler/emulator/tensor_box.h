// SPDX-License-Identifier: Apache-2.0
//
// The elements of a box of a tensor: where each lies in global and in shared memory.
#pragma once

#include <regatta/ir/tensor_map.h>

#include <array>
#include <cstdint>
#include <vector>

namespace regatta::emulator {

/// Bytes of a box that lie together in global memory (or outside of the tensor) and in shared memory.
struct TensorRun {
  bool inside = false;
  std::uint64_t address = 0;  ///< in global memory, if inside
  std::uint32_t shared = 0;   ///< offset in shared memory
  std::uint32_t bytes = 0;
};

/// What of a box lies inside the tensor, as rows of global memory: of `bytes` from `address` on, count[0] of them
/// stride[0] bytes apart, that count[1] times, and so on.
struct TensorRows {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  ///< 0: nothing lies inside
  std::array<std::uint64_t, 4> count{1, 1, 1, 1}, stride{};
};
TensorRows box_rows(const ir::TensorMap& map, const std::array<std::int32_t, 5>& coordinates);

/// The runs of the box at `coordinates`, innermost dimension first, whose copy lies at `shared`.
std::vector<TensorRun> box_runs(const ir::TensorMap& map, const std::array<std::int32_t, 5>& coordinates,
                                std::uint32_t shared);

}  // namespace regatta::emulator
