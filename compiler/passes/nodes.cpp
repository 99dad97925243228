// SPDX-License-Identifier: Apache-2.0
#include "allocation.h"

#include <algorithm>

namespace regatta::passes {

unsigned Nodes::words(std::uint32_t vreg) const {
  const ir::VirtualRegister& r = state_.f->registers[vreg];
  return r.is_predicate ? 1 : r.words;
}

unsigned Nodes::places(const Node& n) const {
  return n.is_predicate ? trace::max_predicates : std::min(state_.options.max_registers, n.limit) / n.width;
}

Nodes::Nodes(const AllocationState& state, const Interference& graph)
    : node_of(state.f->registers.size(), ~0u),
      offset_of(state.f->registers.size(), 0),
      state_(state),
      graph_(graph),
      edges_(state.f->registers.size()) {
  const auto& registers = state.f->registers;
  const auto new_node = [&](unsigned width, bool is_predicate) {
    Node n;
    n.width = width;
    n.is_predicate = is_predicate;
    node.push_back(std::move(n));
    return static_cast<std::uint32_t>(node.size() - 1);
  };
  const auto place = [&](std::uint32_t vreg, std::uint32_t at, unsigned offset) {
    node_of[vreg] = at;
    offset_of[vreg] = offset;
    node[at].members.push_back({vreg, offset});
    node[at].limit = std::min(node[at].limit, graph.limit(vreg));
  };
  for (const Tuple& tuple : state.tuples) {
    if (tuple.empty() || !graph.appears(tuple.front())) continue;
    unsigned width = 0;
    for (std::uint32_t v : tuple) width += words(v);
    const std::uint32_t at = new_node(width, false);
    unsigned offset = 0;
    for (std::uint32_t v : tuple) {
      place(v, at, offset);
      offset += words(v);
    }
  }
  for (std::uint32_t v = 0; v < registers.size(); ++v)
    if (graph.appears(v) && node_of[v] == ~0u) place(v, new_node(words(v), registers[v].is_predicate), 0);
  for (std::uint32_t v = 0; v < registers.size(); ++v)
    for (std::uint32_t u : graph.neighbours(v))
      if (u < v && node_of[u] != node_of[v]) add_edge(node_of[u], node_of[v]);
  stamp_.assign(node.size(), 0);
}

void Nodes::add_edge(std::uint32_t a, std::uint32_t b) {
  if (!edges_.insert(a, b)) return;
  node[a].adjacent.push_back(b);
  node[b].adjacent.push_back(a);
  node[a].blocked += takes(node[b], node[a]);
  node[b].blocked += takes(node[a], node[b]);
}

void Nodes::coalesce() {
  // A merge can make a refused one safe, by taking a neighbour away; more rounds than these hardly find any.
  constexpr unsigned most_rounds = 3;
  std::vector<bool> done(graph_.copies().size(), false);
  bool again = true;
  for (unsigned round = 0; again && round < most_rounds; ++round) {
    again = false;
    for (std::size_t c = 0; c < done.size(); ++c) {
      if (done[c]) continue;
      const Copy& copy = graph_.copies()[c];
      if (node_of[copy.a] == node_of[copy.b]) {
        done[c] = true;
      } else if (try_merge(copy)) {
        done[c] = true;
        again = true;
      }
    }
  }
}

bool Nodes::try_merge(const Copy& copy) {
  std::uint32_t big = node_of[copy.a], small = node_of[copy.b];
  int delta = static_cast<int>(offset_of[copy.a] + copy.word_a) - static_cast<int>(offset_of[copy.b] + copy.word_b);
  if (node[big].width < node[small].width) {
    std::swap(big, small);
    delta = -delta;
  }
  const Node &outer = node[big], &inner = node[small];
  if (delta < 0 || static_cast<unsigned>(delta) + inner.width > outer.width ||
      static_cast<unsigned>(delta) % inner.width != 0)
    return false;
  const auto offset = static_cast<unsigned>(delta);
  for (const Member& m : outer.members)
    for (const Member& n : inner.members) {
      const unsigned at = n.offset + offset;
      const bool overlap = at < m.offset + words(m.vreg) && m.offset < at + words(n.vreg);
      if (overlap && graph_.interferes(m.vreg, n.vreg)) return false;
    }
  if (!is_safe(big, small)) return false;
  merge(big, small, offset);
  return true;
}

/// Briggs: the merged node has too few hard neighbours to be blocked. George: every neighbour of the smaller one
/// is easy or is a neighbour of the bigger one already.
bool Nodes::is_safe(std::uint32_t big, std::uint32_t small) {
  const Node& merged = node[big];
  const auto& around_small = node[small].adjacent;
  // The merged node has the smaller limit. What was said of the bigger one's neighbours holds if it had that itself.
  const unsigned limit = std::min(merged.limit, node[small].limit);
  const bool george =
      limit == merged.limit && std::all_of(around_small.begin(), around_small.end(), [&](std::uint32_t t) {
        return !node[t].alive || t == big || is_easy(node[t]) || edges_.contains(t, big);
      });
  if (george) return true;
  ++stamp_value_;
  const unsigned room = merged.is_predicate ? places(merged) : std::min(places(merged), limit / merged.width);
  unsigned hard = 0;
  for (const auto* adjacent : {&around_small, &merged.adjacent})
    for (std::uint32_t t : *adjacent) {
      if (!node[t].alive || t == big || t == small || stamp_[t] == stamp_value_) continue;
      stamp_[t] = stamp_value_;
      if (!is_easy(node[t])) hard += takes(node[t], merged);
      if (hard >= room) return false;
    }
  return true;
}

void Nodes::merge(std::uint32_t big, std::uint32_t small, unsigned offset) {
  Node &outer = node[big], &inner = node[small];
  for (const Member& m : inner.members) {
    node_of[m.vreg] = big;
    offset_of[m.vreg] = m.offset + offset;
    outer.members.push_back({m.vreg, m.offset + offset});
  }
  auto& around = outer.adjacent;
  around.erase(std::remove_if(around.begin(), around.end(), [&](std::uint32_t t) { return !node[t].alive; }),
               around.end());
  for (std::uint32_t t : inner.adjacent) {
    if (!node[t].alive) continue;
    if (t == big) {
      outer.blocked -= takes(inner, outer);
      continue;
    }
    node[t].blocked -= takes(inner, node[t]);
    add_edge(big, t);
  }
  outer.limit = std::min(outer.limit, inner.limit);
  inner.alive = false;
  inner.members.clear();
  inner.adjacent.clear();
}

}  // namespace regatta::passes
