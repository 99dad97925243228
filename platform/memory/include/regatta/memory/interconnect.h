// SPDX-License-Identifier: Apache-2.0
//
// The interconnect between SMs and L2 partitions: two crossbars, one per direction.
#pragma once

#include <regatta/memory/memory_config.h>
#include <regatta/memory/transport.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/clock_windows.h>
#include <regatta/support/holds_work.h>
#include <regatta/support/stats.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace regatta::memory {

/// A set of ports, for loops over those with work. Up to 64 ports need no separate memory access.
class PortSet {
 public:
  explicit PortSet(std::size_t ports) : more_(ports > 64 ? (ports - 1) / 64 : 0) {}
  void insert(std::size_t port) {
    std::uint64_t& word = word_of(port);
    const std::uint64_t bit = std::uint64_t{1} << (port % 64);
    size_ += (word & bit) == 0;
    word |= bit;
  }
  void erase(std::size_t port) {
    std::uint64_t& word = word_of(port);
    const std::uint64_t bit = std::uint64_t{1} << (port % 64);
    size_ -= (word & bit) != 0;
    word &= ~bit;
  }
  bool empty() const { return size_ == 0; }
  /// In ascending order; `f` may erase ports.
  template <class F>
  void for_each(F&& f) const {
    for (std::uint64_t bits = first_; bits != 0; bits &= bits - 1) f(static_cast<unsigned>(__builtin_ctzll(bits)));
    if (__builtin_expect(more_.empty(), 1)) return;
    unsigned base = 64;
    for (const std::uint64_t word : more_) {
      for (std::uint64_t bits = word; bits != 0; bits &= bits - 1) {
        f(base + static_cast<unsigned>(__builtin_ctzll(bits)));
      }
      base += 64;
    }
  }

 private:
  std::uint64_t& word_of(std::size_t port) { return port < 64 ? first_ : more_[port / 64 - 1]; }

  std::uint64_t first_ = 0;
  std::vector<std::uint64_t> more_;
  std::size_t size_ = 0;
};

/// Packets on their way to an output's far end and in its queue there, for a crossbar whose far end runs ahead of it:
/// the cycles in which they left are known before the crossbar comes to them.
class FarEnd {
 public:
  explicit FarEnd(std::size_t capacity) : capacity_(capacity), left_(capacity) {}
  bool has_room(std::uint64_t now) {
    const std::size_t before = left_.size();
    inside_ -= before - left_.occupied(now);
    return inside_ < capacity_;
  }
  /// The cycle from which on there is room: 0 when there is; no_cycle until another packet leaves.
  std::uint64_t room_at() const {
    if (inside_ < capacity_) return 0;
    return left_.empty() ? no_cycle : left_.first() + 1;
  }
  /// A packet is sent.
  void enter() { ++inside_; }
  /// One leaves in cycle `at`; its place is free from the next cycle on. Called by the far end.
  void leave(std::uint64_t at) { left_.push(at); }

 private:
  std::size_t capacity_;
  std::size_t inside_ = 0;
  DepartureRing left_;
};

/// One direction. Each input has a finite queue and sends a packet's flits at its width. Each output has a finite queue
/// too and receives at its own width, so a busy output blocks an input only if its queue is full. A packet travels for
/// the latency in between. Each output serves the inputs round robin, a packet per cycle. Plain C++.
///
/// Without competition (a single input, nothing before the packet), a packet that can start in the next cycle reserves
/// its path on arrival; otherwise when its turn comes. In both cases the cycle of its delivery is then known, and it is
/// handed on.
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
  /// Whether a packet that arrives in cycle `at` finds room.
  bool has_room(unsigned input, std::uint64_t now, std::uint64_t at);
  /// For a refused packet: the first cycle with room if that is known, otherwise no_cycle.
  std::uint64_t room_at(unsigned input) const;
  bool empty(unsigned input) const { return inputs_[input].queue.empty(); }
  /// The first cycle after `now` in which there is room, if that is known: it is where the way of every packet is
  /// decided, or where one starts in this cycle. Otherwise no_cycle.
  std::uint64_t room_after(unsigned input, std::uint64_t now);
  /// Puts a packet in; there must be room. When its way is known at once, deliver(output, payload, arrival) is called;
  /// otherwise transfer() has to be, from its `ready` on.
  template <class Deliver>
  void push(unsigned input, const Packet& packet, std::uint64_t now, Deliver&& deliver);
  /// Starts every transfer that can start, and delivers. True if there was one.
  template <class Deliver>
  bool transfer(std::uint64_t now, Deliver&& deliver);
  /// The next cycle in which transfer() may have something to do, unless something comes or leaves before.
  std::uint64_t next_transfer(std::uint64_t now) const;
  /// Output `output` delivers to a far end that counts its packets itself.
  void set_far_end(unsigned output, FarEnd& far_end) { outputs_[output].far_end = &far_end; }
  bool busy() const { return !busy_.empty(); }
  /// Packets that were delivered but cannot leave yet.
  TransferQueue& waiting(unsigned output) { return outputs_[output].waiting; }
  const TransferQueue& waiting(unsigned output) const { return outputs_[output].waiting; }
  bool idle() const;

  std::uint64_t packets = 0, flits = 0, queue_max = 0;

 private:
  struct Input {
    explicit Input(std::size_t capacity) : queue(capacity), left(capacity) {}
    BoundedQueue<Packet> queue;  // not yet decided
    DepartureRing left;          // decided ahead: when they leave
    std::uint64_t free_at = 0;
  };
  static constexpr std::size_t no_input = ~std::size_t{0};
  struct Output {
    explicit Output(std::size_t capacity) : waiting(capacity), travelling(capacity) {}
    TransferQueue waiting;
    DepartureRing travelling;   // sent on ahead: when they arrive
    FarEnd* far_end = nullptr;  // instead of these two
    std::uint64_t last = 0;     // cycle in which the last packet sent arrives
    std::size_t turn = 0;       // the input that is served first
    std::size_t best = 0, best_distance = no_input;
  };
  /// The cycle from which on an output has room: 0 when it has; no_cycle until what waits there is taken.
  static std::uint64_t room_in(const Output& out);
  static bool output_has_room(Output& out, std::uint64_t now) {
    if (out.far_end != nullptr) return out.far_end->has_room(now);
    return out.waiting.has_room(now, 1 + out.travelling.occupied(now));
  }
  /// The input's first packet starts now.
  template <class Deliver>
  void start(std::size_t input, unsigned output, std::uint64_t now, Deliver&& deliver);
  /// Sends the packet at `start`; returns its arrival.
  std::uint64_t send(Input& in, Output& out, const Packet& packet, std::uint64_t start);

  unsigned latency_;
  Divisor input_width_, output_width_;
  unsigned input_round_, output_round_;
  std::size_t input_count_;
  bool single_input_, single_output_;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  PortSet busy_;    // inputs with a packet that is not yet decided
  PortSet wanted_;  // outputs that a packet can go to; empty between calls
};

/// SM ports (targets) on one side, partition ports (initiators) on the other. A request is accepted with TLM_UPDATED /
/// END_REQ if the port's queue has room, otherwise answered TLM_ACCEPTED. Answers are routed by MemoryAccess::sm, which
/// must be the index of the port of the request.
///
/// An SM's port belongs to the SM's clock. If that is a branch of the interconnect's own (support::ClockWindows), SM
/// and crossbars run in turns: what the SM sends is stamped with its cycle and enters the crossbar when that comes to
/// the cycle; what the crossbar sends is stamped with its arrival. The SM learns by a credit that a request has left
/// the port's queue, after the latency of the wires like everything else, so the queue holds as many more requests as
/// can be on them: a port whose queue never fills up has the same timing in both cases.
class Interconnect : public sc_core::sc_module,
                     public support::StatProvider,
                     public support::HoldsWork,
                     public support::ClockBoundary {
 public:
  sc_core::sc_vector<protocol::MemoryTargetSocket> upstream;
  sc_core::sc_vector<protocol::MemoryInitiatorSocket> downstream;

  /// `first_sm`: MemoryAccess::sm of port 0. `sm_clocks`: the clock of each SM; empty: `clock` for all.
  Interconnect(const sc_core::sc_module_name& name, const MemorySystemConfig& config, unsigned sms,
               support::ClockDomain& clock, unsigned first_sm = 0,
               const std::vector<support::ClockDomain*>& sm_clocks = {});
  /// The way of an answer, or a credit, through the crossbar.
  std::uint64_t lookahead() const override { return config_.interconnect.latency; }
  void exchange() override;
  bool idle() const;
  std::string held_work() const override;
  bool work_is_due() const override;
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  /// A request that an SM has sent and the crossbar has not seen.
  struct Post {
    std::uint64_t sent = 0;  ///< cycle
    std::uint64_t at = 0;    ///< cycle of its arrival at the port
    Payload* payload = nullptr;
    unsigned port = 0;
  };
  /// Runs in the SM's clock.
  struct SmPort : NonBlockingTarget {
    SmPort(Interconnect& o, unsigned i, unsigned line_bytes, support::ClockDomain& sm_clock);
    tlm::tlm_sync_enum nb_transport_fw(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
    const protocol::MemoryRequestRules& rules() const override { return socket_rules; }
    // The rest if the SM's clock is a branch.
    /// An answer arrives in cycle `at`.
    void receive(Payload& p, std::uint64_t at);
    /// A request has left the queue, as the SM knows in cycle `at`.
    void credit(std::uint64_t at);
    bool has_room(std::uint64_t now);
    void post(Payload& p, std::uint64_t now, std::uint64_t at);
    void work();
    Interconnect& owner;
    unsigned index;
    const protocol::MemoryRequestRules socket_rules;
    CycleClock clock;
    support::CycleClient wakeup;
    const bool apart;  ///< the SM's clock is a branch
    Payload* held = nullptr;
    std::uint64_t held_at = 0;
    ResponseSender responder;
    std::vector<Post> posts;     ///< since the last exchange
    std::size_t capacity;        ///< requests that the SM may have in the queue, as far as it knows
    std::size_t inside = 0;      ///< requests of which no credit has come back
    DepartureRing credits;       ///< the cycles in which others come back
    std::uint64_t refusals = 0;  ///< since the last exchange
    TransferQueue answers;       ///< on their way or waiting for the SM
    /// The cycles in which answers have left since the last exchange.
    std::vector<std::uint64_t> departures;
    FarEnd far_end;  ///< the same as the crossbar knows it
  };
  /// An answer that the crossbar has sent and the SM's port has not seen.
  struct Delivery {
    unsigned port = 0;
    Payload* payload = nullptr;
    std::uint64_t at = 0;
  };
  /// A request has left its port's queue, as the SM knows in cycle `at`.
  struct Credit {
    unsigned port = 0;
    std::uint64_t at = 0;
  };
  struct PartitionPort : NonBlockingInitiator {
    PartitionPort(Interconnect& o, unsigned i) : owner(o), index(i), answer_rules(o.downstream[i]) {}
    tlm::tlm_sync_enum nb_transport_bw(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
    Interconnect& owner;
    unsigned index;
    const protocol::AnswerRules answer_rules;
    Payload* held = nullptr;
    std::uint64_t held_at = 0;
    RequestSender requester;
  };

  void work();
  /// The requests that were sent in this cycle.
  void take_posts();
  void request_left(unsigned port, Payload& payload, std::uint64_t now, std::uint64_t arrival);
  void push_request(unsigned port, Payload& payload, const protocol::MemoryAccess& access, std::uint64_t now,
                    std::uint64_t at);
  void deliver_response(unsigned port, Payload& payload, std::uint64_t now, std::uint64_t arrival);
  void push_response(unsigned port, Payload& payload, std::uint64_t now, std::uint64_t at);
  void deliver_request(unsigned port, Payload& payload, std::uint64_t now, std::uint64_t arrival);
  void admit_held_requests(std::uint64_t now);
  void admit_held_responses(std::uint64_t now);
  void deliver_waiting(std::uint64_t now);
  void send_request(PartitionPort& port, Payload& payload, std::uint64_t now, std::uint64_t at);
  void next_admission(NextCycle& next, std::uint64_t now, bool freed) const;

  MemorySystemConfig config_;
  CycleClock clock_;
  /// Before work() in a cycle.
  support::CycleClient posts_due_{clock_.domain(), [](void* m) { static_cast<Interconnect*>(m)->take_posts(); }, this};
  support::CycleClient wakeup_{clock_.domain(), [](void* m) { static_cast<Interconnect*>(m)->work(); }, this};
  std::array<std::uint32_t, 9> flits_{};                       // of a packet with so many sectors
  std::array<std::array<std::uint32_t, 9>, 2> store_flits_{};  // of a request: sectors written whole, and others
  PartitionMap map_;
  unsigned first_sm_;
  bool apart_;  ///< the SMs' clocks are branches
  std::uint8_t all_sectors_;
  Crossbar requests_;
  Crossbar responses_;
  std::vector<std::unique_ptr<SmPort>> sm_ports_;
  std::vector<std::unique_ptr<PartitionPort>> partition_ports_;
  PortSet held_requests_, held_responses_;  // ports with a packet that was refused
  PortSet waiting_requests_,
      waiting_responses_;    // outputs with a packet that cannot leave yet
  std::vector<Post> posts_;  // in the order of cycles, then ports
  std::size_t next_post_ = 0;
  std::vector<Delivery> deliveries_;  // since the last exchange, as the next two
  std::vector<Credit> credits_;
  std::uint64_t request_bytes_ = 0, response_bytes_ = 0, request_refusals_ = 0, response_refusals_ = 0;
};

}  // namespace regatta::memory
