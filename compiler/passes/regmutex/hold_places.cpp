// SPDX-License-Identifier: Apache-2.0
#include "hold_places.h"

#include <algorithm>
#include <numeric>

namespace regatta::passes {

namespace {

using analysis::BitSet;

/// Places, numbered: the instructions, then the entries of the blocks. A union-find structure joins them to groups.
class Places {
 public:
  Places(const trace::Kernel& kernel, analysis::FunctionAnalyses& analyses)
      : kernel_(kernel), analyses_(analyses), f_(analyses.function()), cfg_(analyses.cfg()) {
    joined_.resize(kernel.instructions.size() + kernel.blocks.size());
    std::iota(joined_.begin(), joined_.end(), 0u);
  }

  std::uint32_t last(std::uint32_t block) const {
    return kernel_.blocks[block].first + kernel_.blocks[block].count - 1;
  }
  std::uint32_t entry(std::uint32_t block) const {
    return static_cast<std::uint32_t>(kernel_.instructions.size()) + block;
  }
  std::size_t count() const { return joined_.size(); }
  std::uint32_t root(std::uint32_t place) {
    while (joined_[place] != place) place = joined_[place] = joined_[joined_[place]];
    return place;
  }

  void join_all() {
    in_divergent_code_.assign(kernel_.blocks.size(), false);
    for (const std::uint32_t b : cfg_.reverse_post_order()) {
      const auto& sides = cfg_.successors(b);
      if (sides.size() > 1) {
        join_branch(b);
      } else if (sides.size() == 1 && terminator(b).op == ir::Opcode::bra) {
        join(last(b), entry(sides.front()));
      }
    }
  }

  /// Whether lanes may wait on the SIMT stack while the block runs.
  bool in_divergent_code(std::uint32_t block) const { return in_divergent_code_[block]; }

  const ir::Instruction& terminator(std::uint32_t block) const { return f_.blocks[block].instructions.back(); }

 private:
  void join(std::uint32_t a, std::uint32_t b) { joined_[root(a)] = root(b); }

  /// The warp goes on at another side of the branch, or where its sides meet, whenever the lanes that run come there or
  /// leave the kernel. So the state is the same at the branch, at the entries of its sides and of the block where they
  /// meet, and at all exits in between.
  void join_branch(std::uint32_t branch) {
    const std::int32_t meet = analyses_.reconvergence().immediate(branch);
    const auto meets = [meet](std::uint32_t b) { return meet >= 0 && b == static_cast<std::uint32_t>(meet); };
    if (meet >= 0) join(last(branch), entry(static_cast<std::uint32_t>(meet)));
    std::vector<bool> seen(kernel_.blocks.size(), false);
    std::vector<std::uint32_t> open;
    const auto visit = [&](std::uint32_t b) {
      if (meets(b) || seen[b]) return;
      seen[b] = true;
      open.push_back(b);
    };
    for (const std::uint32_t side : cfg_.successors(branch)) {
      join(last(branch), entry(side));
      visit(side);
    }
    while (!open.empty()) {
      const std::uint32_t b = open.back();
      open.pop_back();
      in_divergent_code_[b] = true;
      if (terminator(b).op == ir::Opcode::exit) join(last(branch), last(b));
      for (const std::uint32_t s : cfg_.successors(b)) visit(s);
    }
  }

  const trace::Kernel& kernel_;
  analysis::FunctionAnalyses& analyses_;
  const ir::Function& f_;
  const analysis::Cfg& cfg_;
  std::vector<std::uint32_t> joined_;
  std::vector<bool> in_divergent_code_;
};

std::uint64_t weight_at(std::uint32_t loop_depth) {
  std::uint64_t weight = 1;
  for (std::uint32_t d = 0; d < std::min(loop_depth, 6u); ++d) weight *= 10;
  return weight;
}

bool waits_at_barrier(const ir::Instruction& i) {
  return i.op == ir::Opcode::bar && i.mod.barrier != ir::BarrierMode::arrive;
}

}  // namespace

HoldPlaces::HoldPlaces(const trace::Kernel& kernel, analysis::FunctionAnalyses& analyses) {
  const ir::Function& f = analyses.function();
  const analysis::Cfg& cfg = analyses.cfg();
  const auto instructions = static_cast<std::uint32_t>(kernel.instructions.size());
  const auto blocks = static_cast<std::uint32_t>(kernel.blocks.size());
  const unsigned registers = kernel.registers_per_thread;
  Places places(kernel, analyses);
  places.join_all();

  // Groups, by number.
  std::vector<std::uint32_t> number(places.count(), UINT32_MAX);
  std::uint32_t groups = 0;
  for (std::uint32_t p = 0; p < places.count(); ++p) {
    std::uint32_t& n = number[places.root(p)];
    if (n == UINT32_MAX) n = groups++;
  }
  const auto group = [&](std::uint32_t place) { return number[places.root(place)]; };
  for (std::uint32_t i = 0; i < instructions; ++i) group_.push_back(group(i));
  needs_.assign(groups, BitSet(registers));
  free_.assign(groups, false);
  weight_.assign(groups, 0);
  base_only_ = BitSet(registers);

  const auto need = [&](std::uint32_t place, const BitSet& variables) {
    BitSet& needs = needs_[group(place)];
    variables.for_each([&](std::uint32_t v) {
      if (v < registers) needs.set(v);
    });
  };
  const analysis::WarpLiveness& liveness = analyses.warp_liveness();
  analysis::LivenessWalker walker(liveness.running());
  for (std::uint32_t b = 0; b < blocks; ++b) {
    const std::uint64_t weight = weight_at(analyses.loops().depth(b));
    for (walker.start(b); walker.more();) {
      const ir::Instruction& instruction = f.blocks[b].instructions[walker.index()];
      const auto index = static_cast<std::uint32_t>(kernel.blocks[b].first + walker.index());
      need(index, walker.live());
      walker.step();
      need(index, walker.live());
      need(index, liveness.waiting(b));
      const trace::StaticInstruction& i = kernel.instructions[index];
      BitSet& needs = needs_[group(index)];
      std::for_each_n(i.destinations.begin(), i.destination_count, [&](std::uint8_t r) { needs.set(r); });
      std::for_each_n(i.sources.begin(), i.source_count, [&](std::uint8_t r) { needs.set(r); });
      weight_[group(index)] += weight;
      if (waits_at_barrier(instruction)) free_[group(index)] = true;
    }
    // A warp starts without a section. What an entry block without predecessors has live is not written yet.
    if (b == 0) free_[group(places.entry(b))] = true;
    if (b != 0 || !cfg.predecessors(b).empty()) need(places.entry(b), liveness.live_in(b));
    const ir::Instruction& end = places.terminator(b);
    if (end.op == ir::Opcode::exit && !end.guarded && !places.in_divergent_code(b)) free_[group(places.last(b))] = true;
  }
  for (std::uint32_t g = 0; g < groups; ++g)
    if (free_[g]) base_only_.merge(needs_[g]);

  for (std::uint32_t b = 0; b < blocks; ++b) {
    const std::uint32_t first = kernel.blocks[b].first;
    const std::uint64_t weight = weight_at(analyses.loops().depth(b));
    // Only the block in front may fall through to here. All other edges keep the state: places.join_all().
    for (const std::uint32_t p : cfg.predecessors(b)) {
      if (cfg.successors(p).size() > 1 || places.terminator(p).op == ir::Opcode::bra) continue;
      const bool alone = cfg.predecessors(b).size() == 1;
      steps_.push_back({group(places.last(p)), group(places.entry(b)), weight_at(analyses.loops().depth(p)), first,
                        alone ? -1 : static_cast<std::int32_t>(places.last(p))});
    }
    steps_.push_back({group(places.entry(b)), group(first), weight, first, -1});
    for (std::uint32_t i = first + 1; i <= places.last(b); ++i)
      steps_.push_back({group(i - 1), group(i), weight, i, -1});
  }
}

}  // namespace regatta::passes
