// SPDX-License-Identifier: Apache-2.0
//
// Shuffles, votes and matches, predicate logic, packing. CUDA programs see warps of 32 threads; on a 64-lane
// wavefront these operations work on each half by itself, so that a program means the same on both.
#include "cta.h"

#include "diagnostics.h"

#include <cstring>

namespace regatta::emulator {

using trace::LaneMask;

namespace {

constexpr unsigned group = 32;  ///< lanes of a warp as the program sees it

std::uint32_t half_of(LaneMask mask, unsigned lane) {
  return static_cast<std::uint32_t>(mask >> (lane / group * group));
}

}  // namespace

void CtaRunner::put(Warp& w, std::uint32_t destination, unsigned words, unsigned lane, std::uint64_t value) const {
  if (((w.regs.active >> lane) & 1u) == 0) return;
  std::uint32_t* r = w.regs.bank[0] + destination;
  r[lane] = static_cast<std::uint32_t>(value);
  if (words == 2) r[program_.lanes + lane] = static_cast<std::uint32_t>(value >> 32);
}

std::uint64_t CtaRunner::get(const Warp& w, const LaneSource& s, unsigned lane, bool wide) const {
  const std::uint32_t* r = w.regs.bank[static_cast<unsigned>(s.bank)] + s.offset;
  std::uint64_t value = r[lane];
  if (wide) value |= static_cast<std::uint64_t>(r[program_.lanes + lane]) << 32;
  return value;
}

void CtaRunner::set(Warp& w, const Op& op) {
  op.lane.function(op.lane, w.regs);
  const LaneMask active = w.regs.active;
  Condition r{op.complement ? ~w.regs.compare : w.regs.compare, ~missing_reads(w, op, active)};
  if (op.predicate_count != 0) r = combine(op.bool_op, r, condition(w, op.predicates[0]));
  mark_computed(w, op, active, active & ~r.written);
  const std::uint32_t yes = op.type == ir::Type::f32 ? 0x3f800000u : 0xffffffffu;
  for (unsigned i = 0; i < program_.lanes; ++i) {
    put(w, op.destinations[0], 1, i, ((r.value >> i) & 1u) != 0 ? yes : 0u);
  }
}

void CtaRunner::logic(Warp& w, const Op& op, LaneMask active) {
  Condition r = condition(w, op.predicates[0]);
  const Condition b = op.predicate_count > 1 ? condition(w, op.predicates[1]) : Condition{};
  switch (op.op) {
    case ir::Opcode::not_:
      r.value = ~r.value;
      break;
    case ir::Opcode::and_:
      r = combine(ir::BoolOp::and_, r, b);
      break;
    case ir::Opcode::or_:
      r = combine(ir::BoolOp::or_, r, b);
      break;
    case ir::Opcode::xor_:
      r = combine(ir::BoolOp::xor_, r, b);
      break;
    default:
      break;
  }
  write_predicate(w, op, op.predicate_writes[0], r, active);
}

void CtaRunner::pack(Warp& w, const Op& op) {
  const unsigned bits = 8u * op.element_bytes;
  const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  // A destination may be one of the sources: gather first.
  for (unsigned i = 0; i < program_.lanes; ++i) {
    std::uint64_t value = 0;
    for (unsigned n = 0; n < op.value_count; ++n) {
      value |= (get(w, op.values[n], i, bits == 64) & mask) << (n * bits);
    }
    put(w, op.destinations[0], op.destination_words[0], i, value);
  }
}

void CtaRunner::unpack(Warp& w, const Op& op) {
  const unsigned bits = 8u * op.element_bytes;
  const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  const bool wide = ir::size_of(op.type) == 8;
  for (unsigned i = 0; i < program_.lanes; ++i) {
    const std::uint64_t value = get(w, op.values[0], i, wide);
    for (unsigned n = 0; n < op.destination_count; ++n) {
      put(w, op.destinations[n], op.destination_words[n], i, (value >> (n * bits)) & mask);
    }
  }
}

std::size_t CtaRunner::member_operand(const Op& op) {
  std::size_t operand = SIZE_MAX;
  switch (op.kind) {
    case Kind::shuffle:
      operand = 3;
      break;
    case Kind::match:
    case Kind::redux:
      operand = 1;
      break;
    case Kind::vote:
    case Kind::warp_sync:
    case Kind::elect:
      operand = 0;
      break;
    default:
      break;
  }
  return operand < op.value_count ? operand : SIZE_MAX;
}

CtaRunner::MemberMasks CtaRunner::member_masks(const Warp& w, const Op& op, std::size_t value, LaneMask active) const {
  MemberMasks masks;
  masks.fill(~0u);
  if (value >= op.value_count) return masks;
  const LaneSource& s = op.values[value];
  for (unsigned i = 0; i < program_.lanes; ++i) masks[i] = static_cast<std::uint32_t>(get(w, s, i, false));
  for (LaneMask rest = active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
    const unsigned first_lane = lane / group * group;
    const std::uint32_t members = masks[lane], here = half_of(active, lane);
    const auto refuse = [&](const std::string& what) { fail(w, op, lane, "member mask " + hex_text(members) + what); };
    const std::uint32_t missing = members & half_of(w.live(), lane) & ~half_of(taking_part(active), lane);
    if (missing != 0) {
      refuse(" names lane " + std::to_string(__builtin_ctz(missing)) + ", which is on another path");
    }
    if (options_.undefined_zero) continue;
    if ((members >> (lane % group) & 1u) == 0) {
      refuse(" does not name lane " + std::to_string(lane % group) + ", which executes it");
    }
    // All members have to give the same mask. The first lane's settles it where all lanes have that one.
    if (s.bank != Bank::registers || members == masks[first_lane + static_cast<unsigned>(__builtin_ctz(here))])
      continue;
    for (std::uint32_t others = members & here; others != 0; others &= others - 1) {
      const auto other = static_cast<unsigned>(__builtin_ctz(others));
      if (masks[first_lane + other] == members) continue;
      refuse(" names lane " + std::to_string(other) + ", whose own is " + hex_text(masks[first_lane + other]));
    }
  }
  return masks;
}

void CtaRunner::take_foreign(LaneMask active, std::uint32_t* value, WrittenBytes& known) const {
  const LaneMask foreign = exchange_->lanes & ~active;
  for (LaneMask rest = foreign; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctzll(rest));
    value[i] = static_cast<std::uint32_t>(exchange_->value[i]);
  }
  for (unsigned b = 0; b < 4; ++b) known[b] = (known[b] & ~foreign) | (exchange_->written[b] & foreign);
}

void CtaRunner::shuffle(Warp& w, const Op& op, LaneMask active) {
  // Only lanes that others read from need a value: a leader may broadcast a value that it alone computed.
  const auto register_of = [&](const LaneSource& s) { return s.offset / program_.lanes; };
  for (unsigned n = 1; n < op.value_count; ++n) {
    if (op.values[n].bank != Bank::registers) continue;
    const unsigned reg = register_of(op.values[n]);
    if ((active & ~w.written[reg]) != 0) unwritten_register(w, op, reg, active);
  }
  WrittenBytes known = written_bytes(w, op.values[0], 0);
  WrittenBytes written{};
  std::uint32_t value[trace::max_lanes];
  std::memcpy(value, w.regs.bank[static_cast<unsigned>(op.values[0].bank)] + op.values[0].offset,
              program_.lanes * sizeof value[0]);
  const LaneMask present = taking_part(active);
  if (present != active) take_foreign(active, value, known);
  std::uint32_t result[trace::max_lanes] = {};
  LaneMask in_range = 0;
  // The value of a lane that takes no part is undefined: the result is as if it had never been written.
  Unwritten absent;
  const MemberMasks masks = member_masks(w, op, 3, active);
  for (LaneMask rest = active; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctzll(rest));
    const std::uint32_t members = masks[i];
    const auto b = static_cast<std::uint32_t>(get(w, op.values[1], i, false)) & 31u;
    const auto c = static_cast<std::uint32_t>(get(w, op.values[2], i, false));
    const std::uint32_t segment = (c >> 8) & 31u, clamp = c & 31u;
    const auto lane = static_cast<std::int32_t>(i % group);
    const auto fixed = static_cast<std::int32_t>(static_cast<std::uint32_t>(lane) & segment);
    const auto limit = fixed | static_cast<std::int32_t>(clamp & ~segment);
    std::int32_t from = lane;
    bool inside = false;
    switch (op.shuffle) {
      case ir::ShuffleMode::up:
        from = lane - static_cast<std::int32_t>(b);
        inside = from >= limit;
        break;
      case ir::ShuffleMode::down:
        from = lane + static_cast<std::int32_t>(b);
        inside = from <= limit;
        break;
      case ir::ShuffleMode::bfly:
        from = lane ^ static_cast<std::int32_t>(b);
        inside = from <= limit;
        break;
      default:
        from = fixed | static_cast<std::int32_t>(b & ~segment);
        inside = from <= limit;
        break;
    }
    if (!inside) from = lane;
    if (inside) in_range |= LaneMask{1} << i;
    const unsigned source = i / group * group + static_cast<unsigned>(from);
    result[i] = value[source];
    if (options_.undefined_zero) {
      for (LaneMask& byte : written) byte |= LaneMask{1} << i;
      if ((half_of(present, i) >> static_cast<unsigned>(from) & 1u) == 0) result[i] = 0;
    } else if ((members & half_of(present, i)) >> static_cast<unsigned>(from) & 1u) {
      for (unsigned b = 0; b < 4; ++b) written[b] |= (known[b] >> source & 1u) << i;
    } else {
      absent.op = position(op);
      absent.kind = (members >> static_cast<unsigned>(from) & 1u) != 0 ? Unwritten::Kind::inactive_lane
                                                                       : Unwritten::Kind::outside_mask;
    }
  }
  if (op.destination_count != 0) {
    for (unsigned i = 0; i < program_.lanes; ++i) put(w, op.destinations[0], 1, i, result[i]);
  }
  const Unwritten others = absent.op != Unwritten::nowhere ? absent : origin(w, op, active, true);
  if (op.predicate_write_count != 0) {
    write_predicate(w, op, op.predicate_writes[0], {in_range, ~LaneMask{0}}, active);
  }
  for (unsigned n = 0; n < op.write_count; ++n) w.set_written(op.writes[n], active, written, others);
}

void CtaRunner::vote(Warp& w, const Op& op, LaneMask active) {
  LaneMask p = read_predicate(w, op, op.predicates[0], active) & active;
  const LaneMask present = taking_part(active);
  if (present != active) p |= exchange_->predicate & ~active;
  LaneMask result = 0;
  const MemberMasks masks = member_masks(w, op, 0, active);
  for (LaneMask rest = active; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctzll(rest));
    const std::uint32_t here = half_of(present, i) & masks[i], yes = half_of(p, i) & masks[i];
    bool r = false;
    switch (op.vote) {
      case ir::VoteMode::all:
        r = yes == here;
        break;
      case ir::VoteMode::any:
        r = yes != 0;
        break;
      case ir::VoteMode::uni:
        r = yes == here || yes == 0;
        break;
      default:
        put(w, op.destinations[0], op.destination_words[0], i, yes);
        break;
    }
    if (r) result |= LaneMask{1} << i;
  }
  if (op.predicate_write_count != 0) write_predicate(w, op, op.predicate_writes[0], {result, ~LaneMask{0}}, active);
}

void CtaRunner::match(Warp& w, const Op& op, LaneMask active) {
  const bool wide = ir::size_of(op.type) == 8;
  std::uint64_t value[trace::max_lanes] = {};
  for (unsigned i = 0; i < program_.lanes; ++i) value[i] = get(w, op.values[0], i, wide);
  const LaneMask present = taking_part(active);
  for (LaneMask rest = present & ~active; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctzll(rest));
    value[i] = exchange_->value[i];
  }
  LaneMask all_equal = 0;
  const MemberMasks masks = member_masks(w, op, 1, active);
  for (LaneMask rest = active; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctzll(rest));
    const std::uint32_t here = half_of(present, i) & masks[i];
    std::uint32_t same = 0;
    for (unsigned k = 0; k < group; ++k) {
      if (((here >> k) & 1u) != 0 && value[i / group * group + k] == value[i]) same |= 1u << k;
    }
    if (same == here) all_equal |= LaneMask{1} << i;
    const bool all = op.vote == ir::VoteMode::all;
    if (op.destination_count != 0) {
      put(w, op.destinations[0], op.destination_words[0], i, all && same != here ? 0u : same);
    }
  }
  if (op.predicate_write_count != 0) write_predicate(w, op, op.predicate_writes[0], {all_equal, ~LaneMask{0}}, active);
}

void CtaRunner::redux(Warp& w, const Op& op, LaneMask active) {
  std::uint32_t result[trace::max_lanes] = {};
  const LaneMask present = taking_part(active);
  const MemberMasks masks = member_masks(w, op, 1, active);
  for (LaneMask rest = active; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctzll(rest));
    std::uint32_t here = half_of(present, i) & masks[i];
    bool first = true;
    for (; here != 0; here &= here - 1) {
      const unsigned k = i / group * group + static_cast<unsigned>(__builtin_ctz(here));
      const bool own = (active >> k & 1u) != 0;
      const std::uint64_t value = own ? get(w, op.values[0], k, false) : exchange_->value[k];
      result[i] = static_cast<std::uint32_t>(first ? value : combine_values(op, result[i], value, 0));
      first = false;
    }
  }
  // The destination may be the source: all lanes are read first.
  for (unsigned i = 0; i < program_.lanes; ++i) put(w, op.destinations[0], 1, i, result[i]);
}

/// The PTX ISA leaves open which of the members is elected, as long as it is always the same one.
void CtaRunner::elect(Warp& w, const Op& op, LaneMask active) {
  LaneMask elected = 0;
  std::uint32_t leader[trace::max_lanes] = {};
  const LaneMask present = taking_part(active);
  const MemberMasks masks = member_masks(w, op, 0, active);
  for (LaneMask rest = active; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctzll(rest));
    const std::uint32_t here = half_of(present, i) & masks[i];
    leader[i] = static_cast<std::uint32_t>(__builtin_ctz(here));
    if (leader[i] == i % group) elected |= LaneMask{1} << i;
  }
  // The destination may be the mask: all lanes are read first. Either destination may be one that nobody reads.
  for (unsigned i = 0; op.destination_count != 0 && i < program_.lanes; ++i)
    put(w, op.destinations[0], 1, i, leader[i]);
  if (op.predicate_write_count != 0) write_predicate(w, op, op.predicate_writes[0], {elected, ~LaneMask{0}}, active);
}

void CtaRunner::active_mask(Warp& w, const Op& op, LaneMask active) {
  for (unsigned i = 0; i < program_.lanes; ++i) put(w, op.destinations[0], 1, i, half_of(active, i));
}

}  // namespace regatta::emulator
