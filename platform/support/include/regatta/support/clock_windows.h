// SPDX-License-Identifier: Apache-2.0
//
// How the branches of a clock domain and its own parts take turns: windows of cycles.
#pragma once

#include <regatta/support/clock_domain.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace regatta::support {

/// Where the parts of branches and the trunk's own parts meet. What one side sends is stamped with its cycle and lies
/// here until the other side is in that cycle.
class ClockBoundary {
 public:
  virtual ~ClockBoundary() = default;
  /// What the trunk's own parts do in a cycle is seen by a branch so many cycles later or more; not 0.
  virtual std::uint64_t lookahead() const = 0;
  /// Both sides stand still, the branches where the trunk's own parts are or ahead of them: makes what each side has
  /// sent since the last time due at the other one. Nothing else may cross, for the sides may run at the same time.
  virtual void exchange() = 0;
};

/// Lets each branch run a window of cycles alone, then the trunk's own parts: what a cycle of an SM touches stays in
/// the host's caches. On several threads, the branches run side by side, and the trunk's own parts beside their next
/// window: on the kernel's thread, which may therefore call SystemC's kernel.
///
/// The results are those of windows of one cycle, in which the branches run in their order and the trunk's own parts
/// last: what the trunk's parts do reaches a branch in a later window, and what the order of the branches matters to is
/// done in that order (ClockDomain::in_order()). So neither the size of the windows nor the number of threads changes
/// anything.
class ClockWindows {
 public:
  /// Windows of `cycles`, or as many as the boundary allows; 0: as many as it allows. All branches of `trunk` have been
  /// made. `threads`: that run branches, the kernel's included.
  ClockWindows(ClockDomain& trunk, ClockBoundary& boundary, std::uint64_t cycles, unsigned threads);
  ~ClockWindows();
  ClockWindows(const ClockWindows&) = delete;
  ClockWindows& operator=(const ClockWindows&) = delete;

  /// Called every so often between two windows, on the kernel's thread; it may pause the simulation.
  void set_heartbeat(std::function<void()> heartbeat) { heartbeat_ = std::move(heartbeat); }
  unsigned threads() const;
  bool by_cycles() const { return cycles_ == 1 && pool_ == nullptr; }
  /// Windows so far; branches run in them, those that were waiting for others run again.
  std::uint64_t windows() const { return windows_; }
  std::uint64_t turns() const { return turns_; }
  /// Seconds of the kernel's thread in the trunk's own parts, and in branches (and waiting for those of other threads).
  double trunk_seconds() const { return trunk_seconds_; }
  double branch_seconds() const { return branch_seconds_; }
  /// Threads are held up at random before they run a branch: to test that it changes nothing.
  void hold_up(std::uint64_t seed);

 private:
  friend class ClockDomain;
  class Pool;
  /// From the trunk's activation in cycle `first`.
  void run(std::uint64_t first);
  /// The cycles of the branches up to but not including `end`, beside those that the trunk's own parts owe. Stops
  /// earlier when a part pauses.
  void run_window(std::uint64_t end);
  /// The trunk's own parts run the cycles before `end`.
  void run_trunk(std::uint64_t end);
  /// The trunk's own parts run the cycles that they owe.
  void catch_up();
  /// Lets the branches of ready_ run. Throws what a part has thrown, the earliest first.
  void run_branches(std::uint64_t end);
  /// Does what waits for its turn if that has come, after which those branches are ready.
  void take_turns(std::uint64_t end);
  bool paused() const;
  std::uint64_t next_due() const;
  std::uint64_t next_of_branches() const;
  /// All domains stand in the cycle that ran last.
  void level();

  ClockDomain& trunk_;
  ClockBoundary& boundary_;
  std::uint64_t cycles_;
  std::unique_ptr<Pool> pool_;
  std::function<void()> heartbeat_;
  std::uint64_t owed_ =
      0;  ///< the trunk's own parts have not run the last window, which ends before this; 0: they have
  std::vector<ClockDomain*> ready_;  ///< branches that run next
  std::uint64_t windows_ = 0, turns_ = 0;
  double trunk_seconds_ = 0, branch_seconds_ = 0;
};

}  // namespace regatta::support
