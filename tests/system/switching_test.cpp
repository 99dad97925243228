// SPDX-License-Identifier: Apache-2.0
//
// A residency policy that switches CTAs at random moments, under every scheme: no value is lost, no barrier hangs, and
// what the SM tells of a warp is what the trace and the events say.
#include <regatta/protocol/observer.h>
#include <regatta/protocol/sm_control.h>
#include <regatta/test/catch.h>
#include <regatta/test/clock.h>
#include <regatta/trace/file.h>

#include <map>
#include <memory>
#include <random>
#include <set>
#include <utility>

#include "scheme_runs.h"

using namespace regatta;
using protocol::CtaPhase;
using protocol::Residency;
using test::SchemeCase;
using test::SchemeRun;

namespace {

/// What the policies of all SMs of a run did.
struct Done {
  std::uint64_t out = 0, in = 0, cancelled = 0, quiesced = 0, moved = 0, contexts = 0, deep = 0;
};

/// The scheme's own policy, whose CTAs leave and enter besides: at random moments, with and without a context to save,
/// some called back while they drain, some said to have moved.
class RandomSwitches : public sc_core::sc_module, public Residency {
 public:
  RandomSwitches(const sc_core::sc_module_name& name, std::unique_ptr<Residency> policy, Done& done,
                 support::ClockDomain& clock)
      : sc_module(name),
        policy_(std::move(policy)),
        done_(done),
        period_(clock.period()),
        random_(17),
        changed_("changed"),
        tick_("next_tick") {
    SC_HAS_PROCESS(RandomSwitches);
    SC_METHOD(tick);
    sensitive << tick_;
    dont_initialize();
  }
  protocol::ResourcePlan plan(const protocol::KernelContext& context, const protocol::SmLimits& limits) override {
    return policy_->plan(context, limits);
  }
  bool switches() const override { return true; }
  const sc_core::sc_event& changed() const override { return changed_; }
  void attach(protocol::SmControl& control) override { control_ = &control; }
  void cta_launched(const protocol::CtaInfo&) override {
    if (++resident_ == 1) tick_.notify(50 * period_);
  }
  /// An event that is due would keep the run from ending.
  void cta_finished(const protocol::CtaInfo&) override {
    if (--resident_ == 0) tick_.cancel();
  }
  void cta_quiesced(const protocol::CtaInfo& cta) override {
    ++done_.quiesced;
    protocol::WarpContext context;
    for (unsigned w = 0; w < cta.warps; ++w) {
      const auto slot = static_cast<std::uint16_t>(cta.cta.value() * cta.warps + w);
      if (finished_.count({cta.cta_index, w}) != 0) continue;
      control_->context(protocol::WarpSlot(slot), context);
      CHECK(!context.scheduled);
      CHECK(context.in_flight == 0);
      CHECK(context.pending.empty());
      ++done_.contexts;
      done_.deep += context.resume.size() > 1 ? 1 : 0;
    }
  }
  void warp_finished(const protocol::WarpInfo& warp) override { finished_.insert({warp.cta_index, warp.warp_in_cta}); }

  Action next(const View& view) override {
    for (const protocol::CtaStatus& cta : *view.ctas) {
      if (cta.phase == CtaPhase::quiesced && random_() % 2 == 0) {
        ++done_.moved;
        return {Action::Kind::moved, cta.cta};
      }
    }
    if (due_ && !view.ctas->empty()) {
      due_ = false;
      const protocol::CtaStatus& cta = (*view.ctas)[random_() % view.ctas->size()];
      Action action;
      action.cta = cta.cta;
      action.context_bytes = random_() % 2 == 0 ? 0 : static_cast<unsigned>(random_() % 2000);
      if (cta.phase == CtaPhase::active) {
        ++done_.out;
        action.kind = Action::Kind::switch_out;
      } else if (cta.phase != CtaPhase::entering) {
        ++done_.in;
        done_.cancelled += cta.phase == CtaPhase::draining ? 1 : 0;
        action.kind = Action::Kind::switch_in;
      }
      if (action.kind != Action::Kind::none) return action;
    }
    return policy_->next(view);
  }

 private:
  /// Goes on for as long as CTAs are resident, at moments that have nothing to do with the pipeline's.
  void tick() {
    due_ = true;
    changed_.notify(sc_core::SC_ZERO_TIME);
    tick_.notify(double(20 + random_() % 400) * period_);
  }

  std::unique_ptr<Residency> policy_;
  Done& done_;
  sc_core::sc_time period_;
  std::mt19937 random_;
  sc_core::sc_event changed_, tick_;
  protocol::SmControl* control_ = nullptr;
  std::set<std::pair<std::uint64_t, unsigned>> finished_;
  unsigned resident_ = 0;
  bool due_ = false;
};

/// Compares, at every issue, what the SM tells of a warp with the warp's own columns of the trace.
class ContextOracle : public protocol::Observer, public protocol::LifecycleListener {
 public:
  using Ctas = std::map<std::uint64_t, std::shared_ptr<const trace::Cta>>;
  ContextOracle(const trace::Kernel& kernel, std::map<std::uint32_t, Ctas>& launches, std::uint64_t& deep)
      : kernel_(kernel), launches_(launches), deep_(deep) {}
  std::vector<protocol::Event> interests() const override {
    return {protocol::Event::warp_started, protocol::Event::issued};
  }
  void attach(protocol::SmControl& control) override { control_ = &control; }
  void kernel_started(const protocol::KernelContext& context) override { launch_ = context.launch_index; }
  void warp_started(protocol::Cycle, const protocol::WarpInfo& info) override {
    Warp& w = warps_[info.warp.value()];
    w = Warp{};
    w.cursor = trace::WarpCursor(kernel_, launches_.at(launch_).at(info.cta_index)->warps[info.warp_in_cta]);
  }
  void warp_started(const protocol::WarpInfo&) override {}
  void issued(protocol::Cycle, const protocol::DynamicInstruction& d) override {
    Warp& w = warps_[d.warp.value()];
    REQUIRE(w.cursor.next());
    events_.clear();
    w.cursor.stack_events(events_);
    for (const trace::StackEvent& e : events_) {
      e.push ? void(w.stack.push_back(e.resume_index)) : void(w.stack.pop_back());
    }
    control_->context(d.warp, context_);
    REQUIRE(context_.next_sequence == d.sequence + 1);
    REQUIRE(context_.in_flight > 0);
    if (w.cursor.at_end()) return;
    std::vector<std::uint32_t> expected(w.stack.rbegin(), w.stack.rend());
    expected.insert(expected.begin(), w.cursor.path().peek_index());
    REQUIRE(context_.resume == expected);
    deep_ += expected.size() > 1 ? 1 : 0;
  }

 private:
  struct Warp {
    trace::WarpCursor cursor;
    std::vector<std::uint32_t> stack;
  };
  const trace::Kernel& kernel_;
  std::map<std::uint32_t, Ctas>& launches_;
  std::uint64_t& deep_;
  protocol::SmControl* control_ = nullptr;
  std::uint32_t launch_ = 0;
  std::map<unsigned, Warp> warps_;
  std::vector<trace::StackEvent> events_;
  protocol::WarpContext context_;
};

void check_switching(const SchemeCase& c) {
  CAPTURE(c.name);
  Done done;
  const SchemeRun run = test::run_scheme(c, [&](assembly::SmParts& parts) {
    auto policy = std::make_unique<RandomSwitches>("switches", std::move(parts.residency), done, test::machine_clock());
    parts.residency = std::move(policy);
  });
  INFO(run.result.message);
  REQUIRE(run.result.ending == assembly::Ending::completed);
  CHECK(run.result.mismatches == 0);
  CHECK(run.result.operands_checked > 10000);
  CHECK(done.out > 100);
  CHECK(done.in > 50);
  CHECK(done.cancelled > 0);
  CHECK(done.moved > 10);
  CHECK(done.contexts > 100);
  CHECK(done.deep > 0);
  CHECK(run.stat("sm*.pipeline", "cta_switches_out") == double(done.out));
  CHECK(run.stat("sm*.pipeline", "cta_switches_in") == double(done.in));
  CHECK(run.stat("sm*.pipeline", "context_passes") > 0);
}

}  // namespace

TEST_CASE("switching: the SM says where every entry of a warp's SIMT stack goes on") {
  const test::Folder folder;
  const trace::Reader reader(test::annotate_events(folder, 32, 12));
  std::map<std::uint32_t, ContextOracle::Ctas> launches;
  const auto stream = reader.stream(0, reader.ctas().size());
  while (const auto cta = stream->next()) launches[cta->launch][cta->index] = cta;
  std::uint64_t deep = 0;
  const SchemeRun run = test::run_scheme(test::scheme_cases().at(0), [&](assembly::SmParts& parts) {
    auto oracle = std::make_unique<ContextOracle>(reader.kernels().at(0), launches, deep);
    parts.listeners.push_back(oracle.get());
    parts.observers.push_back(std::move(oracle));
  });
  CHECK(run.result.ending == assembly::Ending::completed);
  CHECK(deep > 1000);
}

namespace {

/// Whether another residency can stand before the scheme's own.
bool may_switch(const SchemeCase& c) {
  static const std::set<std::string> own{"virtual_thread",
                                         "finereg",
                                         "reg_dram",
                                         "vt_regmutex",
                                         "um",
                                         "vt_um",
                                         "finereg_um",
                                         "register_sharing",
                                         "scratchpad_sharing",
                                         "rfv",
                                         "warp_level_divergence",
                                         "scratchpad_multiplexing"};
  return own.count(c.scheme) == 0 && c.name != "rfh";  // whose active set chooses among warps
}

const test::ForEachScheme switching("switching: CTAs leave and enter at random, values checked", check_switching,
                                    may_switch);

}  // namespace
