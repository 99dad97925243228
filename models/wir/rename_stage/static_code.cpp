// SPDX-License-Identifier: Apache-2.0
#include <regatta/wir/static_code.h>

#include <regatta/support/config.h>

#include <algorithm>
#include <map>

namespace regatta::models::wir {

namespace {

using trace::MemorySpace;
using trace::OpClass;
using trace::Operand;
using trace::StaticInstruction;

constexpr unsigned operand_bits = 10;  // figure 9

/// What a kernel orders its accesses with, beside barriers that all threads of a CTA meet.
struct Ordering {
  bool flags = false;    ///< volatile, acquiring or releasing loads and stores: whoever reads one may go on at any time
  bool fences = false;   ///< fences, and atomics that are fences as well
  bool atomics = false;  ///< what warps can tell each other with
  bool partial = false;  ///< barriers that a part of a CTA meets, halves of barriers
  bool deferred = false;  ///< asynchronous copies and their barriers

  /// Whether a load may find what another warp has stored since the last barrier, though its own warp has neither
  /// stored nor had an atomic since. A fence alone tells nobody anything.
  bool beyond_barriers() const { return flags || (fences && (deferred || (atomics && partial))); }
};

bool is_partial(const StaticInstruction& i) {
  return i.barrier_arrives || i.barrier_half != trace::BarrierHalf::none || i.barrier_id != 0 ||
         i.barrier_threads != 0 || i.source_count != 0;
}

bool has_order(const StaticInstruction& atomic) {
  return atomic.opcode.find(".acq") != std::string::npos || atomic.opcode.find(".release") != std::string::npos;
}

Ordering ordering(const protocol::KernelContext& context) {
  Ordering all;
  for (const protocol::InstructionTraits& t : *context.traits) {
    const StaticInstruction& i = *t.info;
    switch (i.op_class) {
      case OpClass::fence:
        all.fences = true;
        break;
      case OpClass::atomic:
        all.atomics = true;
        all.fences = all.fences || has_order(i);
        break;
      case OpClass::barrier:
        all.partial = all.partial || is_partial(i);
        break;
      case OpClass::async:
        all.deferred = true;
        break;
      default:
        all.flags = all.flags || (i.is_volatile && (i.reads_memory || i.writes_memory));
    }
  }
  return all;
}

/// What an entry of the reuse buffer has room for.
struct EntryShape {
  unsigned operands = reuse_operands;
  unsigned results = 1;
};

ReuseKind kind_of(const StaticInstruction& i, const EntryShape& shape) {
  // The carry is an operand that no register names: with it, equal registers are not equal inputs.
  if (i.reads_carry || i.writes_carry || i.is_volatile) return ReuseKind::none;
  if (i.destination_count == 0 || i.destination_count > shape.results || i.source_count > shape.operands ||
      i.writes_memory || i.destination_predicate_count != 0 || i.source_predicate_count != 0) {
    return ReuseKind::none;
  }
  for (const Operand& o : i.operands) {
    if (o.kind == Operand::Kind::special || o.kind == Operand::Kind::predicate) return ReuseKind::none;
  }
  switch (i.op_class) {
    case OpClass::nop:
    case OpClass::store:
    case OpClass::atomic:
    case OpClass::fence:
    case OpClass::barrier:
    case OpClass::branch:
    case OpClass::exit:
    case OpClass::metadata:
    case OpClass::tensor:  // a warp instruction whose lanes share operands: not what section V describes
    case OpClass::async:
      return ReuseKind::none;
    case OpClass::load:
      switch (i.space) {
        case MemorySpace::constant:
        case MemorySpace::param:
          return ReuseKind::read_only_load;
        case MemorySpace::shared:
          return ReuseKind::shared_load;
        case MemorySpace::global:
          return ReuseKind::global_load;
        default:
          return ReuseKind::none;  // local memory is a thread's own, a generic address may be
      }
    default:
      return i.reads_memory && i.op_class != OpClass::constant_load ? ReuseKind::none : ReuseKind::arithmetic;
  }
}

MemoryEffect effect_of(const StaticInstruction& i, bool fences) {
  if (i.op_class == OpClass::fence) return MemoryEffect::fence;
  // With fences, an atomic on either memory may order accesses of both.
  if (i.op_class == OpClass::atomic && fences) return MemoryEffect::atomic;
  if (!i.writes_memory || i.space == MemorySpace::local) return MemoryEffect::none;
  // A generic store may go to either memory. It sets the flag of global memory; load_rules.cpp also sets that of shared
  // memory.
  return i.space == MemorySpace::shared ? MemoryEffect::shared_store : MemoryEffect::global_store;
}

/// All of the instruction but its registers.
std::string text_of(const StaticInstruction& i) {
  std::string text = i.opcode;
  if (i.address_offset != 0) text += "|+" + std::to_string(i.address_offset);
  for (std::size_t n = i.operand_destinations; n < i.operands.size(); ++n) {
    const Operand& o = i.operands[n];
    text += "|" + std::to_string(static_cast<unsigned>(o.kind)) + (o.negated ? "-" : "") + std::to_string(o.words);
    if (o.kind != Operand::Kind::reg) text += ":" + std::to_string(o.value);
  }
  return text;
}

/// Sign extension is free: as many bits as a two's complement number needs.
unsigned bits_of(std::int64_t value) {
  const std::uint64_t magnitude = static_cast<std::uint64_t>(value < 0 ? ~value : value);
  return magnitude == 0 ? 1 : 65 - static_cast<unsigned>(__builtin_clzll(magnitude));
}

bool needs_wide_immediate(const StaticInstruction& i, const EntryShape& shape) {
  unsigned bits = i.address_offset == 0 ? 0 : bits_of(i.address_offset);
  for (const Operand& o : i.operands) {
    if (o.kind != Operand::Kind::immediate && o.kind != Operand::Kind::constant_bank) continue;
    bits += bits_of(static_cast<std::int64_t>(o.value));
  }
  return bits > operand_bits * (shape.operands - i.source_count);
}

}  // namespace

std::vector<StaticCode> static_code(const protocol::KernelContext& context, bool pairs) {
  if (context.kernel->static_revision < 1) {
    throw support::UnfitTrace(
        "kernel " + context.kernel->name +
        ": the trace says nothing of carries and address offsets, without which instructions "
        "cannot be reused; expected one of a regatta-annotate that writes them: annotate it anew");
  }
  const EntryShape shape = pairs ? EntryShape{pair_operands, pair_results} : EntryShape{};
  std::map<std::string, std::uint32_t> known;
  std::vector<StaticCode> all;
  all.reserve(context.traits->size());
  const Ordering order = ordering(context);
  const bool beyond = order.beyond_barriers();
  for (const protocol::InstructionTraits& t : *context.traits) {
    const StaticInstruction& i = *t.info;
    StaticCode s;
    s.kind = kind_of(i, shape);
    if (beyond && (s.kind == ReuseKind::shared_load || s.kind == ReuseKind::global_load)) s.kind = ReuseKind::none;
    s.effect = effect_of(i, order.fences);
    s.is_barrier = i.op_class == OpClass::barrier;
    if (s.kind != ReuseKind::none) {
      s.signature = known.emplace(text_of(i), static_cast<std::uint32_t>(known.size() + 1)).first->second;
      s.wide_immediate = needs_wide_immediate(i, shape);
      s.sources = i.source_count;
      for (unsigned n = 0; n < i.source_count; ++n) {
        const auto* const first = t.reads.begin();
        const auto* const at = std::find(first, first + t.read_count, protocol::RegisterId(i.sources[n]));
        s.source[n] = static_cast<std::uint8_t>(at - first);
      }
    }
    all.push_back(s);
  }
  return all;
}

}  // namespace regatta::models::wir
