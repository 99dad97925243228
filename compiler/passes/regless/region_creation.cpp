// SPDX-License-Identifier: Apache-2.0
//
// Algorithm 1 of RegLess.
#include "region_facts.h"

#include <algorithm>

namespace regatta::passes {

namespace {

class Creator {
 public:
  Creator(const KernelFacts& facts, std::uint32_t block, std::uint32_t first, const RegionOptions& options)
      : facts_(facts), options_(options), block_(block), first_(first) {}

  void cut(std::uint32_t begin, std::uint32_t end, std::vector<Region>& regions) {
    while (begin < end) {
      const std::uint32_t upper = upper_bound(begin, end);
      std::uint32_t at = upper == end ? end : split_point(begin, upper, end);
      if (at != upper && !is_valid(begin, at)) at = upper;
      Region region;
      region.block = block_;
      region.begin = begin;
      region.end = at;
      regions.push_back(std::move(region));
      begin = at;
    }
  }

 private:
  /// IsValid of the paper.
  bool is_valid(std::uint32_t begin, std::uint32_t end) const {
    for (std::uint32_t i = begin; i < end; ++i)
      if (facts_.instructions[i].first_use < end) return false;
    Region region;
    region.block = block_;
    region.begin = begin;
    region.end = end;
    annotate(facts_, first_, region);
    return region.live <= options_.max_registers &&
           *std::max_element(region.words.lines.begin(), region.words.lines.end()) <= options_.lines_per_bank &&
           fits_head(region.words, options_.head_words);
  }

  /// The largest end with which a region from `begin` is valid, at least one instruction. A longer region holds
  /// whatever a shorter one holds, so validity ends once: gallop, then halve. (A head may become shorter again, where a
  /// mark does what an entry had to: then a valid end is found, not always the largest.)
  std::uint32_t upper_bound(std::uint32_t begin, std::uint32_t end) const {
    std::uint32_t valid = begin + 1, step = 8;
    std::uint32_t invalid = end + 1;
    while (valid < end && invalid > end) {
      const std::uint32_t next = std::min(valid + step, end);
      if (is_valid(begin, next)) {
        valid = next;
        step *= 2;
      } else {
        invalid = next;
      }
    }
    if (valid == end) return end;
    while (invalid - valid > 1) {
      const std::uint32_t middle = valid + (invalid - valid) / 2;
      (is_valid(begin, middle) ? valid : invalid) = middle;
    }
    return valid;
  }

  /// FindSplitPoint of the paper. The first half is valid up to `upper`, so it holds no load together with its first
  /// use. The second half holds the fewest such pairs if it begins after the last load before `upper`.
  std::uint32_t split_point(std::uint32_t begin, std::uint32_t upper, std::uint32_t end) const {
    std::uint32_t lower = begin + 1;
    for (std::uint32_t i = begin; i < upper; ++i)
      if (facts_.instructions[i].first_use < end) lower = i + 1;
    lower = std::min(std::max(begin + options_.min_instructions, lower), upper);

    // Inputs and outputs of the second half for each split, from the end up, ...
    std::vector<std::size_t> cost(upper + 1 - lower);
    Registers accessed, written;
    const Registers& live_at_end = facts_.instructions[end - 1].live_after;
    for (std::uint32_t i = end; i-- > lower;) {
      accessed |= facts_.instructions[i].accessed();
      written |= facts_.instructions[i].writes;
      if (i <= upper)
        cost[i - lower] = (accessed & live_before(facts_, block_, first_, i)).count() + (written & live_at_end).count();
    }
    // ... and of the first half, from its beginning down.
    accessed.reset();
    written.reset();
    const Registers& live_at_begin = live_before(facts_, block_, first_, begin);
    std::uint32_t best = lower;
    for (std::uint32_t i = begin; i < upper; ++i) {
      accessed |= facts_.instructions[i].accessed();
      written |= facts_.instructions[i].writes;
      const std::uint32_t split = i + 1;
      if (split < lower) continue;
      cost[split - lower] += (accessed & live_at_begin).count() + (written & facts_.instructions[i].live_after).count();
      if (cost[split - lower] <= cost[best - lower]) best = split;
    }
    return best;
  }

  const KernelFacts& facts_;
  const RegionOptions& options_;
  std::uint32_t block_, first_;
};

}  // namespace

std::vector<Region> cut_block(const KernelFacts& facts, std::uint32_t block, std::uint32_t first, std::uint32_t end,
                              const RegionOptions& options) {
  std::vector<Region> regions;
  Creator creator(facts, block, first, options);
  // A region ends at a barrier: a warp that waits there with reserved lines could block the warps that it waits for.
  for (std::uint32_t begin = first, i = first; i < end; ++i) {
    if (!facts.instructions[i].ends_region && i + 1 != end) continue;
    creator.cut(begin, i + 1, regions);
    begin = i + 1;
  }
  return regions;
}

}  // namespace regatta::passes
