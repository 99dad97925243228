// SPDX-License-Identifier: Apache-2.0
#include "gate_answers.h"

#include "contract.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace regatta::sm {

void GateAnswers::announced(unsigned gate, Cycle at) {
  std::set<std::uint64_t>& cycles = gates_[gate];
  cycles.insert(at.value());
  doubts_.erase(std::remove_if(doubts_.begin(), doubts_.end(),
                               [&](const Unannounced& doubt) {
                                 return doubt.gate == gate && doubt.refused <= at && at <= doubt.agreed;
                               }),
                doubts_.end());
  // Of those that have passed the last one is enough.
  while (cycles.size() > 1 && *std::next(cycles.begin()) < core_.current().value()) cycles.erase(cycles.begin());
}

void GateAnswers::refused(unsigned gate, const DynamicInstruction& d) {
  Refusal& refusal = last(gate, d.warp);
  refusal.at = core_.now;
  refusal.sequence = d.sequence;
  refusal.injected = d.injected;
  refusal.holds = true;
}

void GateAnswers::agreed(unsigned gate, const DynamicInstruction& d) {
  Refusal& refusal = last(gate, d.warp);
  const bool same = std::exchange(refusal.holds, false) && refusal.sequence == d.sequence &&
                    refusal.injected == d.injected && refusal.at < core_.now;
  if (!same || (refusal.released != protocol::never && refusal.at <= refusal.released)) return;
  Unannounced doubt{gate, "", refusal.at, core_.now};
  if (was_announced(doubt)) return;
  doubt.instruction = describe(core_, d);
  doubts_.push_back(std::move(doubt));
}

bool GateAnswers::was_announced(const Unannounced& doubt) {
  std::set<std::uint64_t>& announced = gates_[doubt.gate];
  auto after = announced.upper_bound(doubt.agreed.value());
  if (after == announced.begin()) return false;
  const auto last = std::prev(after);
  const bool in_time = *last >= doubt.refused.value();
  announced.erase(announced.begin(), last);
  return in_time;
}

const GateAnswers::Unannounced* GateAnswers::unannounced() {
  if (doubts_.empty()) return nullptr;
  found_ = std::move(doubts_.front());
  doubts_.clear();
  return &found_;
}

}  // namespace regatta::sm
