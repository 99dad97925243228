// SPDX-License-Identifier: Apache-2.0
#include "warp.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace regatta::emulator {

using ir::Special;

Warp::Warp(Program& program, unsigned number) : program_(program), number_(number) {
  const std::size_t words_per_block = sizeof(AlignedWords) / sizeof(std::uint32_t);
  registers_.resize(std::max<std::size_t>(1, program.function->registers_used) * program.lanes / words_per_block);
  specials_.resize(std::max<std::size_t>(1, program.specials.size()) * 2 * program.lanes / words_per_block);
  written.resize(program.function->registers_used);
  parts_.resize(written.size());
  unwritten.resize(written.size());
  regs.bank[0] = registers_.front().word;
  regs.bank[1] = program.constants.data();
  regs.bank[2] = specials_.front().word;
  stack_.reserve(64);
}

void Warp::reset(const WarpPlace& place) {
  const trace::LaneMask known = place.undefined_zero ? ~trace::LaneMask{0} : 0;
  std::fill(written.begin(), written.end(), known);
  std::fill(parts_.begin(), parts_.end(), WrittenBytes{});
  std::fill(unwritten.begin(), unwritten.end(), Unwritten{});
  predicate_unwritten.fill(Unwritten{});
  std::memset(registers_.data(), 0, registers_.size() * sizeof(AlignedWords));
  predicates.fill(0);
  predicate_written.fill(known);
  const std::uint32_t threads = place.block[0] * place.block[1] * place.block[2];
  live_ = trace::all_lanes(std::min(program_.lanes, threads - first_thread()));
  stack_.assign(1, {0, exit_position, live_});
  state = WarpState::ready;
  executed = 0;
  cluster_phase = 0;
  held = spun = tried = 0;
  polls_in_vain = left_stack_order = false;
  polls.fill({});
  united_.clear();
  regs.bank[1] = program_.constants.data();
  std::memset(regs.carry, 0, sizeof regs.carry);
  for (std::size_t s = 0; s < program_.specials.size(); ++s) {
    const Special special = program_.specials[s];
    const bool is_place = special == Special::ctaid_x || special == Special::ctaid_y || special == Special::ctaid_z;
    if (is_place || !specials_are_filled_) fill_special(s, place);
  }
  specials_are_filled_ = true;
  encoder.reset();
}

void Warp::record(const trace::Kernel& kernel, trace::WarpColumns&& storage) {
  encoder = std::make_unique<trace::WarpEncoder>(kernel, std::move(storage));
}

void Warp::push(std::uint32_t pc, std::uint32_t reconvergence, trace::LaneMask mask, bool parked) {
  stack_.push_back({pc, reconvergence, mask});
  if (parked && encoder) encoder->push(pc, mask);
}

bool Warp::branch(const Op& op, trace::LaneMask taken) {
  StackEntry& top = stack_.back();
  const std::uint32_t next = top.pc + 1;
  const std::uint32_t outer = top.reconvergence;
  const trace::LaneMask rest = top.mask & ~taken;
  if (taken == 0 || rest == 0 || op.target == next) {
    top.pc = taken != 0 ? op.target : next;
    if (top.pc == top.reconvergence) settle();
    return false;
  }
  // The lanes of the top entry wait at the reconvergence point; unless an entry below does that already (a loop
  // whose lanes leave one after the other), or nothing comes after it.
  const std::uint32_t join = op.reconvergence == exit_position ? outer : op.reconvergence;
  const trace::LaneMask mask = top.mask;
  stack_.pop_back();
  if (join != outer) push(join, outer, mask, true);
  const bool taken_waits = op.target == join, rest_waits = next == join;
  if (!taken_waits) push(op.target, join, taken, !rest_waits);
  if (!rest_waits) push(next, join, rest, false);
  return true;
}

void Warp::exit(trace::LaneMask lanes) {
  live_ &= ~lanes;
  for (StackEntry& e : stack_) e.mask &= ~lanes;
  if (stack_.back().mask == 0) {
    settle();
  } else {
    advance();
  }
}

std::uint32_t Warp::resume_position(unsigned lane) const {
  const trace::LaneMask bit = trace::LaneMask{1} << lane;
  for (std::size_t e = stack_.size(); e-- > 0;) {
    if ((stack_[e].mask & bit) != 0) return stack_[e].pc + (e + 1 == stack_.size() ? 1 : 0);
  }
  return exit_position;
}

trace::LaneMask Warp::can_reach_barrier(trace::LaneMask absent) const {
  trace::LaneMask result = 0;
  for (trace::LaneMask rest = absent; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
    const std::uint32_t at = resume_position(lane);
    if (at < program_.ops.size() && program_.ops[at].barrier_ahead) result |= trace::LaneMask{1} << lane;
  }
  return result;
}

void Warp::settle() {
  while (!stack_.empty()) {
    const StackEntry& e = stack_.back();
    if (e.mask != 0 && e.pc != e.reconvergence) return;
    stack_.pop_back();
    // What lay parked below becomes the top.
    if (!stack_.empty() && encoder) encoder->pop();
  }
}

void Warp::save(WarpSnapshot& to) const {
  to.stack = stack_;
  to.live = live_;
  to.state = state;
  to.registers = registers_;
  to.written = written;
  to.parts = parts_;
  to.predicates = predicates;
  to.predicate_written = predicate_written;
  std::copy(std::begin(regs.carry), std::end(regs.carry), to.carry.begin());
}

bool Warp::at_same_place(const WarpSnapshot& then) const {
  return state == then.state && live_ == then.live && stack_ == then.stack;
}

bool Warp::holds_same(const WarpSnapshot& then, const RegisterSet& which) const {
  if (which.carry && !std::equal(then.carry.begin(), then.carry.end(), std::begin(regs.carry))) return false;
  for (unsigned p = 0; p < predicates.size(); ++p) {
    if (((which.predicates >> p) & 1u) == 0) continue;
    if (predicates[p] != then.predicates[p] || predicate_written[p] != then.predicate_written[p]) return false;
  }
  const std::uint32_t* now = registers_.front().word;
  const std::uint32_t* before = then.registers.front().word;
  for (std::size_t r = 0; r < written.size(); ++r) {
    if (!which.registers.test(r)) continue;
    if (written[r] != then.written[r] || parts_[r] != then.parts[r]) return false;
    const std::size_t at = r * program_.lanes;
    if (std::memcmp(now + at, before + at, program_.lanes * sizeof *now) != 0) return false;
  }
  return true;
}

void Warp::refresh_clocks() {
  for (std::size_t s = 0; s < program_.specials.size(); ++s) {
    const Special special = program_.specials[s];
    if (special < Special::clock || special > Special::globaltimer_hi) continue;
    const auto low = static_cast<std::uint32_t>(executed);
    const auto high = static_cast<std::uint32_t>(executed >> 32);
    const bool upper = special == Special::clock_hi || special == Special::globaltimer_hi;
    const bool wide = special == Special::clock64 || special == Special::globaltimer;
    std::uint32_t* slot = special_slot(s);
    for (unsigned i = 0; i < program_.lanes; ++i) {
      slot[i] = upper ? high : low;
      slot[program_.lanes + i] = wide ? high : 0;
    }
  }
}

void Warp::fill_special(std::size_t index, const WarpPlace& place) {
  std::uint32_t* slot = special_slot(index);
  const Special special = program_.specials[index];
  if (special == Special::ctaid_x || special == Special::ctaid_y || special == Special::ctaid_z) {
    std::fill_n(slot, program_.lanes,
                place.cta[static_cast<unsigned>(special) - static_cast<unsigned>(Special::ctaid_x)]);
    std::fill_n(slot + program_.lanes, program_.lanes, 0u);
    return;
  }
  const auto component = [special](Special x) { return static_cast<unsigned>(special) - static_cast<unsigned>(x); };
  const std::uint32_t threads = place.block[0] * place.block[1] * place.block[2];
  for (unsigned i = 0; i < program_.lanes; ++i) {
    const std::uint32_t thread = first_thread() + i;
    const std::uint32_t tid[3] = {thread % place.block[0], thread / place.block[0] % place.block[1],
                                  thread / place.block[0] / place.block[1]};
    // The program sees warps of 32 whatever the width: a 64-lane wavefront runs two of them in lock step.
    const std::uint32_t bit = 1u << (i % 32);
    std::uint32_t value = 0;
    switch (special) {
      case Special::tid_x:
      case Special::tid_y:
      case Special::tid_z:
        value = tid[component(Special::tid_x)];
        break;
      case Special::ntid_x:
      case Special::ntid_y:
      case Special::ntid_z:
        value = place.block[component(Special::ntid_x)];
        break;
      case Special::nctaid_x:
      case Special::nctaid_y:
      case Special::nctaid_z:
        value = place.grid[component(Special::nctaid_x)];
        break;
      case Special::laneid:
        value = i % 32;
        break;
      case Special::warpid:
        value = thread / 32;
        break;
      case Special::nwarpid:
        value = (threads + 31) / 32;
        break;
      case Special::nsmid:
        value = 1;
        break;
      case Special::lanemask_eq:
        value = bit;
        break;
      case Special::lanemask_lt:
        value = bit - 1;
        break;
      case Special::lanemask_le:
        value = bit | (bit - 1);
        break;
      case Special::lanemask_gt:
        value = ~(bit | (bit - 1));
        break;
      case Special::lanemask_ge:
        value = ~(bit - 1);
        break;
      case Special::dynamic_shared_size:
        value = place.dynamic_shared_bytes;
        break;
      case Special::total_shared_size:
        value = place.total_shared_bytes;
        break;
      case Special::grid_barrier_high:
        value = static_cast<std::uint32_t>(place.grid_barrier >> 32);
        break;
      case Special::grid_barrier_low:
        value = static_cast<std::uint32_t>(place.grid_barrier);
        break;
      default:
        break;  // one multiprocessor, one grid: number 0; clocks are filled when they are read
    }
    slot[i] = value;
    slot[program_.lanes + i] = 0;
  }
}

}  // namespace regatta::emulator
