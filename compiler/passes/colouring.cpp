// SPDX-License-Identifier: Apache-2.0
#include "allocation.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <tuple>

namespace regatta::passes {

namespace {

constexpr double unspillable = std::numeric_limits<double>::infinity();

class Colourer {
 public:
  Colourer(const AllocationState& state, const Interference& graph, const Nodes& nodes)
      : state_(state), graph_(graph), nodes_(nodes), base_(nodes.node.size(), -1), cost_(nodes.node.size(), 0) {
    for (const Copy& c : graph.copies()) {
      const std::uint32_t a = nodes.node_of[c.a], b = nodes.node_of[c.b];
      if (a == b) continue;
      wishes_[a].push_back(&c);
      wishes_[b].push_back(&c);
    }
    const Rematerialization remat(*state.f);
    for (std::uint32_t n = 0; n < nodes.node.size(); ++n) {
      bool any = false;
      for (const Member& m : nodes.node[n].members) {
        if (state.pinned[m.vreg]) continue;
        any = true;
        cost_[n] += graph.weight(m.vreg) * (remat.definition(m.vreg) ? 0.25 : nodes.words(m.vreg));
      }
      if (!any) cost_[n] = unspillable;
    }
  }

  Colouring run();

 private:
  std::vector<std::uint32_t> removal_order() const;
  std::int32_t choose(std::uint32_t n);
  void forbid(std::uint32_t n);
  double bank_conflicts(std::uint32_t n, unsigned base) const;
  void find_bank_weights(std::uint32_t n);

  const AllocationState& state_;
  const Interference& graph_;
  const Nodes& nodes_;
  std::vector<std::int32_t> base_;
  std::vector<double> cost_;
  std::unordered_map<std::uint32_t, std::vector<const Copy*>> wishes_;
  std::array<bool, 256> forbidden_{};
  std::vector<double> bank_weight_;  // per own word and bank
  unsigned ceiling_ = 0;             // registers that the pressure makes unavoidable, or that are taken already
};

/// Least constrained first; when only hard nodes are left, the cheapest to spill per place it would free.
std::vector<std::uint32_t> Colourer::removal_order() const {
  const auto& node = nodes_.node;
  std::vector<unsigned> blocked(node.size());
  std::vector<bool> present(node.size(), false);
  // Keyed by the registers that neighbours can take, then by width: wide nodes choose their place before narrow ones.
  using Key = std::tuple<unsigned, unsigned, std::uint32_t>;
  std::set<Key> easy, hard;
  const auto set_of = [&](std::uint32_t n) -> auto& { return blocked[n] < nodes_.places(node[n]) ? easy : hard; };
  const auto key = [&](std::uint32_t n) { return Key(blocked[n] * node[n].width, node[n].width, n); };
  for (std::uint32_t n = 0; n < node.size(); ++n) {
    if (!node[n].alive) continue;
    blocked[n] = node[n].blocked;
    present[n] = true;
    set_of(n).insert(key(n));
  }
  std::vector<std::uint32_t> order;
  while (!easy.empty() || !hard.empty()) {
    std::uint32_t pick;
    if (!easy.empty()) {
      pick = std::get<2>(*easy.begin());
      easy.erase(easy.begin());
    } else {
      auto best = hard.begin();
      double best_value = unspillable;
      for (auto it = hard.begin(); it != hard.end(); ++it) {
        const double value = cost_[std::get<2>(*it)] / (std::get<0>(*it) + 1.0);
        if (value < best_value) {
          best_value = value;
          best = it;
        }
      }
      pick = std::get<2>(*best);
      hard.erase(best);
    }
    present[pick] = false;
    order.push_back(pick);
    for (std::uint32_t t : node[pick].adjacent) {
      if (!present[t]) continue;
      set_of(t).erase(key(t));
      blocked[t] -= Nodes::takes(node[pick], node[t]);
      set_of(t).insert(key(t));
    }
  }
  return order;
}

/// Marks every base at which some member would overlap a register of an interfering, placed one.
void Colourer::forbid(std::uint32_t n) {
  forbidden_.fill(false);
  for (const Member& m : nodes_.node[n].members)
    for (std::uint32_t u : graph_.neighbours(m.vreg)) {
      const std::uint32_t other = nodes_.node_of[u];
      if (other == n || base_[other] < 0) continue;
      const unsigned first = static_cast<unsigned>(base_[other]) + nodes_.offset_of[u];
      for (unsigned taken = first; taken < first + nodes_.words(u); ++taken)
        for (unsigned word = m.offset; word < m.offset + nodes_.words(m.vreg); ++word)
          if (taken >= word) forbidden_[taken - word] = true;
    }
}

void Colourer::find_bank_weights(std::uint32_t n) {
  const unsigned banks = state_.options.banks;
  bank_weight_.assign(nodes_.node[n].width * banks, 0);
  for (const Member& m : nodes_.node[n].members)
    for (const BankPair& p : graph_.bank_pairs(m.vreg)) {
      const std::uint32_t other = nodes_.node_of[p.other];
      if (other == n || base_[other] < 0) continue;
      const unsigned first = static_cast<unsigned>(base_[other]) + nodes_.offset_of[p.other];
      for (unsigned r = first; r < first + nodes_.words(p.other); ++r)
        for (unsigned word = m.offset; word < m.offset + nodes_.words(m.vreg); ++word)
          bank_weight_[word * banks + r % banks] += p.weight;
    }
}

double Colourer::bank_conflicts(std::uint32_t n, unsigned base) const {
  const unsigned banks = state_.options.banks;
  double sum = 0;
  for (unsigned word = 0; word < nodes_.node[n].width; ++word)
    sum += bank_weight_[word * banks + (base + word) % banks];
  return sum;
}

/// A base for the node, or -1. In this order: the place of a copy's other end; within the unavoidable number of
/// registers the one with the fewest bank conflicts; the lowest.
std::int32_t Colourer::choose(std::uint32_t n) {
  const Node& node = nodes_.node[n];
  const unsigned limit = node.is_predicate ? trace::max_predicates : state_.options.max_registers;
  forbid(n);
  const auto allowed = [&](unsigned base) {
    return base % node.width == 0 && base + node.width <= limit && !forbidden_[base];
  };
  if (const auto wish = wishes_.find(n); wish != wishes_.end()) {
    for (const Copy* c : wish->second) {  // heaviest first
      const bool is_a = nodes_.node_of[c->a] == n;
      const std::uint32_t mine = is_a ? c->a : c->b, theirs = is_a ? c->b : c->a;
      const std::uint32_t other = nodes_.node_of[theirs];
      if (base_[other] < 0) continue;
      const int base = base_[other] + static_cast<int>(nodes_.offset_of[theirs] + (is_a ? c->word_b : c->word_a)) -
                       static_cast<int>(nodes_.offset_of[mine] + (is_a ? c->word_a : c->word_b));
      if (base >= 0 && base < 256 && allowed(static_cast<unsigned>(base))) return base;
    }
  }
  std::int32_t best = -1;
  double best_conflicts = unspillable;
  const bool spread = !node.is_predicate && state_.options.banks > 1;
  if (spread) find_bank_weights(n);
  for (unsigned base = 0; base + node.width <= limit; base += node.width) {
    if (!allowed(base)) continue;
    if (best >= 0 && (!spread || base + node.width > ceiling_)) break;
    const double conflicts = spread ? bank_conflicts(n, base) : 0;
    if (conflicts < best_conflicts) {
      best_conflicts = conflicts;
      best = static_cast<std::int32_t>(base);
      if (conflicts == 0) break;
    }
  }
  return best;
}

Colouring Colourer::run() {
  Colouring result;
  const auto& node = nodes_.node;
  ceiling_ = graph_.pressure();
  std::vector<std::uint32_t> order = removal_order();
  std::vector<bool> spilled(node.size(), false);
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const std::uint32_t n = *it;
    base_[n] = choose(n);
    if (base_[n] >= 0) {
      if (!node[n].is_predicate) ceiling_ = std::max(ceiling_, static_cast<unsigned>(base_[n]) + node[n].width);
      continue;
    }
    std::uint32_t victim = n;
    if (cost_[n] == unspillable) {  // someone beside it must go
      double cheapest = unspillable;
      for (std::uint32_t t : node[n].adjacent)
        if (node[t].alive && !spilled[t] && cost_[t] / node[t].width < cheapest) {
          cheapest = cost_[t] / node[t].width;
          victim = t;
        }
      if (victim == n) {
        // A neighbour already leaves: the next round may have room.
        const bool waits = std::any_of(node[n].adjacent.begin(), node[n].adjacent.end(),
                                       [&](std::uint32_t t) { return node[t].alive && spilled[t]; });
        if (!waits) result.impossible = static_cast<std::int32_t>(n);
        continue;
      }
    }
    if (!spilled[victim]) {
      spilled[victim] = true;
      result.spilled.push_back(victim);
    }
  }
  result.assignment.assign(state_.f->registers.size(), -1);
  for (std::uint32_t n = 0; n < node.size(); ++n)
    if (base_[n] >= 0)
      for (const Member& m : node[n].members)
        result.assignment[m.vreg] = base_[n] + static_cast<std::int32_t>(m.offset);
  return result;
}

}  // namespace

Colouring colour(const AllocationState& state, const Interference& graph, const Nodes& nodes) {
  return Colourer(state, graph, nodes).run();
}

}  // namespace regatta::passes
