// SPDX-License-Identifier: Apache-2.0
#include "collectors.h"

#include "execution_units.h"

namespace regatta::sm {

OperandCollectors::OperandCollectors(const sc_core::sc_module_name& name, Core& core, ExecutionUnits& execution)
    : OperandPath(name),
      read_socket("read_socket"),
      core_(core),
      execution_(execution),
      reads_of_(core, "operand_storage", "read"),
      checked_(core.config.check_contracts) {
  read_socket.bind(*this);
  const SmConfig& config = core.config;
  own_.resize(config.schedulers);
  for (unsigned s = 0; s < config.schedulers; ++s) own_[s].fill(add_pool(config.collectors));
  auto lay_out = [&](protocol::Unit kind, unsigned count) {
    if (count == 0) return;
    const bool divided = count % config.schedulers == 0;
    std::uint32_t pool = 0;
    for (unsigned s = 0; s < config.schedulers; ++s) {
      if (divided || s == 0) pool = add_pool(divided ? count / config.schedulers : count);
      own_[s][static_cast<unsigned>(kind)] = pool;
    }
  };
  lay_out(protocol::Unit::sp, config.sp_collectors);
  lay_out(protocol::Unit::sfu, config.sfu_collectors);
  lay_out(protocol::Unit::dp, config.dp_collectors);
  lay_out(protocol::Unit::lsu, config.memory_collectors);
}

std::uint32_t OperandCollectors::add_pool(unsigned units) {
  const auto index = static_cast<std::uint32_t>(pools_.size());
  pools_.push_back(Pool{static_cast<std::uint32_t>(units_.size()), trace::all_lanes(units)});
  Collector unit;
  unit.pool = index;
  units_.insert(units_.end(), units, unit);
  return index;
}

void OperandCollectors::enter(DynamicInstruction& d) {
  Pool* pool = &pools_[own_[d.scheduler][static_cast<unsigned>(d.traits->unit)]];
  if (pool->free == 0) pool = &pools_[d.scheduler];
  const std::uint32_t unit = pool->first + static_cast<std::uint32_t>(__builtin_ctzll(pool->free));
  pool->free &= pool->free - 1;
  ++pool->held[static_cast<unsigned>(d.traits->unit)];
  if (unit_of_.size() <= d.pool_index) unit_of_.resize(std::size_t{d.pool_index} + 64);
  unit_of_[d.pool_index] = unit;
  Collector& c = units_[unit];
  c.instruction = &d;
  c.taken = core_.now;
  c.ready = core_.now + 1;
  const unsigned reads = d.traits->read_count;
  d.operands_pending = static_cast<std::uint8_t>(reads);
  ++instructions_;
  reads_ += reads;
  duplicates_ += d.info->source_count - reads;
  if (reads == 0) {
    core_.at(c.ready, Work::Kind::operands_ready, unit);
  } else if (__builtin_expect(static_cast<int>(channel_.open(core_.now) && !checked_), 1) != 0) {
    request_all(unit, d);
  } else {
    for (unsigned i = 0; i < reads; ++i) request(unit, i);
  }
}

// One payload serves all operands of an instruction, as long as the storage answers at once. For a checked storage,
// every operand has a payload of its own instead.
void OperandCollectors::request_all(std::uint32_t unit, DynamicInstruction& d) {
  const unsigned reads = d.traits->read_count;
  const unsigned lanes = core_.kernel.warp_size;
  Collector& c = units_[unit];
  protocol::OperandPayload& p = payloads_.take();
  for (unsigned i = 0; i < reads; ++i) {
    p.prepare(tlm::TLM_READ_COMMAND, d.warp, d.traits->reads[i], core_.all_lanes, lanes, d.operands[i]);
    p.access().instruction = &d;
    p.access().operand = static_cast<std::uint8_t>(i);
    const std::uint64_t cycles = send_request(read_socket, p.payload(), reads_of_, channel_, core_);
    if (__builtin_expect(static_cast<int>(cycles == not_completed), 0) != 0) {
      while (++i < reads) request(unit, i);
      return;
    }
    d.origins[i] = p.access().origin;
    c.ready = std::max(c.ready, core_.now + cycles);
    --d.operands_pending;
  }
  payloads_.give_back(p);
  core_.at(c.ready, Work::Kind::operands_ready, unit);
}

void OperandCollectors::request(std::uint32_t unit, unsigned operand) {
  if (!channel_.open(core_.now)) {
    backlog_.push(Read{unit, static_cast<std::uint8_t>(operand)});
    ++held_reads_;
    return;
  }
  Collector& c = units_[unit];
  DynamicInstruction& d = *c.instruction;
  protocol::OperandPayload& p = payloads_.take();
  p.prepare(tlm::TLM_READ_COMMAND, d.warp, d.traits->reads[operand], core_.all_lanes, core_.kernel.warp_size,
            d.operands[operand]);
  p.access().instruction = &d;
  p.access().operand = static_cast<std::uint8_t>(operand);
  if (checked_) spoil(d.operands[operand]);
  const std::uint64_t cycles = send_request(read_socket, p.payload(), reads_of_, channel_, core_);
  if (cycles == not_completed) return;
  delivered(unit, p.access(), core_.now + cycles);
  payloads_.give_back(p);
}

/// Fills the buffer with a value that programs are unlikely to compute, so that it shows when a storage leaves a
/// register unfilled.
void OperandCollectors::spoil(protocol::WarpValue& value) {
  for (std::uint32_t& lane : value.lane) lane = 0xdeadbeefu ^ (++spoilt_ << 8);
}

void OperandCollectors::check_origin(const protocol::WarpAccess& access) const {
  const std::string unset = protocol::Origin{}.place;
  if (access.origin.place != nullptr && access.origin.place != unset) return;
  broken_contract(core_, "operand_storage", reads_of_.target(),
                  "answers the read of R" + std::to_string(access.reg.value()) + " for " +
                      describe(core_, *access.instruction) + " without an origin",
                  "WarpAccess::origin to say where the value was found");
}

void OperandCollectors::delivered(std::uint32_t unit, protocol::WarpAccess& access, Cycle when) {
  Collector& c = units_[unit];
  DynamicInstruction& d = *c.instruction;
  if (checked_) check_origin(access);
  d.origins[access.operand] = access.origin;
  if (c.ready < when) c.ready = when;
  if (--d.operands_pending == 0) core_.at(c.ready, Work::Kind::operands_ready, unit);
}

tlm::tlm_sync_enum OperandCollectors::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                      sc_core::sc_time& delay) {
  protocol::WarpAccess& access = protocol::warp_access(payload);
  const Cycle when = reads_of_.arrival(payload, phase, delay, access.instruction != nullptr, channel_.holds(payload));
  channel_.answered(payload, when);
  core_.schedule_tick(when);
  if (phase == tlm::END_REQ) return tlm::TLM_ACCEPTED;
  delivered(unit_of_[access.instruction->pool_index], access, when);
  payloads_.give_back(payload);
  phase = tlm::END_RESP;
  return tlm::TLM_COMPLETED;
}

void OperandCollectors::cycle() {
  while (!backlog_.empty() && channel_.open(core_.now)) {
    const Read r = backlog_.front();
    backlog_.pop();
    request(r.unit, r.operand);
    core_.progress = true;
  }
}

void OperandCollectors::operands_ready(std::uint32_t unit) {
  DynamicInstruction& d = *units_[unit].instruction;
  execution_.enter(d);
}

void OperandCollectors::dispatched(DynamicInstruction& d) {
  const std::uint32_t unit = unit_of_[d.pool_index];
  Collector& c = units_[unit];
  c.instruction = nullptr;
  Pool& pool = pools_[c.pool];
  pool.free |= std::uint64_t{1} << (unit - pool.first);
  --pool.held[static_cast<unsigned>(d.traits->unit)];
}

void OperandCollectors::register_stats(support::StatGroup& g) {
  g.counter("instructions", instructions_, "warp instructions", "instructions that took a collector unit");
  g.counter("reads", reads_, "warp registers", "distinct source registers requested from the operand storage");
  g.counter("duplicate_operands", duplicates_, "warp registers", "source operands served by another operand's read");
  g.counter("held_reads", held_reads_, "warp registers", "reads held back because the storage exerted back-pressure");
}

}  // namespace regatta::sm
