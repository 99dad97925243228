// SPDX-License-Identifier: Apache-2.0
//
// May-liveness of variables (virtual or physical registers, and predicates).
#pragma once

#include <regatta/analysis/bit_set.h>
#include <regatta/analysis/cfg.h>
#include <regatta/analysis/variables.h>

namespace regatta::analysis {

/// Live sets at block borders. A guarded definition keeps the old value alive, since lanes whose guard is false
/// still hold it, unless every later use in the block stands under the same guard and the value does not leave
/// the block. With `soft` sets (soft_definitions.h) a definition named there keeps the old value alive too:
/// liveness of a whole warp register rather than of one thread's.
class Liveness {
 public:
  /// `soft`, when given: per block, the variables whose definitions there do not kill.
  /// `certain`, when given: variables that are only read where they were written just before, whatever guard
  /// both stand under, so that guarded definitions of them kill (temporaries around one instruction).
  Liveness(const ir::Function& f, const Cfg& cfg, const std::vector<BitSet>* soft = nullptr,
           const BitSet* certain = nullptr);

  const Variables& variables() const { return variables_; }
  const BitSet& live_in(std::uint32_t block) const { return live_in_[block]; }
  const BitSet& live_out(std::uint32_t block) const { return live_out_[block]; }
  const ir::Function& function() const { return *function_; }
  bool is_soft(std::uint32_t block, std::uint32_t variable) const {
    return !soft_.empty() && soft_[block].test(variable);
  }
  bool is_certain(std::uint32_t variable) const { return certain_.size() != 0 && certain_.test(variable); }

 private:
  const ir::Function* function_;
  Variables variables_;
  std::vector<BitSet> soft_;
  BitSet certain_;
  std::vector<BitSet> live_in_, live_out_;
};

/// Walks blocks backwards instruction by instruction; keep one walker for many blocks, its tables are reused.
///   walker.start(b); while (walker.more()) { use walker.index(), walker.live(); walker.step(); }
class LivenessWalker {
 public:
  explicit LivenessWalker(const Liveness& liveness);

  /// Goes to the end of a block; with `live_at_end`, that set stands for the block's live-out set.
  void start(std::uint32_t block, const BitSet* live_at_end = nullptr);
  bool more() const { return position_ > 0; }
  std::size_t index() const { return position_ - 1; }
  /// Variables live just after instruction index(), or, once more() is false, live into the block.
  const BitSet& live() const { return live_; }
  /// Moves above instruction index().
  void step();

 private:
  struct GuardState {
    std::uint32_t predicate = 0;
    std::uint32_t version = 0;  // of the predicate, counted in writes seen by this walker
    bool negated = false;
    bool single = false;  // all uses below stand under this guard
  };

  const Liveness* liveness_;
  std::uint32_t block_ = 0;
  std::size_t position_ = 0;
  BitSet live_;
  std::vector<GuardState> guard_of_uses_;
  std::vector<std::uint32_t> writes_seen_;  // per predicate variable
};

}  // namespace regatta::analysis
