// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dependences.h"

#include <array>
#include <cstdint>
#include <vector>

namespace regatta::sm {

/// The scoreboard in front of an operand path that reads late and has a bypass (SubCorePath).
///
/// A register with a write in flight is free again when an instruction that issues then gets the value by the bypass:
/// for one of variable latency, to which no bypass leads, a cycle later; without a bypass, and for results of variable
/// latency, when it is written. A register that an instruction of variable latency has still to read must not be
/// written (WAR): the readers of each register are counted.
///
/// scoreboard.* make it that of section 7.5 of Huerta et al. (MICRO 2025): no register is free before retirement, all
/// instructions are counted, and only so many at once; a further reader of a register waits.
class PipelinedScoreboard : public Dependences {
 public:
  explicit PipelinedScoreboard(Core& core)
      : core_(core),
        forwards_(core.config.scoreboard.release == "bypass"),
        counts_fixed_(core.config.counts_fixed_readers()) {}
  WarpState state(const Warp& warp, const InstructionTraits& next) const override;
  void issued(Warp& warp, DynamicInstruction& d) override;
  void allocated(Warp& warp, DynamicInstruction& d, Cycle dispatch) override;
  protocol::Stall reason(const Warp&) const override { return protocol::Stall::scoreboard; }
  const std::vector<Warp*>& stalled(unsigned) override { return none_; }
  Warp& due(std::uint32_t value) override;
  void sources_read(Warp& warp, DynamicInstruction& d) override;
  void retired(Warp& warp, DynamicInstruction& d) override;

 private:
  enum Step : std::uint32_t { forward, settle };
  static constexpr unsigned step_shift = 26;
  void schedule(Step step, Cycle when, const DynamicInstruction& d) {
    core_.at(when, Work::Kind::dependence, step << step_shift | d.pool_index);
  }
  struct Readers {
    protocol::RegisterSet registers;        ///< with at least one
    std::array<std::uint8_t, 256> count{};  ///< by register
    protocol::RegisterSet settling;         ///< reach instructions of fixed latency, and others from the next cycle on
  };
  Readers& readers(const Warp& w);
  /// Whether the instruction is counted as a reader of its source registers, from its issue on.
  bool counts(const InstructionTraits& t, bool fixed) const { return t.read_count != 0 && (!fixed || counts_fixed_); }
  const Readers* find(const Warp& w) const {
    return w.info.warp.value() < readers_.size() ? &readers_[w.info.warp.value()] : nullptr;
  }

  Core& core_;
  bool forwards_;      ///< results of fixed latency, by the bypass
  bool counts_fixed_;  ///< readers of fixed latency too
  const std::vector<Warp*> none_;
  std::vector<Readers> readers_;  ///< by warp slot
};

}  // namespace regatta::sm
