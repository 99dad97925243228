// SPDX-License-Identifier: Apache-2.0
//
// The information about registers in a region's words (sections 4.3 and 4.4 of RegLess), and the lines that the region
// needs.
#include "region_facts.h"

#include <algorithm>
#include <numeric>

namespace regatta::passes {

namespace {

using trace::LastUse;
using Entry = trace::RegionEntry;

/// Walks through a region from its end to its beginning, chooses the marks and notes the instructions between which
/// each register is held.
class Annotator {
 public:
  Annotator(const KernelFacts& facts, std::uint32_t first, Region& region)
      : facts_(facts), region_(region), size_(region.size()) {
    inputs_ = live_before(facts, region.block, first, region.begin);
    change_.assign(std::size_t{size_ + 1} * trace::region_banks, 0);
  }

  void run() {
    region_.words = {};
    region_.words.uses.resize(size_);
    for (std::uint32_t i = size_; i-- > 0;) instruction(i);
    const Registers& live_at_end = facts_.instructions[region_.end - 1].live_after;
    inputs_ &= accessed_;
    const Registers outputs = written_ & live_at_end;
    list(inputs_, region_.inputs);
    list(outputs, region_.outputs);
    list(accessed_ & ~inputs_ & ~outputs, region_.interiors);
    for_each(accessed_, [&](unsigned r) { hold(r, inputs_.test(r) ? 0 : begin_[r], end_[r]); });
    count_lines();
    for_each(inputs_,
             [&](unsigned r) { entry(dies_.test(r) ? Entry::Kind::invalidating_preload : Entry::Kind::preload, r); });
    for_each(erase_at_end_, [&](unsigned r) { entry(Entry::Kind::erase_at_end, r); });
  }

 private:
  void instruction(std::uint32_t n) {
    const InstructionFacts& i = facts_.instructions[region_.begin + n];
    const Registers accessed = i.accessed();
    const Registers dead = accessed & ~i.live_after;
    const Registers last = accessed & ~accessed_;
    Registers marked;
    for (unsigned s = 0; s < trace::use_slots; ++s) {
      if (i.slot[s].none()) continue;
      // One mark speaks for all registers of its slot.
      LastUse use = LastUse::none;
      if ((i.slot[s] & ~dead).none()) {
        use = LastUse::erase;
      } else if ((i.slot[s] & ~(last & ~dead)).none()) {
        use = LastUse::evict;
      }
      region_.words.uses[n][s] = use;
      if (use != LastUse::none) marked |= i.slot[s];
    }
    for_each(accessed, [&](unsigned r) {
      const bool is_last = last.test(r);
      // A mark takes effect at the read or, for a register that is written, when the result arrives, which may be any
      // time later. Only an instruction that must wait for the result, such as every later access to the register,
      // shows that it has arrived.
      const bool lets_go = marked.test(r) && !i.writes.test(r);
      if (is_last) {
        end_[r] = lets_go ? n : size_ - 1;
      } else if (lets_go) {
        hold(r, begin_[r], end_[r]);
        end_[r] = n;
      }
      begin_[r] = n;
    });
    dies_ |= dead;
    erase_at_end_ |= last & dead & ~marked;
    accessed_ |= accessed;
    written_ |= i.writes;
  }

  /// The register has a line from instruction `from` to instruction `to`, both included.
  void hold(unsigned r, std::uint32_t from, std::uint32_t to) {
    const unsigned bank = r % trace::region_banks;
    ++change_[std::size_t{from} * trace::region_banks + bank];
    --change_[std::size_t{to + 1} * trace::region_banks + bank];
  }

  void count_lines() {
    std::array<int, trace::region_banks> held{};
    region_.live = 0;
    for (std::uint32_t n = 0; n < size_; ++n) {
      for (unsigned b = 0; b < trace::region_banks; ++b) {
        held[b] += change_[std::size_t{n} * trace::region_banks + b];
        region_.words.lines[b] = std::max(region_.words.lines[b], static_cast<std::uint8_t>(held[b]));
      }
      region_.live = std::max(region_.live, static_cast<unsigned>(std::accumulate(held.begin(), held.end(), 0)));
    }
  }

  void entry(Entry::Kind kind, unsigned r) { region_.words.entries.push_back({kind, static_cast<std::uint8_t>(r)}); }
  static void list(const Registers& set, std::vector<std::uint8_t>& out) {
    out.clear();
    for_each(set, [&](unsigned r) { out.push_back(static_cast<std::uint8_t>(r)); });
  }

  const KernelFacts& facts_;
  Region& region_;
  std::uint32_t size_;
  Registers inputs_, accessed_, written_, dies_, erase_at_end_;
  std::array<std::uint32_t, 256> begin_{}, end_{};  ///< of the stretch under way, per register
  std::vector<int> change_;                         ///< of lines held, per instruction and bank
};

/// Forward over the code: which registers may have a copy outside a region's lines, and the nearest block that
/// post-dominates all accesses which left it there (-1: the kernel's exit).
class Copies {
 public:
  Copies(const analysis::Cfg& cfg, const analysis::PostDominators& post_dominators, const KernelFacts& facts,
         const std::vector<Region>& regions)
      : cfg_(cfg),
        post_dominators_(post_dominators),
        facts_(facts),
        kept_(cfg.size()),
        made_(cfg.size()),
        on_entry_(cfg.size()),
        join_(cfg.size()),
        depth_(cfg.size(), 0) {
    for (Registers& k : kept_) k.set();
    for (const Region& r : regions) {
      Registers dropped, left;
      for (const Entry& e : r.words.entries)
        if (e.kind == Entry::Kind::invalidating_preload) dropped.set(e.reg);
      for (const std::uint8_t i : r.inputs) left.set(i);
      left &= ~dropped;
      for (const std::uint8_t o : r.outputs) left.set(o);
      kept_[r.block] &= ~dropped;
      made_[r.block] = (made_[r.block] & ~dropped) | left;
    }
    for (std::uint32_t b = 0; b < cfg.size(); ++b)
      for (std::int32_t x = post_dominators.immediate(b); x >= 0;
           x = post_dominators.immediate(static_cast<std::uint32_t>(x)))
        ++depth_[b];
    run();
  }

  /// Registers that are dead when the block begins, may have a copy, and whose accesses all lead here.
  Registers dropped_at(std::uint32_t b) const {
    Registers dropped;
    for_each(on_entry_[b] & ~facts_.live_in[b], [&](unsigned r) {
      const std::int32_t join = join_[b][r];
      if (join >= 0 && post_dominators_.post_dominates(b, static_cast<std::uint32_t>(join))) dropped.set(r);
    });
    return dropped;
  }

 private:
  void run() {
    std::vector<std::uint32_t> work(cfg_.reverse_post_order().rbegin(), cfg_.reverse_post_order().rend());
    while (!work.empty()) {
      const std::uint32_t b = work.back();
      work.pop_back();
      const Registers here = on_entry_[b] & ~dropped_at(b);
      for (const std::uint32_t s : cfg_.successors(b)) {
        bool changed = false;
        for_each((here & kept_[b]) | made_[b], [&](unsigned r) { changed |= arrive(s, r, after(b, r, here.test(r))); });
        if (changed) work.push_back(s);
      }
    }
  }

  /// The block in which the accesses meet that left r's copy at the end of block b. A block that needs the old value
  /// includes the accesses before it; a block that redefines the register does not.
  std::int32_t after(std::uint32_t b, unsigned r, bool came) const {
    const auto here = static_cast<std::int32_t>(b);
    if (!made_[b].test(r)) return join_[b][r];
    return came && facts_.live_in[b].test(r) ? common(here, join_[b][r]) : here;
  }

  bool arrive(std::uint32_t b, unsigned r, std::int32_t join) {
    if (!on_entry_[b].test(r)) {
      on_entry_[b].set(r);
      join_[b][r] = join;
      return true;
    }
    const std::int32_t both = common(join_[b][r], join);
    if (both == join_[b][r]) return false;
    join_[b][r] = both;
    return true;
  }

  /// The nearest block that post-dominates both.
  std::int32_t common(std::int32_t a, std::int32_t b) const {
    while (a != b) {
      if (a < 0 || b < 0) return -1;
      std::int32_t& deeper = depth_[static_cast<std::size_t>(a)] >= depth_[static_cast<std::size_t>(b)] ? a : b;
      deeper = post_dominators_.immediate(static_cast<std::uint32_t>(deeper));
    }
    return a;
  }

  const analysis::Cfg& cfg_;
  const analysis::PostDominators& post_dominators_;
  const KernelFacts& facts_;
  std::vector<Registers> kept_, made_;  ///< copies that outlast a block, and that it leaves
  std::vector<Registers> on_entry_;
  std::vector<std::array<std::int32_t, 256>> join_;  ///< per block and register on entry
  std::vector<std::uint32_t> depth_;                 ///< in the tree of post-dominators
};

/// Has a region drop the copies of these registers when it starts, of as many as its head has room for: those first
/// that the region writes, as their old copies cannot be told from new ones later. Returns the registers that later
/// regions need not, or must not, drop: the copy of one that found no room stays until it is overwritten.
Registers invalidate(const Registers& dropped, unsigned head_words, Region& region) {
  std::vector<Entry>& entries = region.words.entries;
  const std::vector<Entry> before = entries;
  const auto add = [&](unsigned r) { entries.push_back({Entry::Kind::invalidate, static_cast<std::uint8_t>(r)}); };
  for_each(dropped, add);
  if (fits_head(region.words, head_words)) return dropped;
  entries = before;
  Registers accessed, done;
  for (const auto* list : {&region.inputs, &region.outputs, &region.interiors}) {
    for (const std::uint8_t r : *list) accessed.set(r);
  }
  bool has_room = true;
  const auto try_to_add = [&](unsigned r) {
    if (!has_room) return;
    add(r);
    has_room = fits_head(region.words, head_words);
    if (has_room) {
      done.set(r);
    } else {
      entries.pop_back();
    }
  };
  for_each(dropped & accessed, try_to_add);
  for_each(dropped & ~accessed, try_to_add);
  return done | (dropped & accessed);
}

}  // namespace

bool fits_head(const trace::RegionWords& words, unsigned head_words) {
  // A first word with one entry or more, words of five entries, and one of last uses.
  if (2 + (words.entries.size() + 3) / 5 <= head_words) return true;
  const std::vector<trace::PlacedWord> placed = trace::encode(words);
  return std::count_if(placed.begin(), placed.end(), [](const trace::PlacedWord& w) { return w.before == 0; }) <=
         static_cast<std::ptrdiff_t>(head_words);
}

void annotate(const KernelFacts& facts, std::uint32_t first, Region& region) { Annotator(facts, first, region).run(); }

void add_invalidations(const analysis::Cfg& cfg, const analysis::PostDominators& post_dominators,
                       const KernelFacts& facts, unsigned head_words, std::vector<Region>& regions) {
  const Copies copies(cfg, post_dominators, facts, regions);
  for (std::size_t first = 0, end = 0; first < regions.size(); first = end) {
    const std::uint32_t block = regions[first].block;
    while (end < regions.size() && regions[end].block == block) ++end;
    // All copies of a warp are dropped anyway when the warp ends.
    if (end - first == 1 && cfg.successors(block).empty()) continue;
    Registers dropped = copies.dropped_at(block);
    for (std::size_t n = first; n < end && dropped.any(); ++n) dropped &= ~invalidate(dropped, head_words, regions[n]);
  }
}

}  // namespace regatta::passes
