// SPDX-License-Identifier: Apache-2.0
//
// Looks at one scheduler now and then, and finds out what made it wait. The samples become rarer as a run gets longer,
// so that they cost next to nothing. They depend on simulated time only: a run that is repeated has the same samples.
#pragma once

#include <regatta/sm/causes.h>

#include "core.h"

#include <string>
#include <vector>

namespace regatta::sm {

class CtaStage;
class FrontEnd;
class IssueStage;
class LoadStoreUnit;
class Operands;
class Writeback;

class CauseSampler {
 public:
  CauseSampler(const Core& core, const IssueStage& issue, const Operands& operands, const LoadStoreUnit& lsu,
               const Writeback& writeback, const FrontEnd& front_end, const CtaStage& ctas)
      : core_(core),
        issue_(issue),
        operands_(operands),
        lsu_(lsu),
        writeback_(writeback),
        front_end_(front_end),
        ctas_(ctas) {}
  void kernel_started(Cycle now) {
    start_ = now;
    most_ = 0;
  }
  /// Whether cycle `now`, or one before it, is to be sampled.
  bool due(Cycle now) const { return __builtin_expect(static_cast<int>(now.value() >= next_), 0) != 0; }
  /// Takes the samples that are due until `now`. Nothing has changed since the first of their cycles.
  [[gnu::noinline]] void take(Cycle now);
  /// The launch is over on all SMs.
  void kernel_finished();
  const CauseSamples& samples() const { return samples_; }
  /// The name of each gate, by CauseKey::detail.
  std::vector<std::string> gate_names() const;

 private:
  static constexpr unsigned per_interval_ = 160;  ///< samples after which they become half as frequent

  void sample(unsigned scheduler);
  void find_result(CauseKey& key, const Warp& w) const;
  void find_unit(CauseKey& key, unsigned scheduler) const;
  /// A stage of a sub-core holds what is behind it.
  void find_stage(CauseKey& key, unsigned scheduler) const;
  void find_gate(CauseKey& key, unsigned scheduler) const;
  void find_late_warp(CauseKey& key, const Warp& w) const;
  /// Whether at least three of four warps are at barriers: what the others wait for, these wait for too.
  bool all_wait_for_few(unsigned warps) const;
  /// The load-store unit is busy, and `d` waits for it.
  void blame_lsu(CauseKey& key, const DynamicInstruction& d) const;
  /// A warp of the scheduler in that state, another one each time; null: none.
  const Warp* one_of(unsigned scheduler, WarpState state) const;
  /// The warp's instruction that issued last, of those that match; null: none.
  template <class F>
  const DynamicInstruction* last_of(const Warp& w, F&& matches) const;

  const Core& core_;
  const IssueStage& issue_;
  const Operands& operands_;
  const LoadStoreUnit& lsu_;
  const Writeback& writeback_;
  const FrontEnd& front_end_;
  const CtaStage& ctas_;
  CauseSamples samples_;
  /// Of which it is not known yet whether a CTA waited for an SM, since other SMs may not have come to that cycle.
  struct Undecided {
    Cycle cycle;
    CauseKey key;
    CauseSum sum;
  };
  std::vector<Undecided> undecided_;
  Cycle start_;              ///< of the launch
  std::uint64_t next_ = 16;  ///< cycle of the next sample
  std::uint64_t interval_ = 16;
  std::uint64_t taken_ = 0;
  std::uint32_t random_ = 1;  ///< so that samples do not fall in step with a loop
  unsigned most_ = 0;         ///< warps of the launch, at a time
};

}  // namespace regatta::sm
