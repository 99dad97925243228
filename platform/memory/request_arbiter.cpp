// SPDX-License-Identifier: Apache-2.0
#include <regatta/memory/request_arbiter.h>

#include <algorithm>
#include <string>

namespace regatta::memory {

/// The target side of one initiator.
struct RequestArbiter::Port : NonBlockingTarget {
  Port(RequestArbiter& owner, unsigned index)
      : arbiter(owner), index(index), socket(("upstream_" + std::to_string(index)).c_str()), socket_rules(socket, 0) {
    socket.bind(*this);
  }
  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    if (socket_rules.begin(payload, phase, delay, arbiter.clock_) == nullptr) {  // END_RESP
      arbiter.end_response(*this, payload, delay);
      return tlm::TLM_COMPLETED;
    }
    return arbiter.request(*this, payload, phase, delay);
  }

  const protocol::MemoryRequestRules& rules() const override { return socket_rules; }

  RequestArbiter& arbiter;
  const unsigned index;
  protocol::MemoryTargetSocket socket;
  const protocol::MemoryRequestRules socket_rules;  ///< lines of any length: the L1 knows its own
  Payload* waiting = nullptr;                       ///< taken by nobody yet
  std::uint64_t since = 0;                          ///< the first cycle in which it may be granted
  std::uint64_t due = no_cycle;  ///< when its next answer may go; none waits, or one waits for END_RESP: never
  bool held = false;             ///< its request is the one that waits at the target
  ResponseSender responder;
  TransferQueue late{16};     ///< answers that came with the grant of a request that had waited; grows with the latency
  TransferQueue refused{16};  ///< answers of the target that the initiator had no place for; one per request of its own

  std::uint64_t requests = 0, answers = 0, waits = 0, wait_cycles = 0;
};

RequestArbiter::RequestArbiter(const sc_core::sc_module_name& name, unsigned ports, support::ClockDomain& clock)
    : sc_module(name), downstream("downstream"), answer_rules_(downstream), clock_(clock) {
  if (ports == 0 || ports > 64) SC_REPORT_ERROR("regatta/memory", "a request arbiter has 1 to 64 ports");
  for (unsigned p = 0; p < ports; ++p) ports_.push_back(std::make_unique<Port>(*this, p));
  downstream.bind(*this);
}

RequestArbiter::~RequestArbiter() = default;

protocol::MemoryTargetSocket& RequestArbiter::upstream(unsigned port) { return ports_.at(port)->socket; }

void RequestArbiter::enter(Payload& payload, protocol::MemoryAccess& access, const Port& port) {
  std::uint8_t& mark = access.port;
  if (__builtin_expect(mark != 0, 0)) nested_.emplace_back(&payload, mark);
  mark = static_cast<std::uint8_t>(port.index);
}

void RequestArbiter::leave(Payload& payload, protocol::MemoryAccess& access) {
  access.port = 0;
  if (__builtin_expect(!nested_.empty(), 0)) restore(payload, access.port);
}

void RequestArbiter::restore(Payload& payload, std::uint8_t& mark) {
  const auto found = std::find_if(nested_.begin(), nested_.end(), [&](const auto& n) { return n.first == &payload; });
  if (found == nested_.end()) return;
  mark = found->second;
  *found = nested_.back();
  nested_.pop_back();
}

tlm::tlm_sync_enum RequestArbiter::request(Port& port, Payload& payload, tlm::tlm_phase& phase,
                                           sc_core::sc_time& delay) {
  if (port.waiting != nullptr || port.held) {
    protocol_error(port.socket.name(), "BEGIN_REQ before END_REQ of the previous request");
  }
  const std::uint64_t now = clock_.now();
  ++port.requests;
  if (delay == sc_core::SC_ZERO_TIME && open(now)) {
    bool first = true;
    for (std::uint64_t m = waiting_; m != 0; m &= m - 1) {
      if (ports_[static_cast<unsigned>(__builtin_ctzll(m))]->since <= now) first = false;
    }
    if (first) return pass(port, payload, phase, delay);
  }
  payload.acquire();
  port.waiting = &payload;
  port.since = std::max(now + clock_.cycles(delay), now + 1);
  waiting_ |= std::uint64_t{1} << port.index;
  ++port.waits;
  if (held_ == nullptr) wakeup_.request(now, std::max(port.since, free_at_));
  return tlm::TLM_ACCEPTED;
}

// Forwards a request. TLM_COMPLETED: it was answered. TLM_UPDATED: END_REQ, with its delay. TLM_ACCEPTED: it waits at
// the target.
tlm::tlm_sync_enum RequestArbiter::pass(Port& port, Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const std::uint64_t now = clock_.now();
  protocol::MemoryAccess& access = access_of(payload);
  enter(payload, access, port);
  held_ = &payload;
  held_port_ = port.index;
  port.held = true;
  free_at_ = now + 1;
  const tlm::tlm_sync_enum sync = downstream->nb_transport_fw(payload, phase, delay);
  if (sync == tlm::TLM_ACCEPTED) return sync;  // END_REQ comes, or has come
  held_ = nullptr;
  port.held = false;
  if (sync == tlm::TLM_UPDATED && phase == tlm::END_REQ) {
    free_at_ = std::max(free_at_, now + clock_.cycles(delay));
    return sync;
  }
  if (sync == tlm::TLM_UPDATED) {  // the answer came with the return
    tlm::tlm_phase end = tlm::END_RESP;
    sc_core::sc_time at = delay;
    downstream->nb_transport_fw(payload, end, at);
  }
  leave(payload, access);
  ++port.answers;
  return tlm::TLM_COMPLETED;
}

// Grants the next waiting port, starting after the port that was granted last.
void RequestArbiter::grant(std::uint64_t now) {
  const std::uint64_t behind = ~std::uint64_t{1} << last_;
  for (std::uint64_t mask : {waiting_ & behind, waiting_ & ~behind}) {
    for (; mask != 0; mask &= mask - 1) {
      const auto p = static_cast<unsigned>(__builtin_ctzll(mask));
      if (ports_[p]->since > now) continue;
      last_ = p;
      return let_go(*ports_[p], now);
    }
  }
}

void RequestArbiter::let_go(Port& port, std::uint64_t now) {
  Payload& payload = *port.waiting;
  port.waiting = nullptr;
  waiting_ &= ~(std::uint64_t{1} << port.index);
  port.wait_cycles += now - port.since;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  const tlm::tlm_sync_enum sync = pass(port, payload, phase, delay);
  if (sync == tlm::TLM_ACCEPTED) {
    payload.release();  // the target has it
    return;
  }
  const std::uint64_t when = now + clock_.cycles(delay);
  phase = tlm::END_REQ;
  if (sync == tlm::TLM_COMPLETED) {
    port.late.push({&payload, std::max(when, now + 2)});
    set_due(port, now, port.late.next() - 1);
    delay = clock_.one();
    port.socket->nb_transport_bw(payload, phase, delay);
  } else {
    if (when == now) delay = clock_.one();
    port.socket->nb_transport_bw(payload, phase, delay);
    payload.release();
  }
}

tlm::tlm_sync_enum RequestArbiter::nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const std::uint64_t now = clock_.now();
  const std::uint64_t at = clock_.arrival(now, delay);
  answer_rules_.answers(payload, phase, delay, clock_);
  // Until a request is taken, it carries the port number of the last arbiter on its way.
  protocol::MemoryAccess& access = access_of(payload);
  const unsigned index = held_ == &payload && phase == tlm::END_REQ ? held_port_ : access.port;
  if (index >= ports_.size()) protocol_error(downstream.name(), "an answer for a port that there is not");
  Port& port = *ports_[index];
  if (held_ == &payload) {  // END_REQ, or BEGIN_RESP which implies it
    held_ = nullptr;
    port.held = false;
    free_at_ = std::max(free_at_, at);
    if (waiting_ != 0) wakeup_.request(now, free_at_);
  }
  if (phase == tlm::END_REQ) {
    sc_core::sc_time later = clock_.time(at - now);
    return port.socket->nb_transport_bw(payload, phase, later);
  }
  payload.acquire();
  leave(payload, access);
  ++port.answers;
  if (port.refused.unused(now) && port.responder.open(now) && port.responder.next_at() <= at) {
    if (port.responder.send(port.socket, payload, clock_, now, at)) payload.release();
  } else {
    port.refused.push({&payload, at});
    look(port, now, at - 1);
  }
  return tlm::TLM_COMPLETED;
}

void RequestArbiter::end_response(Port& port, Payload& payload, const sc_core::sc_time& delay) {
  const std::uint64_t now = clock_.now();
  const std::uint64_t at = clock_.arrival(now, delay);
  if (!port.responder.end_response(payload, at)) {
    protocol_error(port.socket.name(), "END_RESP for no response under way");
  }
  payload.release();
  if (!port.late.empty() || !port.refused.empty()) look(port, now, at);
}

/// The port has an answer that may go in cycle `at`.
void RequestArbiter::set_due(Port& port, std::uint64_t now, std::uint64_t at) {
  port.due = std::min(port.due, std::max(at, now + 1));
  answering_ |= std::uint64_t{1} << port.index;
}

/// The same outside of work(), which requests one wake-up for all ports.
void RequestArbiter::look(Port& port, std::uint64_t now, std::uint64_t at) {
  set_due(port, now, at);
  wakeup_.request(now, port.due);
}

// Answers that are due go one per cycle, those that the target gave first.
void RequestArbiter::answer(Port& port, std::uint64_t now) {
  port.due = no_cycle;
  answering_ &= ~(std::uint64_t{1} << port.index);
  if (port.responder.blocked()) return;  // END_RESP wakes us
  if (port.responder.next_at() <= now + 1) {
    TransferQueue* queue = port.refused.ready(now + 1) ? &port.refused
                           : port.late.ready(now + 1)  ? &port.late
                                                       : nullptr;
    if (queue != nullptr) {
      Payload& payload = *queue->front().payload;
      queue->pop(now);
      if (port.responder.send(port.socket, payload, clock_, now, now + 1)) payload.release();
      if (port.responder.blocked()) return;
    }
  }
  const std::uint64_t due = std::min(port.late.next(), port.refused.next());
  if (due != no_cycle) set_due(port, now, std::max(due, port.responder.next_at()) - 1);
}

void RequestArbiter::work() {
  const std::uint64_t now = clock_.now();
  if (waiting_ != 0 && open(now)) grant(now);
  for (std::uint64_t m = answering_; m != 0; m &= m - 1) {
    Port& port = *ports_[static_cast<unsigned>(__builtin_ctzll(m))];
    if (port.due <= now) answer(port, now);
  }
  std::uint64_t next = no_cycle;
  if (waiting_ != 0 && held_ == nullptr) {
    for (std::uint64_t m = waiting_; m != 0; m &= m - 1) {
      next = std::min(next, ports_[static_cast<unsigned>(__builtin_ctzll(m))]->since);
    }
    next = std::max(next, free_at_);
  }
  for (std::uint64_t m = answering_; m != 0; m &= m - 1) {
    next = std::min(next, ports_[static_cast<unsigned>(__builtin_ctzll(m))]->due);
  }
  if (next != no_cycle) wakeup_.request(now, next);
}

bool RequestArbiter::idle() const {
  return held_ == nullptr && waiting_ == 0 && nested_.empty() &&
         std::all_of(ports_.begin(), ports_.end(), [](const auto& p) {
           return p->late.empty() && p->refused.empty() && !p->responder.blocked() && p->requests == p->answers;
         });
}

void RequestArbiter::register_stats(support::StatGroup& g) {
  for (const auto& p : ports_) {
    const std::string name = "port" + std::to_string(p->index) + "_";
    g.counter(name + "requests", p->requests, "requests", "that came in");
    g.counter(name + "answers", p->answers, "requests", "that were answered: all of them, at the end");
    g.counter(name + "waits", p->waits, "requests", "that did not pass in the cycle of their call");
    g.counter(name + "wait_cycles", p->wait_cycles, "cycles", "that they waited for their turn, summed");
  }
}

}  // namespace regatta::memory
