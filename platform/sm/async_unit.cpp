// SPDX-License-Identifier: Apache-2.0
#include "async_unit.h"

#include "coalescer.h"
#include "contract.h"

#include <algorithm>

namespace regatta::sm {

using trace::AsyncKind;

namespace {

bool is_bulk(AsyncKind k) { return k >= AsyncKind::bulk_load && k <= AsyncKind::bulk_reduce; }
bool is_bulk_store(AsyncKind k) { return k == AsyncKind::bulk_store || k == AsyncKind::bulk_reduce; }

template <class F>
void for_each_lane(trace::LaneMask lanes, F&& f) {
  for (; lanes != 0; lanes &= lanes - 1) f(static_cast<unsigned>(__builtin_ctzll(lanes)));
}

}  // namespace

void AsyncConfig::declare(support::OptionSet& o) {
  o.add("async.copies", copies, "warp instructions", "cp.async instructions that an SM can have under way", 1, 4096);
  o.add("async.bulk_queue", bulk_queue, "copies", "bulk copies of an SM that wait for its engine or are under way", 1,
        4096);
  o.add("async.bulk_sectors", bulk_sectors, "sectors",
        "32-byte sectors that the engine of bulk copies asks for per cycle", 1, 8);
  o.add("async.bulk_setup", bulk_setup, "cycles",
        "cycles that the engine takes for a bulk copy before its first request", 0, 10000);
}

AsyncUnit::AsyncUnit(const sc_core::sc_module_name& name, Core& core) : sc_module(name), core_(core) {}

void AsyncUnit::kernel_started(bool is_used) {
  if (is_used || warps_.size() != core_.warps.size()) warps_.assign(core_.warps.size(), {});
  barriers_.clear();
}

void AsyncUnit::shrink(Groups& g) {
  while (g.groups.size() > 1 && g.groups.front().open == 0 && g.groups.front().unread == 0) {
    g.groups.pop_front();
    ++g.first;
  }
}

void AsyncUnit::issued(const DynamicInstruction& d) {
  WarpState& w = warps_[d.warp.value()];
  const AsyncKind kind = d.info->async;
  if (d.traits->is_memory) ++w.in_flight;
  if (kind == AsyncKind::commit) w.copies.groups.emplace_back();
  if (kind == AsyncKind::bulk_commit) w.bulk.groups.emplace_back();
  if (kind == AsyncKind::copy) {
    UnderWay& u = under_way(d);
    u.group = w.copies.open();
    u.number = next_number_++;
    ++w.copies.groups.back().open;
    w.unfinished.push_back(u.number);
    ++copy_instructions_;
  }
  if (is_bulk_store(kind)) {
    under_way(d).group = w.bulk.open();
    ++w.bulk.groups.back().open;
    ++w.bulk.groups.back().unread;
  }
}

void AsyncUnit::released(const DynamicInstruction& d) {
  WarpState& w = warps_[d.warp.value()];
  if (d.traits->is_memory) --w.in_flight;
  const AsyncKind kind = d.info->async;
  if (kind == AsyncKind::copy) {
    const UnderWay& u = under_way(d);
    --w.copies.at(u.group).open;
    shrink(w.copies);
    w.unfinished.erase(std::find(w.unfinished.begin(), w.unfinished.end(), u.number));
    if (!w.arrivals.empty()) arrive_behind_copies(w);
  }
  if (is_bulk_store(kind)) {
    Group& g = w.bulk.at(under_way(d).group);
    --g.open;
    if (d.active == 0) --g.unread;
    shrink(w.bulk);
  }
}

bool AsyncUnit::waits(WarpSlot warp, const trace::StaticInstruction& wait) const {
  const bool bulk = wait.async == AsyncKind::bulk_wait || wait.async == AsyncKind::bulk_wait_read;
  const WarpState& w = warps_[warp.value()];
  const Groups& g = bulk ? w.bulk : w.copies;
  const std::uint64_t open = g.open();
  std::uint64_t end =
      wait.async == AsyncKind::wait_all ? open + 1 : open - std::min<std::uint64_t>(open, wait.async_value);
  for (std::uint64_t n = g.first; n < end; ++n) {
    const Group& group = g.groups[n - g.first];
    const bool busy =
        wait.async == AsyncKind::bulk_wait_read ? group.unread != 0 || core_.now < group.read : group.open != 0;
    if (busy) return true;
  }
  return false;
}

bool AsyncUnit::has_copy_entry() {
  if (copies_ < core_.config.async.copies) return true;
  ++copy_refusals_;
  return false;
}

void AsyncUnit::copy_arrived(DynamicInstruction& d, Cycle when) {
  arrived_.push_back({&d, when});
  core_.at(std::max(when, core_.now + 1), Work::Kind::tick, 0);
  if (core_.current() < when) core_.wake(when);
}

void AsyncUnit::finish(DynamicInstruction& d, Cycle when) {
  when = std::max(when, core_.now + 1);
  core_.at(when, Work::Kind::executed, d.pool_index);
  if (core_.current() < when) core_.wake(when);
}

// ---- mbarriers -------------------------------------------------------------------------------------------------

void AsyncUnit::settle(CtaSlot cta, Barrier& b, Cycle when) {
  if (b.pending > 0 || b.bytes != 0) return;
  b.pending = b.expected;
  b.parity = !b.parity;
  ++phases_;
  wake_waiting(cta, when);
}

bool AsyncUnit::is_over(const DynamicInstruction& d) {
  Barriers& all = barriers(d.cta);
  bool over = true;
  for_each_lane(d.active, [&](unsigned lane) {
    const std::uint64_t parity = list(d, 1, lane);
    const auto b = all.find(static_cast<std::uint32_t>(list(d, 0, lane)));
    over = over && (parity > 1 || b == all.end() || b->second.parity != (parity != 0));
  });
  return over;
}

void AsyncUnit::wake_waiting(CtaSlot cta, Cycle when) {
  const auto over = [&](DynamicInstruction* d) {
    if (d->cta != cta || !is_over(*d)) return false;
    wait_cycles_ += std::max(when, d->completed) - d->completed;
    finish(*d, std::max(when, core_.now) + core_.config.shared_latency);
    return true;
  };
  waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), over), waiting_.end());
}

bool AsyncUnit::on_barrier(DynamicInstruction& d, Cycle done) {
  ++barrier_instructions_;
  const AsyncKind kind = d.info->async;
  if (kind == AsyncKind::barrier_wait) {
    if (is_over(d)) return true;
    ++barrier_waits_;
    d.completed = core_.now;
    waiting_.push_back(&d);
    return false;
  }
  d.completed = done;
  Barriers& all = barriers(d.cta);
  WarpState& w = warps_[d.warp.value()];
  for_each_lane(d.active, [&](unsigned lane) {
    const auto at = static_cast<std::uint32_t>(list(d, 0, lane));
    if (kind == AsyncKind::barrier_inval) {
      all.erase(at);
      return;
    }
    Barrier& b = all[at];
    const auto number = [&](unsigned n) { return static_cast<std::int64_t>(list(d, n, lane)); };
    if (kind == AsyncKind::barrier_init) {
      b = {number(1), number(1), 0, false};
    } else if (kind == AsyncKind::arrive_copies) {
      b.pending += number(1);
      w.arrivals.push_back({d.cta, at, 1, next_number_});
    } else {
      b.pending -= number(1);
      b.expected -= number(2);
      b.bytes += number(3);
      settle(d.cta, b, done);
    }
  });
  if (kind == AsyncKind::arrive_copies) arrive_behind_copies(w);
  return true;
}

void AsyncUnit::arrive_behind_copies(WarpState& w) {
  const std::uint64_t oldest = w.unfinished.empty() ? ~std::uint64_t{0} : w.unfinished.front();
  // Arrivals stand in the order of their numbers.
  std::size_t due = 0;
  while (due < w.arrivals.size() && w.arrivals[due].before <= oldest) ++due;
  const std::vector<Arrival> now(w.arrivals.begin(), w.arrivals.begin() + static_cast<std::ptrdiff_t>(due));
  w.arrivals.erase(w.arrivals.begin(), w.arrivals.begin() + static_cast<std::ptrdiff_t>(due));
  for (const Arrival& a : now) {
    Barrier& b = barriers(a.cta)[a.barrier];
    b.pending -= a.count;
    settle(a.cta, b, core_.now);
  }
}

// ---- bulk copies -----------------------------------------------------------------------------------------------

bool AsyncUnit::has_bulk_entries(unsigned count) {
  // One that has more copies than the queue has entries takes an empty queue.
  if (bulk_ == 0 || bulk_ + count <= core_.config.async.bulk_queue) return true;
  ++bulk_refusals_;
  return false;
}

void AsyncUnit::bulk_begins(DynamicInstruction& d) {
  UnderWay& u = under_way(d);
  u.unsent = static_cast<unsigned>(__builtin_popcountll(d.active));
  u.moved = 0;
  bulk_ += u.unsent;
  (is_bulk_store(d.info->async) ? bulk_stores_ : bulk_loads_) += u.unsent;
  for_each_lane(d.active, [&](unsigned lane) {
    queue_.emplace_back(&d, lane);
    bulk_bytes_ += list(d, trace::bulk_bytes, lane);
  });
}

void AsyncUnit::begin_row() {
  const DynamicInstruction& d = *engine_.instruction;
  engine_.row = list(d, trace::bulk_address, engine_.lane);
  for (unsigned n = 0; n < 4; ++n) engine_.row += engine_.at[n] * list(d, trace::bulk_stride + n, engine_.lane);
  engine_.offset = 0;
}

bool AsyncUnit::next_row() {
  for (unsigned n = 0; n < 4; ++n) {
    if (++engine_.at[n] < list(*engine_.instruction, trace::bulk_count + n, engine_.lane)) return true;
    engine_.at[n] = 0;
  }
  return false;
}

void AsyncUnit::start_descriptor(Cycle& shared_free) {
  const auto [d, lane] = queue_.front();
  queue_.pop_front();
  engine_ = {};
  engine_.instruction = d;
  engine_.lane = lane;
  engine_.from = core_.now + core_.config.async.bulk_setup;
  engine_.row_bytes = list(*d, trace::bulk_row_bytes, lane);
  begin_row();
  if (is_bulk_store(d->info->async)) {
    // The engine reads shared memory ahead of its requests.
    const unsigned busy = passes(list(*d, trace::bulk_bytes, lane));
    shared_free = std::max(core_.now, shared_free) + busy;
    shared_passes_ += busy;
    engine_.from = std::max(engine_.from, shared_free);
    Group& g = warps_[d->warp.value()].bulk.at(under_way(*d).group);
    g.read = std::max(g.read, shared_free);
    if (under_way(*d).unsent == 1) --g.unread;
    core_.at(shared_free, Work::Kind::fence_reached, d->warp.value());
  }
  core_.at(std::max(engine_.from, core_.now + 1), Work::Kind::tick, 0);
}

bool AsyncUnit::next_line() {
  const std::uint64_t line_bytes = core_.config.line_bytes;
  const std::uint64_t at = engine_.row + engine_.offset, end = engine_.row + engine_.row_bytes;
  const std::uint64_t line = at / line_bytes * line_bytes;
  const auto first = static_cast<unsigned>((at - line) / protocol::sector_bytes);
  const auto last = static_cast<unsigned>((std::min(end, line + line_bytes) - 1 - line) / protocol::sector_bytes);
  const unsigned count = std::min(last - first + 1, core_.config.async.bulk_sectors);
  line_ = {engine_.instruction, line, static_cast<std::uint8_t>(((1u << count) - 1) << first),
           is_bulk_store(engine_.instruction->info->async), engine_.instruction->info->async == AsyncKind::bulk_reduce};
  return true;
}

bool AsyncUnit::cycle(Cycle& shared_free) {
  while (!arrived_.empty() && arrived_.front().when <= core_.now) {
    if (core_.now < shared_free) {
      core_.at(shared_free, Work::Kind::tick, 0);
      break;
    }
    DynamicInstruction& d = *arrived_.front().instruction;
    arrived_.pop_front();
    const unsigned busy = d.active == 0 ? 0
                                        : sm::shared_passes(d.texel(1), d.active, d.info->access_bytes,
                                                            core_.kernel.warp_size, core_.config.shared_banks, false);
    shared_passes_ += busy;
    shared_free = core_.now + busy;
    --copies_;
    finish(d, core_.now + std::max(busy, 1u));
    core_.progress = true;
  }
  if (engine_.instruction == nullptr && !queue_.empty()) start_descriptor(shared_free);
  if (engine_.instruction == nullptr || core_.now < engine_.from) return false;
  if (engine_.row_bytes == 0) {  // nothing of it lies in the tensor
    descriptor_sent();
    return false;
  }
  return next_line();
}

void AsyncUnit::line_sent() {
  const auto sectors = static_cast<unsigned>(__builtin_popcount(line_.sectors));
  ++bulk_lines_;
  bulk_sectors_ += sectors;
  ++engine_.instruction->accesses_pending;
  const std::uint64_t at = engine_.row + engine_.offset;
  const std::uint64_t sector = at / protocol::sector_bytes * protocol::sector_bytes;
  engine_.offset += sector + std::uint64_t{sectors} * protocol::sector_bytes - at;
  core_.progress = true;
  if (engine_.offset < engine_.row_bytes) return;
  if (next_row()) {
    begin_row();
  } else {
    descriptor_sent();
  }
}

void AsyncUnit::descriptor_sent() {
  DynamicInstruction& d = *engine_.instruction;
  engine_.instruction = nullptr;
  core_.progress = true;
  if (--under_way(d).unsent != 0 || d.accesses_pending != 0) return;
  Cycle unused = core_.now;
  finish_bulk(d, core_.now + 1, unused);
}

void AsyncUnit::bulk_answered(DynamicInstruction& d, Cycle when, Cycle& shared_free) {
  if (d.info->async == AsyncKind::bulk_load) {
    shared_free = std::max(when, shared_free) + 1;
    ++shared_passes_;
    when = shared_free;
  }
  if (d.completed < when) d.completed = when;
  if (--d.accesses_pending != 0 || under_way(d).unsent != 0) return;
  finish_bulk(d, d.completed, shared_free);
}

void AsyncUnit::finish_bulk(DynamicInstruction& d, Cycle when, Cycle& shared_free) {
  static_cast<void>(shared_free);
  bulk_ -= static_cast<unsigned>(__builtin_popcountll(d.active));
  if (d.info->async == AsyncKind::bulk_load) {
    for_each_lane(d.active, [&](unsigned lane) {
      Barrier& b = barriers(d.cta)[static_cast<std::uint32_t>(list(d, trace::bulk_mbarrier, lane))];
      b.bytes -= static_cast<std::int64_t>(list(d, trace::bulk_bytes, lane));
      settle(d.cta, b, when);
    });
  }
  finish(d, when);
}

std::optional<Hold> AsyncUnit::holds(const DynamicInstruction& d) const {
  if (d.info->async == AsyncKind::barrier_wait && std::find(waiting_.begin(), waiting_.end(), &d) != waiting_.end()) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(d.active));
    const auto at = static_cast<std::uint32_t>(list(d, 0, lane));
    std::string text = "a mbarrier at shared offset " + std::to_string(at);
    if (d.cta.value() < barriers_.size()) {
      const auto b = barriers_[d.cta.value()].find(at);
      if (b != barriers_[d.cta.value()].end())
        text += ", whose phase waits for " + std::to_string(b->second.pending) + " arrivals and " +
                std::to_string(b->second.bytes) + " bytes";
    }
    return Hold{text, "", d.completed};
  }
  if (is_bulk(d.info->async)) return Hold{"the engine of bulk copies", "", d.dispatched};
  return {};
}

void AsyncUnit::register_stats(support::StatGroup& g) {
  g.counter("copies", copy_instructions_, "warp instructions", "cp.async instructions");
  g.counter("copy_refusals", copy_refusals_, "attempts",
            "of the load-store unit to begin a cp.async without a free entry");
  g.counter("bulk_loads", bulk_loads_, "copies", "bulk copies to shared memory");
  g.counter("bulk_stores", bulk_stores_, "copies", "bulk copies and reductions to global memory");
  g.counter("bulk_refusals", bulk_refusals_, "attempts",
            "of the load-store unit to queue a bulk copy without a free entry");
  g.counter("bulk_lines", bulk_lines_, "lines", "requests of the engine of bulk copies");
  g.counter("bulk_sectors", bulk_sectors_, "sectors", "32-byte sectors that it asked for");
  g.counter("bulk_bytes", bulk_bytes_, "bytes", "of shared memory that bulk copies move");
  g.counter("mbarrier_instructions", barrier_instructions_, "warp instructions", "operations on mbarriers");
  g.counter("mbarrier_waits", barrier_waits_, "warp instructions", "of these, waits for a phase that was not complete");
  g.counter("mbarrier_wait_cycles", wait_cycles_, "cycles", "that these waited");
  g.counter("mbarrier_phases", phases_, "phases", "that mbarriers completed");
  g.counter("shared_passes", shared_passes_, "cycles",
            "in which asynchronous copies occupied the banks of shared memory");
}

}  // namespace regatta::sm
