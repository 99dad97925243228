// SPDX-License-Identifier: Apache-2.0
//
// Warp scheduling policies of the baseline machines.
#pragma once

#include <regatta/protocol/extension_points.h>

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
  void warp_added(unsigned, std::uint64_t) override {}
  void warp_removed(unsigned) override {}

 private:
  unsigned next_ = 0;
};

/// Greedy then oldest (Rogers et al., MICRO 2012): the warp that issued last as long as it is ready, otherwise the
/// ready warp that has been there longest.
class GreedyThenOldest : public protocol::WarpScheduler {
 public:
  unsigned pick(protocol::WarpMask ready) override;
  void issued(unsigned warp) override { greedy_ = protocol::WarpMask{1} << warp; }
  void warp_added(unsigned warp, std::uint64_t age) override;
  void warp_removed(unsigned warp) override;

 private:
  protocol::WarpMask greedy_ = 0;
  std::array<std::uint64_t, protocol::max_warps_per_scheduler> age_{};
  std::vector<std::uint8_t> order_;  ///< warps by age, oldest first
};

/// Names that make_scheduler takes.
const std::vector<std::string>& scheduler_names();
/// A policy by name; throws std::invalid_argument for an unknown one.
std::unique_ptr<protocol::WarpScheduler> make_scheduler(const std::string& name);

}  // namespace regatta::models
