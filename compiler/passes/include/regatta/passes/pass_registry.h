// SPDX-License-Identifier: Apache-2.0
//
// The list of annotation passes. To add one, derive from AnnotationPass and add it here or in a program of your own.
#pragma once

#include <regatta/passes/annotation_pass.h>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regatta::passes {

/// The passes that annotate one kernel, in the order in which they run.
using PassList = std::vector<std::unique_ptr<AnnotationPass>>;

/// The passes that regatta-annotate runs on every kernel.
class PassRegistry {
 public:
  using Factory = std::function<std::unique_ptr<AnnotationPass>()>;

  /// With the passes of all our schemes.
  static PassRegistry with_builtin();

  /// Passes run, and report, in the order in which they were added. Throws std::invalid_argument when the name of the
  /// pass or of one of its options is taken.
  void add(Factory make);
  template <class Pass>
  void add() {
    add([] { return std::make_unique<Pass>(); });
  }

  /// Of all passes, in order.
  std::vector<PassOption> options() const;

  /// Names of the passes that annotate without an option, in order.
  std::vector<std::string> default_names() const;

  /// Names of the other passes that have an option in `values`, in order.
  std::vector<std::string> asked_names(const PassOptionValues& values) const;

  /// Passes for one kernel: those with an option in `values`, and of the others those that `names` has; without `names`
  /// all. Throws trace::InputError for an option that no pass has, for values that do not fit, and for a name that is
  /// none of default_names().
  PassList make(const PassOptionValues& values = {}, const std::optional<std::set<std::string>>& names = {}) const;

 private:
  std::vector<Factory> factories_;
};

}  // namespace regatta::passes
