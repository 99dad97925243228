// SPDX-License-Identifier: Apache-2.0
//
// All analyses of one function, each computed on first demand and once.
#pragma once

#include <regatta/analysis/loops.h>
#include <regatta/analysis/soft_definitions.h>
#include <regatta/analysis/warp_liveness.h>

#include <memory>
#include <optional>
#include <utility>

namespace regatta::analysis {

/// The function must outlive this object, have its edges built, and not change between demands; after a change
/// call invalidate(). References stay valid until then.
class FunctionAnalyses {
 public:
  explicit FunctionAnalyses(const ir::Function& f) : function_(&f) {}

  /// Of a kernel that another compiler made, with what its execution shows.
  FunctionAnalyses(const ir::Function& f, SeenFlow seen) : function_(&f), seen_(std::move(seen)) {}

  /// nullptr: our compiler made the function, and the emulator has its lanes meet at reconvergence().
  const SeenFlow* seen_flow() const { return seen_ ? &*seen_ : nullptr; }
  const ir::Function& function() const { return *function_; }
  const Cfg& cfg();
  const Dominators& dominators();
  /// Post-dominators in the graph without early exits: where lanes meet again, and what every lane passes that has not
  /// left the kernel.
  const PostDominators& reconvergence();
  const Loops& loops();
  /// Per-thread liveness: what register allocation colours by.
  const Liveness& liveness();
  const SoftDefinitions& soft_definitions();
  /// Liveness that respects soft definitions, along the path that runs. What lanes on other paths need is the
  /// live-in set of the blocks where they wait; a user of dead registers adds those.
  const Liveness& simt_liveness() { return soft_definitions().liveness(); }
  /// What any lane of the warp needs, running or waiting, whatever the control flow (LaneRule::every_path); with
  /// seen_flow() also where it shows lanes wait.
  const WarpLiveness& warp_liveness();
  void invalidate();

 private:
  const ir::Function* function_;
  std::optional<SeenFlow> seen_;
  std::unique_ptr<Cfg> cfg_;
  std::unique_ptr<Dominators> dominators_;
  std::unique_ptr<PostDominators> reconvergence_;
  std::unique_ptr<Loops> loops_;
  std::unique_ptr<Liveness> liveness_;
  std::unique_ptr<SoftDefinitions> soft_definitions_;
  std::unique_ptr<WarpLiveness> warp_liveness_;
};

}  // namespace regatta::analysis
