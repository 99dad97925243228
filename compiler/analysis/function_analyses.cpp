// SPDX-License-Identifier: Apache-2.0
#include <regatta/analysis/function_analyses.h>
#include <regatta/analysis/reconvergence.h>

namespace regatta::analysis {

const Cfg& FunctionAnalyses::cfg() {
  if (!cfg_) cfg_ = std::make_unique<Cfg>(*function_);
  return *cfg_;
}

const Dominators& FunctionAnalyses::dominators() {
  if (!dominators_) dominators_ = std::make_unique<Dominators>(cfg().graph(), 0);
  return *dominators_;
}

const PostDominators& FunctionAnalyses::reconvergence() {
  if (!reconvergence_) {
    reconvergence_ =
        std::make_unique<PostDominators>(Cfg(without_early_exits(*function_, cfg(), dominators(), loops())));
  }
  return *reconvergence_;
}

const Loops& FunctionAnalyses::loops() {
  if (!loops_) loops_ = std::make_unique<Loops>(cfg(), dominators());
  return *loops_;
}

const Liveness& FunctionAnalyses::liveness() {
  if (!liveness_) liveness_ = std::make_unique<Liveness>(*function_, cfg());
  return *liveness_;
}

const SoftDefinitions& FunctionAnalyses::soft_definitions() {
  if (!soft_definitions_)
    soft_definitions_ = std::make_unique<SoftDefinitions>(*function_, cfg(), dominators(), reconvergence());
  return *soft_definitions_;
}

const WarpLiveness& FunctionAnalyses::warp_liveness() {
  if (!warp_liveness_) {
    warp_liveness_ = std::make_unique<WarpLiveness>(*function_, cfg(), dominators(), reconvergence());
    if (seen_) warp_liveness_->add_waits(*seen_);
  }
  return *warp_liveness_;
}

void FunctionAnalyses::invalidate() {
  warp_liveness_.reset();
  soft_definitions_.reset();
  liveness_.reset();
  loops_.reset();
  reconvergence_.reset();
  dominators_.reset();
  cfg_.reset();
}

}  // namespace regatta::analysis
