// SPDX-License-Identifier: Apache-2.0
//
// Uninitialised values and how they propagate. They may be copied: structures are copied with the bytes between their
// members, spill code saves registers that only some lanes have, and a leader broadcasts a value that it alone has.
// Moves, loads and stores therefore carry along which bytes were written. They may also be computed with, because
// compilers compute ahead of the condition that asks whether there is a value. The result is uninitialised too, unless
// the operation gives the same result for any value. Using such a value as a branch condition, an address or an output
// is an error.
#include "cta.h"
#include "diagnostics.h"
#include "memory_space.h"

#include <algorithm>
#include <cstring>

namespace regatta::emulator {

using trace::LaneMask;
using trace::MemorySpace;

namespace {

constexpr LaneMask all = ~LaneMask{0};

/// The bytes of a number of up to 8 as they lie in its registers.
using Bytes = std::array<LaneMask, 8>;

/// `count` bytes from `first` on, in one or two registers. The bytes beyond are derived from these, like a sign
/// extension.
Bytes extended(const Bytes& from, unsigned first, unsigned count) {
  Bytes to;
  LaneMask common = all;
  for (unsigned b = 0; b < count; ++b) common &= to[b] = from[first + b];
  for (unsigned b = count; b < to.size(); ++b) to[b] = common;
  return to;
}

}  // namespace

void CtaRunner::mark_written(Warp& w, const Op& op, LaneMask active) {
  for (unsigned n = 0; n < op.write_count; ++n) w.written[op.writes[n]] |= active;
}

LaneMask CtaRunner::missing_reads(const Warp& w, const Op& op, LaneMask active) const {
  LaneMask missing = 0;
  for (unsigned n = 0; n < op.read_count; ++n) missing |= active & ~w.written[op.reads[n]];
  return missing;
}

void CtaRunner::check_reads(Warp& w, const Op& op, LaneMask active) {
  if (missing_reads(w, op, active) == 0) return;
  for (unsigned n = 0; n < op.read_count; ++n) {
    if ((active & ~w.written[op.reads[n]]) != 0) unwritten_register(w, op, op.reads[n], active);
  }
}

void CtaRunner::mark_computed(Warp& w, const Op& op, LaneMask active, LaneMask missing) {
  if (missing == 0) return mark_written(w, op, active);
  const LaneMask good = ~missing;
  const Unwritten others = origin(w, op, active, false);
  for (unsigned n = 0; n < op.write_count; ++n) {
    w.set_written(op.writes[n], active, {good, good, good, good}, others);
  }
}

CtaRunner::Condition CtaRunner::condition(const Warp& w, const PredicateSource& p) const {
  if (p.number < 0) return {p.value != p.negated ? all : 0, all};
  const auto number = static_cast<std::size_t>(p.number);
  return {p.negated ? ~w.predicates[number] : w.predicates[number], w.predicate_written[number]};
}

CtaRunner::Condition CtaRunner::combine(ir::BoolOp how, const Condition& a, const Condition& b) {
  const LaneMask both = a.written & b.written;
  switch (how) {
    case ir::BoolOp::and_:
      return {a.value & b.value, both | (a.written & ~a.value) | (b.written & ~b.value)};
    case ir::BoolOp::or_:
      return {a.value | b.value, both | (a.written & a.value) | (b.written & b.value)};
    case ir::BoolOp::xor_:
      return {a.value ^ b.value, both};
    case ir::BoolOp::none:
      break;
  }
  return a;
}

LaneMask CtaRunner::read_predicate(Warp& w, const Op& op, const PredicateSource& p, LaneMask active) {
  const Condition c = condition(w, p);
  const LaneMask missing = active & ~c.written;
  if (missing != 0) {
    fail(w, op, static_cast<unsigned>(__builtin_ctzll(missing)),
         "'" + ir::to_text(*op.instruction, true) + "' reads predicate P" + std::to_string(p.number) + ", " +
             unwritten_text(w.predicate_unwritten[static_cast<std::size_t>(p.number)]));
  }
  return c.value;
}

void CtaRunner::write_predicate(Warp& w, const Op& op, unsigned number, const Condition& c, LaneMask active) {
  if ((active & ~c.written) != 0) w.predicate_unwritten[number] = origin(w, op, active, false);
  w.predicates[number] = (w.predicates[number] & ~active) | (c.value & active);
  w.predicate_written[number] = (w.predicate_written[number] & ~active) | (c.written & active);
}

namespace {

/// The first byte of a register that a lane has not written; -1: it has written none.
std::int8_t missing_byte(const WrittenBytes& bytes, unsigned lane) {
  std::int8_t missing = -1;
  bool some = false;
  for (unsigned b = 4; b-- > 0;) {
    if ((bytes[b] >> lane & 1u) == 0) {
      missing = static_cast<std::int8_t>(b);
    } else {
      some = true;
    }
  }
  return some ? missing : std::int8_t{-1};
}

}  // namespace

/// The origin of an uninitialised value that `op` produces. A move is never the origin itself.
Unwritten CtaRunner::origin(const Warp& w, const Op& op, LaneMask active, bool moves) const {
  for (unsigned n = 0; n < op.read_count; ++n) {
    const std::uint8_t reg = op.reads[n];
    const LaneMask missing = active & ~w.written[reg];
    if (missing == 0) continue;
    const Unwritten& before = w.unwritten[reg];
    if (moves || before.op != Unwritten::nowhere) return before;
    return {position(op), reg, Unwritten::Kind::reg,
            missing_byte(w.written_bytes(reg), static_cast<unsigned>(__builtin_ctzll(missing)))};
  }
  for (unsigned n = 0; n < op.predicate_count; ++n) {
    if (op.predicates[n].number < 0) continue;
    const auto number = static_cast<std::uint8_t>(op.predicates[n].number);
    if ((active & ~w.predicate_written[number]) == 0) continue;
    const Unwritten& before = w.predicate_unwritten[number];
    return before.op != Unwritten::nowhere ? before : Unwritten{position(op), number, Unwritten::Kind::predicate, -1};
  }
  return {};
}

std::string CtaRunner::unwritten_text(const Unwritten& u) const {
  std::string text;
  if (u.op != Unwritten::nowhere) {
    const ir::Instruction& i = *program_.ops[u.op].instruction;
    const std::string number = std::to_string(u.number);
    text = "which '" + ir::to_text(i, true) + "' on line " + std::to_string(i.where.line);
    if (u.kind == Unwritten::Kind::outside_mask) return text + " takes from a lane outside its member mask";
    if (u.kind == Unwritten::Kind::inactive_lane) {
      return text + " takes from a lane that does not execute it";
    }
    text += std::string(" makes of ") + (u.kind == Unwritten::Kind::predicate ? "P" : "R") + number + ", ";
  }
  if (u.byte < 0) return text + "which this thread never wrote";
  return text + "of which this thread never wrote byte " + std::to_string(u.byte);
}

void CtaRunner::unwritten_register(Warp& w, const Op& op, unsigned reg, LaneMask lanes) {
  const auto lane = static_cast<unsigned>(__builtin_ctzll(lanes & ~w.written[reg]));
  Unwritten u = w.unwritten[reg];
  if (u.op == Unwritten::nowhere) u.byte = missing_byte(w.written_bytes(reg), lane);
  fail(
      w, op, lane,
      "'" + ir::to_text(*op.instruction, true) + "' reads register R" + std::to_string(reg) + ", " + unwritten_text(u));
}

WrittenBytes CtaRunner::written_bytes(const Warp& w, const LaneSource& s, unsigned word) const {
  if (s.bank != Bank::registers) return {all, all, all, all};
  return w.written_bytes(s.offset / program_.lanes + word);
}

void CtaRunner::carry_written(Warp& w, const Op& op, LaneMask active, const Condition& first) {
  if ((missing_reads(w, op, active) | (active & ~first.written)) == 0) {
    mark_written(w, op, active);
  } else {
    carry_moved(w, op, active, first);
  }
}

void CtaRunner::carry_moved(Warp& w, const Op& op, LaneMask active, const Condition& first) {
  const Unwritten others = origin(w, op, active, true);
  const auto bytes_of = [&](const LaneSource& s, unsigned bytes) {
    Bytes value{all, all, all, all, all, all, all, all};
    for (unsigned word = 0; word * 4 < bytes; ++word) {
      const WrittenBytes part = written_bytes(w, s, word);
      std::copy(part.begin(), part.end(), value.begin() + word * 4);
    }
    return value;
  };
  const auto take = [&](unsigned reg, unsigned words, const Bytes& value) {
    for (unsigned word = 0; word < words; ++word) {
      WrittenBytes part;
      std::copy_n(value.begin() + word * 4, part.size(), part.begin());
      w.set_written(reg + word, active, part, others);
    }
  };
  const unsigned bytes = ir::size_of(op.instruction->type);
  const unsigned words = bytes > 4 ? 2 : 1;
  const unsigned destination = op.lane.destination / program_.lanes;
  switch (op.kind) {
    case Kind::select: {
      const Bytes a = bytes_of(op.lane.source[0], bytes), b = bytes_of(op.lane.source[1], bytes);
      Bytes chosen;
      for (unsigned n = 0; n < chosen.size(); ++n) {
        chosen[n] = first.written & ((first.value & a[n]) | (~first.value & b[n]));
      }
      take(destination, words, chosen);
      break;
    }
    case Kind::pack: {
      Bytes packed{all, all, all, all, all, all, all, all};
      for (unsigned n = 0; n < bytes; ++n) {
        packed[n] = bytes_of(op.values[n / op.element_bytes], op.element_bytes)[n % op.element_bytes];
      }
      take(op.destinations[0] / program_.lanes, words, packed);
      break;
    }
    case Kind::unpack: {
      const Bytes whole = bytes_of(op.values[0], bytes);
      for (unsigned n = 0; n < op.destination_count; ++n) {
        take(op.destinations[n] / program_.lanes, op.destination_words[n],
             extended(whole, n * op.element_bytes, op.element_bytes));
      }
      break;
    }
    default: {  // mov and integer cvt
      const ir::Type from = op.op == ir::Opcode::cvt ? op.instruction->source_type : op.instruction->type;
      const unsigned source_bytes = op.op == ir::Opcode::cvt ? ir::size_of(from) : words * 4;
      const Bytes source = bytes_of(op.lane.source[0], source_bytes);
      take(destination, words,
           extended(source, 0, op.op == ir::Opcode::cvt ? std::min(source_bytes, bytes) : words * 4));
      break;
    }
  }
}

LaneMask CtaRunner::unwritten_values(const Warp& w, const Op& op, LaneMask active) const {
  LaneMask missing = 0;
  for (unsigned v = 0; v < op.vector; ++v) {
    if (op.values[v].bank != Bank::registers) continue;
    const unsigned reg = op.values[v].offset / program_.lanes;
    missing |= active & ~w.written[reg];
    if (op.element_bytes == 8) missing |= active & ~w.written[reg + 1];
  }
  return missing;
}

/// A value that goes to memory that others read must be written at least in part, like a structure with bytes between
/// its members.
void CtaRunner::store_part_written(Warp& w, const Op& op, LaneMask missing) {
  const std::uint64_t* address = w.regs.addresses.lane;
  for (LaneMask rest = w.regs.active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
    const Place at = resolve(w, op, lane, Use::write);
    const bool local = space_of(op, address[lane]) == MemorySpace::local;
    const bool part = (missing >> lane & 1u) != 0;
    bool some = false;
    for (unsigned v = 0; v < op.vector; ++v) {
      const std::uint64_t value = get(w, op.values[v], lane, op.element_bytes == 8);
      std::memcpy(at.data + std::size_t{v} * op.element_bytes, &value, op.element_bytes);
      for (unsigned b = 0; b < op.element_bytes; ++b) {
        const bool written = !part || (written_bytes(w, op.values[v], b / 4)[b % 4] >> lane & 1u) != 0;
        some = some || written;
        if (at.written != nullptr) at.written[std::size_t{v} * op.element_bytes + b] = written ? 1 : 0;
      }
    }
    if (some || local) continue;
    for (unsigned v = 0; v < op.vector; ++v) {
      if (op.values[v].bank == Bank::registers) {
        unwritten_register(w, op, op.values[v].offset / program_.lanes, LaneMask{1} << lane);
      }
    }
  }
}

void CtaRunner::note_part_loaded(Warp& w, const Op& op, unsigned lane, const std::uint8_t* written) {
  for (unsigned v = 0; v < op.vector; ++v) {
    Bytes element{};
    for (unsigned b = 0; b < op.element_bytes; ++b) element[b] = written[v * op.element_bytes + b] != 0 ? all : 0;
    const Bytes value = extended(element, 0, op.element_bytes);
    for (unsigned word = 0; word < op.destination_words[v]; ++word) {
      WrittenBytes part;
      std::copy_n(value.begin() + word * 4, part.size(), part.begin());
      w.set_written(op.destinations[v] / program_.lanes + word, LaneMask{1} << lane, part);
    }
  }
}

/// Calls visit(first byte's mask in the warp's frame, lanes) for the lanes that access local memory: once for all of
/// them if they have the same offset, as in spill code and variables of the stack frame.
template <class Visit>
void CtaRunner::for_each_local(const Warp& w, const Op& op, const Visit& visit) {
  const AddressSummary& a = w.regs.addresses;
  LaneMask* frame = local_written_.data() + std::size_t{w.number()} * f_.local_bytes;
  if (a.lowest == a.highest) {
    if (space_of(op, a.lowest) != MemorySpace::local) return;
    visit(frame + offset_in(op, MemorySpace::local, a.lowest), w.regs.active);
    return;
  }
  for (LaneMask rest = w.regs.active; rest != 0; rest &= rest - 1) {
    const std::uint64_t address = a.lane[__builtin_ctzll(rest)];
    if (space_of(op, address) != MemorySpace::local) continue;
    visit(frame + offset_in(op, MemorySpace::local, address), rest & (0 - rest));
  }
}

void CtaRunner::note_local_store(const Warp& w, const Op& op) {
  for_each_local(w, op, [&](LaneMask* bytes, LaneMask lanes) {
    for (unsigned i = 0; i < unsigned{op.element_bytes} * op.vector; ++i) {
      const unsigned byte = i % op.element_bytes;
      const LaneMask good = written_bytes(w, op.values[i / op.element_bytes], byte / 4)[byte % 4];
      bytes[i] = (bytes[i] & ~lanes) | (good & lanes);
    }
  });
}

void CtaRunner::note_local_load(Warp& w, const Op& op) {
  for_each_local(w, op, [&](const LaneMask* bytes, LaneMask lanes) {
    LaneMask good = all;
    for (unsigned i = 0; i < unsigned{op.element_bytes} * op.vector; ++i) good &= bytes[i];
    if ((lanes & ~good) == 0) return;
    for (unsigned v = 0; v < op.vector; ++v) {
      Bytes element{};
      std::copy_n(bytes + v * op.element_bytes, op.element_bytes, element.begin());
      const Bytes value = extended(element, 0, op.element_bytes);
      for (unsigned word = 0; word < op.destination_words[v]; ++word) {
        WrittenBytes part;
        std::copy_n(value.begin() + word * 4, part.size(), part.begin());
        w.set_written(op.destinations[v] / program_.lanes + word, lanes, part);
      }
    }
  });
}

}  // namespace regatta::emulator
