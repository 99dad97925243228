// SPDX-License-Identifier: Apache-2.0
//
// Scoreboard and issue: every cycle each scheduler picks among its warps whose next instruction is there and has
// no register on its way; the pick goes out if the operand path has a place for it and every gate agrees, otherwise the
// scheduler picks again without it.
#pragma once

#include <regatta/protocol/extension_points.h>

#include "core.h"
#include "holds.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace regatta::sm {

class CauseSampler;
class CtaStage;
class Dependences;
class FrontEnd;
class GateAnswers;
class InjectedMoves;
class LoadStoreUnit;
class Operands;
class ReuseStage;

class IssueStage : public sc_core::sc_module {
 public:
  using PolicyFactory = std::function<std::shared_ptr<protocol::WarpScheduler>()>;

  IssueStage(const sc_core::sc_module_name& name, Core& core, const PolicyFactory& policy);
  ~IssueStage() override;
  /// `roles`: per gate.
  void connect(FrontEnd& front_end, Operands& operands, LoadStoreUnit& lsu, CtaStage& ctas, ReuseStage& reuse,
               std::vector<protocol::IssueGate*> gates, const std::vector<protocol::GateRoles>& roles);

  /// A warp joins a scheduler (its CTA is active) or leaves it.
  void add(Warp& warp, std::uint64_t age);
  void remove(Warp& warp);
  /// Recomputes why the warp's next instruction can or cannot be tried; call when its buffer head, its pending
  /// registers or its barrier status changed.
  void update(Warp& warp);
  /// What gates said of a warp that they kept closed takes effect.
  void gate_opened(Warp& warp);
  /// A policy has another priority class for the warp.
  void classify(Warp& warp, unsigned priority_class);
  /// The cycle has come until which a gate refuses the warp.
  void resume(Warp& warp);
  const protocol::WarpScheduler& policy() const { return *schedulers_.front().policy; }
  /// What keeps a warp that is ready and finds a place in the operand path.
  Hold holds(const Warp& warp) const;
  /// For the report of a deadlock: a line for each gate that refuses and has not notified anything since, without a
  /// newline.
  std::vector<std::string> silent_gates() const;
  void kernel_started();
  /// A launch has ended: no gate may have agreed without an announcement.
  void check_announced();
  /// A gate notified changed().
  void gate_changed(unsigned gate);
  void cycle();
  /// The instruction's results are written: its registers are free again.
  void release(DynamicInstruction& d);
  // From an operand path that reads late.
  void allocated(DynamicInstruction& d, Cycle dispatch);
  void stalled(unsigned scheduler);
  void sources_read(DynamicInstruction& d);
  /// Work::Kind::dependence.
  void dependence_due(std::uint32_t value);
  /// What a warp waits for that is not ready, if that is more than registers; for the report of a deadlock.
  std::string describe_wait(const Warp& warp) const;
  /// Null: there is the scoreboard alone.
  protocol::LifecycleListener* dependences();

  /// A cycle of an SM without CTAs.
  void rest();
  /// Whether a gate takes inserted instructions of its scheme.
  bool takes_inserted() const { return takes_inserted_; }
  std::uint64_t inserted = 0;  ///< inserted instructions that were issued
  /// Moves of gates' own that were issued; null when no gate injects any.
  const std::uint64_t* injected() const;
  /// What each scheduler met in the last cycle it was asked.
  const std::vector<protocol::Stall>& last() const { return last_; }
  /// Counts `cycles` more in which every scheduler met what it met last.
  void repeat(std::uint64_t cycles);

 private:
  friend class CauseSampler;
  struct Scheduler {
    std::shared_ptr<protocol::WarpScheduler> policy;
    bool restricts = false;  ///< the policy lets only some of the ready warps take part
    WarpMask used = 0;       ///< local indices taken
    WarpMask closed = 0;     ///< warps that gates keep
    WarpMask paused = 0;     ///< warps that gates refuse until a cycle that is known
    std::array<WarpMask, protocol::warp_state_count> in_state{};  ///< active warps by state
    std::array<WarpMask, protocol::unit_count> bound_for{};       ///< warps by the unit of their next instruction; of
                                                                  ///< those that are ready it is up to date
    WarpMask in(WarpState state) const { return in_state[static_cast<unsigned>(state)]; }
    std::array<WarpSlot, protocol::max_warps_per_scheduler> slots;
  };

  /// Hears one gate.
  class Listener : public protocol::GateListener {
   public:
    Listener(IssueStage& stage, unsigned gate) : stage_(stage), gate_(gate) {}
    void closed(WarpSlot warp, bool is_closed) override { stage_.closed(stage_.named(gate_, warp), gate_, is_closed); }
    void pause(WarpSlot warp, Cycle until) override { stage_.pause(stage_.named(gate_, warp), gate_, until); }
    void reconsider(Cycle at) override { stage_.reconsider(gate_, at); }

   private:
    IssueStage& stage_;
    unsigned gate_;
  };

  /// Hears the policy of one scheduler.
  class ActiveSet : public protocol::ActiveSetListener {
   public:
    ActiveSet(IssueStage& stage, unsigned scheduler) : stage_(stage), scheduler_(scheduler) {}
    void active_set_changed(unsigned warp, bool inside) override {
      stage_.active_set_changed(stage_.schedulers_[scheduler_], warp, inside);
    }

   private:
    IssueStage& stage_;
    unsigned scheduler_;
  };

  void active_set_changed(const Scheduler& s, unsigned local, bool inside);
  void closed(Warp& warp, unsigned gate, bool is_closed);
  void set_closed(Warp& warp, bool is_closed);
  /// Whether a gate that closed the warp keeps its next instruction: an inserted one is kept by gates of its scheme
  /// only.
  bool is_kept(const Warp& warp) const {
    return __builtin_expect(static_cast<int>(takes_inserted_), 0) != 0 ? keeps_next(warp) : warp.closed_by != 0;
  }
  bool keeps_next(const Warp& warp) const;
  /// Of the candidates for sp pipelines, takes out those whose kind of pipeline is taken; `structural`: why, unless
  /// known.
  [[gnu::noinline]] void turn_away_from_pipelines(const Scheduler& s, WarpMask& candidates,
                                                  protocol::Stall& structural) const;
  /// The warp has another next instruction, which gates may not keep.
  [[gnu::noinline]] void next_changed(Warp& warp);
  /// The warp, which no gate keeps closed, began or ended a long wait: whether a policy with an active set is told.
  /// Not if a gate keeps it active meanwhile.
  [[gnu::noinline]] bool wait_shows(Warp& warp) const;
  void pause(Warp& warp, unsigned gate, Cycle until);
  void reconsider(unsigned gate, Cycle at);
  /// The warp that a gate speaks of.
  Warp& named(unsigned gate, WarpSlot warp);
  void refused(Warp& warp, unsigned gate) {
    if (warp.refused_by == gate) return;
    warp.refused_by = static_cast<std::uint8_t>(gate);
    warp.refused_since = core_.now;
  }
  [[noreturn, gnu::noinline, gnu::cold]] void broken_gate(unsigned gate, const std::string& did,
                                                          const std::string& expected) const;
  [[noreturn, gnu::noinline, gnu::cold]] void broken_policy(const Scheduler& s, const std::string& did,
                                                            const std::string& expected) const;
  /// A gate agreed to `d`: that it could, and meant it.
  [[gnu::noinline, gnu::cold]] void check_agreement(const Warp& warp, const DynamicInstruction& d, unsigned gate);
  /// With SmConfig::check_contracts: `gate` refused `d`.
  [[gnu::noinline, gnu::cold]] void note_refusal(const Warp& warp, const DynamicInstruction& d, unsigned gate);
  /// From cycle `at` on, the gate may agree to what it refused.
  void announced(unsigned gate, Cycle at);
  /// The policy is asked again, which must not make a difference.
  [[gnu::noinline, gnu::cold]] void check_settled(const Scheduler& s, WarpMask asked, WarpMask answer) const;
  bool finds_place(const Warp& warp) const;
  /// Issues the warp's next instruction, for which the operand path has a place, unless a gate refuses.
  bool attempt(Warp& warp);
  void issue(Warp& warp, DynamicInstruction& d);
  void issue_inserted(Warp& warp, DynamicInstruction& d);
  /// Whether gate `gate` hears of the instruction: of an inserted one, only if it is of the gate's scheme.
  bool concerns(unsigned gate, const DynamicInstruction& d) const {
    return __builtin_expect(static_cast<int>(d.injected), 0) == 0 || takes(gate, d);
  }
  [[gnu::noinline, gnu::cold]] bool takes(unsigned gate, const DynamicInstruction& inserted) const {
    return inserted.info->scheme.empty() || inserted.info->scheme == schemes_[gate];
  }
  template <class F>
  void tell_gates(const DynamicInstruction& d, F&& f) {
    if (__builtin_expect(static_cast<int>(d.injected), 0) == 0) {
      for (protocol::IssueGate* gate : gates_) f(*gate);
      return;
    }
    for (unsigned i = 0; i < gates_.size(); ++i) {
      if (concerns(i, d)) f(*gates_[i]);
    }
  }
  /// `gate` refused `next`: issues the move that it wants ahead of it, if any.
  bool inject(Warp& warp, const DynamicInstruction& next, unsigned gate);
  /// Whether there is something to look at in a gate's agreement.
  bool doubtful(const Warp& warp) const;
  /// The scoreboard and everyone who listens: `d` goes out.
  void enter(Warp& warp, DynamicInstruction& d);
  protocol::Stall cycle(Scheduler& s);
  protocol::Stall reason_to_wait(const Scheduler& s) const;
  /// Of warps in WarpState::scoreboard.
  [[gnu::noinline]] protocol::Stall dependence_reason(const Scheduler& s) const;
  /// With an issue interval of n cycles, scheduler i issues in every n-th, in those with i left over.
  bool turn_of(std::size_t scheduler) const {
    const unsigned interval = core_.config.issue_interval;
    return interval == 1 || core_.now.value() % interval == scheduler % interval;
  }
  /// Takes from the candidates those for which the operand path has no place; why, Stall::none where there are none.
  protocol::Stall turn_away(const Scheduler& s, WarpMask& candidates) const;
  /// A warp is ready outside the scheduler's slot: what keeps it besides, or the slot.
  protocol::Stall not_its_turn(const Scheduler& s);
  WarpState state_of(const Warp& warp) const;

  Core& core_;
  FrontEnd* front_end_ = nullptr;
  Operands* operands_ = nullptr;
  LoadStoreUnit* lsu_ = nullptr;
  CtaStage* ctas_ = nullptr;
  ReuseStage* reuse_ = nullptr;
  std::unique_ptr<Dependences> dependences_;  ///< none: the scoreboard alone, Warp::pending
  std::vector<protocol::IssueGate*> gates_;
  std::vector<const protocol::ActiveSetKeeper*> keepers_;
  std::vector<std::string> schemes_;                  ///< per gate, of the inserted instructions that it takes
  bool takes_inserted_ = false;                       ///< a gate names a scheme
  Cycle asked_in_;                                    ///< with SmConfig::check_contracts, of the last agreement
  const Warp* asked_ = nullptr;                       ///< gates are being asked about its instruction
  std::vector<std::unique_ptr<Listener>> listeners_;  ///< one per gate that reports
  std::unique_ptr<InjectedMoves> moves_;              ///< none: no gate injects any
  std::unique_ptr<GateAnswers> answers_;              ///< with SmConfig::check_contracts
  std::vector<Cycle> notified_;                       ///< per gate, the last cycle that it announced; never: none
  std::vector<Scheduler> schedulers_;
  std::vector<std::unique_ptr<ActiveSet>> active_sets_;  ///< one per scheduler
  std::vector<protocol::Stall> last_;
};

}  // namespace regatta::sm
