// SPDX-License-Identifier: Apache-2.0
//
// Contract checks of reuse points and write-back points: the part of their stages that is not critical for speed.
#include "contract.h"
#include "reuse_stage.h"
#include "writeback.h"

namespace regatta::sm {

void ReuseStage::broken(const std::string& did, const std::string& expected) const {
  broken_contract(core_, "reuse_point", support::block_name(*point_), did, expected);
}

void ReuseStage::unknown_decision(const DynamicInstruction& d, Decision decision) const {
  broken("decide() answers " + std::to_string(static_cast<unsigned>(decision)) + " for " + describe(core_, d),
         "execute, wait, bypass or keep");
}

ReuseStage::Decision ReuseStage::checked_decision_on(DynamicInstruction& d) {
  before_->take(d);
  const Decision decision = point_->decide(d);
  if (decision > Decision::keep) unknown_decision(d, decision);
  // A kept instruction may receive its results later.
  const char* const changed = before_->changed(d, decision == Decision::bypass || decision == Decision::keep);
  if (changed != nullptr) {
    broken("decide() changes " + std::string(changed) + " of " + describe(core_, d),
           "nothing but the results of what it bypasses to change");
  }
  return decision;
}

void Writeback::unknown_decision(const DynamicInstruction& d, protocol::WritebackPoint::Decision decision) const {
  broken_contract(core_, "writeback_point", support::block_name(*point_),
                  "decide() answers " + std::to_string(static_cast<unsigned>(decision)) + " for " + describe(core_, d),
                  "write, wait or drop");
}

protocol::WritebackPoint::Decision Writeback::checked_ask(DynamicInstruction& d, unsigned destination) {
  using Decision = protocol::WritebackPoint::Decision;
  before_->take(d);
  const Decision decision = point_->decide(d, destination);
  if (decision > Decision::drop) unknown_decision(d, decision);
  if (const char* const changed = before_->changed(d, false)) {
    broken_contract(core_, "writeback_point", support::block_name(*point_),
                    "decide() changes " + std::string(changed) + " of " + describe(core_, d),
                    "an instruction that stays what it was");
  }
  return decision;
}

}  // namespace regatta::sm
