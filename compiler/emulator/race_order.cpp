// SPDX-License-Identifier: Apache-2.0
#include "race_order.h"

#include <algorithm>

namespace regatta::emulator {

using trace::LaneMask;

namespace {

/// Releases looked at to find out whether one access happened before another.
constexpr std::size_t max_steps = 100000;
/// Fences between proxies that a CTA remembers. Later fences of a warp know what its earlier ones do.
constexpr std::size_t most_proxy_fences = 256;

}  // namespace

void RaceOrder::Knowledge::join(const Knowledge& other) {
  if (warps.size() < other.warps.size()) warps.resize(other.warps.size());
  for (std::size_t w = 0; w < other.warps.size(); ++w) warps[w] = std::max(warps[w], other.warps[w]);
  for (const Acquired& theirs : other.acquired) {
    const auto mine = std::find_if(acquired.begin(), acquired.end(),
                                   [&](const Acquired& a) { return a.location == theirs.location; });
    if (mine == acquired.end()) {
      acquired.push_back(theirs);
    } else {
      mine->count = std::max(mine->count, theirs.count);
    }
  }
}

void RaceOrder::begin_cta(std::uint32_t cta, unsigned warps) {
  cta_ = cta;
  warps_.assign(warps + 1, {});  // the last one is the copies
  proxy_fences_.clear();
  for (unsigned w = 0; w <= warps; ++w) {
    warps_[w].known.warps.assign(warps + 1, 0);
    if (w != warps) warps_[w].lanes.assign(std::size_t{lanes_} * lanes_, 0);
  }
  barriers_.fill({});
}

std::uint32_t RaceOrder::access(unsigned warp, LaneMask together, LaneMask live) {
  if (rule_ == RaceRule::lockstep) meet(warp, together, live);
  return ++warps_[warp].now;
}

void RaceOrder::split(unsigned warp, LaneMask together, LaneMask live) {
  if (rule_ == RaceRule::lockstep) meet(warp, together, live);
}

void RaceOrder::exit(unsigned warp, LaneMask together, LaneMask leaving, LaneMask live) {
  if (rule_ != RaceRule::lockstep) return;
  meet(warp, together, live);
  if ((live & ~together) != 0) warps_[warp].left_apart |= leaving;
}

void RaceOrder::meet(unsigned warp, LaneMask members, LaneMask live) {
  WarpOrder& w = warps_[warp];
  live |= w.left_apart;
  w.noted = w.now;
  if (!w.behind.empty()) catch_up(w, members);
  if ((live & ~members) == 0) {
    // Nobody waits for lanes that have exited: their accesses came before.
    w.all = w.now;
    for (Behind& b : w.behind) b.all = w.now;
    return;
  }
  std::vector<std::uint32_t> joint(lanes_, 0);
  for (LaneMask rest = members; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
    const std::uint32_t* row = &w.lanes[std::size_t{lane} * lanes_];
    for (unsigned i = 0; i < lanes_; ++i) joint[i] = std::max(joint[i], row[i]);
  }
  for (LaneMask rest = members; rest != 0; rest &= rest - 1)
    joint[static_cast<unsigned>(__builtin_ctzll(rest))] = w.now;
  for (LaneMask rest = members; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
    std::copy(joint.begin(), joint.end(), w.lanes.begin() + std::ptrdiff_t{lane} * lanes_);
  }
}

/// `members` synchronise: lanes that are behind learn what the others know.
void RaceOrder::catch_up(WarpOrder& w, LaneMask members) {
  LaneMask behind = 0;
  for (const Behind& b : w.behind) behind |= b.lanes;
  if ((behind & members) == 0) return;
  const bool with_others = (members & ~behind) != 0;
  Behind joint;
  for (Behind& b : w.behind) {
    if ((b.lanes & members) == 0) continue;
    joint.lanes |= b.lanes & members;
    joint.all = std::max(joint.all, b.all);
    joint.known.join(b.known);
    b.lanes &= ~members;
  }
  w.behind.erase(std::remove_if(w.behind.begin(), w.behind.end(), [](const Behind& b) { return b.lanes == 0; }),
                 w.behind.end());
  if (!with_others) w.behind.push_back(std::move(joint));
}

bool RaceOrder::is_behind(unsigned warp, unsigned lane) const {
  const std::vector<Behind>& behind = warps_[warp].behind;
  return std::any_of(behind.begin(), behind.end(), [&](const Behind& b) { return ((b.lanes >> lane) & 1u) != 0; });
}

void RaceOrder::arrive(unsigned warp, unsigned barrier) {
  WarpOrder& w = warps_[warp];
  w.known.warps[warp] = w.noted = w.now;
  barriers_[barrier].join(w.known);
}

void RaceOrder::leave(unsigned warp, unsigned barrier, LaneMask absent) {
  WarpOrder& w = warps_[warp];
  for (const Behind& b : w.behind) absent &= ~b.lanes;
  if (absent != 0) w.behind.push_back({absent, w.all, w.known});
  w.known.join(barriers_[barrier]);
  w.all = w.noted = w.now;
}

void RaceOrder::fence(unsigned warp, ir::MemoryScope scope) {
  WarpOrder& w = warps_[warp];
  w.known.warps[warp] = w.noted = w.now;
  w.fenced = w.known;
  w.fence_scope = scope == ir::MemoryScope::none ? ir::MemoryScope::sys : scope;
}

void RaceOrder::proxy_fence(unsigned warp) {
  WarpOrder& w = warps_[warp];
  w.known.warps[warp] = w.noted = w.now;
  if (proxy_fences_.size() == most_proxy_fences) proxy_fences_.erase(proxy_fences_.begin());
  proxy_fences_.push_back({warp, w.known});
}

bool RaceOrder::fenced_for_proxy(const AccessTime& earlier, unsigned warp) const {
  if (earlier.cta != cta_) return true;
  return std::any_of(proxy_fences_.begin(), proxy_fences_.end(), [&](const ProxyFence& f) {
    const bool before_now = f.warp == warp || warps_[warp].known.warps[f.warp] >= f.known.warps[f.warp];
    return before_now && f.known.warps[earlier.warp] >= earlier.time;
  });
}

void RaceOrder::release(unsigned warp, std::uint64_t location, ir::MemoryScope scope, bool at_once) {
  WarpOrder& w = warps_[warp];
  if (scope == ir::MemoryScope::none) scope = ir::MemoryScope::gpu;
  if (at_once) {
    w.known.warps[warp] = w.noted = w.now;
  } else if (w.fence_scope == ir::MemoryScope::none) {
    return;
  }
  const Knowledge& known = at_once ? w.known : w.fenced;
  // The lanes of one atomic, and atomics after the same fence, release the same knowledge.
  const auto [last, is_first] = w.released.emplace(location, known.warps[warp]);
  if (!is_first && last->second == known.warps[warp]) return;
  last->second = known.warps[warp];
  Release r;
  r.cta = cta_;
  r.scope = at_once ? scope : std::min(scope, w.fence_scope);
  r.known = known;
  const auto [found, added] = releases_.location.emplace(location, releases_.lists.size());
  if (added) releases_.lists.emplace_back();
  releases_.lists[found->second].push_back(std::move(r));
}

void RaceOrder::acquire(unsigned warp, std::uint64_t location) {
  const auto found = releases_.location.find(location);
  if (found == releases_.location.end()) return;
  const std::vector<Release>& releases = releases_.lists[found->second];
  Knowledge& known = warps_[warp].known;
  std::size_t seen = 0;
  for (const Acquired& a : known.acquired) {
    if (a.location == found->second) seen = a.count;
  }
  if (seen == releases.size()) return;
  // Releases of this CTA give knowledge of its warps; those of others are looked up when they are asked for.
  for (std::size_t i = releases.size(); i-- > seen;) {
    if (releases[i].cta == cta_) {
      known.join(releases[i].known);
    } else if (!releases_.interleaved) {
      break;
    }
  }
  Knowledge gained;
  gained.acquired.push_back({found->second, releases.size()});
  known.join(gained);
}

bool RaceOrder::acquired(const Knowledge& known, const AccessTime& earlier) const {
  std::vector<Acquired> open = known.acquired;
  std::map<std::size_t, std::size_t> followed;  // per location, releases looked at
  std::size_t steps = 0;
  while (!open.empty()) {
    const Acquired a = open.back();
    open.pop_back();
    std::size_t& done = followed[a.location];
    if (done >= a.count) continue;
    const std::vector<Release>& releases = releases_.lists[a.location];
    const auto end = releases.begin() + static_cast<std::ptrdiff_t>(a.count);
    auto first = releases.begin() + static_cast<std::ptrdiff_t>(done);
    if (!releases_.interleaved) {
      first =
          std::lower_bound(first, end, earlier.cta, [](const Release& r, std::uint32_t cta) { return r.cta < cta; });
    }
    done = a.count;
    for (auto r = first; r != end; ++r) {
      if (r->scope == ir::MemoryScope::cta) continue;
      if (r->cta == earlier.cta && r->known.warps[earlier.warp] >= earlier.time) return true;
      // What the releasing CTA had acquired itself.
      if (r->cta == cta_ && !releases_.interleaved) continue;
      open.insert(open.end(), r->known.acquired.begin(), r->known.acquired.end());
      // A chain too long to follow is given the benefit of the doubt.
      if (++steps > max_steps) return true;
    }
  }
  return false;
}

LaneMask RaceOrder::before(const AccessTime& earlier, unsigned warp, unsigned lane) const {
  const WarpOrder& w = warps_[warp];
  const Knowledge* known = &w.known;
  std::uint32_t all = w.all;
  for (const Behind& b : w.behind) {
    if (((b.lanes >> lane) & 1u) == 0) continue;
    known = &b.known;
    all = b.all;
  }
  if (earlier.cta != cta_) {
    return !known->acquired.empty() && acquired(*known, earlier) ? earlier.lanes : 0;
  }
  if (earlier.warp != warp) {
    if (known->warps[earlier.warp] >= earlier.time) return earlier.lanes;
    // It may have come by way of another CTA.
    return releases_.interleaved && !known->acquired.empty() && acquired(*known, earlier) ? earlier.lanes : 0;
  }
  if (earlier.time <= all) return earlier.lanes;
  LaneMask result = earlier.lanes & (LaneMask{1} << lane);
  const std::uint32_t* row = &w.lanes[std::size_t{lane} * lanes_];
  for (LaneMask rest = earlier.lanes & ~result; rest != 0; rest &= rest - 1) {
    const auto other = static_cast<unsigned>(__builtin_ctzll(rest));
    if (row[other] >= earlier.time) result |= LaneMask{1} << other;
  }
  return result;
}

}  // namespace regatta::emulator
