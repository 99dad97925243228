// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/sharing.h>

#include <algorithm>

namespace regatta::passes {

namespace {

/// Sums and products end here, far from an overflow.
constexpr std::uint64_t most_weight = std::uint64_t{1} << 62;

std::uint64_t capped_sum(std::uint64_t a, std::uint64_t b) { return std::min(most_weight, a + b); }

std::uint64_t capped_product(std::uint64_t a, std::uint64_t b) {
  return a != 0 && b > most_weight / a ? most_weight : a * b;
}

}  // namespace

AccessRanges::AccessRanges(analysis::FunctionAnalyses& analyses) {
  const ir::Function& f = analyses.function();
  const analysis::Cfg& cfg = analyses.cfg();
  std::vector<std::uint32_t> first;
  std::vector<VariableSet> own(cfg.size()), in(cfg.size()), out(cfg.size());
  for (std::uint32_t b = 0; b < cfg.size(); ++b) {
    first.push_back(static_cast<std::uint32_t>(accesses_.size()));
    for (const ir::Instruction& i : f.blocks[b].instructions) {
      accesses_.push_back(i.shared_accesses);
      own[b] |= i.shared_accesses;
    }
  }
  before_.resize(accesses_.size());
  after_.resize(accesses_.size());
  const std::vector<std::uint32_t>& order = cfg.reverse_post_order();
  // Accessed before the block: forward, by the union over the predecessors.
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::uint32_t b : order)
      for (const std::uint32_t s : cfg.successors(b)) {
        const VariableSet grown = in[s] | in[b] | own[b];
        changed |= grown != in[s];
        in[s] = grown;
      }
  }
  // Accessed behind it: backward, over the successors.
  for (bool changed = true; changed;) {
    changed = false;
    for (auto b = order.rbegin(); b != order.rend(); ++b)
      for (const std::uint32_t s : cfg.successors(*b)) {
        const VariableSet grown = out[*b] | out[s] | own[s];
        changed |= grown != out[*b];
        out[*b] = grown;
      }
  }
  for (std::uint32_t b = 0; b < cfg.size(); ++b) {
    const auto count = static_cast<std::uint32_t>(f.blocks[b].instructions.size());
    VariableSet seen = in[b];
    for (std::uint32_t i = first[b]; i < first[b] + count; ++i) {
      before_[i] = seen;
      seen |= accesses_[i];
    }
    seen = out[b];
    for (std::uint32_t i = first[b] + count; i-- > first[b];) {
      after_[i] = seen;
      seen |= accesses_[i];
    }
  }
}

RangeWeight::RangeWeight(const AccessRanges& ranges, analysis::FunctionAnalyses& analyses)
    : analyses_(analyses),
      trips_(trip_counts(analyses)),
      blocks_(analyses.cfg().size()),
      order_(analyses.cfg().size()) {
  const ir::Function& f = analyses.function();
  std::uint32_t index = 0;
  for (std::uint32_t b = 0; b < f.blocks.size(); ++b)
    for (std::size_t n = 0; n < f.blocks[b].instructions.size(); ++n, ++index) {
      const VariableSet up_to = ranges.before(index) | ranges.accesses(index);
      const VariableSet from = ranges.after(index) | ranges.accesses(index);
      if (blocks_[b].empty() || blocks_[b].back().first != up_to || blocks_[b].back().last != from)
        blocks_[b].push_back({up_to, from, 0});
      ++blocks_[b].back().count;
    }
  const std::vector<std::uint32_t>& order = analyses.cfg().reverse_post_order();
  for (std::uint32_t at = 0; at < order.size(); ++at) order_[order[at]] = at;
}

std::uint64_t RangeWeight::of(VariableSet s) const {
  std::vector<std::uint64_t> block_weight(blocks_.size()), loop_weight(trips_.size());
  for (std::size_t b = 0; b < blocks_.size(); ++b)
    for (const Stretch& stretch : blocks_[b])
      if ((stretch.first & s) != 0 && (stretch.last & s) != 0) block_weight[b] += stretch.count;
  // Inner loops stand behind the loops around them.
  for (std::size_t l = trips_.size(); l-- > 0;)
    loop_weight[l] = capped_product(trips_[l], loop_body(static_cast<std::int32_t>(l), block_weight, loop_weight));
  return loop_body(-1, block_weight, loop_weight);
}

/// The heaviest way through one iteration of a loop, or through the function for -1. Loops within are one node each,
/// which stands at the place of their header: a natural loop is entered there only.
std::uint64_t RangeWeight::loop_body(std::int32_t loop, const std::vector<std::uint64_t>& block_weight,
                                     std::vector<std::uint64_t>& loop_weight) const {
  const analysis::Cfg& cfg = analyses_.cfg();
  const std::vector<analysis::Loop>& loops = analyses_.loops().loops();
  const auto is_inside = [&](std::uint32_t b) {
    return loop < 0 || loops[static_cast<std::size_t>(loop)].blocks.test(b);
  };
  /// The outermost loop around the block within `loop`, -1: none.
  const auto node_loop = [&](std::uint32_t b) {
    std::int32_t found = -1;
    for (std::int32_t l = analyses_.loops().innermost(b); l != loop && l >= 0;
         l = loops[static_cast<std::size_t>(l)].parent)
      found = l;
    return found;
  };
  const auto node = [&](std::uint32_t b) {
    const std::int32_t l = node_loop(b);
    return l < 0 ? b : loops[static_cast<std::size_t>(l)].header;
  };
  std::vector<std::uint64_t> heaviest(cfg.size());  // of the ways to the node, itself included
  std::vector<std::uint64_t> arriving(cfg.size());
  std::uint64_t most = 0;
  for (const std::uint32_t b : cfg.reverse_post_order()) {
    if (!is_inside(b)) continue;
    const std::uint32_t at = node(b);
    if (at == b) {
      const std::int32_t l = node_loop(b);
      heaviest[b] = capped_sum(arriving[b], l < 0 ? block_weight[b] : loop_weight[static_cast<std::size_t>(l)]);
      most = std::max(most, heaviest[b]);
    }
    for (const std::uint32_t s : cfg.successors(b)) {
      // Backward edges end an iteration.
      if (!is_inside(s) || node(s) == at || order_[node(s)] <= order_[at]) continue;
      arriving[node(s)] = std::max(arriving[node(s)], heaviest[at]);
    }
  }
  return most;
}

}  // namespace regatta::passes
