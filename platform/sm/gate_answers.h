// SPDX-License-Identifier: Apache-2.0
//
// Whether gates announce their agreement, with SmConfig::check_contracts. A gate that refused an instruction may agree
// to it after a notification of changed(), a cycle named by reconsider() or pause(), or an end of closed(). An SM that
// sleeps asks at no other time, so that an agreement without one would make the cycle count depend on what else is
// awake.
#pragma once

#include "core.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace regatta::sm {

class GateAnswers {
 public:
  GateAnswers(const Core& core, std::size_t gates) : core_(core), gates_(gates) {}
  void kernel_started() { refusals_.assign(gates_.size() * core_.warps.size(), Refusal{}); }

  /// From cycle `at` on the gate may agree to what it refused before.
  void announced(unsigned gate, Cycle at);
  /// The same for what it refused of one warp: it need not announce that otherwise.
  void released(unsigned gate, WarpSlot warp) { last(gate, warp).released = core_.current(); }
  void refused(unsigned gate, const DynamicInstruction& d);
  /// To be called with every agreement. A notification of the same cycle may still follow.
  void agreed(unsigned gate, const DynamicInstruction& d);

  /// An agreement of a past cycle that nothing announced.
  struct Unannounced {
    unsigned gate = 0;
    std::string instruction;
    Cycle refused, agreed;
  };
  /// Null: there is none. To be called in a later cycle than agreed(), or when a launch has ended.
  const Unannounced* unannounced();

 private:
  struct Refusal {
    Cycle at;
    std::uint64_t sequence = 0;
    bool injected = false;
    bool holds = false;
    Cycle released = protocol::never;
  };
  Refusal& last(unsigned gate, WarpSlot warp) { return refusals_[gate * core_.warps.size() + warp.value()]; }
  bool was_announced(const Unannounced& doubt);

  const Core& core_;
  std::vector<std::set<std::uint64_t>> gates_;  ///< per gate, announced cycles: the last one passed, and later ones
  std::vector<Refusal> refusals_;               ///< the last one, by gate and warp slot
  std::vector<Unannounced> doubts_;             ///< agreements of one cycle
  Unannounced found_;
};

}  // namespace regatta::sm
