// SPDX-License-Identifier: Apache-2.0
#include "ranges.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

namespace regatta::passes {

using analysis::BitSet;

bool reads_register(const trace::StaticInstruction& i, unsigned reg) {
  return std::any_of(i.sources.begin(), i.sources.begin() + i.source_count, [reg](std::uint8_t r) { return r == reg; });
}

bool writes_register(const trace::StaticInstruction& i, unsigned reg) {
  return std::any_of(i.destinations.begin(), i.destinations.begin() + i.destination_count,
                     [reg](std::uint8_t r) { return r == reg; });
}

RfhRanges::RfhRanges(const trace::Kernel& kernel)
    : kernel_(kernel), paths_(kernel), begins_(trace::strand_begins(kernel, paths_)) {
  block_of_.resize(kernel.instructions.size());
  for (std::uint32_t b = 0; b < kernel.blocks.size(); ++b)
    std::fill_n(block_of_.begin() + kernel.blocks[b].first, kernel.blocks[b].count, b);
  find_edges();
  find_values();
}

void RfhRanges::find_edges() {
  const auto predecessors = trace::predecessors_of(kernel_);
  std::vector<bool> has_strand(kernel_.blocks.size(), false);
  for (std::size_t i = 0; i < begins_.size(); ++i)
    if (begins_[i]) has_strand[block_of_[i]] = true;
  from_.resize(kernel_.blocks.size());
  whole_.assign(kernel_.blocks.size(), true);
  for (std::uint32_t b = 0; b < kernel_.blocks.size(); ++b) {
    for (const std::uint32_t p : predecessors[b]) {
      bool keeps = p < b;  // an edge back enters a new strand
      for (const std::uint32_t w : paths_.of_edge(p, b))
        for (const std::uint32_t other : paths_.waits()[w].others) keeps = keeps && !has_strand[other];
      if (keeps) from_[b].push_back(p);
      whole_[b] = whole_[b] && keeps;
    }
    whole_[b] = whole_[b] && b != 0 && !from_[b].empty();
  }
}

/// Calls step(index) for each instruction behind which the range's value is needed for the read, and cross(from, to)
/// for each edge on the way. Ends at the range's writes. Blocks that are `seen` to their end are not walked again.
template <typename Step, typename Cross>
void RfhRanges::walk_back(const RfhRange& range, std::uint32_t read, std::vector<bool>& seen, Step&& step,
                          Cross&& cross) const {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> work{{block_of_[read], read}};  // block, end of the walk in it
  while (!work.empty()) {
    auto [block, index] = work.back();
    work.pop_back();
    const std::uint32_t first = kernel_.blocks[block].first;
    bool ended = false;
    while (!ended && index > first) {
      --index;
      step(index);
      const trace::StaticInstruction& i = kernel_.instructions[index];
      // A guarded definition leaves the value of the lanes whose guard is false.
      ended = range.copies ? index == range.writes.front() : writes_register(i, range.reg) && i.guard.predicate < 0;
    }
    if (ended) continue;
    for (const std::uint32_t p : from_[block]) {
      cross(p, block);
      if (seen[p]) continue;
      seen[p] = true;
      work.emplace_back(p, kernel_.blocks[p].first + kernel_.blocks[p].count);
    }
  }
}

std::vector<std::uint32_t> RfhRanges::reaching(const RfhRange& range, std::uint32_t read) const {
  if (range.copies) return range.writes;
  std::vector<std::uint32_t> found;
  std::vector<bool> seen(kernel_.blocks.size(), false);
  walk_back(
      range, read, seen,
      [&](std::uint32_t index) {
        if (writes_register(kernel_.instructions[index], range.reg)) found.push_back(index);
      },
      [](std::uint32_t, std::uint32_t) {});
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

RfhOccupation RfhRanges::occupation(const RfhRange& range, std::size_t reads) const {
  RfhOccupation o;
  o.held = BitSet(kernel_.instructions.size());
  std::vector<bool> seen(kernel_.blocks.size(), false);
  std::vector<bool> waited(paths_.waits().size(), false);
  for (std::size_t n = 0; n < reads; ++n)
    walk_back(
        range, range.reads[n], seen, [&](std::uint32_t index) { o.held.set(index); },
        [&](std::uint32_t from, std::uint32_t to) {
          for (const std::uint32_t w : paths_.of_edge(from, to)) waited[w] = true;
        });
  for (const std::uint32_t w : range.writes)
    if (o.held.test(w)) o.writes.push_back(w);
  for (std::size_t w = 0; w < waited.size(); ++w) {
    if (!waited[w]) continue;
    for (const std::uint32_t b : paths_.waits()[w].others)
      for (std::uint32_t n = 0; n < kernel_.blocks[b].count; ++n) o.held.set(kernel_.blocks[b].first + n);
  }
  return o;
}

bool RfhRanges::in_strand(std::uint32_t index, std::uint8_t reg) const { return in_strand_[index].test(reg); }

void RfhRanges::find_values() {
  // Forward: registers that every path has written since the strand began.
  const BitSet none(256);
  in_strand_.assign(kernel_.instructions.size(), none);
  std::vector<BitSet> out(kernel_.blocks.size(), none);
  std::array<std::vector<std::uint32_t>, 256> inside, outside;
  for (std::uint32_t b = 0; b < kernel_.blocks.size(); ++b) {
    BitSet written(256, whole_[b]);
    for (const std::uint32_t p : from_[b]) written.intersect(out[p]);
    for (std::uint32_t n = 0; n < kernel_.blocks[b].count; ++n) {
      const std::uint32_t index = kernel_.blocks[b].first + n;
      const trace::StaticInstruction& i = kernel_.instructions[index];
      if (begins_[index]) written.clear();
      in_strand_[index] = written;
      for (unsigned s = 0; s < i.source_count; ++s) {
        const std::uint8_t r = i.sources[s];
        std::vector<std::uint32_t>& reads = written.test(r) ? inside[r] : outside[r];
        if (reads.empty() || reads.back() != index) reads.push_back(index);
      }
      for (unsigned d = 0; d < i.destination_count && i.guard.predicate < 0; ++d) written.set(i.destinations[d]);
    }
    out[b] = written;
  }

  for (unsigned reg = 0; reg < 256; ++reg) {
    const auto r = static_cast<std::uint8_t>(reg);
    // Definitions with a common read belong together.
    std::vector<std::uint32_t> joined(inside[reg].size());
    std::iota(joined.begin(), joined.end(), 0u);
    const auto root = [&](std::uint32_t n) {
      while (joined[n] != n) n = joined[n] = joined[joined[n]];
      return n;
    };
    std::vector<std::vector<std::uint32_t>> writes(inside[reg].size());
    std::map<std::uint32_t, std::uint32_t> reader_of;
    RfhRange probe;
    probe.reg = r;
    for (std::uint32_t n = 0; n < inside[reg].size(); ++n) {
      writes[n] = reaching(probe, inside[reg][n]);
      for (const std::uint32_t w : writes[n]) {
        const auto [known, added] = reader_of.emplace(w, n);
        if (!added) joined[root(n)] = root(known->second);
      }
    }
    std::map<std::uint32_t, RfhRange> by_root;
    for (std::uint32_t n = 0; n < inside[reg].size(); ++n) {
      RfhRange& range = by_root[root(n)];
      range.reg = r;
      range.reads.push_back(inside[reg][n]);
      range.writes.insert(range.writes.end(), writes[n].begin(), writes[n].end());
    }
    for (auto& [n, range] : by_root) {
      std::sort(range.writes.begin(), range.writes.end());
      range.writes.erase(std::unique(range.writes.begin(), range.writes.end()), range.writes.end());
      ranges_.push_back(std::move(range));
    }
    find_copies(r, outside[reg]);
  }
}

/// `reads`: those of the register whose value comes from outside the strand.
void RfhRanges::find_copies(std::uint8_t reg, const std::vector<std::uint32_t>& reads) {
  std::vector<bool> covered(reads.size(), false);
  std::vector<bool> out(kernel_.blocks.size(), false);
  for (std::size_t n = 0; n < reads.size(); ++n) {
    const std::uint32_t from = reads[n];
    // Under a guard, not all lanes copy.
    if (covered[n] || kernel_.instructions[from].guard.predicate >= 0) continue;
    RfhRange range;
    range.reg = reg;
    range.copies = true;
    range.writes = {from};
    std::size_t next = n + 1;
    std::uint32_t last = block_of_[from];  // no block behind it can have the copy
    std::vector<std::uint32_t> visited;
    for (std::uint32_t b = block_of_[from]; b <= last; ++b) {
      bool has = b != block_of_[from] && whole_[b];
      for (const std::uint32_t p : from_[b]) has = has && out[p];
      const std::uint32_t first = kernel_.blocks[b].first, end = first + kernel_.blocks[b].count;
      for (std::uint32_t index = std::max(first, from); index < end; ++index) {
        const trace::StaticInstruction& i = kernel_.instructions[index];
        if (index != from && begins_[index]) has = false;
        while (next < reads.size() && reads[next] < index) ++next;
        if (has && next < reads.size() && reads[next] == index && !covered[next]) {
          covered[next] = true;
          range.reads.push_back(index);
        }
        if (index == from) has = true;
        if (writes_register(i, reg)) has = false;
      }
      out[b] = has;
      visited.push_back(b);
      if (has)
        for (const std::uint32_t s : kernel_.blocks[b].successors) last = std::max(last, s);
    }
    for (const std::uint32_t b : visited) out[b] = false;
    if (!range.reads.empty()) ranges_.push_back(std::move(range));
  }
}

}  // namespace regatta::passes
