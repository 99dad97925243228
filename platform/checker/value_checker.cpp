// SPDX-License-Identifier: Apache-2.0
#include <regatta/checker/value_checker.h>

#include "operand_name.h"
#include "unwritten_reads.h"

#include <algorithm>
#include <cstring>
#include <sstream>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace regatta::checker {

using protocol::Cycle;
using protocol::DynamicInstruction;
using protocol::Event;
using protocol::LaneMask;

namespace {

/// Lanes of `lanes`, a multiple of 16, in which two values differ.
LaneMask differing(const std::uint32_t* a, const std::uint32_t* b, unsigned lanes) {
  LaneMask different = 0;
#if defined(__SSE2__)
  // Narrowed from words to bytes, 16 lanes give 16 sign bits: no branch, whatever the lanes hold.
  for (unsigned first = 0; first < lanes; first += 16) {
    const auto same = [&](unsigned lane) {
      const auto* x = reinterpret_cast<const __m128i*>(a + first + lane);
      const auto* y = reinterpret_cast<const __m128i*>(b + first + lane);
      return _mm_cmpeq_epi32(_mm_loadu_si128(x), _mm_loadu_si128(y));
    };
    const __m128i halves = _mm_packs_epi16(_mm_packs_epi32(same(0), same(4)), _mm_packs_epi32(same(8), same(12)));
    different |= LaneMask{0xffffu & ~static_cast<unsigned>(_mm_movemask_epi8(halves))} << first;
  }
#else
  for (unsigned lane = 0; lane < lanes; ++lane) different |= LaneMask{a[lane] != b[lane]} << lane;
#endif
  return different;
}

}  // namespace

ValueChecker::ValueChecker(std::function<void(const Mismatch&)> on_mismatch) : on_mismatch_(std::move(on_mismatch)) {}

std::vector<Event> ValueChecker::interests() const {
  return {Event::kernel_started,     Event::cta_launched, Event::warp_started,   Event::issued,
          Event::operands_delivered, Event::bypassed,     Event::shared_accessed};
}

void ValueChecker::kernel_started(Cycle, const protocol::KernelContext& context) {
  registers_per_warp_ = std::max(1u, context.kernel->registers_per_thread);
  warp_size_ = context.warp_size;
  all_lanes_ = trace::all_lanes(warp_size_);
  value_bytes_ = std::size_t{warp_size_} * trace::bytes_per_lane;
  launch_ = context.launch_index;
  kernel_ = context.kernel->name;
  races_ = trace::race_check(*context.kernel);
  shared_values_ = context.kernel->shared_values;
  registers_.resize(0, warp_size_);
  expected_.resize(expected_.size(), warp_size_);
  warps_.clear();
  reads_unwritten_ = unwritten_reads(*context.kernel).any();
  written_.clear();
  budgets_.clear();
  launch_budget_ = context.kernel->launch_registers;
}

void ValueChecker::warp_started(Cycle, const protocol::WarpInfo& warp) {
  const std::size_t slot = warp.warp.value();
  if (warps_.size() <= slot) {
    warps_.resize(slot + 1);
    registers_.resize((slot + 1) * registers_per_warp_, warp_size_);
  }
  warps_[slot] = warp;
  if (launch_budget_ != 0) {
    if (budgets_.size() <= slot) budgets_.resize(slot + 1);
    budgets_[slot] = launch_budget_;
  }
  if (!reads_unwritten_) return;
  const std::size_t first = architectural(warp.warp, 0);
  written_.resize(std::max(written_.size(), first + registers_per_warp_));
  std::fill_n(written_.begin() + std::ptrdiff_t(first), registers_per_warp_, LaneMask{0});
}

void ValueChecker::note_written(const DynamicInstruction& d) {
  const std::size_t last = expected(d, trace::max_source_registers);
  if (expected_written_.size() < last) expected_written_.resize(2 * last);
  for (unsigned i = 0; i < d.traits->read_count; ++i) {
    expected_written_[expected(d, i)] = written_[architectural(d.warp, d.traits->reads[i].value())];
  }
  if (d.injected) return;
  for (unsigned i = 0; i < d.traits->write_count; ++i) {
    written_[architectural(d.warp, d.traits->writes[i].value())] |= d.active;
  }
}

void ValueChecker::follow_budget(Cycle cycle, const DynamicInstruction& d) {
  unsigned& budget = budgets_[d.warp.value()];
  const auto look_at = [&](unsigned reg) {
    if (reg < budget || d.active == 0) return;
    Mismatch m = describe(cycle, d);
    m.reg = reg;
    m.budget = budget;
    m.lanes = d.active;
    tell(m);
  };
  for (unsigned i = 0; i < d.traits->read_count; ++i) look_at(d.traits->reads[i].value());
  for (unsigned i = 0; i < d.traits->write_count; ++i) look_at(d.traits->writes[i].value());
  if (d.info->register_budget != 0 && d.active != 0) budget = d.info->register_budget;
}

void ValueChecker::issued(Cycle cycle, const DynamicInstruction& d) {
  if (__builtin_expect(static_cast<int>(launch_budget_ != 0), 0) != 0) follow_budget(cycle, d);
  const unsigned reads = d.traits->read_count;
  if (reads != 0) {
    if (expected_.size() <= expected(d, 0)) expected_.resize(expected(d, 64 * trace::max_source_registers), warp_size_);
    for (unsigned i = 0; i < reads; ++i) {
      trace::copy_value(expected_[expected(d, i)], registers_[architectural(d.warp, d.traits->reads[i].value())],
                        value_bytes_);
    }
  }
  if (reads_unwritten_) note_written(d);
  if (d.injected) return;  // a move onto itself changes nothing
  for (unsigned i = 0; i < d.traits->write_count; ++i) {
    std::uint32_t* const r = registers_[architectural(d.warp, d.traits->writes[i].value())];
    const std::uint32_t* const result = d.results[i].lane.data();
    if (d.active == all_lanes_) {
      trace::copy_value(r, result, value_bytes_);
    } else {
      for (LaneMask m = d.active; m != 0; m &= m - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctzll(m));
        r[lane] = result[lane];
      }
    }
  }
}

void ValueChecker::operands_delivered(Cycle cycle, const DynamicInstruction& d) {
  const unsigned reads = d.traits->read_count;
  operands_checked_ += reads;
  for (unsigned i = 0; i < reads; ++i) {
    const std::uint32_t* const wanted = expected_[expected(d, i)];
    const std::uint32_t* const got = d.operands[i].lane.data();
    LaneMask different = differing(wanted, got, warp_size_) & d.active;
    if (different == 0) continue;
    if (reads_unwritten_) different &= expected_written_[expected(d, i)];
    if (different == 0) continue;
    const protocol::Origin& origin = d.origins[i];
    report(cycle, d, d.traits->reads[i].value(), different, wanted, got,
           std::string(origin.place) + " " + std::to_string(origin.index), false);
  }
}

void ValueChecker::bypassed(Cycle cycle, const DynamicInstruction& d) {
  // The results were applied at issue; no younger instruction can have changed them (write-after-write waits).
  for (unsigned i = 0; i < d.info->destination_count; ++i) {
    ++operands_checked_;
    const unsigned reg = d.info->destinations[i];
    const std::uint32_t* const truth = registers_[architectural(d.warp, reg)];
    const std::uint32_t* const got = d.results[i].lane.data();
    const LaneMask different = differing(truth, got, warp_size_) & d.active;
    if (different == 0) continue;
    report(cycle, d, reg, different, truth, got, result_origin_ ? result_origin_(d, i) : "reuse", true);
  }
}

void ValueChecker::report(Cycle cycle, const DynamicInstruction& d, unsigned reg, LaneMask lanes,
                          const std::uint32_t* expected, const std::uint32_t* got, const std::string& origin,
                          bool bypassed) {
  if (mismatches_ != 0) {
    ++mismatches_;
    return;
  }
  Mismatch m = describe(cycle, d);
  m.reg = reg;
  m.lanes = lanes;
  m.lane = static_cast<unsigned>(__builtin_ctzll(m.lanes));
  m.expected = expected[m.lane];
  m.got = got[m.lane];
  m.origin = origin;
  if (!bypassed) m.operand = operand_name(*d.info, reg);
  m.reused_load = bypassed && d.info->op_class == trace::OpClass::load;
  tell(m);
}

void ValueChecker::tell(const Mismatch& m) {
  ++mismatches_;
  if (!found_.empty()) return;
  found_.push_back(m);
  if (on_mismatch_) on_mismatch_(found_.back());
}

Mismatch ValueChecker::describe(Cycle cycle, const DynamicInstruction& d) const {
  Mismatch m;
  m.cycle = cycle;
  m.launch = launch_;
  m.kernel = kernel_;
  m.warp = warps_[d.warp.value()];
  m.pc = std::uint64_t{d.traits->index} * trace::bytes_per_instruction;
  m.opcode = d.info->opcode;
  m.ptx_line = d.info->ptx_line;
  m.races = races_;
  return m;
}

void ValueChecker::cta_launched(Cycle, const protocol::CtaInfo& cta) {
  if (!shared_values_) return;
  if (shared_.size() <= cta.cta.value()) shared_.resize(cta.cta.value() + std::size_t{1});
  SharedMemory& memory = shared_[cta.cta.value()];
  memory.bytes.assign(cta.shared_bytes, 0);
  memory.written.assign(cta.shared_bytes, false);
}

void ValueChecker::shared_accessed(Cycle cycle, const protocol::SharedAccess& access, bool write,
                                   const protocol::SharedWords& words) {
  SharedMemory& memory = shared_[access.cta.value()];
  for (LaneMask lanes = access.lanes; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(lanes));
    for (unsigned done = 0; done < access.bytes; done += 4) {
      const std::size_t at = access.offset(lane) + done;
      const unsigned bytes = std::min(4u, access.bytes - done);
      const std::uint32_t word = words[done / 4].lane[lane];
      if (write) {
        std::memcpy(memory.bytes.data() + at, &word, bytes);
        std::fill_n(memory.written.begin() + static_cast<std::ptrdiff_t>(at), bytes, true);
        continue;
      }
      std::uint32_t expected = 0, known = 0;
      std::memcpy(&expected, memory.bytes.data() + at, bytes);
      for (unsigned b = 0; b < bytes; ++b) known |= memory.written[at + b] ? 0xffu << (8 * b) : 0;
      if (known == 0) continue;
      ++shared_words_checked_;
      if (((word ^ expected) & known) == 0) continue;
      Mismatch m = describe(cycle, *access.instruction);
      m.shared_offset = static_cast<std::uint32_t>(at);
      m.lane = lane;
      m.lanes = LaneMask{1} << lane;
      m.expected = expected;
      m.got = word;
      m.origin = "shared memory";
      tell(m);
      return;
    }
  }
}

std::string Mismatch::message() const {
  std::ostringstream out;
  out << "value mismatch: kernel " << kernel << " launch " << launch << " CTA " << warp.cta_index << " warp "
      << warp.warp_in_cta << " (slot " << warp.warp.value() << ") PC 0x" << std::hex << pc << std::dec << " " << opcode;
  if (ptx_line != 0) out << " (PTX line " << ptx_line << ")";
  if (shared_offset) {
    out << " byte " << *shared_offset << " of the CTA's shared memory";
  } else {
    out << " register R" << reg;
    if (!operand.empty()) out << " (" << operand << ")";
    out << " lanes 0x" << std::hex << lanes << std::dec;
  }
  if (budget != 0) {
    out << ": its threads have " << budget << " registers since their last setmaxnreg, or their start, at cycle "
        << cycle.value();
    return out.str();
  }
  out << ": lane " << lane << " expected 0x" << std::hex << expected << " got 0x" << got << std::dec << " from "
      << origin << " at cycle " << cycle.value();
  if (reused_load) {
    switch (races) {
      case trace::RaceCheck::unchecked:
        out << "; the value was reused from another load, and this program may race; annotate with --check-races";
        break;
      case trace::RaceCheck::race_free:
        out << "; the value was reused from another load; the program was checked for data races and has none";
        break;
      case trace::RaceCheck::racy:
        out << "; the value was reused from another load; the kernel has data races, which the scheme has to allow for";
        break;
    }
  }
  return out.str();
}

}  // namespace regatta::checker
