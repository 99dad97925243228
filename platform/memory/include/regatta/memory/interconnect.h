// SPDX-License-Identifier: Apache-2.0
//
// The interconnect between SMs and L2 partitions: two crossbars, one per direction.
#pragma once

#include <regatta/memory/memory_config.h>
#include <regatta/memory/transport.h>
#include <regatta/support/cycle_scheduler.h>
#include <regatta/support/stats.h>

#include <deque>
#include <vector>

namespace regatta::memory {

/// One direction. Each input has a finite queue and sends a packet's flits at its width; each output has a finite
/// queue too and receives at its own width, so that a busy output holds up an input only when its queue is full. A
/// packet travels the latency in between. Each output takes turns over the inputs, a packet per cycle. Plain C++.
class Crossbar {
 public:
  struct Packet {
    Payload* payload = nullptr;
    std::uint64_t ready = 0;
    std::uint32_t output = 0;
    std::uint32_t flits = 1;
  };

  /// Widths: flits per cycle of a port.
  Crossbar(unsigned inputs, unsigned input_width, unsigned outputs, unsigned output_width,
           const InterconnectConfig& config);
  bool has_room(unsigned input, std::uint64_t now) const { return inputs_[input].queue.has_room(now); }
  bool empty(unsigned input) const { return inputs_[input].queue.empty(); }
  void push(unsigned input, const Packet& packet) { inputs_[input].queue.push(packet); }
  /// Starts every transfer that can start. True when there was one.
  bool transfer(std::uint64_t now);
  bool delivered(unsigned output, std::uint64_t now) const { return outputs_[output].pipe.ready(now); }
  std::uint64_t next_delivery(unsigned output) const { return outputs_[output].pipe.next(); }
  Payload* take(unsigned output, std::uint64_t now);
  /// When transfer() may have something to do; `freed`: an input moved on or an output was emptied this cycle.
  void next_transfer(NextCycle& next, bool freed) const;
  bool idle() const;

  std::uint64_t packets = 0, flits = 0, queue_max = 0;

 private:
  struct Input {
    BoundedQueue<Packet> queue;
    std::uint64_t free_at = 0;
  };
  static constexpr std::size_t no_input = ~std::size_t{0};
  struct Output {
    explicit Output(TransferQueue q) : pipe(std::move(q)) {}
    TransferQueue pipe;
    std::uint64_t last = 0;  // cycle in which the last packet sent arrives
    std::size_t turn = 0;    // the input that is served first
    std::size_t best = 0, best_distance = no_input;
  };
  unsigned latency_, input_width_, output_width_;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
};

/// SM ports (targets) on one side, partition ports (initiators) on the other. A request is taken with
/// TLM_UPDATED / END_REQ when the port's queue has room, with TLM_ACCEPTED otherwise; answers find their way back
/// by MemoryAccess::sm, which must be the index of the port that the request came in by.
class Interconnect : public sc_core::sc_module, public support::StatProvider {
 public:
  sc_core::sc_vector<protocol::MemoryTargetSocket> upstream;
  sc_core::sc_vector<protocol::MemoryInitiatorSocket> downstream;

  /// `first_sm`: MemoryAccess::sm of port 0.
  Interconnect(const sc_core::sc_module_name& name, const MemorySystemConfig& config, unsigned sms,
               const sc_core::sc_time& clock_period, unsigned first_sm = 0);
  bool idle() const;
  void register_stats(support::StatGroup& group) override;

 private:
  struct SmPort : NonBlockingTarget {
    SmPort(Interconnect& o, unsigned i) : owner(o), index(i) {}
    tlm::tlm_sync_enum nb_transport_fw(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
    Interconnect& owner;
    unsigned index;
    Payload* held = nullptr;
    ResponseSender responder;
  };
  struct PartitionPort : NonBlockingInitiator {
    PartitionPort(Interconnect& o, unsigned i) : owner(o), index(i) {}
    tlm::tlm_sync_enum nb_transport_bw(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
    Interconnect& owner;
    unsigned index;
    Payload* held = nullptr;
    RequestSender requester;
  };

  void work();
  void push_request(unsigned port, Payload& payload, std::uint64_t ready);
  void push_response(unsigned port, Payload& payload, std::uint64_t ready);
  void admit_held(std::uint64_t now);
  bool deliver_requests(std::uint64_t now);
  bool deliver_responses(std::uint64_t now);

  MemorySystemConfig config_;
  CycleClock clock_;
  support::CycleClient wakeup_{clock_.one(), [](void* m) { static_cast<Interconnect*>(m)->work(); }, this};
  unsigned first_sm_;
  std::uint8_t all_sectors_;
  Crossbar requests_;
  Crossbar responses_;
  std::deque<SmPort> sm_ports_;
  std::deque<PartitionPort> partition_ports_;
  unsigned held_ = 0;
  std::uint64_t request_bytes_ = 0, response_bytes_ = 0, request_refusals_ = 0, response_refusals_ = 0;
};

}  // namespace regatta::memory
