// SPDX-License-Identifier: Apache-2.0
#include "seen_paths.h"

#include <regatta/trace/divergent_paths.h>

#include <algorithm>
#include <array>

namespace regatta::tool {

namespace {

using trace::LaneMask;

bool has(const std::vector<std::uint32_t>& ascending, std::uint32_t one) {
  return std::binary_search(ascending.begin(), ascending.end(), one);
}

}  // namespace

SeenPaths::SeenPaths(const trace::Kernel& kernel) : kernel_(kernel) {
  for (std::uint32_t b = 0; b < kernel.blocks.size(); ++b) block_of_.insert(block_of_.end(), kernel.blocks[b].count, b);
}

void SeenPaths::check_edge(const trace::PathCursor& path, std::uint32_t from, std::uint32_t to) const {
  const std::uint32_t a = block_of_[from], b = block_of_[to];
  if (to == from + 1 && a == b) return;
  const std::vector<std::uint32_t>& successors = kernel_.blocks[a].successors;
  const bool is_edge = std::find(successors.begin(), successors.end(), b) != successors.end();
  if (is_edge && is_last(from) && is_first(to)) return;
  path.malformed("lanes come from static index " + std::to_string(from) +
                 ", and the kernel's basic blocks have no edge from there to here");
}

void SeenPaths::add(const trace::WarpColumns& warp) {
  constexpr std::uint32_t nowhere = ~std::uint32_t{0};
  trace::WarpCursor cursor(kernel_, warp);
  std::array<std::uint32_t, trace::max_lanes> last{};  ///< of each lane that has parted from the path: its instruction
  last.fill(nowhere);
  std::vector<trace::StackEvent> events, parked;
  std::uint32_t before = nowhere;
  LaneMask path = 0;
  bool stack_changed = false;
  while (cursor.next()) {
    const std::uint32_t index = cursor.index(), block = block_of_[index];
    const LaneMask lanes = cursor.simt_mask();
    const bool straight = before != nowhere && index == before + 1 && block == block_of_[before];
    if (lanes != path) {
      for (LaneMask m = path; m != 0; m &= m - 1) last[static_cast<unsigned>(__builtin_ctzll(m))] = before;
      std::uint32_t from = nowhere;
      for (LaneMask m = lanes; m != 0; m &= m - 1) {
        const std::uint32_t came_from = last[static_cast<unsigned>(__builtin_ctzll(m))];
        if (came_from == nowhere || came_from == from) continue;
        from = came_from;
        check_edge(cursor.path(), from, index);
      }
    } else if (before != nowhere && !straight) {
      check_edge(cursor.path(), before, index);
    }
    if (before != nowhere && (!straight || lanes != path)) {
      by_block_ = by_block_ && is_last(before) && is_first(index);
      next_.insert(pair(block_of_[before], block));
    }
    if (stack_changed || !straight) {
      for (const trace::StackEvent& e : parked) {
        if (e.resume_index < block_of_.size()) waits_.insert(pair(block, e.resume_index));
      }
    }
    events.clear();
    stack_changed = cursor.stack_events(events) != 0;
    for (const trace::StackEvent& e : events) {
      if (e.push) {
        parked.push_back(e);
      } else if (parked.empty()) {
        cursor.path().malformed("the SIMT stack is popped more often than pushed");
      } else {
        parked.pop_back();
      }
    }
    before = index;
    path = lanes;
  }
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> SeenPaths::sorted(const Pairs& pairs) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> all;
  all.reserve(pairs.size());
  for (const std::uint64_t p : pairs)
    all.emplace_back(static_cast<std::uint32_t>(p >> 32), static_cast<std::uint32_t>(p));
  std::sort(all.begin(), all.end());
  return all;
}

analysis::SeenFlow SeenPaths::flow() const {
  analysis::SeenFlow flow;
  for (const auto& [running, index] : sorted(waits_)) {
    const std::uint32_t place = block_of_[index];
    flow.waits.push_back({running, place, index - kernel_.blocks[place].first});
  }
  flow.next.resize(kernel_.blocks.size());
  for (const auto& [from, to] : sorted(next_)) flow.next[from].push_back(to);
  return flow;
}

bool SeenPaths::meet_at(const std::vector<std::int32_t>& joins) const {
  trace::Kernel flow;  // what divergent_branches() and warp_successors() look at
  flow.blocks = kernel_.blocks;
  flow.instructions = kernel_.instructions;
  for (std::size_t b = 0; b < joins.size(); ++b) flow.blocks[b].reconvergence = joins[b];
  const std::vector<std::vector<std::uint32_t>> successors = trace::warp_successors(flow);
  for (const auto& [from, to] : sorted(next_)) {
    if (!has(successors[from], to)) return false;
  }
  const std::vector<trace::DivergentBranch> branches = trace::divergent_branches(flow);
  std::vector<std::vector<std::uint32_t>> at(kernel_.blocks.size());  // branches whose lanes may wait there
  for (std::uint32_t n = 0; n < branches.size(); ++n) {
    for (const std::uint32_t side : branches[n].sides) at[side].push_back(n);
    if (branches[n].join >= 0) at[static_cast<std::uint32_t>(branches[n].join)].push_back(n);
  }
  for (const auto& [running, index] : sorted(waits_)) {
    const std::uint32_t block = running, place = block_of_[index];
    if (!is_first(index)) return false;
    const bool expected = std::any_of(at[place].begin(), at[place].end(), [&](std::uint32_t n) {
      const trace::DivergentBranch& branch = branches[n];
      for (std::size_t s = 0; s < branch.sides.size(); ++s) {
        if (branch.sides[s] != place && has(branch.run[s], block)) return true;
      }
      return false;
    });
    if (!expected) return false;
  }
  return true;
}

bool SeenPaths::is_nested(const std::vector<std::int32_t>& joins) const {
  std::vector<std::int32_t> of_kernel;
  for (const trace::BasicBlock& b : kernel_.blocks) of_kernel.push_back(b.reconvergence);
  return by_block_ && meet_at(joins) && (joins == of_kernel || meet_at(of_kernel));
}

}  // namespace regatta::tool
