// SPDX-License-Identifier: Apache-2.0
//
// Reuse and write-back points that keep instructions in queues of their own.
#include "harness.h"

#include <algorithm>
#include <deque>
#include <set>

using namespace regatta;
using assembly::BuildContext;
using assembly::SmParts;

namespace {

/// Keeps all results until `burst` of them wait, or nothing has come for `patience` cycles, and lets them go in order
/// of the last, every other one two cycles later.
class BurstResults : public sc_core::sc_module, public protocol::WritebackPoint {
 public:
  struct Seen {
    unsigned asked = 0, let_go = 0;
    std::size_t most = 0;  ///< at a time
  };
  BurstResults(const sc_core::sc_module_name& name, unsigned burst, unsigned patience, Seen& seen)
      : sc_module(name), burst_(burst), patience_(patience), seen_(seen), changed_("changed") {}
  unsigned arrive(protocol::DynamicInstruction& d) override {
    if (gone_.erase(&d) != 0) return 0;
    kept_.push_back(&d);
    waited_ = 0;
    return keep;
  }
  std::size_t resume_kept(RecalledList& recalled) override {
    REQUIRE_FALSE((kept_.empty() && !going_));
    ++seen_.asked;
    going_ = going_ || kept_.size() >= burst_ || ++waited_ > patience_;
    std::size_t count = 0;
    for (; going_ && !kept_.empty() && count < recalled.size(); ++count) {
      recalled[count] = {kept_.back(), ++seen_.let_go % 2 * 2};
      gone_.insert(kept_.back());
      kept_.pop_back();
    }
    seen_.most = std::max(seen_.most, count);
    if (count < recalled.size()) going_ = false;
    return count;
  }
  Decision decide(protocol::DynamicInstruction&, unsigned) override { return Decision::write; }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  std::size_t burst_;
  unsigned patience_, waited_ = 0;
  Seen& seen_;
  bool going_ = false;
  std::vector<protocol::DynamicInstruction*> kept_;
  std::set<protocol::DynamicInstruction*> gone_;
  sc_core::sc_event changed_;
};

/// Keeps every instruction for some cycles in a queue of its own; every third of those that may be bypassed is.
class KeepingOracle : public sc_core::sc_module, public protocol::ReusePoint {
 public:
  struct Seen {
    unsigned bypasses = 0, executions = 0;
  };
  KeepingOracle(const sc_core::sc_module_name& name, unsigned cycles, Seen& seen)
      : sc_module(name), cycles_(cycles), seen_(seen), changed_("changed") {}
  Decision decide(protocol::DynamicInstruction& d) override {
    kept_.push_back({&d, now_ + cycles_});
    return Decision::keep;
  }
  std::size_t resume_kept(unsigned, DecidedList& decided) override {
    if (!full_) ++now_;
    std::size_t count = 0;
    for (; !kept_.empty() && kept_.front().until <= now_ && count < decided.size(); kept_.pop_front()) {
      protocol::DynamicInstruction* const d = kept_.front().instruction;
      const bool may = d->info->destination_count != 0 && d->info->destination_predicate_count == 0 &&
                       !d->info->writes_memory && !d->info->reads_memory;
      const bool bypass = may && ++candidates_ % 3 == 0;
      (bypass ? seen_.bypasses : seen_.executions)++;
      decided[count++] = {d, bypass ? Decision::bypass : Decision::execute};
    }
    full_ = count == decided.size();
    return count;
  }
  bool needs_cycle() const override { return !kept_.empty(); }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  struct Kept {
    protocol::DynamicInstruction* instruction = nullptr;
    std::uint64_t until = 0;
  };
  unsigned cycles_;
  Seen& seen_;
  std::uint64_t now_ = 0, candidates_ = 0;  ///< now: cycles in which it was asked
  bool full_ = false;
  std::deque<Kept> kept_;
  sc_core::sc_event changed_;
};

/// The point keeps every instruction for so many cycles.
void keep_before_execution(unsigned cycles) {
  KeepingOracle::Seen seen;
  const auto r =
      test::simulate_with(test::mixed_trace("point_keep_" + std::to_string(cycles), 4), [&](const BuildContext& c) {
        SmParts parts = assembly::baseline_parts(c);
        parts.reuse_point = std::make_unique<KeepingOracle>("oracle", cycles, seen);
        return parts;
      });
  test::require_clean(r);
  REQUIRE(seen.bypasses > 100);
  REQUIRE(seen.executions > seen.bypasses);
}

/// The point lets results go when there are so many.
void keep_results(unsigned burst) {
  BurstResults::Seen seen;
  const auto r =
      test::simulate_with(test::mixed_trace("point_bursts_" + std::to_string(burst), 4), [&](const BuildContext& c) {
        SmParts parts = assembly::baseline_parts(c);
        parts.writeback_point = std::make_unique<BurstResults>("bursts", burst, 25, seen);
        return parts;
      });
  test::require_clean(r);
  const std::size_t at_once = protocol::WritebackPoint::recalled_at_once;
  REQUIRE(seen.let_go > 100);
  REQUIRE(seen.asked > seen.let_go / at_once);
  REQUIRE(seen.most >= std::min<std::size_t>(burst, at_once));
}

}  // namespace

TEST_CASE("extension point: reuse point by one with a queue of its own") { keep_before_execution(1); }

TEST_CASE("extension point: reuse point by one that keeps instructions for long") { keep_before_execution(40); }

TEST_CASE("extension point: write-back point that keeps a few results") { keep_results(3); }

TEST_CASE("extension point: write-back point that keeps as many results as it hands back at a time") {
  keep_results(8);
}

TEST_CASE("extension point: write-back point that keeps more results than it hands back at a time") {
  keep_results(19);
}
