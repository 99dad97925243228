// SPDX-License-Identifier: Apache-2.0
#include "call_graph.h"

#include <algorithm>
#include <unordered_set>

namespace regatta::ptx {
namespace {

constexpr std::uint64_t function_bytes = 16;

bool is_call(const Statement& s) { return s.kind == Statement::Kind::instruction && s.mnemonic == "call"; }

/// Whether `f` takes and gives what the prototype says.
bool fits(const Statement& prototype, const Function& f) {
  if (f.results.size() != prototype.result_count) return false;
  if (f.results.size() + f.parameters.size() != prototype.variables.size()) return false;
  for (std::size_t v = 0; v < prototype.variables.size(); ++v) {
    const Variable& wanted = prototype.variables[v];
    const Variable& given = v < f.results.size() ? f.results[v] : f.parameters[v - f.results.size()];
    if (wanted.bytes() != given.bytes() || wanted.is_array != given.is_array) return false;
  }
  return true;
}

}  // namespace

CallGraph::CallGraph(const Module& module, const FunctionNames& names) : names_(names) {
  take_addresses(module);
  std::vector<const Function*> functions;
  for (const Function& f : module.functions) functions.push_back(&f);
  find_components(functions);
}

const Function* CallGraph::named(const std::string& name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : found->second;
}

void CallGraph::take_addresses(const Module& module) {
  std::unordered_set<const Function*> taken;
  const auto take = [&](const std::string& name) {
    const Function* f = named(name);
    if (f != nullptr && !f->is_entry) taken.insert(f);
  };
  const auto take_all = [&](const std::vector<Operand>& operands, std::size_t from) {
    for (std::size_t o = from; o < operands.size(); ++o) {
      if (operands[o].kind == Operand::Kind::name) take(operands[o].name);
      for (const Operand& element : operands[o].elements) take(element.name);
    }
  };
  for (const Function& f : module.functions) {
    for (const Statement& s : f.body) {
      if (s.kind != Statement::Kind::instruction || s.mnemonic == "bra" || s.mnemonic == "brx") continue;
      take_all(s.operands, is_call(s) ? 1 : 0);
      take_all(s.call_arguments, 0);
    }
  }
  for (const Variable& v : module.variables) {
    for (const InitialValue& value : v.initial) {
      if (!value.symbol.empty()) take(value.symbol);
    }
  }
  for (const Function& f : module.functions) {
    // A function may be declared before it is defined.
    if (taken.count(&f) == 0) continue;
    taken_.push_back(&f);
    addresses_[&f] = function_bytes * taken_.size();
  }
}

std::uint64_t CallGraph::address(const Function& f) const {
  const auto found = addresses_.find(&f);
  return found == addresses_.end() ? 0 : found->second;
}

std::vector<const Function*> CallGraph::targets(const Function& caller, const Statement& call) const {
  std::vector<const Function*> found;
  if (call.call_list_at >= caller.body.size()) return found;
  const Statement& list = caller.body[call.call_list_at];
  std::unordered_set<const Function*> listed;
  for (const Operand& o : list.operands) {
    if (const Function* f = named(o.name)) listed.insert(f);
  }
  const bool is_prototype = list.kind == Statement::Kind::prototype;
  for (const Function* f : taken_) {
    if (is_prototype ? fits(list, *f) : listed.count(f) != 0) found.push_back(f);
  }
  return found;
}

std::vector<const Function*> CallGraph::callees(const Function& f) const {
  std::vector<const Function*> found;
  for (const Statement& s : f.body) {
    if (!is_call(s) || s.operands.empty()) continue;
    if (const Function* callee = named(s.operands[0].name)) {
      found.push_back(callee);
    } else {
      for (const Function* target : targets(f, s)) found.push_back(target);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

/// Tarjan's algorithm, with a stack of its own: chains of calls may be long.
void CallGraph::find_components(const std::vector<const Function*>& functions) {
  struct State {
    std::uint32_t index = 0, lowest = 0;  ///< from 1 on; 0: not visited
    bool open = false;
    std::vector<const Function*> callees;
    std::size_t next = 0;
  };
  std::unordered_map<const Function*, State> states;
  std::vector<const Function*> path, open;
  std::uint32_t visited = 0;
  const auto enter = [&](const Function* f) {
    State& s = states[f];
    s.index = s.lowest = ++visited;
    s.open = true;
    s.callees = callees(*f);
    path.push_back(f);
    open.push_back(f);
  };
  const auto close = [&](const Function* f) {
    Component c;
    const auto number = static_cast<std::uint32_t>(components_.size());
    const Function* member = nullptr;
    std::size_t members = 0;
    std::size_t first = open.size() - 1;
    while (open[first] != f) --first;
    for (std::size_t m = first; m < open.size(); ++m, ++members) {
      member = open[m];
      states[member].open = false;
      numbers_[member] = number;
      for (const Function* callee : states[member].callees) c.recursive = c.recursive || callee == member;
    }
    c.recursive = c.recursive || members > 1;
    c.reaches_recursion = c.recursive;
    for (std::size_t m = first; m < open.size(); ++m) {
      for (const Function* callee : states[open[m]].callees) {
        const std::uint32_t other = numbers_.at(callee);
        c.reaches_recursion = c.reaches_recursion || (other != number && components_[other].reaches_recursion);
      }
    }
    open.resize(first);
    components_.push_back(c);
  };
  for (const Function* root : functions) {
    if (states[root].index != 0) continue;
    enter(root);
    while (!path.empty()) {
      const Function* f = path.back();
      State& s = states[f];
      if (s.next < s.callees.size()) {
        const Function* callee = s.callees[s.next++];
        const State& there = states[callee];
        if (there.index == 0) {
          enter(callee);
        } else if (there.open) {
          states[f].lowest = std::min(states[f].lowest, there.index);
        }
        continue;
      }
      path.pop_back();
      if (!path.empty()) states[path.back()].lowest = std::min(states[path.back()].lowest, s.lowest);
      if (s.lowest == s.index) close(f);
    }
  }
}

}  // namespace regatta::ptx
