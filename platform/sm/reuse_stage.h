// SPDX-License-Identifier: Apache-2.0
//
// Between issue and operand read: asks the reuse point, if there is one, whether the instruction executes, waits
// or is bypassed with a result, and keeps the ones that wait.
#pragma once

#include <regatta/protocol/extension_points.h>
#include <regatta/support/ring.h>

#include "contract.h"
#include "core.h"
#include "holds.h"
#include "operands.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regatta::sm {

class ReuseStage : public sc_core::sc_module {
 public:
  ReuseStage(const sc_core::sc_module_name& name, Core& core, Operands& operands)
      : sc_module(name), core_(core), operands_(operands) {}
  void connect(protocol::ReusePoint* point) {
    point_ = point;
    latency_ = point == nullptr ? 0 : point->latency();
    if (point != nullptr) operands_->put_behind_reuse_point();
    if (core_.config.check_contracts) before_ = std::make_unique<InstructionSnapshot>();
  }

  /// An issued instruction; the operand path has a place for it.
  void enter(DynamicInstruction& d);
  /// The reuse point's answer may have changed: ask again for the instructions that wait, oldest first.
  void reconsider() { reconsider_ = true; }
  /// Before issue, so that instructions that waited come before new ones.
  void cycle() {
    if (!delayed_.empty() || kept_ != 0 || !executing_.empty() || !waiting_.empty()) serve();
  }
  /// What keeps `d` here; none: it is elsewhere.
  std::optional<Hold> holds(const DynamicInstruction& d) const;
  /// Instructions are on their way to the point.
  bool is_due() const;
  void written_back(const DynamicInstruction& d) {
    if (point_ != nullptr) point_->written_back(d);
  }

 private:
  using Decision = protocol::ReusePoint::Decision;
  struct Delayed {
    DynamicInstruction* instruction = nullptr;
    Cycle due;
  };
  void serve();
  void ask(DynamicInstruction& d);
  Decision decision_on(DynamicInstruction& d);
  Decision checked_decision_on(DynamicInstruction& d);
  [[noreturn, gnu::noinline, gnu::cold]] void unknown_decision(const DynamicInstruction& d, Decision decision) const;
  [[noreturn, gnu::noinline, gnu::cold]] void broken(const std::string& did, const std::string& expected) const;
  void settle(DynamicInstruction& d, Decision decision);
  bool collect(DynamicInstruction& d);
  void tell_backlog(unsigned scheduler) const;
  bool collect_executing();
  bool ask_waiting();
  void ask_keeper(unsigned asked);

  Core& core_;
  Operands& operands_;
  protocol::ReusePoint* point_ = nullptr;
  unsigned latency_ = 0;
  support::Ring<Delayed> delayed_;            ///< on their way to the point, in order of issue
  std::vector<DynamicInstruction*> waiting_;  ///< the point has them wait; in order of entry
  std::vector<DynamicInstruction*>
      executing_;         ///< to be executed, when the operand path has a place; in order of decision
  std::size_t kept_ = 0;  ///< those that wait in the point's own queue
  bool reconsider_ = false;
  std::unique_ptr<InstructionSnapshot> before_;  ///< with SmConfig::check_contracts, of what the point is shown
};

}  // namespace regatta::sm
