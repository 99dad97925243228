// SPDX-License-Identifier: Apache-2.0
#include <regatta/baseline/schedulers.h>

#include <algorithm>
#include <stdexcept>

namespace regatta::models {

using protocol::WarpMask;

unsigned LooseRoundRobin::pick(WarpMask ready) {
  const WarpMask after = next_ >= 64 ? 0 : ready & (~WarpMask{0} << next_);
  return static_cast<unsigned>(__builtin_ctzll(after != 0 ? after : ready));
}

unsigned GreedyThenOldest::pick(WarpMask ready) {
  if ((ready & greedy_) != 0) return static_cast<unsigned>(__builtin_ctzll(greedy_));
  for (std::uint8_t warp : order_) {
    if ((ready >> warp) & 1) return warp;
  }
  return static_cast<unsigned>(__builtin_ctzll(ready));
}

void GreedyThenOldest::warp_added(unsigned warp, const protocol::ScheduledWarp& added) {
  const std::uint64_t age = added.age;
  age_[warp] = age;
  const auto at = std::find_if(order_.begin(), order_.end(), [&](std::uint8_t w) { return age_[w] > age; });
  order_.insert(at, static_cast<std::uint8_t>(warp));
}

void GreedyThenOldest::warp_removed(unsigned warp) {
  order_.erase(std::remove(order_.begin(), order_.end(), static_cast<std::uint8_t>(warp)), order_.end());
  greedy_ &= ~(WarpMask{1} << warp);
}

unsigned GreedyThenYoungest::pick(WarpMask ready) {
  if ((ready & greedy_) != 0) return static_cast<unsigned>(__builtin_ctzll(greedy_));
  for (const std::uint8_t warp : order_) {
    if ((ready >> warp) & 1) return warp;
  }
  return static_cast<unsigned>(__builtin_ctzll(ready));
}

void GreedyThenYoungest::warp_added(unsigned warp, const protocol::ScheduledWarp& added) {
  // A larger age is a later launch.
  const std::uint64_t age = added.age;
  age_[warp] = age;
  const auto at = std::find_if(order_.begin(), order_.end(), [&](std::uint8_t w) { return age_[w] < age; });
  order_.insert(at, static_cast<std::uint8_t>(warp));
}

void GreedyThenYoungest::warp_removed(unsigned warp) {
  order_.erase(std::remove(order_.begin(), order_.end(), static_cast<std::uint8_t>(warp)), order_.end());
  greedy_ &= ~(WarpMask{1} << warp);
}

unsigned OwnerWarpFirst::pick(WarpMask ready) {
  for (const std::uint8_t warp : order_) {
    if ((ready >> warp) & 1) return warp;
  }
  return static_cast<unsigned>(__builtin_ctzll(ready));
}

void OwnerWarpFirst::insert(unsigned warp) {
  const Rank& rank = rank_[warp];
  const auto at = std::find_if(order_.begin(), order_.end(), [&](std::uint8_t w) { return rank < rank_[w]; });
  order_.insert(at, static_cast<std::uint8_t>(warp));
}

void OwnerWarpFirst::warp_added(unsigned warp, const protocol::ScheduledWarp& added) {
  rank_[warp] = Rank{added.priority_class, added.age};
  insert(warp);
}

void OwnerWarpFirst::warp_removed(unsigned warp) {
  order_.erase(std::remove(order_.begin(), order_.end(), static_cast<std::uint8_t>(warp)), order_.end());
}

void OwnerWarpFirst::class_changed(unsigned warp, unsigned priority_class) {
  warp_removed(warp);
  rank_[warp].priority_class = priority_class;
  insert(warp);
}

TwoLevel::TwoLevel(unsigned active_warps) : places_(active_warps) {
  if (active_warps == 0) throw std::invalid_argument("a two-level scheduler needs at least one active warp");
}

void TwoLevel::warp_added(unsigned warp, const protocol::ScheduledWarp& added) {
  age_[warp] = added.age;
  // A launch finds its places at once; only an exchange takes its cycle.
  if (has_room()) enter(warp);
}

protocol::WarpScheduler::Eligible TwoLevel::eligible(WarpMask ready) {
  Eligible answer{ready & active_, false};
  const WarpMask pending = ready & ~active_;
  if (pending != 0 && has_room()) {
    auto oldest = static_cast<unsigned>(__builtin_ctzll(pending));
    for (WarpMask m = pending & (pending - 1); m != 0; m &= m - 1) {
      const auto warp = static_cast<unsigned>(__builtin_ctzll(m));
      if (age_[warp] < age_[oldest]) oldest = warp;
    }
    enter(oldest);
    answer.settling = true;
  }
  return answer;
}

void WarpSchedulerConfig::declare(support::OptionSet& o) {
  o.add("scheduler.active_warps", active_warps, "warps",
        "active set of a scheduler, for two_level (MICRO 2011: enough warps to hide the pipeline latency)", 1,
        protocol::max_warps_per_scheduler);
}

const std::vector<std::string>& scheduler_names() {
  static const std::vector<std::string> names{"gto", "lrr", "two_level", "owf", "cggty"};
  return names;
}

std::unique_ptr<protocol::WarpScheduler> make_scheduler(const std::string& name, const WarpSchedulerConfig& config) {
  if (name == "gto") return std::make_unique<GreedyThenOldest>();
  if (name == "lrr") return std::make_unique<LooseRoundRobin>();
  if (name == "two_level") return std::make_unique<TwoLevel>(config.active_warps);
  if (name == "owf") return std::make_unique<OwnerWarpFirst>();
  if (name == "cggty") return std::make_unique<GreedyThenYoungest>();
  throw std::invalid_argument("unknown warp scheduler " + name);
}

}  // namespace regatta::models
