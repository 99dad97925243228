// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/trace/warp_stream.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace regatta::trace {

/// Whether every barrier of a CTA completes when its warps run on as far as they can, in any order. Kernels in which a
/// register holds a barrier's number or threads are not judged.
class BarrierCheck {
 public:
  explicit BarrierCheck(const Kernel& kernel);
  void begin_warp(const WarpColumns& warp) {
    if (!judged_) return;
    WarpArrivals arrivals;
    arrivals.columns = &warp;
    warps_.push_back(std::move(arrivals));
  }
  /// The instruction that the cursor is at.
  void arrived(const WarpCursor& cursor) {
    if (judged_ && cursor.instruction().op_class == OpClass::barrier && cursor.active_mask() != 0) note(cursor);
  }
  /// "warp N, instruction N (static index N): waits at barrier ..." for the first that waits for ever; "" if none does.
  std::string never_complete();

 private:
  struct Arrival {
    const StaticInstruction* instruction = nullptr;
    std::uint32_t index = 0;
    std::uint64_t position = 0;
    std::uint32_t threads = 0;
  };
  struct WarpArrivals {
    const WarpColumns* columns = nullptr;
    std::vector<Arrival> all;
    std::size_t next = 0;
    bool waits = false;
    bool waits_for_cluster = false;  ///< at the barrier of the cluster
    std::uint64_t phase = 0;         ///< of that barrier: where it has arrived and not waited yet
  };
  struct Barrier {
    std::uint32_t warps = 0, threads = 0, expected = 0;
    std::vector<std::size_t> waiting;
  };

  void note(const WarpCursor& cursor);
  /// A half of the barrier of the cluster.
  void half(WarpArrivals& warp, const StaticInstruction& i, const std::vector<bool>& over);
  void complete_cluster(const std::vector<bool>& over);
  /// Opens the barrier if it is complete.
  bool complete(Barrier& barrier, std::size_t running);

  bool judged_ = false;  ///< the kernel has barriers, and all of them are static
  std::vector<WarpArrivals> warps_;
  std::array<Barrier, 16> barriers_;
  std::uint64_t cluster_phase_ = 1;
};

}  // namespace regatta::trace
