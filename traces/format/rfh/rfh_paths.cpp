// SPDX-License-Identifier: Apache-2.0
//
// What becomes of RFH's levels along all paths of a kernel, lanes that wait on the SIMT stack included.
#include <regatta/trace/rfh_strands.h>

#include <array>
#include <bitset>
#include <stdexcept>

namespace regatta::trace {

namespace {

using RegisterSet = std::bitset<256>;

/// Finds out in one pass where strands have to begin. Paths that go back enter a new strand, so blocks are visited in
/// their order in memory.
class StrandRules {
 public:
  StrandRules(const Kernel& kernel, const DivergentPaths& paths)
      : kernel_(kernel), paths_(paths), reasons_(kernel.instructions.size(), nullptr) {
    const std::size_t n = kernel.instructions.size();
    const auto require = [&](std::size_t index, const char* reason) {
      if (index < n && reasons_[index] == nullptr) reasons_[index] = reason;
    };
    require(0, "is the first");
    for (std::size_t index = 0; index < n; ++index) {
      const StaticInstruction& i = kernel.instructions[index];
      if (i.branch_target >= 0 && i.branch_target <= static_cast<std::int32_t>(index)) {
        require(static_cast<std::size_t>(i.branch_target), "is the target of a backward branch");
        require(index + 1, "follows a backward branch");
      }
      if (waits_at_barrier(i)) require(index + 1, "follows a barrier");
      if (i.op_class == OpClass::fence) require(index, "is a fence");
    }
  }

  /// Calls missing(index, reason) for each instruction at which a strand has to begin, unless `begins` says so, and
  /// goes on as if it did.
  template <typename Missing>
  void visit(const std::vector<bool>& begins, Missing&& missing) const {
    const auto predecessors = predecessors_of(kernel_);
    std::vector<RegisterSet> loaded(kernel_.blocks.size()), pending_out(kernel_.blocks.size());
    for (std::size_t b = 0; b < kernel_.blocks.size(); ++b)
      for_each_index(b, [&](std::uint32_t index) { add_loaded(kernel_.instructions[index], loaded[b]); });
    for (std::uint32_t b = 0; b < kernel_.blocks.size(); ++b) {
      // The scoreboard is the warp's: what lanes elsewhere have loaded while those here waited counts too.
      RegisterSet pending;
      for (const std::uint32_t p : predecessors[b])
        if (p < b) pending |= pending_out[p];
      for (const std::uint32_t w : paths_.at_block(b))
        for (const std::uint32_t other : paths_.waits()[w].others) pending |= loaded[other];
      for_each_index(b, [&](std::uint32_t index) {
        const StaticInstruction& i = kernel_.instructions[index];
        const char* reason = reasons_[index];
        if (reason == nullptr && names_any(i, pending)) reason = "needs a long-latency result of its strand";
        if (begins[index] || reason != nullptr) pending.reset();
        if (reason != nullptr && !begins[index]) missing(index, reason);
        add_loaded(i, pending);
      });
      pending_out[b] = pending;
    }
  }

 private:
  template <typename Visit>
  void for_each_index(std::size_t block, Visit&& visit) const {
    const BasicBlock& b = kernel_.blocks[block];
    for (std::uint32_t index = b.first; index < b.first + b.count; ++index) visit(index);
  }
  static void add_loaded(const StaticInstruction& i, RegisterSet& registers) {
    for (unsigned d = 0; is_long_latency(i) && d < i.destination_count; ++d) registers.set(i.destinations[d]);
  }
  static bool names_any(const StaticInstruction& i, const RegisterSet& registers) {
    bool any = false;
    for (unsigned s = 0; s < i.source_count; ++s) any = any || registers.test(i.sources[s]);
    for (unsigned d = 0; d < i.destination_count; ++d) any = any || registers.test(i.destinations[d]);
    return any;
  }

  const Kernel& kernel_;
  const DivergentPaths& paths_;
  std::vector<const char*> reasons_;  ///< those that do not depend on registers
};

/// Entries 0 to 2 are the LRF, of which the first alone is used if it is not split; entry 3 + k is ORF k.
constexpr unsigned rfh_entries = lrf_banks + max_orf_entries;
constexpr std::int16_t unknown_register = -1;

struct HeldEntries {
  std::array<std::int16_t, rfh_entries> reg;  ///< whose value the entry holds for sure

  HeldEntries() { lose(); }
  void lose() { reg.fill(unknown_register); }
  void meet(const HeldEntries& other) {
    for (unsigned e = 0; e < rfh_entries; ++e)
      if (reg[e] != other.reg[e]) reg[e] = unknown_register;
  }
};

template <typename Visit>
void for_each_rfh_entry(const RfhLevels& l, Visit&& visit) {
  if (l.last) visit(lrf_entry_of(l));
  if (l.orf >= 0) visit(lrf_banks + static_cast<unsigned>(l.orf));
}

class LevelRules {
 public:
  LevelRules(const Kernel& kernel, const RfhPlan& plan, const DivergentPaths& paths)
      : kernel_(kernel), plan_(plan), paths_(paths), predecessors_(predecessors_of(kernel)) {}

  void check_entries() {
    find_written();
    std::vector<HeldEntries> out(kernel_.blocks.size());
    for (std::uint32_t b = 0; b < kernel_.blocks.size(); ++b) {
      HeldEntries held;
      bool first = true;
      for (const std::uint32_t p : predecessors_[b]) {
        HeldEntries arriving;  // unknown_register, from a block behind: a strand begins here
        if (p < b) arriving = out[p];
        wait(p, b, arriving);
        if (first) held = arriving;
        held.meet(arriving);
        first = false;
      }
      if (b == 0) held.lose();
      for_each_index(b, [&](std::uint32_t index) { step(index, held); });
      out[b] = held;
    }
  }

  void check_main() {
    std::vector<RegisterSet> stale_in(kernel_.blocks.size());
    std::vector<std::uint32_t> work;
    std::vector<bool> queued(kernel_.blocks.size(), true);
    for (std::size_t b = kernel_.blocks.size(); b-- > 0;) work.push_back(static_cast<std::uint32_t>(b));
    while (!work.empty()) {
      const std::uint32_t b = work.back();
      work.pop_back();
      queued[b] = false;
      RegisterSet stale = stale_in[b];
      for_each_index(b, [&](std::uint32_t index) { step_main(index, stale); });
      for (const std::uint32_t s : kernel_.blocks[b].successors) {
        const RegisterSet more = stale_in[s] | stale;
        if (more == stale_in[s]) continue;
        stale_in[s] = more;
        if (!queued[s]) work.push_back(s);
        queued[s] = true;
      }
    }
    for (std::uint32_t b = 0; b < kernel_.blocks.size(); ++b) {
      RegisterSet stale = stale_in[b];
      for_each_index(b, [&](std::uint32_t index) {
        const StaticInstruction& i = kernel_.instructions[index];
        for (unsigned s = 0; s < i.source_count; ++s)
          if (plan_.instructions[index].sources[s].main && stale.test(i.sources[s]))
            fail(index, i.sources[s], "the MRF, which may lack its value");
        step_main(index, stale);
      });
    }
  }

 private:
  [[noreturn]] static void fail(std::uint32_t index, unsigned reg, const std::string& from) {
    throw std::invalid_argument("rfh: instruction " + std::to_string(index) + " reads R" + std::to_string(reg) +
                                " from " + from);
  }

  template <typename Visit>
  void for_each_index(std::uint32_t block, Visit&& visit) const {
    const BasicBlock& b = kernel_.blocks[block];
    for (std::uint32_t index = b.first; index < b.first + b.count; ++index) visit(index);
  }

  void find_written() {
    written_.assign(kernel_.blocks.size(), {});
    begins_.assign(kernel_.blocks.size(), false);
    for (std::uint32_t b = 0; b < kernel_.blocks.size(); ++b)
      for_each_index(b, [&](std::uint32_t index) {
        const StaticInstruction& i = kernel_.instructions[index];
        const RfhInstruction& levels = plan_.instructions[index];
        begins_[b] = begins_[b] || levels.strand_begins;
        for (unsigned s = 0; s < i.source_count; ++s)
          if (levels.sources[s].copies())
            for_each_rfh_entry(levels.sources[s], [&](unsigned e) { written_[b][e].set(i.sources[s]); });
        for (unsigned d = 0; d < i.destination_count; ++d)
          for_each_rfh_entry(levels.destinations[d], [&](unsigned e) { written_[b][e].set(i.destinations[d]); });
      });
  }

  /// What lanes elsewhere may do to the entries while those that go from block to block wait.
  void wait(std::uint32_t from, std::uint32_t to, HeldEntries& held) const {
    for (const std::uint32_t w : paths_.of_edge(from, to)) {
      for (const std::uint32_t other : paths_.waits()[w].others) {
        if (begins_[other]) held.lose();
        for (unsigned e = 0; e < rfh_entries; ++e) {
          if (held.reg[e] == unknown_register) continue;
          RegisterSet foreign = written_[other][e];
          foreign.reset(static_cast<std::size_t>(held.reg[e]));
          if (foreign.any()) held.reg[e] = unknown_register;
        }
      }
    }
  }

  void step(std::uint32_t index, HeldEntries& held) const {
    const StaticInstruction& i = kernel_.instructions[index];
    const RfhInstruction& levels = plan_.instructions[index];
    const bool guarded = i.guard.predicate >= 0;
    if (levels.strand_begins) held.lose();
    for (unsigned s = 0; s < i.source_count; ++s) {
      const RfhLevels& l = levels.sources[s];
      if (l.main) continue;
      for_each_rfh_entry(l, [&](unsigned e) {
        if (held.reg[e] != i.sources[s]) fail(index, i.sources[s], to_string(l) + ", which may hold something else");
      });
    }
    // Under a guard, some lanes keep what they have.
    const auto write = [&](unsigned e, unsigned reg) {
      const auto r = static_cast<std::int16_t>(reg);
      held.reg[e] = !guarded || held.reg[e] == r ? r : unknown_register;
    };
    for (unsigned s = 0; s < i.source_count; ++s)
      if (levels.sources[s].copies())
        for_each_rfh_entry(levels.sources[s], [&](unsigned e) { write(e, i.sources[s]); });
    for (unsigned d = 0; d < i.destination_count; ++d) {
      std::array<bool, rfh_entries> now{};
      for_each_rfh_entry(levels.destinations[d], [&](unsigned e) { now[e] = true; });
      for (unsigned e = 0; e < rfh_entries; ++e) {
        if (now[e]) write(e, i.destinations[d]);
        if (!now[e] && held.reg[e] == i.destinations[d]) held.reg[e] = unknown_register;
      }
    }
  }

  void step_main(std::uint32_t index, RegisterSet& stale) const {
    const StaticInstruction& i = kernel_.instructions[index];
    for (unsigned d = 0; d < i.destination_count; ++d) {
      if (!plan_.instructions[index].destinations[d].main)
        stale.set(i.destinations[d]);
      else if (i.guard.predicate < 0)
        stale.reset(i.destinations[d]);
    }
  }

  const Kernel& kernel_;
  const RfhPlan& plan_;
  const DivergentPaths& paths_;
  std::vector<std::vector<std::uint32_t>> predecessors_;
  std::vector<std::array<RegisterSet, rfh_entries>> written_;  ///< per block and entry: the registers written to it
  std::vector<bool> begins_;                                   ///< per block: a strand begins in it
};

}  // namespace

std::vector<bool> strand_begins(const Kernel& kernel, const DivergentPaths& paths) {
  const std::vector<bool> none(kernel.instructions.size(), false);
  std::vector<bool> begins = none;
  StrandRules(kernel, paths).visit(none, [&](std::uint32_t index, const char*) { begins[index] = true; });
  return begins;
}

void verify_rfh(const Kernel& kernel, const RfhPlan& plan) {
  const DivergentPaths paths(kernel);
  std::vector<bool> begins;
  for (const RfhInstruction& i : plan.instructions) begins.push_back(i.strand_begins);
  StrandRules(kernel, paths).visit(begins, [](std::uint32_t index, const char* reason) {
    throw std::invalid_argument("rfh: no strand begins at instruction " + std::to_string(index) + ", which " + reason);
  });
  LevelRules rules(kernel, plan, paths);
  rules.check_entries();
  rules.check_main();
}

}  // namespace regatta::trace
