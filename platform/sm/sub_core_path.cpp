// SPDX-License-Identifier: Apache-2.0
#include "sub_core_path.h"

#include <regatta/trace/control.h>

#include "execution_units.h"
#include "issue.h"

#include <algorithm>

namespace regatta::sm {

using protocol::Unit;

namespace {
/// Cycles from the end of control to the first read of an instruction of variable latency, which so reads in the last
/// cycle of the window that one of fixed latency would have (section 5.3: a fixed result reaches a load one cycle later
/// than the bypass).
constexpr unsigned queue_stages = 1;
}  // namespace

SubCorePath::SubCorePath(const sc_core::sc_module_name& name, Core& core, ExecutionUnits& execution,
                         std::vector<ResultQueue>& results)
    : OperandPath(name),
      read_socket("read_socket"),
      core_(core),
      execution_(execution),
      results_(results),
      sub_cores_(core.config.schedulers),
      turns_(core.config.schedulers, core.config.sub_core.memory_interval, core.config.sub_core.memory_sm_interval),
      reads_of_(core, "operand_storage", "read") {
  read_socket.bind(*this);
  for (SubCore& c : sub_cores_) {
    c.latches.resize((core.config.alu_units + core.config.sp_units) / core.config.schedulers);
    c.pipelines.resize(c.latches.size());
  }
}

void SubCorePath::connect_storage(protocol::OperandStorage& storage, protocol::OperandCache* cache) {
  planner_ = storage.plan_reads();
  cache_ = cache;
}

void SubCorePath::kernel_started() {
  if (cache_ == nullptr) return;
  const trace::Kernel& kernel = *core_.kernel.kernel;
  positions_.clear();
  for (const trace::StaticInstruction& i : kernel.instructions) positions_.push_back(trace::source_positions(i));
  reuse_.assign(kernel.instructions.size(), 0);
  if (const auto control = trace::find_control(kernel)) {
    for (std::size_t i = 0; i < reuse_.size(); ++i) reuse_[i] = control->bits[i].reuse;
  }
}

void SubCorePath::enter(DynamicInstruction& d) {
  if (places_.size() <= d.pool_index) places_.resize(std::size_t{d.pool_index} + 64);
  SubCore& c = sub_cores_[d.scheduler];
  Place& p = place(d);
  p = Place{};
  p.entered = core_.now;
  p.ready = core_.now;
  p.stage = Stage::control;
  d.operands_pending = d.traits->read_count;
  c.control = &d;
  ++under_way_;
  ++instructions_;
  duplicates_ += d.info->source_count - d.traits->read_count;
  const bool fixed = core_.is_fixed(d);
  if (d.traits->unit == Unit::sp && (fixed || queue_of(d) != constant_queue)) {
    const unsigned n = earliest(c.latches, pipelines_for(d));
    Cycle& latch = c.latches[n];
    latch = std::max(latch, core_.now) + d.traits->initiation;
    d.pipeline = static_cast<std::uint8_t>(n);
    core_.at(std::max(latch, core_.now + 1), Work::Kind::tick, 0);  // issue may be waiting for it
  }
  if (!fixed) ++c.held[queue_of(d)];
  core_.progress = true;
  if (planner_ != nullptr) return;
  // Schemes without a plan go by the order of issue: they may give up a register when its last reader issues.
  unsent_.push(&d);
  send_unsent();
}

bool SubCorePath::is_sent(const DynamicInstruction& d, const Place& p) {
  return p.sent == (1u << d.traits->read_count) - 1;
}

bool SubCorePath::has_all(const DynamicInstruction& d, const Place& p) const {
  return is_sent(d, p) && d.operands_pending == 0 && p.ready <= core_.now + 1;
}

void SubCorePath::hand_over(SubCore& c, DynamicInstruction& d) {
  Place& p = place(d);
  p.stage = Stage::execution;
  for (unsigned i = 0; i < d.traits->read_count; ++i) {
    if (((p.cached >> i) & 1) == 0) continue;
    for_each_cached_source(d, [&](unsigned read, const protocol::CachedOperand& operand) {
      if (read != i) return;
      d.operands[i] = cache_->value(operand);
      d.origins[i] = protocol::Origin{"register file cache", operand.position};
    });
  }
  c.handed.push_back(&d);
  execution_.enter(d);
}

void SubCorePath::read_window(SubCore& c) {
  for (std::size_t i = 0; i < c.window.size(); ++i) {
    DynamicInstruction& d = *c.window[i];
    Place& p = place(d);
    for (unsigned r = 0; r < d.traits->read_count; ++r) {
      if (((p.sent >> r) & 1) == 0 && p.from + p.slots[r] == core_.now) send(d, p, r, true);
    }
  }
  while (!c.window.empty()) {
    DynamicInstruction& d = *c.window.front();
    const Place& p = place(d);
    if (core_.now < p.end || !has_all(d, p)) break;
    c.window.pop();
    hand_over(c, d);
  }
}

bool SubCorePath::plan(DynamicInstruction& d, Place& p) {
  std::array<protocol::RegisterId, trace::max_source_registers> registers;
  std::array<std::uint8_t, trace::max_source_registers> slots{};
  unsigned count = 0;
  p.cached = 0;
  if (cache_ != nullptr) look_up(d, p);
  for (unsigned i = 0; i < d.traits->read_count; ++i) {
    if (((p.cached >> i) & 1) == 0) registers[count++] = d.traits->reads[i];
  }
  if (!planner_->plan(d.warp, registers.data(), count, core_.now + 1, window_cycles(core_.config, *d.traits),
                      slots.data()))
    return false;
  count = 0;
  for (unsigned i = 0; i < d.traits->read_count; ++i) {
    if (((p.cached >> i) & 1) == 0) p.slots[i] = slots[count++];
  }
  p.from = core_.now + 1;
  p.sent = p.cached;
  const auto found = static_cast<unsigned>(__builtin_popcount(p.cached));
  d.operands_pending = static_cast<std::uint8_t>(d.operands_pending - found);
  cached_reads_ += found;
  if (cache_ != nullptr) {
    for_each_cached_source(d, [&](unsigned, const protocol::CachedOperand& operand) { cache_->access(operand); });
  }
  return true;
}

/// A storage without a plan: sends the reads that it takes now, in the order of issue.
void SubCorePath::send_unsent() {
  while (!unsent_.empty()) {
    DynamicInstruction& d = *unsent_.front();
    Place& p = place(d);
    for (unsigned i = 0; i < d.traits->read_count; ++i) {
      if (((p.sent >> i) & 1) != 0) continue;
      if (!channel_.open(core_.now)) {
        ++held_reads_;
        return;
      }
      send(d, p, i, false);
    }
    unsent_.pop();
    if (d.traits->read_count != 0 && !core_.is_fixed(d)) issue_->sources_read(d);
  }
}

void SubCorePath::allocate(SubCore& c) {
  if (c.allocate == nullptr) return;
  DynamicInstruction& d = *c.allocate;
  Place& p = place(d);
  const unsigned window = window_cycles(core_.config, *d.traits);
  const Cycle dispatch = core_.now + window + 1;
  // Pipelines of one kind are all the same; of several, the one whose latch it took.
  Cycle& pipeline = c.pipelines[execution_.has_kinds() ? d.pipeline : earliest(c.pipelines, all_pipelines)];
  // One that reads longer, because a bank alone has its operands, is not overtaken, nor caught up with.
  const bool in_turn = c.window.empty() || place(*c.window[c.window.size() - 1]).end < core_.now + window;
  const bool allocated = in_turn && pipeline <= dispatch && (planner_ != nullptr ? plan(d, p) : is_sent(d, p));
  if (!allocated) {
    ++allocate_waits_;
    issue_->stalled(d.scheduler);
    return;
  }
  c.allocate = nullptr;
  pipeline = dispatch + d.traits->initiation;
  p.end = core_.now + window;
  p.stage = Stage::window;
  c.window.push(&d);
  if (forwards()) issue_->allocated(d, dispatch);
}

void SubCorePath::read_in_queue(DynamicInstruction& d, Place& p) {
  for (unsigned i = 0; i < d.traits->read_count; ++i) {
    if (((p.sent >> i) & 1) != 0) continue;
    std::uint8_t slot = 0;
    if (planner_->plan(d.warp, &d.traits->reads[i], 1, core_.now, 1, &slot)) {
      send(d, p, i, true);
    } else {
      ++queue_waits_;
    }
  }
}

void SubCorePath::leave_queue(SubCore& c, unsigned queue) {
  Queue& q = c.queues[queue];
  if (q.empty() || queue == index_of(Unit::lsu)) return;
  DynamicInstruction& d = *q.front();
  if (core_.now < place(d).from || !has_all(d, place(d))) return;
  if (queue == index_of(Unit::sp)) {
    // It shares pipelines with instructions that are allocated ahead of their dispatch.
    const unsigned n = earliest(c.pipelines, pipelines_for(d));
    if (core_.now + 1 < c.pipelines[n]) return;
    c.pipelines[n] = core_.now + 1 + d.traits->initiation;
    d.pipeline = static_cast<std::uint8_t>(n);
  }
  q.pop();
  hand_over(c, d);
}

void SubCorePath::read_queues(SubCore& c) {
  for (unsigned queue = 0; queue < queue_count; ++queue) {
    Queue& q = c.queues[queue];
    for (std::size_t i = 0; i < q.size(); ++i) {
      DynamicInstruction& d = *q[i];
      Place& p = place(d);
      if (core_.now < p.from) break;
      if (planner_ != nullptr) read_in_queue(d, p);
      if (!is_sent(d, p)) break;
    }
    leave_queue(c, queue);
  }
}

void SubCorePath::control(SubCore& c) {
  if (c.control == nullptr || core_.now <= place(*c.control).entered) return;
  DynamicInstruction& d = *c.control;
  Place& p = place(d);
  if (core_.is_fixed(d)) {
    if (c.allocate != nullptr) {
      ++control_waits_;
      return;
    }
    c.allocate = &d;
    p.stage = Stage::allocate;
  } else {
    const unsigned queue = queue_of(d);
    // It would overtake an older instruction of its warp that has not read its operands.
    const bool overtakes = c.allocate != nullptr && c.allocate->warp == d.warp;
    if (overtakes || c.queues[queue].size() >= places(queue)) {
      ++control_waits_;
      return;
    }
    p.from = core_.now + core_.config.sub_core.window + queue_stages;
    p.stage = Stage::queue;
    c.queues[queue].push(&d);
  }
  c.control = nullptr;
}

void SubCorePath::leave_memory() {
  std::uint32_t ready = 0;
  for (unsigned s = 0; s < sub_cores_.size(); ++s) {
    Queue& q = sub_cores_[s].queues[index_of(Unit::lsu)];
    if (q.empty()) continue;
    const DynamicInstruction& d = *q.front();
    const Place& p = place(d);
    if (core_.now + 1 < p.entered + core_.config.sub_core.memory_latency || !has_all(d, p)) continue;
    ready |= 1u << s;
  }
  if (ready == 0) return;
  const unsigned s = turns_.take(core_.now + 1, ready);
  if (s == sub_cores_.size()) return;
  Queue& q = sub_cores_[s].queues[index_of(Unit::lsu)];
  DynamicInstruction& d = *q.front();
  q.pop();
  hand_over(sub_cores_[s], d);
}

void SubCorePath::cycle() {
  if (under_way_ == 0) return;
  if (!unsent_.empty()) send_unsent();
  for (SubCore& c : sub_cores_) {
    read_window(c);
    allocate(c);
    read_queues(c);
    control(c);
  }
  leave_memory();
  core_.progress = true;
}

void SubCorePath::send(DynamicInstruction& d, Place& p, unsigned operand, bool planned) {
  p.sent = static_cast<std::uint16_t>(p.sent | 1u << operand);
  ++reads_;
  protocol::OperandPayload& payload = payloads_.take();
  payload.prepare(tlm::TLM_READ_COMMAND, d.warp, d.traits->reads[operand], core_.all_lanes, core_.kernel.warp_size,
                  d.operands[operand]);
  payload.access().instruction = &d;
  payload.access().operand = static_cast<std::uint8_t>(operand);
  payload.access().planned = planned;
  const std::uint64_t cycles = send_request(read_socket, payload.payload(), reads_of_, channel_, core_);
  if (cycles == not_completed) return;
  d.origins[operand] = payload.access().origin;
  payloads_.give_back(payload);
  --d.operands_pending;
  p.ready = std::max(p.ready, core_.now + cycles);
  // A reuse point may have kept the reader while a younger instruction overwrote its source, under another name.
  const Cycle before = is_behind_reuse_ ? d.issued : core_.now + 1;
  results_[d.scheduler].supply(d.warp, d.traits->reads[operand], before, d.operands[operand]);
}

tlm::tlm_sync_enum SubCorePath::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                sc_core::sc_time& delay) {
  protocol::WarpAccess& access = protocol::warp_access(payload);
  const Cycle when = reads_of_.arrival(payload, phase, delay, access.instruction != nullptr, channel_.holds(payload));
  channel_.answered(payload, when);
  core_.schedule_tick(when);
  if (phase == tlm::END_REQ) return tlm::TLM_ACCEPTED;
  DynamicInstruction& d = *access.instruction;
  Place& p = place(d);
  d.origins[access.operand] = access.origin;
  --d.operands_pending;
  p.ready = std::max(p.ready, when);
  payloads_.give_back(payload);
  phase = tlm::END_RESP;
  return tlm::TLM_COMPLETED;
}

void SubCorePath::bypass(const DynamicInstruction& result) {
  const InstructionTraits& t = *result.traits;
  SubCore& c = sub_cores_[result.scheduler];
  const auto to = [&](DynamicInstruction& d) {
    if (d.warp != result.warp || d.issued <= result.issued || !core_.is_fixed(d)) return;
    const Place& p = place(d);
    const unsigned read = p.sent & ~unsigned{p.cached};
    for (unsigned i = 0; i < d.traits->read_count; ++i) {
      if (((read >> i) & 1) == 0) continue;
      for (unsigned k = 0; k < t.write_count; ++k) {
        if (t.writes[k] != d.traits->reads[i]) continue;
        ResultQueue::merge(result, k, d.operands[i]);
        d.origins[i] = protocol::Origin{"bypass", 0};
        ++bypassed_;
      }
    }
  };
  for (std::size_t i = 0; i < c.window.size(); ++i) to(*c.window[i]);
  for (DynamicInstruction* d : c.handed) to(*d);
}

void SubCorePath::operands_ready(std::uint32_t) {}

void SubCorePath::dispatched(DynamicInstruction& d) {
  SubCore& c = sub_cores_[d.scheduler];
  Place& p = place(d);
  p.stage = Stage::none;
  --under_way_;
  c.handed.erase(std::find(c.handed.begin(), c.handed.end(), &d));
  if (cache_ != nullptr) {
    for_each_cached_source(d, [&](unsigned read, const protocol::CachedOperand& operand) {
      if (operand.reuse) cache_->fill(operand, d.operands[read]);
    });
  }
  if (core_.is_fixed(d)) {
    if (d.traits->write_count != 0) results_[d.scheduler].take();
    if (core_.config.counts_fixed_readers() && d.traits->read_count != 0) issue_->sources_read(d);
    return;
  }
  --c.held[queue_of(d)];
  if (d.traits->read_count != 0) issue_->sources_read(d);
}

template <class F>
void SubCorePath::for_each_cached_source(const DynamicInstruction& d, F&& f) const {
  if (d.injected || !core_.is_fixed(d)) return;
  const trace::StaticInstruction& info = *d.info;
  const auto& positions = positions_[d.traits->index];
  for (unsigned s = 0; s < info.source_count; ++s) {
    if (positions[s] < 0) continue;
    const auto position = static_cast<unsigned>(positions[s]);
    for (unsigned i = 0; i < d.traits->read_count; ++i) {
      if (d.traits->reads[i].value() != info.sources[s]) continue;
      f(i, protocol::CachedOperand{d.scheduler, d.warp, d.traits->reads[i], position,
                                   ((reuse_[d.traits->index] >> position) & 1) != 0});
    }
  }
}

/// Which operands the cache has: a register in several positions is read unless all of these have it.
void SubCorePath::look_up(const DynamicInstruction& d, Place& p) const {
  std::uint16_t seen = 0, missed = 0;
  for_each_cached_source(d, [&](unsigned read, const protocol::CachedOperand& operand) {
    seen = static_cast<std::uint16_t>(seen | 1u << read);
    if (!cache_->holds(operand)) missed = static_cast<std::uint16_t>(missed | 1u << read);
  });
  p.cached = static_cast<std::uint16_t>(seen & ~missed);
}

}  // namespace regatta::sm
