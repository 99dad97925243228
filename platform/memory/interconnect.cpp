// SPDX-License-Identifier: Apache-2.0
#include <regatta/memory/interconnect.h>

#include <algorithm>

namespace regatta::memory {

using protocol::memory_access;

Crossbar::Crossbar(unsigned inputs, unsigned input_width, unsigned outputs, unsigned output_width,
                   const InterconnectConfig& config)
    : latency_(config.latency), input_width_(input_width), output_width_(output_width) {
  for (unsigned i = 0; i < inputs; ++i) inputs_.push_back({BoundedQueue<Packet>(config.queue), 0});
  // An output holds what is on the wires (one packet per cycle of latency) and a queue at the far end.
  for (unsigned o = 0; o < outputs; ++o) outputs_.emplace_back(TransferQueue(config.queue + config.latency));
}

bool Crossbar::transfer(std::uint64_t now) {
  bool wanted = false;
  const std::size_t n = inputs_.size();
  for (std::size_t i = 0; i < n; ++i) {
    const Input& in = inputs_[i];
    if (!in.queue.ready(now) || in.free_at > now) continue;
    Output& out = outputs_[in.queue.front().output];
    if (!out.pipe.has_room(now)) continue;
    const std::size_t distance = i >= out.turn ? i - out.turn : i + n - out.turn;
    if (distance < out.best_distance) {
      out.best_distance = distance;
      out.best = i;
      wanted = true;
    }
  }
  if (!wanted) return false;
  for (Output& out : outputs_) {
    if (out.best_distance == no_input) continue;
    Input& in = inputs_[out.best];
    const Packet packet = in.queue.front();
    in.queue.pop(now);
    const unsigned in_cycles = (packet.flits + input_width_ - 1) / input_width_;
    const unsigned out_cycles = (packet.flits + output_width_ - 1) / output_width_;
    in.free_at = now + in_cycles;
    // Cut through; the last flit counts. At the output, packets of several inputs follow one another.
    out.last = std::max(out.last + out_cycles, now + latency_ + std::max(in_cycles, out_cycles) - 1);
    out.pipe.push({packet.payload, out.last});
    out.turn = out.best + 1 == n ? 0 : out.best + 1;
    out.best_distance = no_input;
    ++packets;
    flits += packet.flits;
    queue_max = std::max(queue_max, in.queue.max_size());
  }
  return true;
}

Payload* Crossbar::take(unsigned output, std::uint64_t now) {
  Payload* p = outputs_[output].pipe.front().payload;
  outputs_[output].pipe.pop(now);
  return p;
}

void Crossbar::next_transfer(NextCycle& next, bool freed) const {
  for (const Input& in : inputs_) {
    if (!in.queue.empty()) next.consider(std::max(in.queue.next(), in.free_at), freed);
  }
}

bool Crossbar::idle() const {
  return std::all_of(inputs_.begin(), inputs_.end(), [](const Input& i) { return i.queue.empty(); }) &&
         std::all_of(outputs_.begin(), outputs_.end(), [](const Output& o) { return o.pipe.empty(); });
}

Interconnect::Interconnect(const sc_core::sc_module_name& name, const MemorySystemConfig& config, unsigned sms,
                           const sc_core::sc_time& clock_period, unsigned first_sm)
    : sc_module(name),
      upstream("upstream", sms),
      downstream("downstream", config.l2.partitions),
      config_(config),
      clock_(clock_period),
      first_sm_(first_sm),
      all_sectors_(line_sectors(config.l2.line_bytes)),
      requests_(sms, 1, config.l2.partitions, config.interconnect.partition_flits, config.interconnect),
      responses_(config.l2.partitions, config.interconnect.partition_flits, sms, 1, config.interconnect) {
  for (unsigned i = 0; i < sms; ++i) upstream[i].bind(sm_ports_.emplace_back(*this, i));
  for (unsigned i = 0; i < config.l2.partitions; ++i) downstream[i].bind(partition_ports_.emplace_back(*this, i));
}

void Interconnect::push_request(unsigned port, Payload& payload, std::uint64_t ready) {
  const protocol::MemoryAccess& access = memory_access(payload);
  const unsigned sectors = request_has_data(access.access) ? count_sectors(access.sectors & all_sectors_) : 0;
  request_bytes_ += sectors * protocol::sector_bytes;
  requests_.push(port, {&payload, ready, config_.partition_of(payload.get_address()), config_.packet_flits(sectors)});
}

void Interconnect::push_response(unsigned port, Payload& payload, std::uint64_t ready) {
  const protocol::MemoryAccess& access = memory_access(payload);
  const unsigned sectors = response_has_data(access.access) ? count_sectors(access.sectors & all_sectors_) : 0;
  response_bytes_ += sectors * protocol::sector_bytes;
  responses_.push(port, {&payload, ready, access.sm - first_sm_, config_.packet_flits(sectors)});
}

tlm::tlm_sync_enum Interconnect::SmPort::nb_transport_fw(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const std::uint64_t now = owner.clock_.now();
  const std::uint64_t at = owner.clock_.arrival(now, delay);
  if (phase == tlm::END_RESP) {
    if (!responder.end_response(p, at)) protocol_error(owner.name(), "END_RESP for no response under way");
    p.release();
    owner.wakeup_.request(now, at);
    return tlm::TLM_COMPLETED;
  }
  if (phase != tlm::BEGIN_REQ) protocol_error(owner.name(), "unexpected phase on the forward path");
  if (memory_access(p).sm != owner.first_sm_ + index) {
    protocol_error(owner.name(), "MemoryAccess::sm is not the SM of the port the request came in by");
  }
  p.acquire();
  if (owner.requests_.has_room(index, now) && held == nullptr) {
    if (owner.requests_.empty(index)) owner.wakeup_.request(now, at);  // behind others, it has to wait for them
    owner.push_request(index, p, at);
    phase = tlm::END_REQ;
    if (delay < owner.clock_.one()) delay = owner.clock_.one();
    return tlm::TLM_UPDATED;
  }
  if (held != nullptr) protocol_error(owner.name(), "BEGIN_REQ before END_REQ of the previous request");
  held = &p;
  ++owner.held_;
  ++owner.request_refusals_;
  owner.wakeup_.request(now, at);
  return tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum Interconnect::PartitionPort::nb_transport_bw(Payload& p, tlm::tlm_phase& phase,
                                                                sc_core::sc_time& delay) {
  const std::uint64_t now = owner.clock_.now();
  const std::uint64_t at = owner.clock_.arrival(now, delay);
  requester.end_request(p, at);  // END_REQ, or BEGIN_RESP which implies it
  if (phase == tlm::END_REQ) {
    if (owner.requests_.next_delivery(index) != no_cycle) owner.wakeup_.request(now, at);
    return tlm::TLM_ACCEPTED;
  }
  if (phase != tlm::BEGIN_RESP) protocol_error(owner.name(), "unexpected phase on the backward path");
  if (held != nullptr) protocol_error(owner.name(), "BEGIN_RESP before END_RESP of the previous response");
  // A response that implies END_REQ lets the next request go.
  if (owner.responses_.empty(index) || owner.requests_.next_delivery(index) != no_cycle) {
    owner.wakeup_.request(now, at);
  }
  if (owner.responses_.has_room(index, now)) {
    owner.push_response(index, p, at);
    return tlm::TLM_COMPLETED;
  }
  held = &p;
  owner.wakeup_.request(now, at);
  ++owner.held_;
  ++owner.response_refusals_;
  return tlm::TLM_ACCEPTED;
}

void Interconnect::admit_held(std::uint64_t now) {
  for (SmPort& port : sm_ports_) {
    if (port.held == nullptr || !requests_.has_room(port.index, now)) continue;
    Payload& p = *port.held;
    port.held = nullptr;
    --held_;
    push_request(port.index, p, now + 1);
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_core::sc_time delay = clock_.one();
    upstream[port.index]->nb_transport_bw(p, phase, delay);
  }
  for (PartitionPort& port : partition_ports_) {
    if (port.held == nullptr || !responses_.has_room(port.index, now)) continue;
    Payload& p = *port.held;
    port.held = nullptr;
    --held_;
    push_response(port.index, p, now + 1);
    tlm::tlm_phase phase = tlm::END_RESP;
    sc_core::sc_time delay = clock_.one();
    downstream[port.index]->nb_transport_fw(p, phase, delay);
  }
}

bool Interconnect::deliver_requests(std::uint64_t now) {
  bool moved = false;
  for (PartitionPort& port : partition_ports_) {
    if (!requests_.delivered(port.index, now) || !port.requester.can_send(now)) continue;
    std::uint64_t when = 0;
    Payload& p = *requests_.take(port.index, now);
    if (port.requester.send(downstream[port.index], p, clock_, now, when) != RequestSender::Answer::taken) {
      protocol_error(name(), "a partition answered with the return of BEGIN_REQ");
    }
    moved = true;
  }
  return moved;
}

bool Interconnect::deliver_responses(std::uint64_t now) {
  bool moved = false;
  for (SmPort& port : sm_ports_) {
    if (!responses_.delivered(port.index, now) || !port.responder.can_send(now)) continue;
    Payload& p = *responses_.take(port.index, now);
    if (port.responder.send(upstream[port.index], p, clock_, now)) p.release();
    moved = true;
  }
  return moved;
}

void Interconnect::work() {
  const std::uint64_t now = clock_.now();
  if (held_ != 0) admit_held(now);
  const bool requests_left = deliver_requests(now);
  const bool responses_left = deliver_responses(now);
  const bool requests_moved = requests_.transfer(now);
  const bool responses_moved = responses_.transfer(now);

  NextCycle next(now);
  requests_.next_transfer(next, requests_left || requests_moved);
  responses_.next_transfer(next, responses_left || responses_moved);
  for (const PartitionPort& port : partition_ports_) {
    const std::uint64_t at = requests_.next_delivery(port.index);
    if (at != no_cycle && !port.requester.blocked())
      next.consider(std::max(at, port.requester.next_at()), requests_left);
  }
  for (const SmPort& port : sm_ports_) {
    const std::uint64_t at = responses_.next_delivery(port.index);
    if (at != no_cycle && !port.responder.blocked())
      next.consider(std::max(at, port.responder.next_at()), responses_left);
  }
  if (held_ != 0) next.consider(now, requests_moved || responses_moved);
  if (next.next() != no_cycle) wakeup_.request(now, next.next());
}

bool Interconnect::idle() const {
  const auto free = [](const auto& port) { return port.held == nullptr; };
  return requests_.idle() && responses_.idle() && std::all_of(sm_ports_.begin(), sm_ports_.end(), free) &&
         std::all_of(partition_ports_.begin(), partition_ports_.end(), free) &&
         std::none_of(sm_ports_.begin(), sm_ports_.end(), [](const SmPort& p) { return p.responder.blocked(); }) &&
         std::none_of(partition_ports_.begin(), partition_ports_.end(),
                      [](const PartitionPort& p) { return p.requester.blocked(); });
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
