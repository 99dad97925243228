// SPDX-License-Identifier: Apache-2.0
//
// Which functions of a module call which, directly or through an address, and which of them recursively.
#pragma once

#include "ast.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace regatta::ptx {

using FunctionNames = std::unordered_map<std::string, const Function*>;

/// A function has an address if code of the module, or an initial value of a variable, takes it. Functions of a module
/// have the multiples of 16 in their order, from 16 on: below every buffer, so that no pointer to data is one of them.
class CallGraph {
 public:
  /// Both must outlive the graph. `names`: definitions where there are any, and aliases.
  CallGraph(const Module& module, const FunctionNames& names);

  /// 0: nobody takes it.
  std::uint64_t address(const Function& f) const;
  /// The functions that an indirect call in `caller` may reach, by ascending address: those of its list of
  /// .calltargets, or those with the parameters and results of its prototype. None for a call without such a list.
  std::vector<const Function*> targets(const Function& caller, const Statement& call) const;

  bool is_recursive(const Function& f) const { return components_[numbers_.at(&f)].recursive; }
  /// Whether `f` and `g` may call each other.
  bool in_one_cycle(const Function& f, const Function& g) const {
    return numbers_.at(&f) == numbers_.at(&g) && is_recursive(f);
  }
  /// Whether `f` may call a recursive function.
  bool reaches_recursion(const Function& f) const { return components_[numbers_.at(&f)].reaches_recursion; }

 private:
  /// Functions that may all call each other, or a single one.
  struct Component {
    bool recursive = false;
    bool reaches_recursion = false;
  };
  const Function* named(const std::string& name) const;
  void take_addresses(const Module& module);
  std::vector<const Function*> callees(const Function& f) const;
  void find_components(const std::vector<const Function*>& functions);

  const FunctionNames& names_;
  std::unordered_map<const Function*, std::uint64_t> addresses_;
  std::vector<const Function*> taken_;                          ///< by ascending address
  std::unordered_map<const Function*, std::uint32_t> numbers_;  ///< of their components
  std::vector<Component> components_;                           ///< callees before callers
};

}  // namespace regatta::ptx
