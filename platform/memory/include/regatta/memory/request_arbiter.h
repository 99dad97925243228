// SPDX-License-Identifier: Apache-2.0
//
// Several initiators before one target that accepts one request per cycle: the load-store unit and the shards of a
// staging unit before an L1 (RegLess, MICRO 2017, section 5: "only one shard can access the L1 at a time").
#pragma once

#include <regatta/memory/transport.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <memory>
#include <systemc>
#include <utility>
#include <vector>

namespace regatta::memory {

/// One request per cycle, round robin among the waiting ports. The base protocol holds on all sockets. The arbiter adds
/// no cycle to a request without competitors, nor to any answer.
///
/// A request for the cycle of the call passes immediately if no earlier request waits; otherwise it is answered
/// TLM_ACCEPTED and waits for its turn. A request that waits at the target for END_REQ keeps its place, and no other
/// passes it; answers continue meanwhile. Answers find their port by MemoryAccess::port, which is restored afterwards.
///
/// Results do not depend on the order of calls in a cycle, as long as at most one initiator calls without a delay: the
/// requests of the others are known before their cycle begins.
class RequestArbiter final : public sc_core::sc_module, public NonBlockingInitiator, public support::StatProvider {
 public:
  protocol::MemoryInitiatorSocket downstream;

  RequestArbiter(const sc_core::sc_module_name& name, unsigned ports, support::ClockDomain& clock);
  ~RequestArbiter() override;

  unsigned ports() const { return static_cast<unsigned>(ports_.size()); }
  protocol::MemoryTargetSocket& upstream(unsigned port);
  /// Nothing waits or is in flight.
  bool idle() const;
  void register_stats(support::StatGroup& group) override;

  tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;

 private:
  struct Port;

  tlm::tlm_sync_enum request(Port& port, Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void end_response(Port& port, Payload& payload, const sc_core::sc_time& delay);
  tlm::tlm_sync_enum pass(Port& port, Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  bool open(std::uint64_t now) const { return held_ == nullptr && free_at_ <= now; }
  void grant(std::uint64_t now);
  void let_go(Port& port, std::uint64_t now);
  void set_due(Port& port, std::uint64_t now, std::uint64_t at);
  void look(Port& port, std::uint64_t now, std::uint64_t at);
  void answer(Port& port, std::uint64_t now);
  void work();
  void enter(Payload& payload, protocol::MemoryAccess& access, const Port& port);
  void leave(Payload& payload, protocol::MemoryAccess& access);
  [[gnu::noinline, gnu::cold]] void restore(Payload& payload, std::uint8_t& mark);

  const protocol::AnswerRules answer_rules_;
  CycleClock clock_;
  support::CycleClient wakeup_{clock_.domain(), [](void* m) { static_cast<RequestArbiter*>(m)->work(); }, this};
  std::vector<std::unique_ptr<Port>> ports_;
  std::uint64_t waiting_ = 0;      // ports with a request that waits, a bit each
  std::uint64_t answering_ = 0;    // ports with answers that wait for a cycle that is known
  unsigned last_ = 0;              // the port that was granted last among those that waited
  const Payload* held_ = nullptr;  // sent, and END_REQ is to come
  unsigned held_port_ = 0;         // its port
  std::uint64_t free_at_ = 0;      // the next request
  std::vector<std::pair<const Payload*, std::uint8_t>> nested_;  // port numbers of arbiters above
};

}  // namespace regatta::memory
