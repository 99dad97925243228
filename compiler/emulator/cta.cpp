// SPDX-License-Identifier: Apache-2.0
#include "cta.h"

#include "async_state.h"
#include "diagnostics.h"
#include "race_detector.h"

#include <algorithm>
#include <cfenv>
#include <cstring>
#include <map>
#include <tuple>

namespace regatta::emulator {

using trace::LaneMask;
using trace::MemorySpace;

CtaRunner::CtaRunner(Program& program, DeviceMemory& memory, const ModuleImage& image, const EmulatorOptions& options,
                     const LaunchRequest& request, std::uint64_t grid_barrier, SpinWindow& window, RaceDetector* races,
                     StrayLog* strays)
    : program_(program),
      f_(*program.function),
      memory_(memory),
      options_(options),
      request_(request),
      helpers_(lane_helpers(program.lanes)),
      races_(races),
      strays_(strays),
      tracks_(!options.undefined_zero),
      spins_(program, window),
      grid_barrier_(grid_barrier),
      independent_(options.divergence == Divergence::barriers),
      constants_(image.constants()),
      parameters_(request.parameters) {
  threads_ = request.block[0] * request.block[1] * request.block[2];
  const unsigned warps = (threads_ + program.lanes - 1) / program.lanes;
  for (unsigned w = 0; w < warps; ++w) warps_.push_back(std::make_unique<Warp>(program, w));
  shared_.resize(std::size_t{f_.static_shared_bytes} + request.dynamic_shared_bytes);
  shared_written_.resize(shared_.size());
  local_.resize(std::size_t{f_.local_bytes} * threads_);
  local_written_.resize(std::size_t{f_.local_bytes} * warps);
}

CtaRunner::~CtaRunner() = default;

namespace {

/// Bytes of columns: of the first warp that makes its CTA one with segments, and of a segment from then on.
constexpr std::uint64_t long_warp_bytes = 1 << 20, segment_bytes = 128 << 10;

}  // namespace

void CtaRunner::end_segment(Warp& w, TraceSink& segments) {
  trace::WarpColumns columns = w.encoder->take_segment();
  columns.cta = cta_index_;
  columns.warp = w.number();
  segments.take_segment(std::move(columns));
}

void CtaRunner::begin(std::uint64_t index, const trace::Kernel* trace, trace::Cta&& storage, TraceSink* segments) {
  trace_ = trace;
  segments_ = segments;
  out_ = std::move(storage);
  cta_index_ = index;
  cta_ = unflatten(index, request_.grid);
  std::fill(shared_.begin(), shared_.end(), 0);
  std::fill(shared_written_.begin(), shared_written_.end(), options_.undefined_zero ? 1 : 0);
  std::fill(local_.begin(), local_.end(), 0);
  std::fill(local_written_.begin(), local_written_.end(), options_.undefined_zero ? ~LaneMask{0} : 0);
  WarpPlace place;
  place.grid = request_.grid;
  place.block = request_.block;
  place.cta = cta_;
  place.grid_barrier = grid_barrier_;
  place.undefined_zero = options_.undefined_zero;
  place.dynamic_shared_bytes = request_.dynamic_shared_bytes;
  place.total_shared_bytes = static_cast<std::uint32_t>(shared_.size());
  for (const ir::SharedVariable& v : f_.shared_variables) {
    if (!v.reserved) continue;
    place.total_shared_bytes -= v.bytes;
    std::fill_n(shared_written_.begin() + v.offset, v.bytes, std::uint8_t{1});
  }
  if (trace != nullptr) out_.warps.resize(warps_.size());
  for (auto& w : warps_) {
    w->reset(place);
    if (trace != nullptr) w->record(*trace, std::move(out_.warps[w->number()]));
  }
  shared_values_ = trace != nullptr && trace->shared_values;
  if (races_ != nullptr) races_->begin_cta(index, static_cast<unsigned>(warps_.size()), shared_);
  arrivals_ = {};
  begin_budgets();
  if (async_ != nullptr) async_->begin(warps_.size());
  in_segments_ = false;
  spins_.begin_cta(warps_.size());
}

bool CtaRunner::round() {
  bool ran = false;
  spins_.begin_round();
  for (auto& w : warps_) {
    if (w->state == WarpState::at_mbarrier) {
      const LaneMask complete = complete_phases(*w, program_.ops[w->barrier_op], w->barrier_lanes);
      if (complete == w->barrier_lanes) finish_wait(*w, complete);
    }
    if (w->state != WarpState::ready) continue;
    if (independent_) {
      turn<true>(*w);
    } else {
      turn<false>(*w);
    }
    ran = true;
    if (segments_ != nullptr) {
      const std::uint64_t bytes = w->encoder->bytes();
      in_segments_ = in_segments_ || bytes >= long_warp_bytes;
      if (in_segments_ && bytes >= segment_bytes) end_segment(*w, *segments_);
    }
    if (spins_.watching()) {
      spins_.end_turn(*w);
      if (independent_ && w->state == WarpState::ready && spins_.is_stuck(w->number()) && try_others(*w)) {
        spins_.forget(w->number());
      }
    }
  }
  bool released = release_barriers();
  released = release_cluster_barrier() || released;
  released = grant_registers() || released;
  if (released || ran) return true;
  if (std::all_of(warps_.begin(), warps_.end(), [](const auto& w) { return w->state == WarpState::done; })) {
    check_warp_groups();
    return false;
  }
  if (end_waits()) return true;
  deadlock();
}

trace::Cta CtaRunner::finish() {
  if (async_ != nullptr) finish_bulk();
  for (auto& w : warps_) {
    counts_.warp_instructions += w->executed;
    left_stack_order_ = left_stack_order_ || w->left_stack_order;
  }
  if (trace_ != nullptr) {
    out_.index = cta_index_;
    for (auto& w : warps_) {
      if (w->encoder->has_segments() && w->encoder->bytes() != 0) end_segment(*w, *segments_);
      out_.warps[w->number()] = w->encoder->finish();
      w->encoder.reset();
    }
  }
  return std::move(out_);
}

template <bool independent>
void CtaRunner::turn(Warp& w) {
  const std::uint64_t end = std::min(w.executed + options_.quantum, options_.max_instructions);
  while (w.executed < end) {
    const StackEntry& top = w.top();
    const Op& op = program_.ops[top.pc];
    const LaneMask simt = top.mask;
    const LaneMask active = active_lanes(w, op, simt);
    if (independent && !may_execute(w, op, active)) continue;
    ++w.executed;
    if (spins_.watching()) spins_.executed(w.number(), top.pc);
    counts_.thread_instructions += static_cast<unsigned>(__builtin_popcountll(active));
    if (w.encoder) w.encoder->instruction(top.pc, simt, active);
    switch (op.kind) {
      case Kind::branch:
        if (w.branch(op, active)) {
          ++counts_.divergent_branches;
          if (races_ != nullptr) races_->order().split(w.number(), simt, w.live());
        }
        break;
      case Kind::exit:
        if (active == 0) {
          w.advance();
        } else {
          if (races_ != nullptr) races_->order().exit(w.number(), simt, active, w.live());
          w.exit(active);
        }
        if (w.finished()) {
          w.state = WarpState::done;
          return;
        }
        break;
      case Kind::barrier:
        if (active != 0) {
          begin_barrier(w, op, active);
        } else if (w.encoder) {
          record(w, op, active);
        }
        w.advance();
        if (independent) w.split_up();
        if (w.state != WarpState::ready) return;
        break;
      case Kind::set_registers:
        if (active != 0 && f_.entry_registers != 0) set_registers(w, op, active);
        if (w.encoder) record(w, op, active);
        w.advance();
        if (w.state != WarpState::ready) return;
        break;
      case Kind::mbarrier_wait:
        if (active != 0) {
          begin_wait(w, op, active);
        } else if (w.encoder) {
          record(w, op, active);
        }
        w.advance();
        if (w.state == WarpState::at_mbarrier) return;
        break;
      case Kind::trap:
        if (active != 0) trap(w, op, active);
        w.advance();
        break;
      default:
        if (active != 0) execute(w, op, active);
        if (w.encoder) record(w, op, active);
        w.advance();
        if (independent && is_aligned(op.kind)) w.split_up();
    }
  }
  if (w.executed >= options_.max_instructions) {
    fail(w, program_.ops[w.top().pc], static_cast<unsigned>(__builtin_ctzll(w.top().mask)),
         "warp " + std::to_string(w.number()) + " has executed " + std::to_string(w.executed) +
             " instructions and goes on: an endless loop? (raise --max-instructions if not)");
  }
}

void CtaRunner::execute(Warp& w, const Op& op, LaneMask active) {
  if (active != w.regs.active) {
    w.regs.active = active;
    helpers_.expand(active, w.regs.mask);
  }
  if (op.dynamic_special) w.refresh_clocks();
  switch (op.kind) {
    case Kind::lane:
      if (op.copies) {
        if (tracks_) carry_written(w, op, active);
        op.lane.function(op.lane, w.regs);
        return;
      }
      // Before the destination, which may also be a source, gets its new state.
      if (tracks_) mark_computed(w, op, active, missing_reads(w, op, active));
      if (op.float_rounding >= 0) {
        std::fesetround(op.float_rounding);
        op.lane.function(op.lane, w.regs);
        std::fesetround(FE_TONEAREST);
      } else {
        op.lane.function(op.lane, w.regs);
      }
      return;
    case Kind::select: {
      const Condition first = condition(w, op.predicates[0]);
      if (tracks_) carry_written(w, op, active, first);
      helpers_.expand(first.value & active, w.regs.select);
      op.lane.function(op.lane, w.regs);
      return;
    }
    case Kind::compare: {
      op.lane.function(op.lane, w.regs);
      const LaneMask written = tracks_ ? ~missing_reads(w, op, active) : ~LaneMask{0};
      Condition r{op.complement ? ~w.regs.compare : w.regs.compare, written};
      Condition opposite{~r.value, written};
      if (op.predicate_count != 0) {
        const Condition c = condition(w, op.predicates[0]);
        r = combine(op.bool_op, r, c);
        opposite = combine(op.bool_op, opposite, c);
      }
      write_predicate(w, op, op.predicate_writes[0], r, active);
      if (op.predicate_write_count > 1) write_predicate(w, op, op.predicate_writes[1], opposite, active);
      return;
    }
    case Kind::set:
      set(w, op);
      return;
    case Kind::nop:
      break;
    case Kind::logic:
      logic(w, op, active);
      break;
    case Kind::pack:
      if (tracks_) carry_written(w, op, active);
      pack(w, op);
      return;
    case Kind::unpack:
      if (tracks_) carry_written(w, op, active);
      unpack(w, op);
      return;
    case Kind::shuffle:
      shuffle(w, op, active);
      return;
    default:
      if (tracks_) check_reads(w, op, active);
      switch (op.kind) {
        case Kind::load:
          if (tracks_) mark_written(w, op, active);
          load(w, op);
          if (spins_.watching()) watch_read(w, op);
          if (independent_) note_poll(w, op);
          if (tracks_ && local_may_be_meant(op)) note_local_load(w, op);
          return;
        case Kind::store:
          store(w, op);
          if (tracks_ && local_may_be_meant(op)) note_local_store(w, op);
          break;
        case Kind::atomic:
          atomic(w, op);
          if (spins_.watching()) watch_read(w, op);
          if (independent_) note_poll(w, op);
          break;
        case Kind::vote:
          vote(w, op, active);
          break;
        case Kind::match:
          match(w, op, active);
          break;
        case Kind::fence:
          if (races_ != nullptr) order_fence(w, op);
          break;
        case Kind::warp_sync:
          if (races_ != nullptr) meet_lanes(w, op, active);
          break;
        case Kind::redux:
          redux(w, op, active);
          break;
        case Kind::elect:
          elect(w, op, active);
          break;
        case Kind::activemask:
          active_mask(w, op, active);
          break;
        case Kind::print:
          print(w, op, active);
          break;
        case Kind::matrix_product:
          matrix_product(w, op, active);
          break;
        case Kind::group_product:
          group_product(w, op, active);
          break;
        case Kind::matrix_load:
          mark_written(w, op, active);
          matrix_access(w, op, active);
          return;
        case Kind::matrix_store:
          matrix_access(w, op, active);
          break;
        case Kind::matrix_move:
          matrix_move(w, op, active);
          break;
        case Kind::texture:
          texture(w, op);
          break;
        case Kind::texture_query:
          texture_query(w, op);
          break;
        case Kind::surface_load:
        case Kind::surface_store:
          surface(w, op);
          break;
        case Kind::asynchronous:
          asynchronous(w, op);
          break;
        default:
          break;
      }
  }
  if (tracks_) mark_written(w, op, active);
}

void CtaRunner::meet_lanes(Warp& w, const Op& op, LaneMask active) {
  // The member mask is one of a warp of 32 lanes, whatever the width.
  for (unsigned half = 0; half < program_.lanes; half += 32) {
    const auto here = static_cast<std::uint32_t>(active >> half);
    const auto present = static_cast<std::uint32_t>(taking_part(active) >> half);
    for (std::uint32_t rest = here; rest != 0;) {
      const auto first = static_cast<unsigned>(__builtin_ctz(rest));
      const auto mask = static_cast<std::uint32_t>(get(w, op.values[0], half + first, false));
      const std::uint32_t members = (mask & present) | 1u << first;
      races_->order().meet(w.number(), LaneMask{members} << half, w.live());
      rest &= ~members;
    }
  }
}

void CtaRunner::record(Warp& w, const Op& op, LaneMask active) {
  trace::WarpValue value;
  for (unsigned n = 0; n < op.write_count; ++n) {
    std::memcpy(value.lane.data(), w.regs.bank[0] + op.writes[n] * program_.lanes,
                program_.lanes * sizeof(std::uint32_t));
    w.encoder->result(value);
  }
  for (unsigned n = 0; n < op.predicate_write_count; ++n) w.encoder->predicate(w.predicates[op.predicate_writes[n]]);
  if (op.records_addresses && active != 0) {
    record_addresses(w, op, active);
    if (shared_values_ && !op.only_loads() && op.space < MemorySpace::texture && op.kind != Kind::asynchronous &&
        op.kind != Kind::mbarrier_wait)
      record_stored(w, op, active);
  }
}

void CtaRunner::deadlock() {
  const auto first =
      std::find_if(warps_.begin(), warps_.end(), [](const auto& w) { return w->state != WarpState::done; });
  const bool registers = std::any_of(warps_.begin(), warps_.end(),
                                     [](const auto& w) { return w->state == WarpState::waits_for_registers; });
  fail(**first, program_.ops[(*first)->barrier_op], static_cast<unsigned>(__builtin_ctzll((*first)->live())),
       (registers ? "deadlock: " : "barrier deadlock: ") + waiting_text());
}

std::string CtaRunner::waiting_text() const {
  // One line says who waits where: groups of warps by what they wait for and position.
  std::map<std::tuple<WarpState, std::uint32_t, std::uint32_t>, std::vector<unsigned>> groups;
  unsigned done = 0;
  std::string at_mbarriers;
  for (const auto& w : warps_) {
    if (w->state == WarpState::done) ++done;
    if (w->state == WarpState::done || w->state == WarpState::ready) continue;
    if (w->state == WarpState::at_mbarrier) {
      if (spins_.is_stuck(w->number())) continue;
      at_mbarriers += (at_mbarriers.empty() ? "warp " : "; warp ") + std::to_string(w->number()) +
                      " waits for a mbarrier on line " +
                      std::to_string(program_.ops[w->barrier_op].instruction->where.line);
      continue;
    }
    groups[{w->state, w->state == WarpState::at_barrier ? w->barrier : 0, w->barrier_op}].push_back(w->number());
  }
  std::string text;
  bool more = false;
  for (const auto& [key, numbers] : groups) {
    const auto& [state, barrier, at] = key;
    const Op& op = program_.ops[at];
    const Warp& w = *warps_[numbers[0]];
    if (more) text += "; ";
    more = true;
    text += numbers.size() == 1 ? "warp " : "warps ";
    for (std::size_t n = 0; n < numbers.size(); ++n) text += (n == 0 ? "" : ",") + std::to_string(numbers[n]);
    text += numbers.size() == 1 ? " waits" : " wait";
    if (state == WarpState::at_barrier) text += " at barrier " + std::to_string(barrier);
    if (state == WarpState::at_cluster_barrier) text += " at the cluster's barrier";
    if (state == WarpState::waits_for_registers)
      text += " for " + std::to_string(op.register_budget - w.registers) + " registers each";
    text += " on line " + std::to_string(op.instruction->where.line);
    if (state == WarpState::at_barrier && w.barrier_threads != 0)
      text += " for " + std::to_string(w.barrier_threads) + " threads";
    if (state == WarpState::waits_for_registers) text += ", " + std::to_string(free_registers_) + " are free";
  }
  if (!at_mbarriers.empty()) {
    text += (more ? "; " : "") + at_mbarriers;
    more = true;
  }
  if (done != 0) {
    text += (more ? "; " : "") + std::to_string(done) + (done == 1 ? " warp has exited" : " warps have exited");
  }
  return text;
}

void CtaRunner::fail(const Warp& w, const Op& op, unsigned lane, const std::string& what, FaultKind kind) const {
  const auto thread = unflatten(w.first_thread() + lane, request_.block);
  fail_at(f_, *op.instruction, cta_, &thread, what, kind);
}

}  // namespace regatta::emulator
