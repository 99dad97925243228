// SPDX-License-Identifier: Apache-2.0
//
// Write-back: results leave in order of completion, a bounded number per cycle; where the configuration says so, those
// of the pipelines before those of memory or the other way round. Each destination passes the write-back point, if
// there is one, and goes to the operand storage with the active lanes as byte enables. The scoreboard lets go when the
// storage has taken the last of them.
#pragma once

#include <regatta/protocol/extension_points.h>

#include "core.h"
#include "request_channel.h"
#include "ring.h"

#include <array>
#include <memory>
#include <systemc>

namespace regatta::sm {

class Writeback : public sc_core::sc_module, public support::StatProvider, tlm::tlm_bw_transport_if<> {
 public:
  Writeback(const sc_core::sc_module_name& name, Core& core);

  protocol::OperandInitiatorSocket write_socket;
  void connect(protocol::WritebackPoint* point) { point_ = point; }

  /// A result is ready: queue it.
  void executed(DynamicInstruction& d) { queues_[by_kind_ && d.traits->is_memory ? 1 : 0].push(&d); }
  bool full() const { return queues_[0].size() + queues_[1].size() >= core_.config.writeback_queue; }
  /// First stage of a cycle.
  void cycle();
  void register_stats(support::StatGroup& group) override;

 private:
  enum class Progress { done, held };
  Progress write(DynamicInstruction& d);
  void send(DynamicInstruction& d, unsigned destination);
  void finished(DynamicInstruction& d, Cycle when);
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  Core& core_;
  protocol::WritebackPoint* point_ = nullptr;
  bool empty() const { return queues_[0].empty() && queues_[1].empty(); }
  bool by_kind_;                                     ///< pipelines and memory have queues of their own
  unsigned first_;                                   ///< the queue whose results go first
  unsigned current_ = 0;                             ///< the queue whose head is being written
  bool held_ = false;                                ///< it is, and comes next whatever the order
  std::array<Ring<DynamicInstruction*>, 2> queues_;  ///< of pipelines (or of all), of memory
  unsigned destination_ = 0;                         ///< of the head: destinations already dealt with
  RequestChannel channel_;
  protocol::OperandPayloadPool payloads_;
  std::uint64_t writes_ = 0;
  std::uint64_t partial_writes_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t held_cycles_ = 0;
};

}  // namespace regatta::sm
