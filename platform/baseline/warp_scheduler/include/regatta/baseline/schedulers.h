// SPDX-License-Identifier: Apache-2.0
//
// Warp scheduling policies of the baseline machines.
#pragma once

#include <regatta/protocol/extension_points.h>
#include <regatta/support/config.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace regatta::models {

/// Loose round robin: the next ready warp after the one that issued last.
class LooseRoundRobin : public protocol::WarpScheduler {
 public:
  unsigned pick(protocol::WarpMask ready) override;
  void issued(unsigned warp) override { next_ = warp + 1; }
  void warp_added(unsigned, const protocol::ScheduledWarp&) override {}
  void warp_removed(unsigned) override {}

 private:
  unsigned next_ = 0;
};

/// Greedy then oldest (Rogers et al., MICRO 2012): the warp that issued last while it is ready, otherwise the oldest
/// ready warp.
class GreedyThenOldest : public protocol::WarpScheduler {
 public:
  unsigned pick(protocol::WarpMask ready) override;
  void issued(unsigned warp) override { greedy_ = protocol::WarpMask{1} << warp; }
  void warp_added(unsigned warp, const protocol::ScheduledWarp& added) override;
  void warp_removed(unsigned warp) override;

 private:
  protocol::WarpMask greedy_ = 0;
  std::array<std::uint64_t, protocol::max_warps_per_scheduler> age_{};
  std::vector<std::uint8_t> order_;  ///< warps by age, oldest first
};

/// Greedy then youngest (Huerta et al., MICRO 2025, section 5.1.2: compiler-guided greedy then youngest, where the
/// compiler's control bits decide which warps are ready): the warp that issued last while it is ready, otherwise the
/// youngest ready warp.
class GreedyThenYoungest : public protocol::WarpScheduler {
 public:
  unsigned pick(protocol::WarpMask ready) override;
  void issued(unsigned warp) override { greedy_ = protocol::WarpMask{1} << warp; }
  void warp_added(unsigned warp, const protocol::ScheduledWarp& added) override;
  void warp_removed(unsigned warp) override;

 private:
  protocol::WarpMask greedy_ = 0;
  std::array<std::uint64_t, protocol::max_warps_per_scheduler> age_{};
  std::vector<std::uint8_t> order_;  ///< warps by age, youngest first
};

/// Owner warp first (Jatala, thesis, section 2.3.1): the ready warp of the lowest priority class, of these the oldest.
/// The scheme gives the classes; under resource sharing they are owner, unshared, non-owner. Without classes, the
/// oldest ready warp.
class OwnerWarpFirst : public protocol::WarpScheduler {
 public:
  unsigned pick(protocol::WarpMask ready) override;
  void issued(unsigned) override {}
  void warp_added(unsigned warp, const protocol::ScheduledWarp& added) override;
  void warp_removed(unsigned warp) override;
  void class_changed(unsigned warp, unsigned priority_class) override;

 private:
  struct Rank {
    unsigned priority_class = 0;
    std::uint64_t age = 0;
    friend bool operator<(const Rank& a, const Rank& b) {
      return a.priority_class != b.priority_class ? a.priority_class < b.priority_class : a.age < b.age;
    }
  };
  void insert(unsigned warp);

  std::array<Rank, protocol::max_warps_per_scheduler> rank_{};
  std::vector<std::uint8_t> order_;  ///< warps by rank
};

/// Two-level (Narasiman et al., MICRO 2011; GPGPU-Sim's two_level_active): a small set of active warps issues round
/// robin; the others are pending. A warp that begins a long wait (off-SM memory, a fence, a barrier) leaves the active
/// set, and the oldest ready pending warp takes its place. At most one warp per cycle becomes active; it can issue from
/// the next cycle on.
class TwoLevel : public protocol::WarpScheduler {
 public:
  /// `active_warps`: places in the active set, at least 1.
  explicit TwoLevel(unsigned active_warps);
  bool restricts() const override { return true; }
  Eligible eligible(protocol::WarpMask ready) override;
  unsigned pick(protocol::WarpMask ready) override { return turn_.pick(ready); }
  void issued(unsigned warp) override { turn_.issued(warp); }
  void warp_added(unsigned warp, const protocol::ScheduledWarp& added) override;
  void warp_removed(unsigned warp) override { active_ &= ~(protocol::WarpMask{1} << warp); }
  void long_latency(unsigned warp, bool waiting) override {
    if (waiting && ((active_ >> warp) & 1) != 0) leave(warp);
  }
  void connect(protocol::ActiveSetListener& listener) override { listener_ = &listener; }
  /// The active set.
  protocol::WarpMask active() const { return active_; }

 private:
  bool has_room() const { return static_cast<unsigned>(__builtin_popcountll(active_)) < places_; }

  void enter(unsigned warp) {
    active_ |= protocol::WarpMask{1} << warp;
    if (listener_ != nullptr) listener_->active_set_changed(warp, true);
  }
  void leave(unsigned warp) {
    active_ &= ~(protocol::WarpMask{1} << warp);
    if (listener_ != nullptr) listener_->active_set_changed(warp, false);
  }

  unsigned places_;
  protocol::ActiveSetListener* listener_ = nullptr;
  protocol::WarpMask active_ = 0;
  std::array<std::uint64_t, protocol::max_warps_per_scheduler> age_{};
  LooseRoundRobin turn_;
};

/// Knobs of the policies.
struct WarpSchedulerConfig {
  unsigned active_warps = 8;  ///< two_level: active set of one scheduler

  /// Knobs scheduler.*.
  void declare(support::OptionSet& options);
};

/// Names accepted by make_scheduler.
const std::vector<std::string>& scheduler_names();
/// A policy by name; throws std::invalid_argument for an unknown one.
std::unique_ptr<protocol::WarpScheduler> make_scheduler(const std::string& name,
                                                        const WarpSchedulerConfig& config = {});

}  // namespace regatta::models
