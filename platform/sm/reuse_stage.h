// SPDX-License-Identifier: Apache-2.0
//
// Between issue and operand read: asks the reuse point, if there is one, whether the instruction executes, waits
// or is bypassed with a result, and keeps the ones that wait.
#pragma once

#include <regatta/protocol/extension_points.h>

#include "core.h"
#include "ring.h"

namespace regatta::sm {

class OperandCollectors;

class ReuseStage {
 public:
  ReuseStage(Core& core, OperandCollectors& collectors) : core_(core), collectors_(collectors) {}
  void connect(protocol::ReusePoint* point) {
    point_ = point;
    latency_ = point == nullptr ? 0 : point->latency();
  }

  /// An issued instruction; a collector unit of its scheduler is free.
  void enter(DynamicInstruction& d);
  /// The reuse point's answer may have changed: ask again for the instructions that wait, oldest first.
  void reconsider() { reconsider_ = true; }
  /// Before issue, so that instructions that waited come before new ones.
  void cycle() {
    if (!waiting_.empty() || !delayed_.empty()) serve();
  }
  void written_back(const DynamicInstruction& d) {
    if (point_ != nullptr) point_->written_back(d);
  }

 private:
  struct Waiting {
    DynamicInstruction* instruction;
    bool execute;  ///< decided, but no collector unit was free
  };
  struct Delayed {
    DynamicInstruction* instruction = nullptr;
    Cycle due;
  };
  void serve();
  bool settle(Waiting& w);
  void ask(DynamicInstruction& d);
  void ask_again(unsigned asked);

  Core& core_;
  OperandCollectors& collectors_;
  protocol::ReusePoint* point_ = nullptr;
  unsigned latency_ = 0;
  Ring<Delayed> delayed_;  ///< on their way to the point, in order of issue
  std::vector<Waiting> waiting_;
  bool reconsider_ = false;
};

}  // namespace regatta::sm
