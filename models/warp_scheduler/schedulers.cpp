// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/warp_scheduler/schedulers.h>

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

void GreedyThenOldest::warp_added(unsigned warp, std::uint64_t age) {
  age_[warp] = age;
  const auto at = std::find_if(order_.begin(), order_.end(), [&](std::uint8_t w) { return age_[w] > age; });
  order_.insert(at, static_cast<std::uint8_t>(warp));
}

void GreedyThenOldest::warp_removed(unsigned warp) {
  order_.erase(std::remove(order_.begin(), order_.end(), static_cast<std::uint8_t>(warp)), order_.end());
  greedy_ &= ~(WarpMask{1} << warp);
}

const std::vector<std::string>& scheduler_names() {
  static const std::vector<std::string> names{"gto", "lrr"};
  return names;
}

std::unique_ptr<protocol::WarpScheduler> make_scheduler(const std::string& name) {
  if (name == "gto") return std::make_unique<GreedyThenOldest>();
  if (name == "lrr") return std::make_unique<LooseRoundRobin>();
  throw std::invalid_argument("unknown warp scheduler " + name);
}

}  // namespace regatta::models
