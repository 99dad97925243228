// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/sharing.h>

#include <algorithm>
#include <numeric>
#include <tuple>

namespace regatta::passes {

namespace {

using analysis::variable_bit;

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

bool is_in(VariableSet set, std::size_t variable) { return (set & variable_bit(variable)) != 0; }

VariableSet dynamic_variables(const std::vector<ir::SharedVariable>& variables) {
  VariableSet set = 0;
  for (std::size_t v = 0; v < variables.size(); ++v)
    if (variables[v].bytes == 0) set |= variable_bit(v);
  return set;
}

std::uint64_t bytes_in(const std::vector<ir::SharedVariable>& variables, VariableSet set) {
  std::uint64_t bytes = 0;
  for (std::size_t v = 0; v < variables.size(); ++v) bytes += is_in(set, v) ? variables[v].bytes : 0;
  return bytes;
}

class LayoutSearch {
 public:
  LayoutSearch(const std::vector<ir::SharedVariable>& variables, std::uint32_t dynamic_bytes, const trace::Share& t,
               const std::function<std::uint64_t(VariableSet)>& weight)
      : variables_(variables), dynamic_bytes_(dynamic_bytes), t_(t), weight_(weight) {}

  ScratchpadLayout run() {
    const VariableSet always = dynamic_variables(variables_);
    if (variables_.size() > most_searched_variables) return greedy(always);
    decide(0, always, weight_(always));
    return best_;
  }

 private:
  /// Variables 0 to v-1 are decided. A set does not become lighter by what is added to it, so a branch that is heavier
  /// than the best set cannot lead to a better one.
  void decide(std::size_t v, VariableSet set, std::uint64_t weight) {
    if (found_ && weight > best_.weight) return;
    if (v == variables_.size()) {
      consider(set, weight);
      return;
    }
    if (is_in(set, v)) {
      decide(v + 1, set, weight);
      return;
    }
    const VariableSet larger = set | variable_bit(v);
    decide(v + 1, larger, weight_(larger));
    decide(v + 1, set, weight);
  }

  bool consider(VariableSet set, std::uint64_t weight) {
    ScratchpadLayout layout = place_variables(variables_, dynamic_bytes_, t_, set);
    if (!keeps_private(layout, variables_)) return false;
    layout.weight = weight;
    if (!found_ || is_better(layout, best_)) best_ = std::move(layout);
    found_ = true;
    return true;
  }

  bool is_better(const ScratchpadLayout& a, const ScratchpadLayout& b) const {
    const auto key = [&](const ScratchpadLayout& l) {
      return std::tuple(l.weight, l.placement.static_bytes, bytes_in(variables_, l.common));
    };
    if (key(a) != key(b)) return key(a) < key(b);
    // The first declaration in which the sets differ.
    const VariableSet difference = a.common ^ b.common;
    return (a.common & difference & (~difference + 1)) != 0;
  }

  /// Adds the variable with the lightest range of its own until all others fit in front of the boundary.
  ScratchpadLayout greedy(VariableSet set) {
    std::vector<std::size_t> order(variables_.size());
    std::iota(order.begin(), order.end(), 0);
    std::vector<std::uint64_t> own;
    for (std::size_t v = 0; v < variables_.size(); ++v) own.push_back(weight_(variable_bit(v)));
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return own[a] < own[b]; });
    for (std::size_t n = 0; !consider(set, weight_(set)); ++n) set |= variable_bit(order.at(n));
    best_.is_exact = false;
    return best_;
  }

  const std::vector<ir::SharedVariable>& variables_;
  const std::uint32_t dynamic_bytes_;
  const trace::Share t_;
  const std::function<std::uint64_t(VariableSet)>& weight_;
  ScratchpadLayout best_;
  bool found_ = false;
};

}  // namespace

ScratchpadLayout place_variables(const std::vector<ir::SharedVariable>& variables, std::uint32_t dynamic_bytes,
                                 const trace::Share& t, VariableSet common) {
  ScratchpadLayout layout;
  layout.common = common;
  layout.placement.offsets.resize(variables.size());
  std::uint64_t end = 0, dynamic_alignment = 1;
  for (const bool in_common : {false, true}) {
    std::vector<std::size_t> group;
    for (std::size_t v = 0; v < variables.size(); ++v) {
      if (variables[v].bytes == 0) {
        dynamic_alignment = std::max<std::uint64_t>(dynamic_alignment, variables[v].alignment);
      } else if (is_in(common, v) == in_common) {
        group.push_back(v);
      }
    }
    // The strictest first: at most one gap, between the groups, unless a size is no multiple of its alignment.
    std::stable_sort(group.begin(), group.end(),
                     [&](std::size_t a, std::size_t b) { return variables[a].alignment > variables[b].alignment; });
    for (const std::size_t v : group) {
      end = round_up(end, variables[v].alignment);
      layout.placement.offsets[v] = static_cast<std::uint32_t>(end);
      end += variables[v].bytes;
    }
  }
  end = round_up(end, dynamic_alignment);
  for (std::size_t v = 0; v < variables.size(); ++v)
    if (variables[v].bytes == 0) layout.placement.offsets[v] = static_cast<std::uint32_t>(end);
  layout.placement.static_bytes = static_cast<std::uint32_t>(end);
  layout.boundary = trace::private_bytes(t, end + dynamic_bytes);
  return layout;
}

bool keeps_private(const ScratchpadLayout& layout, const std::vector<ir::SharedVariable>& variables) {
  for (std::size_t v = 0; v < variables.size(); ++v)
    if (!is_in(layout.common, v) && std::uint64_t{layout.placement.offsets[v]} + variables[v].bytes > layout.boundary)
      return false;
  return true;
}

ScratchpadLayout choose_layout(const std::vector<ir::SharedVariable>& variables, std::uint32_t dynamic_bytes,
                               const trace::Share& t, const std::function<std::uint64_t(VariableSet)>& weight) {
  return LayoutSearch(variables, dynamic_bytes, t, weight).run();
}

}  // namespace regatta::passes
