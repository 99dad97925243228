// SPDX-License-Identifier: Apache-2.0
#include <regatta/memory/dram_channel.h>

#include <algorithm>

namespace regatta::memory {

DramChannel::DramChannel(const sc_core::sc_module_name& name, const MemorySystemConfig& config,
                         support::ClockDomain& clock)
    : sc_module(name),
      upstream("upstream"),
      rules_(upstream, config.l2.line_bytes),
      clock_(clock),
      all_sectors_(line_sectors(config.l2.line_bytes)),
      capacity_(config.dram.queue),
      bandwidth_(config.channel_bandwidth()),
      ratio_(config.dram_clock()),
      pipeline_cycles_(static_cast<std::uint64_t>(config.dram_pipeline_cycles())),
      access_cycles_(static_cast<std::uint64_t>(config.dram_access_cycles())),
      departures_(capacity_),
      // Room for the reads that the bus can deliver within one access time, plus a queue of answers.
      finished_(config.dram.queue +
                access_cycles_ * (bandwidth_.bytes / (bandwidth_.cycles * protocol::sector_bytes) + 1)) {
  if (!config.dram.fixed()) banks_.emplace(config);
  upstream.bind(*this);
}

tlm::tlm_sync_enum DramChannel::nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const std::uint64_t now = clock_.now();
  const std::uint64_t at = clock_.arrival(now, delay);
  if (rules_.begin(payload, phase, delay, clock_) == nullptr) {  // END_RESP
    if (!responder_.end_response(payload, at)) protocol_error(upstream.name(), "END_RESP for no response under way");
    wakeup_.request(now, at);
    payload.release();
    return tlm::TLM_COMPLETED;
  }
  if (held_ != nullptr) protocol_error(upstream.name(), "BEGIN_REQ before END_REQ of the previous request");
  if (!banks_) {
    if (room_at(at)) {
      delay = clock_.time(reserve(payload, at) - now);
      return tlm::TLM_COMPLETED;
    }
    wakeup_.request(now, std::max(at, departures_.first() + 1));
  } else {
    if (has_room(now)) {
      const bool write = payload.is_write();
      enqueue(payload, now, at);
      delay = clock_.time(at - now);
      if (write) return tlm::TLM_COMPLETED;
      payload.acquire();
      phase = tlm::END_REQ;
      return tlm::TLM_UPDATED;
    }
    // If a request leaves in this cycle, there is room from the next one on. Otherwise the next departure wakes the
    // channel.
    if (left_at_ == now || at > now + 1) wakeup_.request(now, at);
  }
  payload.acquire();
  held_ = &payload;
  held_at_ = at;
  ++refusals_;
  return tlm::TLM_ACCEPTED;
}

// With a fixed access time everything is known. Returns the cycle in which the answer reaches the requester.
std::uint64_t DramChannel::reserve(Payload& payload, std::uint64_t at) {
  const unsigned bytes = count_sectors(access_of(payload).sectors & all_sectors_) * protocol::sector_bytes;
  const std::uint64_t issued = std::max(at, bus_cycle_ > access_cycles_ ? bus_cycle_ - access_cycles_ : 0);
  departures_.push(issued);
  entry_cycles_ += issued - at;
  queue_max_ = std::max<std::uint64_t>(queue_max_, departures_.size());
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  const bool write = payload.is_write();
  count(write, bytes, protocol::cause_of(access_of(payload).access));
  const std::uint64_t finished = move(issued + access_cycles_, bytes);
  if (write) return at;
  answer_at_ = std::max(finished, answer_at_) + 1;
  return answer_at_;
}

// Moves the bytes over the bus from `first_byte` or when it is free. Returns the cycle in which the last has passed.
std::uint64_t DramChannel::move(std::uint64_t first_byte, unsigned bytes) {
  if (bus_cycle_ < first_byte) {
    bus_cycle_ = first_byte;
    bus_fraction_ = 0;
  }
  bus_fraction_ += bytes * bandwidth_.cycles;
  bus_cycle_ += bus_fraction_ / bandwidth_.bytes;
  bus_fraction_ %= bandwidth_.bytes;
  return bus_cycle_ + (bus_fraction_ != 0 ? 1 : 0);
}

// Admits the held request as soon as there is room. Its answer is then known and is announced ahead of time, unless the
// requester has not yet taken the previous answer.
void DramChannel::admit_held_in_order(std::uint64_t now) {
  if (held_at_ > now + 1 || !room_at(now)) {
    wakeup_.request(now, std::max(held_at_, departures_.empty() ? 0 : departures_.first() + 1));
    return;
  }
  Payload& p = *held_;
  held_ = nullptr;
  const std::uint64_t when = reserve(p, now + 1);
  tlm::tlm_phase phase = tlm::END_REQ;
  sc_core::sc_time delay = clock_.one();
  upstream->nb_transport_bw(p, phase, delay);
  finished_.push({&p, std::max(when, now + 2)});
}

void DramChannel::enqueue(Payload& payload, std::uint64_t now, std::uint64_t at) {
  DramRequest r;
  r.write = payload.is_write();
  r.key = r.write ? nullptr : &payload;
  r.address = payload.get_address();
  r.ready = ratio_.first_in(at);
  const protocol::MemoryAccess& access = access_of(payload);
  r.bytes = count_sectors(access.sectors & all_sectors_) * protocol::sector_bytes;
  r.cause = protocol::cause_of(access.access);
  count_entries(now);
  const std::uint64_t due = banks_->add(r);
  if (at > now) on_wires_.push(at);
  if (due != DramBanks::never) wakeup_.request(now, std::max(at, ratio_.sm_cycle_of(due)));
  queue_max_ = std::max<std::uint64_t>(queue_max_, banks_->size());
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

// The commands of all command cycles that begin in this cycle.
void DramChannel::serve(std::uint64_t now) {
  if (banks_->size() == 0) return;
  count_entries(now);
  banks_->step(ratio_.first_in(now), ratio_.first_in(now + 1), finished_.has_room(now),
               [this, now](const DramBanks::Command& c) { served(c, now); });
  if (banks_->next() != DramBanks::never) wakeup_.request(now, ratio_.sm_cycle_of(banks_->next()));
}

void DramChannel::served(const DramBanks::Command& c, std::uint64_t now) {
  if (c.kind != DramBanks::Kind::read && c.kind != DramBanks::Kind::write) return;
  if (left_at_ != now) {
    left_at_ = now;
    left_ = 0;
  }
  ++left_;
  const bool write = c.kind == DramBanks::Kind::write;
  count(write, c.request.bytes, c.request.cause);
  if (write) return;
  finished_.push({static_cast<Payload*>(c.request.key), ratio_.sm_cycle_after(c.data_until) + pipeline_cycles_ + 1});
}

void DramChannel::admit_held(std::uint64_t now) {
  if (held_at_ > now + 1 || !has_room(now)) {
    if (held_at_ > now + 1 || left_at_ == now) wakeup_.request(now, held_at_ - 1);
    return;
  }
  Payload& p = *held_;
  held_ = nullptr;
  enqueue(p, now, now + 1);
  tlm::tlm_phase phase = tlm::END_REQ;
  sc_core::sc_time delay = clock_.one();
  upstream->nb_transport_bw(p, phase, delay);
  if (p.is_write()) finished_.push({&p, now + 2});
}

void DramChannel::send_responses(std::uint64_t now) {
  while (!finished_.empty() && !responder_.blocked()) {
    const Transfer next = finished_.front();
    finished_.pop(now);
    if (responder_.send(upstream, *next.payload, clock_, now, std::max(next.ready, now + 1))) next.payload->release();
  }
}

void DramChannel::work() {
  const std::uint64_t now = clock_.now();
  if (banks_) serve(now);
  if (held_ != nullptr) banks_ ? admit_held(now) : admit_held_in_order(now);
  send_responses(now);
}

bool DramChannel::idle() const {
  return (!banks_ || banks_->size() == 0) && finished_.empty() && held_ == nullptr && !responder_.blocked();
}

void DramChannel::register_stats(support::StatGroup& g) {
  g.counter("reads", reads_, "accesses", "reads issued");
  g.counter("writes", writes_, "accesses", "writes issued");
  g.counter("bytes_read", bytes_read_, "bytes", "moved over the bus by reads");
  g.counter("bytes_written", bytes_written_, "bytes", "moved over the bus by writes");
  constexpr const char* causes[][2] = {{"bytes_data", "of global and local memory"},
                                       {"bytes_registers", "of lines of registers"},
                                       {"bytes_code", "of instructions and constants"},
                                       {"bytes_metadata", "that a scheme reads for itself: live-register vectors"}};
  for (unsigned i = 0; i < protocol::traffic_cause_count; ++i) {
    g.counter(causes[i][0], bytes_by_cause_[i], "bytes", std::string("moved over the bus, ") + causes[i][1]);
  }
  g.derived(
      "busy_cycles",
      [this] {
        return static_cast<double>(bytes_moved()) * static_cast<double>(bandwidth_.cycles) /
               static_cast<double>(bandwidth_.bytes);
      },
      "cycles", "time the bus moved data");
  g.counter("refusals", refusals_, "accesses", "requests that waited for room in the queue");
  g.counter("queue_max", queue_max_, "entries", "most requests queued at a time");
  g.counter("queue_entry_cycles", entry_cycles_, "entry cycles", "requests queued, summed over the SM cycles");
  if (!banks_) return;
  g.counter("row_hits", banks_->row_hits, "accesses", "to a row that another request had opened");
  g.counter("row_misses", banks_->row_misses, "accesses", "to a bank without an open row");
  g.counter("row_conflicts", banks_->row_conflicts, "accesses", "to a bank with another row open");
  g.counter("activates", banks_->activates, "commands", "rows opened");
  g.counter("precharges", banks_->precharges, "commands", "rows closed");
  g.counter("starved", banks_->starved, "accesses", "requests given priority by the starvation limit");
}

}  // namespace regatta::memory
