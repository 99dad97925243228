// SPDX-License-Identifier: Apache-2.0
#include "allocation.h"

#include <algorithm>
#include <array>
#include <limits>

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

/// Easy nodes by how constrained they are: the registers that neighbours can take, then the width, so that wide nodes
/// choose their place before narrow ones. A node is entered again whenever its key falls; older entries are stale.
class EasyNodes {
 public:
  void insert(std::uint32_t n, unsigned blocked_registers, unsigned width) {
    const std::size_t key = 4 * std::size_t{blocked_registers} + width / 2;  // widths 1, 2, 4
    if (key >= buckets_.size()) buckets_.resize(key + 1);
    buckets_[key].push_back(n);
    lowest_ = std::min(lowest_, key);
  }
  /// The least constrained node that is still wanted, or -1.
  template <typename Wanted>
  std::int64_t take(Wanted&& wanted) {
    for (; lowest_ < buckets_.size(); ++lowest_)
      while (!buckets_[lowest_].empty()) {
        const std::uint32_t n = buckets_[lowest_].back();
        buckets_[lowest_].pop_back();
        if (wanted(n)) return n;
      }
    return -1;
  }

 private:
  std::vector<std::vector<std::uint32_t>> buckets_;
  std::size_t lowest_ = 0;
};

/// Least constrained first; when only hard nodes are left, the cheapest to spill per place it would free.
std::vector<std::uint32_t> Colourer::removal_order() const {
  const auto& node = nodes_.node;
  std::vector<unsigned> blocked(node.size()), room(node.size());
  std::vector<bool> present(node.size(), false);
  EasyNodes easy;
  std::vector<std::uint32_t> hard;
  const auto is_easy = [&](std::uint32_t n) { return blocked[n] < room[n]; };
  for (std::uint32_t n = 0; n < node.size(); ++n) {
    if (!node[n].alive) continue;
    blocked[n] = node[n].blocked;
    room[n] = nodes_.places(node[n]);
    present[n] = true;
    if (is_easy(n))
      easy.insert(n, blocked[n] * node[n].width, node[n].width);
    else
      hard.push_back(n);
  }
  std::vector<std::uint32_t> order;
  for (;;) {
    std::int64_t pick = easy.take([&](std::uint32_t n) { return present[n]; });
    if (pick < 0) {
      hard.erase(std::remove_if(hard.begin(), hard.end(), [&](std::uint32_t n) { return !present[n] || is_easy(n); }),
                 hard.end());
      if (hard.empty()) return order;
      double best_value = unspillable;
      pick = hard.front();
      for (std::uint32_t n : hard) {
        const double value = cost_[n] / (blocked[n] * node[n].width + 1.0);
        if (value < best_value) {
          best_value = value;
          pick = n;
        }
      }
    }
    const auto chosen = static_cast<std::uint32_t>(pick);
    present[chosen] = false;
    order.push_back(chosen);
    for (std::uint32_t t : node[chosen].adjacent) {
      if (!present[t]) continue;
      blocked[t] -= Nodes::takes(node[chosen], node[t]);
      if (is_easy(t)) easy.insert(t, blocked[t] * node[t].width, node[t].width);
    }
  }
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
  const unsigned limit = node.is_predicate ? trace::max_predicates : std::min(state_.options.max_registers, node.limit);
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
