// SPDX-License-Identifier: Apache-2.0
//
// The reuse buffer (WIR section V-C, figure 9) as a block: ports, references, low-register mode and energy of its own.
#pragma once

#include <regatta/protocol/lifecycle.h>
#include <regatta/protocol/lookup.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/holds_work.h>
#include <regatta/support/stats.h>
#include <regatta/wir/ports.h>
#include <regatta/wir/references.h>
#include <regatta/wir/reuse_entries.h>
#include <regatta/wir/reuse_operations.h>
#include <regatta/wir/wir_config.h>

#include <cstdint>
#include <string>
#include <systemc>

namespace regatta::models::wir {

/// Has a result of this computation been entered? Whoever asks has a reference to each source until the answer comes.
struct ReuseRequest {
  ReuseTag tag;
  std::uint32_t fold = 0;  ///< tag.fold(): computed once, because it is needed several times. Entry fold modulo entries
  std::uint32_t owner = 0;  ///< identifies the instruction among those in flight, whenever it asks; not 0
  bool retry = false;       ///< it waited for a pending result: a miss changes nothing
};

/// What the user does with it: an instruction that gets a `result` takes its registers and owes their references
/// (it releases them, or a rename entry takes them over). One for which an entry was `claimed` executes and then calls
/// ReuseUpdates::update(). Without pending-retry (WirConfig::pending()), one that found `nothing` and was not `evicted`
/// also does. All others execute without an update, or wait and ask again with `retry`.
struct ReuseAnswer {
  enum class Found : std::uint8_t {
    nothing,   ///< it has to execute
    pending,   ///< another instruction's result will be entered
    result,    ///< the instruction owns a reference to each register of `result`
    unshared,  ///< there is a result, but a counter is full: it has to execute and owns nothing
  };
  Found found = Found::nothing;
  bool claimed = false;  ///< an entry was claimed for the instruction, which will update it
  bool evicted = false;  ///< low-register mode: the entry in the tag's place was given up
  ReuseResult result;    ///< of `result`
};

/// An instruction retires with this result.
struct ReuseUpdate {
  ReuseTag tag;
  std::uint32_t fold = 0;
  std::uint32_t owner = 0;
  bool claimed = false;  ///< an entry was claimed for it; otherwise it enters one now (without pending-retry)
  ReuseResult result;    ///< no register: it has none that could be entered
};

class ReuseUpdates : public virtual sc_core::sc_interface {
 public:
  /// Books a write port for one update; returns its cycle, the present one or later.
  virtual std::uint64_t book_write() = 0;
  /// Makes the update, in the cycle that was booked or, if the instruction retires later, then. The entry takes
  /// references of its own to its registers.
  virtual void update(const ReuseUpdate& update) = 0;
  // For a user that does not look at every cycle, and for the host's sake.
  /// Retries of past cycles in which nothing had changed: each has read the buffer.
  virtual void count_retries(std::uint64_t times) = 0;
  /// The host may prefetch the entry: it will be looked up in some cycles.
  virtual void fetch_ahead(std::uint32_t fold) const = 0;
};

/// Told of results that the buffer loses to newer ones, for a victim buffer.
class ReuseVictims : public virtual sc_core::sc_interface {
 public:
  /// An entry with this result is replaced, in the middle of look_up() or update() of the buffer. Its references are
  /// given up on return: to keep the registers, share them. Not told: entries given up for lack of registers, loads of
  /// a CTA that ends, and entries whose result is still to come.
  virtual void replaced(const ReuseTag& tag, const ReuseResult& result) = 0;
};

/// A lookup takes a read port, and with pending-retry a miss also takes a write port for the claim of its entry (unless
/// WirConfig::reuse_claim_writes is false), in the cycle in which it is accepted. Without a free port the reply is
/// busy; a miss without a write port has used its read port. The cycles of the stage are its user's.
///
/// Of References it calls share(), release(), low(), low_mode() and settle().
class ReuseBuffer : public sc_core::sc_module,
                    public ReuseUpdates,
                    public ReferenceKeeper,
                    public protocol::Lookup<ReuseRequest, ReuseAnswer>,
                    public protocol::LifecycleListener,
                    public support::StatProvider,
                    public support::HoldsWork {
 public:
  protocol::LookupTarget<ReuseRequest, ReuseAnswer> lookups;
  sc_core::sc_export<ReuseUpdates> updates;
  sc_core::sc_export<ReferenceKeeper> keeper;
  sc_core::sc_port<References> references;
  sc_core::sc_port<ReuseVictims, 1, sc_core::SC_ZERO_OR_MORE_BOUND> victims;

  ReuseBuffer(const sc_core::sc_module_name& name, const WirConfig& config, support::ClockDomain& clock);

  protocol::LookupReply look_up(const ReuseRequest& request, std::uint32_t tag, ReuseAnswer& answer) override;
  /// Never notified: ports are free again in the next cycle.
  const sc_core::sc_event& changed() const override { return changed_; }
  std::uint64_t book_write() override;
  void update(const ReuseUpdate& update) override;
  void count_retries(std::uint64_t times) override { retries_ += times; }
  void fetch_ahead(std::uint32_t fold) const override { entries_.fetch_ahead(fold); }

  unsigned give_up_idle(std::uint64_t cycle, PhysicalRegister* regs) override;
  void give_up_while(const std::function<bool()>& more) override;
  void give_up_all() override;
  void count(ReferenceCounts& counts) const override;

  void end_of_elaboration() override {
    references_ = references.operator->();
    low_mode_ = &references->low_mode();
    victims_ = victims.size() == 0 ? nullptr : victims.operator->();
  }
  /// Claims whose result is to come.
  std::string held_work() const override;
  /// The slot's next CTA has another scratchpad and counts its barriers from zero: entries of its loads are dropped.
  void cta_finished(const protocol::CtaInfo& cta) override;
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;
  const ReuseEntries& entries() const { return entries_; }
  /// `twin` takes part in every operation on the entries, which are directly indexed.
  void set_twin(ReuseTwin* twin) { twin_ = twin; }
  /// For the report of a difference: how many entries there are, and the one that the last operation was about.
  std::string describe_entries() const;

 private:
  /// The tag's place gets another entry.
  void tell_victim(const ReuseTag& tag, std::uint32_t fold) {
    if (__builtin_expect(static_cast<int>(victims_ != nullptr), 0) == 0) return;
    const ReuseEntries::Entry& e = entries_.in_place_of(tag, fold);
    if (e.valid && !e.pending && !(e.tag == tag)) victims_->replaced(e.tag, e.result);
  }
  protocol::LookupReply miss(const ReuseRequest& request, std::uint64_t now, ReuseAnswer& answer);
  // Operations on the entries; the references of what they drop are released.
  ReuseEntries::Lookup find(const ReuseTag& tag, std::uint32_t fold) {
    if (__builtin_expect(static_cast<int>(twin_ != nullptr), 0) != 0) return find_with_twin(tag, fold);
    return entries_.find(tag, fold);
  }
  ReuseEntries::Lookup find_with_twin(const ReuseTag& tag, std::uint32_t fold);
  void claim(const ReuseRequest& request);
  void evict(const ReuseRequest& request);
  bool complete(const ReuseUpdate& update);
  void abandon(const ReuseUpdate& update);
  void insert(const ReuseUpdate& update);
  /// `give_up(reg)` for each register.
  template <class F>
  void evict_entry(std::size_t which, F&& give_up);
  /// With a twin: on the model's entries, then on the twin's.
  ReuseOutcome operate(const ReuseOperation& operation);
  /// The same, of an operation that enters a tag: tells who keeps victims, and releases.
  void enter_with_twin(const ReuseOperation& operation);
  /// The same, repeated until there is no such entry.
  void drop_with_twin(const ReuseOperation& operation);

  void release(const Dropped& dropped) {
    dropped.for_each([this](PhysicalRegister reg) { references_->release(reg); });
  }

  const bool pending_;       ///< misses claim entries
  const bool claim_writes_;  ///< and a claim is a write of its own
  support::ClockDomain& clock_;
  References* references_ = nullptr;
  ReuseVictims* victims_ = nullptr;
  const bool* low_mode_ = nullptr;
  ReuseEntries entries_;
  ReuseTwin* twin_ = nullptr;    ///< null: none
  std::uint32_t last_fold_ = 0;  ///< with a twin: of its last operation
  Ports read_ports_, write_ports_;
  std::uint64_t accessed_ = ~std::uint64_t{0};  ///< the last cycle of an access, retries aside
  std::uint64_t random_ = 1;
  // The last lookup that missed and found no write port. Until a tag is entered it misses again.
  std::uint32_t refused_owner_ = 0;
  std::uint64_t refused_at_ = 0;
  std::uint64_t lookups_ = 0, reads_ = 0, retries_ = 0, writes_ = 0, read_waits_ = 0, write_waits_ = 0;
  std::uint64_t low_evictions_ = 0;
  sc_core::sc_event changed_;
};

}  // namespace regatta::models::wir
