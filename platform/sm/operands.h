// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectors.h"
#include "operand_path.h"
#include "result_queue.h"

#include <memory>
#include <optional>
#include <vector>

namespace regatta::sm {

class ExecutionUnits;
class SubCorePath;
class Writeback;

/// The operand path of an SM, as the stages around it call it. What happens in every cycle, and for every instruction,
/// is a direct call in an SM with collectors, so that it can be inlined: a branch that never turns is cheaper there
/// than a virtual call. Everything else goes through the interface.
class Operands {
 public:
  /// The path of the configuration, as a child of the module that is being constructed.
  Operands(Core& core, ExecutionUnits& execution);
  ~Operands();
  /// The write-back that belongs to it, likewise.
  std::unique_ptr<Writeback> make_writeback(Core& core);
  OperandPath* operator->() { return path_; }
  const OperandPath* operator->() const { return path_; }

  unsigned closed(unsigned scheduler) const {
    return direct() ? collectors_->closed(scheduler) : path_->closed(scheduler);
  }
  bool available(unsigned scheduler, protocol::Unit kind) const {
    return direct() ? collectors_->available(scheduler, kind) : path_->available(scheduler, kind);
  }
  bool takes(unsigned scheduler, protocol::Unit kind) const {
    return direct() ? collectors_->available(scheduler, kind) : path_->takes(scheduler, kind);
  }
  /// Whether the path has to know what waits in front of it.
  bool counts_backlog() const { return !direct(); }
  void enter(DynamicInstruction& d) { direct() ? collectors_->enter(d) : path_->enter(d); }
  void operands_ready(std::uint32_t place) {
    direct() ? collectors_->operands_ready(place) : path_->operands_ready(place);
  }
  /// `place` will be ready soon.
  void prefetch(std::uint32_t place) const {
    if (direct()) collectors_->prefetch(place);
  }
  void dispatched(DynamicInstruction& d) { direct() ? collectors_->dispatched(d) : path_->dispatched(d); }
  void cycle() { direct() ? collectors_->cycle() : path_->cycle(); }

 private:
  bool direct() const { return __builtin_expect(static_cast<int>(collectors_.has_value()), 1) != 0; }

  std::optional<OperandCollectors> collectors_;  ///< in place, beside the other stages
  std::vector<ResultQueue> results_;             ///< of sub-cores
  std::unique_ptr<SubCorePath> sub_cores_;
  OperandPath* path_ = nullptr;  ///< one of the two
};

}  // namespace regatta::sm
