// SPDX-License-Identifier: Apache-2.0
//
// Regions against their definition, stated anew: liveness, inputs and outputs, lines held, and where algorithm 1 cuts.
#include <regatta/analysis/function_analyses.h>
#include <regatta/passes/regions.h>
#include <regatta/test/catch.h>

#include <algorithm>
#include <bitset>
#include <set>

#include "../random_kernel.h"
#include "region_facts.h"

using namespace regatta;
using passes::Region;
using trace::LastUse;
using Entry = trace::RegionEntry;
using Set = std::bitset<256>;

namespace {

/// A function with everything that the properties are about.
struct Subject {
  ir::Function f;
  trace::Kernel kernel;
  passes::RegionOptions options;
  passes::RegionPlan plan;
  std::vector<trace::PlacedRegion> decoded;
  std::vector<Set> reads, writes, live_before, live_after;  ///< per instruction; liveness of the warp

  Subject(ir::Function function, const passes::RegionOptions& o) : f(std::move(function)), options(o) {
    analysis::FunctionAnalyses analyses(f);
    kernel = ir::to_trace(f, analyses.reconvergence().immediate(), 32);
    plan = passes::plan_regions(kernel, analyses, options);
    passes::insert_region_words(kernel, plan);
    decoded = trace::regions_of(kernel);
    find_accesses();
    find_liveness(analyses);
  }

  const trace::BasicBlock& block_of(std::uint32_t instruction) const {
    return *std::find_if(kernel.blocks.begin(), kernel.blocks.end(), [&](const trace::BasicBlock& b) {
      return b.first <= instruction && instruction < b.first + b.count;
    });
  }
  bool is_barrier(std::uint32_t i) const { return kernel.instructions[i].op_class == trace::OpClass::barrier; }
  /// Where the block's part ends that no barrier cuts.
  std::uint32_t part_end(std::uint32_t i) const {
    const trace::BasicBlock& block = block_of(i);
    while (i + 1 < block.first + block.count && !is_barrier(i)) ++i;
    return i + 1;
  }
  bool is_long_load(std::uint32_t i) const {
    const trace::StaticInstruction& s = kernel.instructions[i];
    return s.reads_memory && s.destination_count > 0 && s.space == trace::MemorySpace::global;
  }
  /// Pairs of a load and the first access to its result within [begin, end).
  unsigned pairs(std::uint32_t begin, std::uint32_t end) const {
    unsigned count = 0;
    for (std::uint32_t l = begin; l < end; ++l)
      for (std::uint32_t u = l + 1; is_long_load(l) && u < end; ++u)
        if (((reads[u] | writes[u]) & writes[l]).any()) {
          ++count;
          break;
        }
    return count;
  }
  Set inputs(std::uint32_t begin, std::uint32_t end) const {
    Set seen, in;
    for (std::uint32_t i = begin; i < end; ++i) {
      in |= reads[i] & ~seen;
      seen |= reads[i];
      in |= writes[i] & ~seen & waiting(i);  // old values of other lanes must survive the write
      seen |= writes[i];
    }
    return in;
  }
  Set outputs(std::uint32_t begin, std::uint32_t end) const {
    Set written;
    for (std::uint32_t i = begin; i < end; ++i) written |= writes[i];
    return written & live_after[end - 1];
  }
  std::size_t cost(std::uint32_t begin, std::uint32_t end) const {
    return inputs(begin, end).count() + outputs(begin, end).count();
  }
  const Set& waiting(std::uint32_t i) const {
    return waiting_[static_cast<std::size_t>(&block_of(i) - kernel.blocks.data())];
  }

 private:
  void find_accesses() {
    for (const trace::StaticInstruction& i : kernel.instructions) {
      Set r, w;
      for (unsigned s = 0; s < i.source_count; ++s) r.set(i.sources[s]);
      for (unsigned d = 0; d < i.destination_count; ++d) w.set(i.destinations[d]);
      reads.push_back(r);
      writes.push_back(w);
    }
  }

  /// For one thread: what may be read after an instruction before it is written, by going round until nothing changes.
  /// Guarded definitions do not kill; then for the warp: with what lanes need where they may wait.
  void find_liveness(analysis::FunctionAnalyses& analyses) {
    const std::size_t count = kernel.instructions.size();
    live_before.resize(count);
    live_after.resize(count);
    std::vector<Set> into(kernel.blocks.size());
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t b = kernel.blocks.size(); b-- > 0;) {
        const trace::BasicBlock& block = kernel.blocks[b];
        Set live;
        for (const std::uint32_t s : block.successors) live |= into[s];
        for (std::uint32_t i = block.first + block.count; i-- > block.first;) {
          live_after[i] = live;
          if (kernel.instructions[i].guard.predicate < 0) live &= ~writes[i];
          live |= reads[i];
          live_before[i] = live;
        }
        changed |= live != into[b];
        into[b] = live;
      }
    }
    waiting_.resize(kernel.blocks.size());
    for (std::uint32_t d = 0; d < kernel.blocks.size(); ++d) {
      if (!analyses.cfg().reachable(d)) continue;
      const std::int32_t join = kernel.blocks[d].reconvergence;
      const std::set<std::uint32_t> sides(kernel.blocks[d].successors.begin(), kernel.blocks[d].successors.end());
      for (const std::uint32_t side : sides) {
        if (sides.size() < 2 || static_cast<std::int32_t>(side) == join) continue;
        Set needed = join < 0 ? Set() : into[static_cast<std::size_t>(join)];
        for (const std::uint32_t other : sides)
          if (other != side) needed |= into[other];
        std::set<std::uint32_t> reached{side};
        for (std::size_t before = 0; before != reached.size();) {
          before = reached.size();
          for (const std::uint32_t b : std::set<std::uint32_t>(reached))
            for (const std::uint32_t s : kernel.blocks[b].successors)
              if (static_cast<std::int32_t>(s) != join) reached.insert(s);
        }
        for (const std::uint32_t b : reached) waiting_[b] |= needed;
      }
    }
    for (std::uint32_t b = 0; b < kernel.blocks.size(); ++b)
      for (std::uint32_t i = kernel.blocks[b].first; i < kernel.blocks[b].first + kernel.blocks[b].count; ++i) {
        live_before[i] |= waiting_[b];
        live_after[i] |= waiting_[b];
      }
  }

  std::vector<Set> waiting_;
};

Set set_of(const std::vector<std::uint8_t>& registers) {
  Set set;
  for (const std::uint8_t r : registers) set.set(r);
  return set;
}

/// Issues a region's instructions in order with writes that come as late as they may, or at any time; returns per bank,
/// and last for all banks, the most lines held.
std::array<unsigned, 9> most_held(const Subject& s, const trace::PlacedRegion& region, std::mt19937* any_time) {
  std::array<unsigned, 9> most{};
  Set held, pending;
  std::array<LastUse, 256> at_write{};
  const auto count = [&] {
    std::array<unsigned, 9> now{};
    for (unsigned r = 0; r < 256; ++r)
      if (held.test(r)) {
        ++now[r % 8];
        ++now[8];
      }
    for (unsigned b = 0; b < 9; ++b) most[b] = std::max(most[b], now[b]);
  };
  const auto land = [&](unsigned r) {
    pending.reset(r);
    if (at_write[r] != LastUse::none) held.reset(r);
    at_write[r] = LastUse::none;
  };
  for (const Entry& e : region.words.entries)
    if (e.kind == Entry::Kind::preload || e.kind == Entry::Kind::invalidating_preload) held.set(e.reg);
  count();
  for (std::uint32_t i = region.begin; i < region.end; ++i) {
    for (unsigned r = 0; r < 256; ++r) {
      if (!pending.test(r)) continue;
      const bool must = s.reads[i].test(r) || s.writes[i].test(r);
      if (must || (any_time != nullptr && (*any_time)() % 3 == 0)) land(r);
    }
    held |= s.writes[i];
    count();
    std::array<LastUse, 256> mark{};
    const auto slots = trace::use_slots_of(s.kernel.instructions[i]);
    for (unsigned n = 0; n < trace::use_slots; ++n)
      for (unsigned r = slots[n].first; r < unsigned{slots[n].first} + slots[n].count; ++r)
        mark[r] = region.words.uses[i - region.begin][n];
    for (unsigned r = 0; r < 256; ++r) {
      if (s.writes[i].test(r)) {
        pending.set(r);
        at_write[r] = mark[r];
      } else if (mark[r] != LastUse::none) {
        held.reset(r);
      }
    }
  }
  return most;
}

void check_partition(const Subject& s) {
  std::uint32_t next = 0;
  for (const Region& r : s.plan.regions) {
    REQUIRE(r.begin == next);
    REQUIRE(r.end > r.begin);
    const trace::BasicBlock& block = s.kernel.blocks[r.block];
    REQUIRE((block.first <= r.begin && r.end <= block.first + block.count));
    for (std::uint32_t i = r.begin; i + 1 < r.end; ++i) REQUIRE_FALSE(s.is_barrier(i));
    next = r.end;
  }
  REQUIRE(next == s.kernel.instructions.size());
}

void check_words(const Subject& s) {
  REQUIRE(s.decoded.size() == s.plan.regions.size());
  for (std::size_t n = 0; n < s.decoded.size(); ++n) {
    const Region& r = s.plan.regions[n];
    const trace::PlacedRegion& d = s.decoded[n];
    REQUIRE(d.begin == r.begin);
    REQUIRE(d.end == r.end);
    // The compact word says one number for all banks that are used.
    const bool compact = d.word_count == 1 && r.size() <= trace::compact_instructions;
    for (unsigned b = 0; b < 8; ++b)
      REQUIRE((d.words.lines[b] == r.words.lines[b] ||
               (compact && r.words.lines[b] != 0 && d.words.lines[b] > r.words.lines[b])));
    REQUIRE(d.words.entries.size() == r.words.entries.size());
    for (std::size_t e = 0; e < d.words.entries.size(); ++e) {
      REQUIRE(d.words.entries[e].kind == r.words.entries[e].kind);
      REQUIRE(d.words.entries[e].reg == r.words.entries[e].reg);
    }
    REQUIRE(d.words.uses == r.words.uses);
  }
}

void check_limits(const Subject& s, std::mt19937& random) {
  unsigned oversized = 0;
  for (std::size_t n = 0; n < s.decoded.size(); ++n) {
    const Region& r = s.plan.regions[n];
    const auto latest = most_held(s, s.decoded[n], nullptr);
    const auto some = most_held(s, s.decoded[n], &random);
    bool over = r.live > s.options.max_registers;
    for (unsigned b = 0; b < 8; ++b) {
      REQUIRE(latest[b] == r.words.lines[b]);
      REQUIRE(some[b] <= r.words.lines[b]);
      over |= r.words.lines[b] > s.options.lines_per_bank;
    }
    REQUIRE(latest[8] == r.live);
    if (over) REQUIRE(r.size() == 1);
    oversized += over;
    if (r.size() > 1) REQUIRE(s.pairs(r.begin, r.end) == 0);
  }
  REQUIRE(oversized == s.plan.oversized);
}

void check_sets(const Subject& s) {
  for (const Region& r : s.plan.regions) {
    Set accessed;
    for (std::uint32_t i = r.begin; i < r.end; ++i) accessed |= s.reads[i] | s.writes[i];
    const Set in = s.inputs(r.begin, r.end), out = s.outputs(r.begin, r.end);
    REQUIRE(set_of(r.inputs) == in);
    REQUIRE(set_of(r.outputs) == out);
    REQUIRE(set_of(r.interiors) == (accessed & ~in & ~out));
    Set preloaded, dying;
    for (const Entry& e : r.words.entries) {
      if (e.kind == Entry::Kind::preload) preloaded.set(e.reg);
      if (e.kind == Entry::Kind::invalidating_preload) {
        preloaded.set(e.reg);
        dying.set(e.reg);
      }
      if (e.kind == Entry::Kind::invalidate) REQUIRE_FALSE(s.live_before[r.begin].test(e.reg));
      if (e.kind == Entry::Kind::erase_at_end) REQUIRE_FALSE(s.live_after[r.end - 1].test(e.reg));
    }
    REQUIRE(preloaded == in);
    Set dead_somewhere;
    for (std::uint32_t i = r.begin; i < r.end; ++i) dead_somewhere |= ~s.live_after[i];
    REQUIRE(dying == (in & dead_somewhere));
  }
}

/// Whether a region might be so long: IsValid of the paper, with the lines counted by issuing it.
bool is_valid(const Subject& s, const passes::KernelFacts& facts, const Region& like, std::uint32_t end) {
  if (s.pairs(like.begin, end) > 0) return false;
  Region longer;
  longer.block = like.block;
  longer.begin = like.begin;
  longer.end = end;
  passes::annotate(facts, s.kernel.blocks[like.block].first, longer);
  trace::PlacedRegion placed;
  placed.begin = longer.begin;
  placed.end = longer.end;
  placed.words = longer.words;
  const auto held = most_held(s, placed, nullptr);
  return held[8] <= s.options.max_registers &&
         *std::max_element(held.begin(), held.begin() + 8) <= s.options.lines_per_bank;
}

/// Algorithm 1: a region is as long as its part of the block, or cut at the best place of the window.
void check_cuts(const Subject& s) {
  analysis::FunctionAnalyses a(s.f);
  const passes::KernelFacts facts =
      passes::region_facts(s.kernel, analysis::WarpLiveness(s.f, a.cfg(), a.dominators(), a.reconvergence()));
  for (const Region& r : s.plan.regions) {
    const std::uint32_t end = s.part_end(r.begin);
    if (r.end == end) {
      REQUIRE((is_valid(s, facts, r, end) || r.size() == 1));
      continue;
    }
    std::uint32_t upper = r.begin + 1;
    while (upper < end && is_valid(s, facts, r, upper + 1)) ++upper;
    REQUIRE(upper < end);
    unsigned fewest = ~0u;
    std::uint32_t lower = upper;
    for (std::uint32_t p = r.begin + 1; p <= upper; ++p) {
      const unsigned left = s.pairs(r.begin, p) + s.pairs(p, end);
      if (left < fewest) {
        fewest = left;
        lower = p;
      }
    }
    lower = std::min(std::max(r.begin + s.options.min_instructions, lower), upper);
    std::size_t least = ~std::size_t{0};
    std::uint32_t best = 0;
    for (std::uint32_t p = lower; p <= upper; ++p) {
      const std::size_t both = s.cost(r.begin, p) + s.cost(p, end);
      if (both > least) continue;
      least = both;
      best = p;
    }
    REQUIRE(r.end == best);
    REQUIRE((r.size() >= s.options.min_instructions || r.end == upper));
  }
}

/// What is dropped at a block was used and defined before the paths met there: the block post-dominates every block
/// with an access whose copy the block gets (section 4.4). A copy travels along edges until its register is dropped,
/// used up or defined anew.
unsigned check_invalidations(const Subject& s) {
  analysis::FunctionAnalyses a(s.f);
  struct Block {
    Set accessed, dropped;
  };
  std::vector<Block> blocks(s.kernel.blocks.size());
  for (const Region& r : s.plan.regions) {
    Block& b = blocks[r.block];
    for (std::uint32_t i = r.begin; i < r.end; ++i) b.accessed |= s.reads[i] | s.writes[i];
    for (const Entry& e : r.words.entries)
      if (e.kind == Entry::Kind::invalidate) b.dropped.set(e.reg);
  }
  unsigned count = 0;
  for (std::uint32_t from = 0; from < blocks.size(); ++from) {
    if (!a.cfg().reachable(from)) continue;
    const trace::BasicBlock& block = s.kernel.blocks[from];
    const Set copies = blocks[from].accessed & s.live_after[block.first + block.count - 1];
    for (unsigned r = 0; r < 256; ++r) {
      if (!copies.test(r)) continue;
      std::set<std::uint32_t> seen;
      std::vector<std::uint32_t> work(block.successors.begin(), block.successors.end());
      while (!work.empty()) {
        const std::uint32_t b = work.back();
        work.pop_back();
        if (!seen.insert(b).second) continue;
        if (blocks[b].dropped.test(r)) {
          ++count;
          REQUIRE(a.reconvergence().post_dominates(b, from));
          continue;
        }
        if (blocks[b].accessed.test(r)) continue;  // the copy is that block's from there on
        work.insert(work.end(), s.kernel.blocks[b].successors.begin(), s.kernel.blocks[b].successors.end());
      }
    }
  }
  return count;
}

/// No head is longer than the limit but that of one instruction. Invalidations make none longer, and drop a register
/// once in a block, before it is accessed there or by the region that accesses it.
unsigned check_heads(const Subject& s) {
  unsigned limited = 0;
  Set accessed, dropped;
  for (std::size_t n = 0; n < s.plan.regions.size(); ++n) {
    const Region& r = s.plan.regions[n];
    if (n == 0 || s.plan.regions[n - 1].block != r.block) accessed = dropped = Set();
    unsigned invalidations = 0, head = 0;
    for (const Entry& e : r.words.entries) {
      if (e.kind != Entry::Kind::invalidate) continue;
      ++invalidations;
      REQUIRE_FALSE(accessed.test(e.reg));
      REQUIRE_FALSE(dropped.test(e.reg));
      dropped.set(e.reg);
    }
    for (const trace::PlacedWord& w : trace::encode(r.words)) head += w.before == 0 ? 1 : 0;
    if (invalidations != 0 || r.size() > 1) REQUIRE(head <= s.options.head_words);
    limited += invalidations != 0 && head == s.options.head_words ? 1 : 0;
    for (std::uint32_t i = r.begin; i < r.end; ++i) accessed |= s.reads[i] | s.writes[i];
  }
  return limited;
}

void check_random(unsigned seed, unsigned rounds, bool structured) {
  std::mt19937 random(seed);
  std::size_t regions = 0, oversized = 0, cut = 0, dropped = 0, limited = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    test::KernelShape shape;
    shape.nodes = 1 + random() % 6;
    shape.instructions = 1 + random() % 24;
    shape.registers = 4 + 2 * (random() % 14);
    shape.structured = structured;
    // Without guarded definitions, whose liveness is finer than the plain statement of it here.
    shape.guards = false;
    shape.wide = shape.registers >= 8;
    shape.barriers = random() % 2 == 0;
    passes::RegionOptions options;
    if (random() % 2 == 0) {
      options.max_registers = 248;
      options.lines_per_bank = 31;
    } else {
      options.max_registers = 2 + random() % 20;
      options.lines_per_bank = 1 + random() % 5;
    }
    options.min_instructions = 1 + random() % 9;
    if (random() % 4 == 0) options.head_words = 2 + random() % 4;
    const Subject s(test::random_kernel(random, shape), options);
    INFO("seed " << seed << " round " << round);
    check_partition(s);
    check_words(s);
    check_limits(s, random);
    check_sets(s);
    if (options.head_words == passes::RegionOptions().head_words) check_cuts(s);
    limited += check_heads(s);
    // A copy that found no room in a head travels on.
    if (options.head_words == passes::RegionOptions().head_words) dropped += check_invalidations(s);
    regions += s.plan.regions.size();
    oversized += s.plan.oversized;
    cut += s.plan.regions.size() - s.kernel.blocks.size();
  }
  CHECK(regions > 10 * rounds);
  CHECK(oversized > 0);
  CHECK(cut > 2 * rounds);
  CHECK(dropped > rounds);
  CHECK(limited > rounds / 50);
}

}  // namespace

TEST_CASE("regions of random functions hold what they must, unstructured control flow") {
  check_random(11, 5000, false);
}

TEST_CASE("regions of random functions hold what they must, structured control flow") { check_random(12, 5000, true); }
