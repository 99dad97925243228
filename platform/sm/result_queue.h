// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/support/ring.h>

#include "core.h"

#include <algorithm>
#include <array>
#include <vector>

namespace regatta::sm {

/// Results of fixed latency that are computed and not yet in the register file: a queue per sub-core, which writes one
/// register per bank and cycle and is searched by reads (Huerta et al., MICRO 2025, section 5.3). An instruction has an
/// entry from its dispatch to its last write.
class ResultQueue {
 public:
  /// Banks of a sub-core's register file, each with one write port.
  static constexpr unsigned banks = 2;
  struct Result {
    DynamicInstruction* instruction = nullptr;
    unsigned destination = 0;
  };
  static unsigned bank_of(protocol::RegisterId reg) { return reg.value() % banks; }

  explicit ResultQueue(unsigned entries) : entries_(entries) {}

  bool full() const { return taken_ >= entries_; }
  /// An instruction is dispatched.
  void take() { ++taken_; }
  /// All destinations of an instruction are written.
  void give_back() { --taken_; }
  void push(DynamicInstruction& d) {
    for (unsigned i = 0; i < d.traits->write_count; ++i) queues_[bank_of(d.traits->writes[i])].push(Result{&d, i});
  }
  support::Ring<Result>& of_bank(unsigned bank) { return queues_[bank]; }
  const support::Ring<Result>& of_bank(unsigned bank) const { return queues_[bank]; }
  /// Changes a value read from the register file to what the queue has of that register, lane by lane. Results of
  /// instructions that issued in cycle `before` or later are not the reader's.
  void supply(WarpSlot warp, protocol::RegisterId reg, Cycle before, protocol::WarpValue& value) const {
    const support::Ring<Result>& queue = queues_[bank_of(reg)];
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const DynamicInstruction& d = *queue[i].instruction;
      if (d.warp != warp || d.traits->writes[queue[i].destination] != reg || d.issued >= before) continue;
      merge(d, queue[i].destination, value);
    }
  }
  /// Changes the active lanes of `value` to those of a result.
  static void merge(const DynamicInstruction& d, unsigned destination, protocol::WarpValue& value) {
    for (LaneMask m = d.active; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctzll(m));
      value.lane[lane] = d.results[destination].lane[lane];
    }
  }

 private:
  unsigned entries_;
  unsigned taken_ = 0;
  std::array<support::Ring<Result>, banks> queues_;  ///< in order of arrival
};

/// Cycles in which an instruction of fixed latency reads its operands: more than usual if one bank alone needs them.
inline unsigned window_cycles(const SmConfig& config, const InstructionTraits& t) {
  std::array<unsigned, ResultQueue::banks> needs{};
  for (unsigned i = 0; i < t.read_count; ++i) ++needs[ResultQueue::bank_of(t.reads[i])];
  return std::max(config.sub_core.window, std::max(needs[0], needs[1]));
}

}  // namespace regatta::sm
