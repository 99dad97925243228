// SPDX-License-Identifier: Apache-2.0
#include "path_finder.h"

#include <algorithm>
#include <cstdio>

namespace regatta::import {
namespace {

/// Segments that are looked through for the next sight of lanes.
constexpr std::size_t segments_ahead = 1024;

std::string lanes_text(std::uint32_t lanes) {
  char text[16];
  std::snprintf(text, sizeof text, "%08x", static_cast<unsigned>(lanes));
  return text;
}

}  // namespace

void PathFinder::cut(const std::vector<Step>& steps) {
  segments_.clear();
  for (std::size_t n = 0; n < steps.size(); ++n) {
    const bool begins = n == 0 || steps[n].index != steps[n - 1].index + 1 || code_.lines[steps[n].index].leads ||
                        code_.lines[steps[n - 1].index].control != Control::none;
    if (begins) segments_.push_back({n, n, 0, steps[n].index});
    segments_.back().end = n + 1;
    segments_.back().lanes |= steps[n].mask;
  }
}

/// Whether lanes that are not seen in a segment wait at its place while others pass. They do if they are seen there
/// next.
bool PathFinder::waits(const Group& group, std::size_t segment) const {
  const std::size_t end = std::min(segments_.size(), segment + segments_ahead);
  for (std::size_t s = segment + 1; s < end; ++s) {
    if ((segments_[s].lanes & group.lanes) != 0) return segments_[s].index == group.next;
  }
  return true;
}

/// Of lanes that left a branch for `segment`'s place together: those seen there, and those that are seen next at a
/// place that is none of where lanes of this branch go.
std::uint32_t PathFinder::companions(const Group& group, std::size_t segment) const {
  std::uint32_t lanes = group.lanes & segments_[segment].lanes, rest = group.lanes & ~lanes;
  const std::size_t end = std::min(segments_.size(), segment + segments_ahead);
  for (std::size_t s = segment + 1; s < end && rest != 0; ++s) {
    const std::uint32_t seen = segments_[s].lanes & rest;
    if (segments_[s].index != segments_[segment].index && !code_.lines[segments_[s].index].leads) lanes |= seen;
    rest &= ~seen;
  }
  return lanes;
}

void PathFinder::depart(Group& group, std::uint32_t lanes, std::uint32_t to) {
  departures_->push_back({group.branch, lanes, to});
  group.lanes &= ~lanes;
}

void PathFinder::astray(const Segment& s, std::uint32_t lanes) const {
  const auto lane = static_cast<unsigned>(__builtin_ctz(lanes));
  std::string where = "it has exited, or does not exist";
  for (const Group& g : groups_) {
    if ((g.lanes >> lane & 1) != 0) where = "no branch took it there";
  }
  throw PathError(s.begin, "lane " + std::to_string(lane) + " of lanes " + lanes_text(s.lanes) +
                               " executes instructions from here on, and " + where);
}

/// The lanes that come to a segment. They leave their groups.
std::uint32_t PathFinder::arrivals(std::size_t segment) {
  const Segment& s = segments_[segment];
  std::uint32_t path = 0;
  const auto take = [&](Group& g) {
    path |= g.lanes;
    g.lanes = 0;
  };
  for (Group& g : groups_) {
    if (g.next != s.index || (g.lanes & s.lanes) == 0) continue;
    if (g.sure) {
      take(g);
    } else {
      const std::uint32_t lanes = companions(g, segment);
      path |= lanes;
      g.lanes &= ~lanes;
    }
  }
  if (const std::uint32_t lost = s.lanes & ~path; lost != 0) {
    for (Group& g : groups_) {
      if (!g.guessed || (g.lanes & lost) == 0) continue;
      const std::uint32_t lanes = companions(g, segment);
      depart(g, lanes, s.index);
      path |= lanes;
    }
    if ((s.lanes & ~path) != 0) astray(s, s.lanes & ~path);
  }
  if (path == 0) {
    // Nobody executes anything here: of those that stand here, the ones that came last; else those of a branch.
    Group* found = nullptr;
    for (Group& g : groups_) {
      if (g.lanes != 0 && g.next == s.index && (found == nullptr || !found->fresh || g.fresh)) found = &g;
    }
    if (found != nullptr) {
      take(*found);
    } else {
      for (Group& g : groups_) {
        if (g.lanes != 0 && g.fresh && g.guessed) found = &g;
      }
      if (found == nullptr) throw PathError(s.begin, "no lane stands here, and no branch leads here");
      path = found->lanes;
      depart(*found, path, s.index);
    }
  }
  // Others that stand here come along, unless they are seen here later.
  for (Group& g : groups_) {
    if (g.lanes != 0 && g.next == s.index && g.sure && !waits(g, segment)) take(g);
  }
  groups_.erase(std::remove_if(groups_.begin(), groups_.end(), [](const Group& g) { return g.lanes == 0; }),
                groups_.end());
  return path;
}

/// Forms the groups that go on behind the last step of a segment.
void PathFinder::leave(const Step& last, std::size_t step, std::uint32_t path) {
  for (Group& g : groups_) g.fresh = false;
  const FlowCode::Line& line = code_.lines[last.index];
  const bool parts =
      line.control == Control::target || line.control == Control::anywhere || line.control == Control::exit;
  const std::uint32_t stay = parts ? path & ~last.mask : path;
  const auto add = [&](Group g) {
    if (g.lanes != 0) groups_.push_back(g);
  };
  add({stay, last.index + 1, true, false, true, step});
  if (parts && line.control != Control::exit) add({last.mask, line.target, true, true, line.one_target, step});
}

void PathFinder::find(const std::vector<Step>& steps, std::uint32_t threads, WarpPath& out) {
  cut(steps);
  out.lanes.assign(steps.size(), 0);
  out.departures.clear();
  departures_ = &out.departures;
  groups_.assign(1, {threads, 0, true, false, true, 0});
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    const std::uint32_t path = arrivals(s);
    for (std::size_t n = segments_[s].begin; n < segments_[s].end; ++n) out.lanes[n] = path;
    leave(steps[segments_[s].end - 1], segments_[s].end - 1, path);
  }
  std::uint32_t left = 0;
  for (const Group& g : groups_) left |= g.lanes;
  if (left != 0) {
    throw PathError(steps.size() - 1, "the warp ends, and lanes " + lanes_text(left) + " have not exited");
  }
  std::stable_sort(out.departures.begin(), out.departures.end(),
                   [](const Departure& a, const Departure& b) { return a.step < b.step; });
}

}  // namespace regatta::import
