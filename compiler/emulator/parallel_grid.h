// SPDX-License-Identifier: Apache-2.0
//
// Runs the CTAs of a launch on several threads, as if they ran one after another. CTAs that do not depend on each other
// may run at the same time. Whether they do is known afterwards: threads log which words of global memory they read and
// write. If one has accessed what another has written, memory is put back, and the rest of the grid runs in order.
#pragma once

#include "access_log.h"
#include "grid.h"

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

namespace regatta::emulator {

/// Whether the kernel can be tried: it does nothing by which CTAs mostly depend on each other or on their order (global
/// atomic operations, fences beyond the CTA, prints, surfaces).
bool may_run_in_parallel(const Program& program);

class ParallelGrid {
 public:
  /// CTAs run one at a time and are not traced: `context` has no race detector and no barrier of the grid.
  ParallelGrid(const GridContext& context, unsigned threads);

  /// As GridRunner::run().
  RunCounts run(const std::function<void(std::uint64_t)>& progress);
  /// Whether CTAs depended on each other, as those of later launches of the kernel probably do too.
  bool found_conflict() const { return found_conflict_; }

 private:
  struct Worker {
    Worker(const GridContext& all, StartState& start)
        : log(all.memory, start), context(logged(all, log)), grid(context, 1) {}
    /// A read outside of all buffers ends the attempt: such reads are counted in the order of CTAs.
    static GridContext logged(GridContext c, AccessLog& log) {
      c.strays = nullptr;
      c.log = &log;
      return c;
    }
    AccessLog log;
    GridContext context;
    GridRunner grid;
  };
  /// CTAs from `first` to before `end`. False: they have left nothing, and have to run in order.
  bool run_wave(std::uint64_t first, std::uint64_t end);
  void work(Worker& w, std::uint64_t end, std::uint64_t block);
  bool any_conflict() const;

  const GridContext& context_;
  std::uint64_t ctas_ = 1;
  StartState start_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<bool> stop_{false};
  bool found_conflict_ = false;
};

}  // namespace regatta::emulator
