// SPDX-License-Identifier: Apache-2.0
#include <regatta/memory/interconnect.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace regatta::memory {

Crossbar::Crossbar(unsigned inputs, unsigned input_width, unsigned outputs, unsigned output_width,
                   const InterconnectConfig& config)
    : latency_(config.latency),
      input_width_(input_width),
      output_width_(output_width),
      input_round_(input_width - 1),
      output_round_(output_width - 1),
      input_count_(inputs),
      single_input_(inputs == 1),
      single_output_(outputs == 1),
      busy_(inputs),
      wanted_(outputs) {
  for (unsigned i = 0; i < inputs; ++i) inputs_.emplace_back(config.queue);
  // An output holds what is on the wires (one packet per cycle of latency) and a queue at the far end.
  for (unsigned o = 0; o < outputs; ++o) outputs_.emplace_back(config.queue + config.latency);
}

bool Crossbar::has_room(unsigned input, std::uint64_t now, std::uint64_t at) {
  Input& in = inputs_[input];
  return in.queue.has_room(now, 1 + in.left.occupied(at));
}

std::uint64_t Crossbar::room_at(unsigned input) const {
  const Input& in = inputs_[input];
  return in.left.empty() ? no_cycle : in.left.first() + 1;
}

std::uint64_t Crossbar::room_after(unsigned input, std::uint64_t now) {
  if (has_room(input, now + 1, now + 1)) return now + 1;
  return inputs_[input].queue.empty() ? room_at(input) : no_cycle;
}

std::uint64_t Crossbar::send(Input& in, Output& out, const Packet& packet, std::uint64_t start) {
  const unsigned in_cycles = static_cast<unsigned>(input_width_.quotient(packet.flits + input_round_));
  const unsigned out_cycles = static_cast<unsigned>(output_width_.quotient(packet.flits + output_round_));
  in.free_at = start + in_cycles;
  // Cut through; the last flit counts. At the output, packets of several inputs follow one another.
  out.last = std::max(out.last + out_cycles, start + latency_ + std::max(in_cycles, out_cycles) - 1);
  if (out.far_end != nullptr) {
    out.far_end->enter();
  } else {
    out.travelling.push(out.last);
  }
  ++packets;
  flits += packet.flits;
  return out.last;
}

template <class Deliver>
void Crossbar::push(unsigned input, const Packet& packet, std::uint64_t now, Deliver&& deliver) {
  Input& in = inputs_[input];
  // No earlier than with competitors: the far end is asked in the cycle before the packet starts, so that a single SM
  // has the same timing as one with idle neighbours.
  if (single_input_ && in.queue.unused(now) && packet.ready <= now + 1 && in.free_at <= packet.ready) {
    Output& out = outputs_[packet.output];
    if (output_has_room(out, now)) {
      const std::uint64_t start = std::max(packet.ready, in.free_at);
      in.left.push(start);
      queue_max = std::max<std::uint64_t>(queue_max, in.left.size());
      deliver(packet.output, *packet.payload, send(in, out, packet, start));
      return;
    }
  }
  in.queue.push(packet);
  busy_.insert(input);
}

template <class Deliver>
void Crossbar::start(std::size_t input, unsigned output, std::uint64_t now, Deliver&& deliver) {
  Input& in = inputs_[input];
  Output& out = outputs_[output];
  queue_max = std::max<std::uint64_t>(queue_max, in.queue.max_size());
  const Packet packet = in.queue.front();
  in.queue.pop(now);
  if (in.queue.empty()) busy_.erase(input);
  out.turn = input + 1 == input_count_ ? 0 : input + 1;
  deliver(output, *packet.payload, send(in, out, packet, now));
}

template <class Deliver>
bool Crossbar::transfer(std::uint64_t now, Deliver&& deliver) {
  if (busy_.empty()) return false;
  if (single_input_) {
    const Input& in = inputs_.front();
    if (!in.queue.ready(now) || in.free_at > now) return false;
    const std::uint32_t output = in.queue.front().output;
    if (!output_has_room(outputs_[output], now)) return false;
    start(0, output, now, deliver);
    return true;
  }
  const std::size_t n = input_count_;
  if (single_output_) {
    // There is only one output: when it is full, it blocks all inputs.
    Output& out = outputs_.front();
    if (!output_has_room(out, now)) return false;
    std::size_t best = no_input, best_distance = no_input;
    busy_.for_each([&](unsigned i) {
      const Input& in = inputs_[i];
      if (!in.queue.ready(now) || in.free_at > now) return;
      const std::size_t distance = i >= out.turn ? i - out.turn : i + n - out.turn;
      if (distance >= best_distance) return;
      best_distance = distance;
      best = i;
    });
    if (best == no_input) return false;
    start(best, 0, now, deliver);
    return true;
  }
  busy_.for_each([this, now, n](unsigned i) {
    const Input& in = inputs_[i];
    if (!in.queue.ready(now) || in.free_at > now) return;
    Output& out = outputs_[in.queue.front().output];
    if (!output_has_room(out, now)) return;
    const std::size_t distance = i >= out.turn ? i - out.turn : i + n - out.turn;
    if (distance < out.best_distance) {
      out.best_distance = distance;
      out.best = i;
      wanted_.insert(in.queue.front().output);
    }
  });
  if (wanted_.empty()) return false;
  wanted_.for_each([&](unsigned o) {
    wanted_.erase(o);
    outputs_[o].best_distance = no_input;
    start(outputs_[o].best, o, now, deliver);
  });
  return true;
}

std::uint64_t Crossbar::room_in(const Output& out) {
  if (out.far_end != nullptr) return out.far_end->room_at();
  if (out.waiting.size() + out.travelling.size() < out.waiting.capacity()) return 0;
  return out.travelling.empty() ? no_cycle : out.travelling.first() + 1;
}

std::uint64_t Crossbar::next_transfer(std::uint64_t now) const {
  std::uint64_t next = no_cycle;
  if (busy_.empty()) return next;
  const bool single = single_output_;
  const std::uint64_t earliest = std::max(now + 1, single ? room_in(outputs_.front()) : 0);
  busy_.for_each([&](unsigned i) {
    if (next == earliest) return;  // nothing is earlier
    const Input& in = inputs_[i];
    const std::uint64_t at = std::max({in.queue.next(), in.free_at, earliest});
    next = std::min(next, single ? at : std::max(at, room_in(outputs_[in.queue.front().output])));
  });
  return next;
}

bool Crossbar::idle() const {
  return busy_.empty() &&
         std::all_of(outputs_.begin(), outputs_.end(), [](const Output& o) { return o.waiting.empty(); });
}

Interconnect::SmPort::SmPort(Interconnect& o, unsigned i, unsigned line_bytes, support::ClockDomain& sm_clock)
    : owner(o),
      index(i),
      socket_rules(o.upstream[i], line_bytes),
      clock(sm_clock),
      wakeup(
          sm_clock, [](void* port) { static_cast<SmPort*>(port)->work(); }, this),
      apart(&sm_clock != &o.clock_.domain()),
      // As a crossbar's output has: what is on the wires, and a queue at the far end.
      capacity(o.config_.interconnect.queue + o.config_.interconnect.latency),
      credits(capacity),
      answers(capacity),
      far_end(capacity) {
  if (apart) o.responses_.set_far_end(i, far_end);
}

Interconnect::Interconnect(const sc_core::sc_module_name& name, const MemorySystemConfig& config, unsigned sms,
                           support::ClockDomain& clock, unsigned first_sm,
                           const std::vector<support::ClockDomain*>& sm_clocks)
    : sc_module(name),
      upstream("upstream", sms),
      downstream("downstream", config.l2.partitions),
      config_(config),
      clock_(clock),
      map_(config.partition_map()),
      first_sm_(first_sm),
      apart_(!sm_clocks.empty() && sm_clocks.front() != &clock),
      all_sectors_(line_sectors(config.l2.line_bytes)),
      requests_(sms, 1, config.l2.partitions, config.interconnect.partition_flits, config.interconnect),
      responses_(config.l2.partitions, config.interconnect.partition_flits, sms, config.interconnect.response_flits,
                 config.interconnect),
      held_requests_(sms),
      held_responses_(config.l2.partitions),
      waiting_requests_(config.l2.partitions),
      waiting_responses_(sms) {
  for (unsigned sectors = 0; sectors < flits_.size(); ++sectors) {
    flits_[sectors] = config.packet_flits(sectors);
    store_flits_[0][sectors] = config.store_flits(sectors, false);
    store_flits_[1][sectors] = config.store_flits(sectors, true);
  }
  for (unsigned i = 0; i < sms; ++i) {
    support::ClockDomain& sm_clock = sm_clocks.empty() ? clock : *sm_clocks[i];
    sm_ports_.push_back(std::make_unique<SmPort>(*this, i, config.l2.line_bytes, sm_clock));
    upstream[i].bind(*sm_ports_.back());
  }
  for (unsigned i = 0; i < config.l2.partitions; ++i) {
    partition_ports_.push_back(std::make_unique<PartitionPort>(*this, i));
    downstream[i].bind(*partition_ports_.back());
  }
}

void Interconnect::push_request(unsigned port, Payload& payload, const protocol::MemoryAccess& access,
                                std::uint64_t now, std::uint64_t at) {
  const unsigned sectors = request_has_data(access.access) ? count_sectors(access.sectors & all_sectors_) : 0;
  request_bytes_ += sectors * protocol::sector_bytes;
  requests_.push(port,
                 {&payload, at, map_.partition(payload.get_address()), store_flits_[access.partial ? 1 : 0][sectors]},
                 now, [&](unsigned o, Payload& p, std::uint64_t arrival) { request_left(o, p, now, arrival); });
}

void Interconnect::push_response(unsigned port, Payload& payload, std::uint64_t now, std::uint64_t at) {
  const protocol::MemoryAccess& access = access_of(payload);
  const unsigned sectors = response_has_data(access.access) ? count_sectors(access.sectors & all_sectors_) : 0;
  response_bytes_ += sectors * protocol::sector_bytes;
  responses_.push(port, {&payload, at, access.sm - first_sm_, flits_[sectors]}, now,
                  [&](unsigned o, Payload& p, std::uint64_t arrival) { deliver_response(o, p, now, arrival); });
}

void Interconnect::request_left(unsigned index, Payload& p, std::uint64_t now, std::uint64_t arrival) {
  if (apart_) credits_.push_back({access_of(p).sm - first_sm_, now + lookahead()});
  deliver_request(index, p, now, arrival);
}

// A packet whose arrival at the far end is known is forwarded at once, one hop later, unless others wait there.
void Interconnect::deliver_request(unsigned index, Payload& p, std::uint64_t now, std::uint64_t arrival) {
  PartitionPort& port = *partition_ports_[index];
  TransferQueue& waiting = requests_.waiting(index);
  if (!waiting.unused(now) || !port.requester.open(now)) {
    if (!port.requester.blocked()) wakeup_.request(now, now + 1);
    waiting.push({&p, arrival});
    waiting_requests_.insert(index);
    return;
  }
  send_request(port, p, now, arrival + 1);
}

void Interconnect::deliver_response(unsigned index, Payload& p, std::uint64_t now, std::uint64_t arrival) {
  SmPort& port = *sm_ports_[index];
  if (apart_) return deliveries_.push_back({index, &p, arrival});
  TransferQueue& waiting = responses_.waiting(index);
  if (!waiting.unused(now) || !port.responder.open(now)) {
    if (!port.responder.blocked()) wakeup_.request(now, now + 1);
    waiting.push({&p, arrival});
    waiting_responses_.insert(index);
    return;
  }
  if (port.responder.send(upstream[index], p, clock_, now, arrival + 1)) p.release();
}

void Interconnect::SmPort::receive(Payload& p, std::uint64_t at) {
  if (answers.empty() && !responder.blocked()) wakeup.request(at);
  answers.push({&p, at});
}

void Interconnect::SmPort::credit(std::uint64_t at) {
  credits.push(at);
  if (held != nullptr) wakeup.request(at);
}

bool Interconnect::SmPort::has_room(std::uint64_t now) {
  const std::size_t before = credits.size();
  inside -= before - credits.occupied(now + 1);
  return inside < capacity;
}

void Interconnect::SmPort::post(Payload& p, std::uint64_t now, std::uint64_t at) {
  ++inside;
  posts.push_back({now, at, &p, index});
}

// An answer leaves in the cycle of its arrival, unless others or the SM make it wait.
void Interconnect::SmPort::work() {
  const std::uint64_t now = clock.now();
  while (answers.ready(now) && responder.open(now)) {
    Payload& p = *answers.front().payload;
    answers.pop(now);
    departures.push_back(now);
    if (responder.send(owner.upstream[index], p, clock, now, now + 1)) p.release();
  }
  if (held != nullptr && has_room(now)) {
    Payload& p = *held;
    held = nullptr;
    const std::uint64_t at = std::max(held_at, now + 1);
    post(p, now, at);
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_core::sc_time delay = clock.time(at - now);
    owner.upstream[index]->nb_transport_bw(p, phase, delay);
  }
  if (!answers.empty() && !responder.blocked()) wakeup.request(now, answers.next());
  if (held != nullptr && !credits.empty()) wakeup.request(now, credits.first());
}

void Interconnect::send_request(PartitionPort& port, Payload& p, std::uint64_t now, std::uint64_t at) {
  std::uint64_t when = 0;
  if (port.requester.send(downstream[port.index], p, clock_, now, at, when) != RequestSender::Answer::taken) {
    protocol_error(downstream[port.index].name(), "a partition answered with the return of BEGIN_REQ");
  }
}

tlm::tlm_sync_enum Interconnect::SmPort::nb_transport_fw(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const std::uint64_t now = clock.now();
  const std::uint64_t at = clock.arrival(now, delay);
  const protocol::MemoryAccess* const access = socket_rules.begin(p, phase, delay, clock);
  if (access == nullptr) {  // END_RESP
    if (!responder.end_response(p, at))
      protocol_error(owner.upstream[index].name(), "END_RESP for no response under way");
    p.release();
    if (!apart) {
      owner.wakeup_.request(now, at);
    } else if (!answers.empty()) {
      wakeup.request(now, std::max(at, answers.next()));
    }
    return tlm::TLM_COMPLETED;
  }
  if (access->sm != owner.first_sm_ + index) {
    protocol_error(owner.upstream[index].name(), "MemoryAccess::sm is not the SM of the port the request came in by");
  }
  if (held != nullptr) protocol_error(owner.upstream[index].name(), "BEGIN_REQ before END_REQ of the previous request");
  p.acquire();
  if (apart) {
    if (!has_room(now)) {
      ++refusals;
      held = &p;
      held_at = at;
      if (!credits.empty()) wakeup.request(now, credits.first());
      return tlm::TLM_ACCEPTED;
    }
    post(p, now, at);
    phase = tlm::END_REQ;
    delay = clock.time(at - now);
    return tlm::TLM_UPDATED;
  }
  std::uint64_t taken = at;
  if (!owner.requests_.has_room(index, now, at)) {
    ++owner.request_refusals_;
    const std::uint64_t room = owner.requests_.room_after(index, now);
    if (room == no_cycle) {
      held = &p;
      held_at = at;
      owner.held_requests_.insert(index);
      owner.wakeup_.request(now, at - 1);
      return tlm::TLM_ACCEPTED;
    }
    taken = std::max(at, room);  // it is known when there will be room: END_REQ is then
  }
  const bool first = owner.requests_.empty(index);
  owner.push_request(index, p, *access, now, taken);
  if (first && !owner.requests_.empty(index)) owner.wakeup_.request(now, taken);
  phase = tlm::END_REQ;
  delay = clock.time(taken - now);
  return tlm::TLM_UPDATED;
}

void Interconnect::exchange() {
  std::uint64_t left = no_cycle;  // the first answer
  const std::size_t before = posts_.size();
  for (const auto& port : sm_ports_) {
    request_refusals_ += std::exchange(port->refusals, 0);
    if (!port->departures.empty()) left = std::min(left, port->departures.front());
    for (const std::uint64_t at : port->departures) port->far_end.leave(at);
    port->departures.clear();
    if (port->posts.empty()) continue;
    posts_.insert(posts_.end(), port->posts.begin(), port->posts.end());
    port->posts.clear();
  }
  // There may be room for another one then; transfer() finds out where else, and from when on.
  if (left != no_cycle && responses_.busy()) wakeup_.request(left + 1);
  if (posts_.size() != before) {
    std::sort(posts_.begin(), posts_.end(), [](const Post& a, const Post& b) {
      return std::tie(a.sent, a.port, a.at) < std::tie(b.sent, b.port, b.at);
    });
    posts_due_.request(posts_.front().sent);
  }
  for (const Delivery& delivery : deliveries_) sm_ports_[delivery.port]->receive(*delivery.payload, delivery.at);
  deliveries_.clear();
  for (const Credit& credit : credits_) sm_ports_[credit.port]->credit(credit.at);
  credits_.clear();
}

void Interconnect::take_posts() {
  const std::uint64_t now = clock_.now();
  for (; next_post_ != posts_.size() && posts_[next_post_].sent == now; ++next_post_) {
    const Post& post = posts_[next_post_];
    const bool first = requests_.empty(post.port);
    push_request(post.port, *post.payload, access_of(*post.payload), now, post.at);
    if (first && !requests_.empty(post.port)) wakeup_.request(now, post.at);
  }
  if (next_post_ != posts_.size()) return posts_due_.request(posts_[next_post_].sent);
  posts_.clear();
  next_post_ = 0;
}

tlm::tlm_sync_enum Interconnect::PartitionPort::nb_transport_bw(Payload& p, tlm::tlm_phase& phase,
                                                                sc_core::sc_time& delay) {
  const std::uint64_t now = owner.clock_.now();
  const std::uint64_t at = owner.clock_.arrival(now, delay);
  const bool answer = answer_rules.answers(p, phase, delay, owner.clock_);
  if (requester.blocked()) {
    requester.end_request(p, at);  // END_REQ, or BEGIN_RESP which implies it
    if (!requester.blocked() && !owner.requests_.waiting(index).empty()) owner.wakeup_.request(now, at);
  }
  if (!answer) return tlm::TLM_ACCEPTED;
  if (held != nullptr)
    protocol_error(owner.downstream[index].name(), "BEGIN_RESP before END_RESP of the previous response");
  const bool first = owner.responses_.empty(index);
  if (first) owner.wakeup_.request(now, at);
  if (owner.responses_.has_room(index, now, at)) {
    owner.push_response(index, p, now, at);
    return tlm::TLM_COMPLETED;
  }
  owner.wakeup_.request(now, at);
  held = &p;
  held_at = at;
  owner.held_responses_.insert(index);
  ++owner.response_refusals_;
  return tlm::TLM_ACCEPTED;
}

void Interconnect::admit_held_requests(std::uint64_t now) {
  held_requests_.for_each([&](unsigned index) {
    SmPort& port = *sm_ports_[index];
    if (port.held_at > now + 1 || requests_.room_after(index, now) != now + 1) return;
    Payload& p = *port.held;
    port.held = nullptr;
    held_requests_.erase(index);
    push_request(index, p, access_of(p), now, now + 1);
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_core::sc_time delay = clock_.one();
    upstream[index]->nb_transport_bw(p, phase, delay);
  });
}

void Interconnect::admit_held_responses(std::uint64_t now) {
  held_responses_.for_each([&](unsigned index) {
    PartitionPort& port = *partition_ports_[index];
    // With branches this must not depend on whether other work makes it look early: not before it has arrived.
    if (port.held_at > now + (apart_ ? 0 : 1) || !responses_.has_room(index, now, now + 1)) return;
    Payload& p = *port.held;
    port.held = nullptr;
    held_responses_.erase(index);
    push_response(index, p, now, now + 1);
    tlm::tlm_phase phase = tlm::END_RESP;
    sc_core::sc_time delay = clock_.one();
    downstream[index]->nb_transport_fw(p, phase, delay);
  });
}

void Interconnect::deliver_waiting(std::uint64_t now) {
  if (!waiting_requests_.empty())
    waiting_requests_.for_each([&](unsigned index) {
      PartitionPort& port = *partition_ports_[index];
      TransferQueue& waiting = requests_.waiting(index);
      while (!waiting.empty() && port.requester.open(now)) {
        const Transfer next = waiting.front();
        waiting.pop(now);
        send_request(port, *next.payload, now, std::max(next.ready, now) + 1);
      }
      if (waiting.empty()) waiting_requests_.erase(index);
    });
  if (!waiting_responses_.empty())
    waiting_responses_.for_each([&](unsigned index) {
      SmPort& port = *sm_ports_[index];
      TransferQueue& waiting = responses_.waiting(index);
      while (!waiting.empty() && port.responder.open(now)) {
        const Transfer next = waiting.front();
        waiting.pop(now);
        if (port.responder.send(upstream[index], *next.payload, clock_, now, std::max(next.ready, now) + 1)) {
          next.payload->release();
        }
      }
      if (waiting.empty()) waiting_responses_.erase(index);
    });
}

void Interconnect::work() {
  const std::uint64_t now = clock_.now();
  if (!held_responses_.empty()) admit_held_responses(now);
  if (!waiting_requests_.empty() || !waiting_responses_.empty()) deliver_waiting(now);
  const bool requests_moved =
      requests_.transfer(now, [&](unsigned o, Payload& p, std::uint64_t at) { request_left(o, p, now, at); });
  const bool responses_moved =
      responses_.transfer(now, [&](unsigned o, Payload& p, std::uint64_t at) { deliver_response(o, p, now, at); });

  // After the transfers: a packet that leaves in this cycle makes room in the next one, as it does where this is known
  // in advance.
  if (!held_requests_.empty()) admit_held_requests(now);
  NextCycle next(now);
  next.consider(requests_.next_transfer(now), false);
  next.consider(responses_.next_transfer(now), false);
  if (next.next() > now + 1) next_admission(next, now, requests_moved || responses_moved);
  if (next.next() != no_cycle) wakeup_.request(now, next.next());
}

void Interconnect::next_admission(NextCycle& next, std::uint64_t now, bool freed) const {
  if (held_requests_.empty() && held_responses_.empty()) return;
  next.consider(now, freed);
  held_requests_.for_each([&](unsigned index) {
    // A request is let in for the next cycle.
    next.consider(sm_ports_[index]->held_at - 1, freed);
    if (requests_.room_at(index) != no_cycle) next.consider(requests_.room_at(index) - 1, freed);
  });
  held_responses_.for_each([&](unsigned index) {
    next.consider(partition_ports_[index]->held_at, freed);
    if (responses_.room_at(index) != no_cycle) next.consider(responses_.room_at(index), freed);
  });
}

bool Interconnect::work_is_due() const {
  const bool due = wakeup_.is_due() ||
                   std::any_of(sm_ports_.begin(), sm_ports_.end(), [](const auto& p) { return p->wakeup.is_due(); });
  return due && !idle();
}

bool Interconnect::idle() const {
  return requests_.idle() && responses_.idle() && held_requests_.empty() && held_responses_.empty() &&
         std::none_of(sm_ports_.begin(), sm_ports_.end(),
                      [](const auto& p) {
                        return p->responder.blocked() || !p->answers.empty() || p->held != nullptr || !p->posts.empty();
                      }) &&
         std::none_of(partition_ports_.begin(), partition_ports_.end(),
                      [](const auto& p) { return p->requester.blocked(); });
}

void Interconnect::register_stats(support::StatGroup& g) {
  g.counter("request_packets", requests_.packets, "packets", "from SMs to partitions");
  g.counter("response_packets", responses_.packets, "packets", "from partitions to SMs");
  g.counter("request_flits", requests_.flits, "flits",
            "from SMs to partitions, headers included; cycles ports were busy");
  g.counter("response_flits", responses_.flits, "flits", "from partitions to SMs, headers included");
  g.counter("bytes_written", request_bytes_, "bytes", "sectors carried from SMs to partitions");
  g.counter("bytes_read", response_bytes_, "bytes", "sectors carried from partitions to SMs");
  g.counter("request_refusals", request_refusals_, "packets", "requests that waited for room at an SM's port");
  g.counter("response_refusals", response_refusals_, "packets", "answers that waited for room at a partition's port");
  g.counter("request_queue_max", requests_.queue_max, "packets", "most requests waiting at one SM's port");
  g.counter("response_queue_max", responses_.queue_max, "packets", "most answers waiting at one partition's port");
}

}  // namespace regatta::memory
