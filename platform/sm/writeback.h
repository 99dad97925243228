// SPDX-License-Identifier: Apache-2.0
//
// Write-back: results leave in order of completion, a bounded number per cycle; where the configuration says so, those
// of the pipelines before those of memory or the other way round. Each destination passes the write-back point, if
// there is one, and goes to the operand storage with the active lanes as byte enables. The scoreboard lets go when the
// storage has taken the last of them. Another order of write-back derives from this one (SubCoreWriteback).
#pragma once

#include <regatta/protocol/extension_points.h>
#include <regatta/support/ring.h>

#include "contract.h"
#include "core.h"
#include "holds.h"
#include "request_channel.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::sm {

class Writeback : public sc_core::sc_module, public support::StatProvider, protected tlm::tlm_bw_transport_if<> {
 public:
  Writeback(const sc_core::sc_module_name& name, Core& core);
  ~Writeback() override = default;

  protocol::OperandInitiatorSocket write_socket;
  /// `storage`: the name of what write_socket leads to.
  void connect(protocol::WritebackPoint* point, const std::string& storage);

  /// A result is ready: queue it, unless the write-back point keeps it for a while.
  void executed(DynamicInstruction& d) {
    if (point_ != nullptr && d.traits->write_count != 0 && stays(d)) {
      ++staged_;
      return;
    }
    queue(d);
  }
  /// The time for which the write-back point kept a result is over.
  void staged(DynamicInstruction& d) {
    if (stays(d)) return;
    --staged_;
    queue(d);
  }
  bool full() const { return waiting_ + staged_ >= core_.config.writeback_queue; }
  /// Whether results that wait hold the pipelines.
  bool holds_pipelines() const { return holds_pipelines_ && full(); }
  /// What keeps `d`, which has its results; none: it is elsewhere.
  virtual std::optional<Hold> holds(const DynamicInstruction& d) const;
  /// What keeps the results in front of all others.
  virtual Hold blockage() const;
  /// Writes go on in a later cycle that is known.
  bool is_due() const;
  /// First stage of a cycle.
  void cycle() {
    if (kept_ != 0) recall();
    if (waiting_ != 0) serve();
  }
  void register_stats(support::StatGroup& group) override;

 protected:
  enum class Progress { done, held };
  Writeback(const sc_core::sc_module_name& name, Core& core, bool holds_pipelines);
  /// Results are there, or wait: writes what may be written in this cycle.
  virtual void serve();
  /// The results of `d` are ready.
  virtual void queue(DynamicInstruction& d) {
    ++waiting_;
    (by_kind_ && d.traits->is_memory ? memory_ : results_).push(&d);
  }
  /// Hands one destination to the storage, unless it is held.
  Progress write(DynamicInstruction& d, unsigned destination);
  /// What keeps a result that is held, and what it waits for in front of the storage.
  Hold held(const DynamicInstruction& d, unsigned destination) const;
  /// What keeps a result that the point keeps, or that the storage has not answered.
  std::optional<Hold> holds_elsewhere(const DynamicInstruction& d) const;

  Core& core_;
  std::size_t waiting_ = 0;  ///< results that wait for their write
  Cycle held_since_;         ///< the head, where it is held
  std::uint64_t held_attempts_ = 0;

 private:
  void recall();
  bool stays(DynamicInstruction& d);
  Progress hand_over(DynamicInstruction& d, unsigned destination);
  Progress write(DynamicInstruction& d);
  protocol::WritebackPoint::Decision ask(DynamicInstruction& d, unsigned destination);
  protocol::WritebackPoint::Decision checked_ask(DynamicInstruction& d, unsigned destination);
  [[noreturn, gnu::noinline, gnu::cold]] void unknown_decision(const DynamicInstruction& d,
                                                               protocol::WritebackPoint::Decision decision) const;
  void send(DynamicInstruction& d, unsigned destination);
  void finished(DynamicInstruction& d, Cycle when);
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  protocol::WritebackPoint* point_ = nullptr;
  const bool holds_pipelines_;
  support::Ring<DynamicInstruction*>& next();
  bool by_kind_;       ///< results of memory have a queue of their own
  bool memory_first_;  ///< and go before the others
  support::Ring<DynamicInstruction*>* current_ =
      nullptr;                                  ///< the queue whose head is held, and comes next whatever the order
  support::Ring<DynamicInstruction*> results_;  ///< of pipelines, or of all
  support::Ring<DynamicInstruction*> memory_;
  std::size_t staged_ = 0;    ///< with the write-back point, on their way to a queue
  std::size_t kept_ = 0;      ///< of these, the ones in a queue of the point's own
  unsigned destination_ = 0;  ///< of the head: destinations already dealt with
  RequestChannel channel_;
  TargetContract writes_to_;
  std::unique_ptr<InstructionSnapshot> before_;  ///< with SmConfig::check_contracts, of what the point is shown
  protocol::OperandPayloadPool payloads_;
  std::uint64_t writes_ = 0;
  std::uint64_t partial_writes_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace regatta::sm
