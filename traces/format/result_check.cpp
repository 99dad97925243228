// SPDX-License-Identifier: Apache-2.0
#include "result_check.h"

#include <algorithm>
#include <functional>
#include <string>

namespace regatta::trace {
namespace {

constexpr std::size_t most_known = std::size_t{1} << 20;  ///< older ones are forgotten, to bound the memory

std::uint64_t mix(std::uint64_t h, std::uint64_t value) {
  h = (h ^ value) * 0x9e3779b97f4a7c15ull;
  return h ^ (h >> 29);
}

std::uint64_t digest(std::uint64_t h, const WarpValue& value, LaneMask lanes) {
  for (; lanes != 0; lanes &= lanes - 1) h = mix(h, value.lane[static_cast<unsigned>(__builtin_ctzll(lanes))]);
  return h;
}

bool is_arithmetic(OpClass c) {
  switch (c) {
    case OpClass::nop:
    case OpClass::shuffle:  // other lanes are operands too
    case OpClass::constant_load:
    case OpClass::load:
    case OpClass::store:
    case OpClass::atomic:
    case OpClass::fence:
    case OpClass::barrier:
    case OpClass::branch:
    case OpClass::exit:
    case OpClass::metadata:
    case OpClass::tensor:  // likewise
    case OpClass::async:
      return false;
    default:
      return true;
  }
}

/// A number for the opcode and all operands that are no registers; 0: the trace does not name all operands.
std::uint64_t operation_of(const StaticInstruction& i) {
  if (!is_arithmetic(i.op_class) || i.destination_count == 0 || i.source_count == 0 || i.reads_memory ||
      i.writes_memory || i.is_volatile || i.reads_carry || i.writes_carry || i.source_predicate_count != 0 ||
      i.destination_predicate_count != 0) {
    return 0;
  }
  std::uint64_t h = std::hash<std::string>()(i.opcode);
  for (std::size_t n = i.operand_destinations; n < i.operands.size(); ++n) {
    const Operand& o = i.operands[n];
    if (o.kind == Operand::Kind::special || o.kind == Operand::Kind::predicate) return 0;
    h = mix(h, static_cast<std::uint64_t>(o.kind) << 8 | o.words << 1 | (o.negated ? 1u : 0u));
    if (o.kind != Operand::Kind::reg) h = mix(h, o.value);
  }
  return h | 1;
}

}  // namespace

void ResultCheck::begin_warp(const Kernel& kernel) {
  if (kernel_ != &kernel) {
    kernel_ = &kernel;
    operations_.clear();
    for (const StaticInstruction& i : kernel.instructions) {
      operations_.push_back(kernel.static_revision == 0 || kernel.version_tags ? 0 : operation_of(i));
    }
    registers_.resize(std::max<std::size_t>(registers_.size(), kernel.registers_per_thread));
  }
  written_.assign(registers_.size(), 0);
}

std::uint64_t ResultCheck::key_of(const StaticInstruction& i, std::uint64_t operation, LaneMask active) const {
  if (operation == 0 || active == 0) return 0;
  std::uint64_t h = mix(operation, active);
  for (unsigned s = 0; s < i.source_count; ++s) {
    if ((active & ~written_[i.sources[s]]) != 0) return 0;
    h = digest(h, registers_[i.sources[s]], active);
  }
  return h | 1;
}

void ResultCheck::decode(WarpCursor& cursor) {
  const StaticInstruction& i = cursor.instruction();
  const LaneMask active = cursor.active_mask();
  const std::uint64_t key = key_of(i, operations_[cursor.index()], active);
  std::uint64_t results = 0;
  WarpValue value;
  for (unsigned d = 0; d < i.destination_count; ++d) {
    cursor.result(value);
    WarpValue& reg = registers_[i.destinations[d]];
    for (LaneMask m = active; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctzll(m));
      reg.lane[lane] = value.lane[lane];
    }
    written_[i.destinations[d]] |= active;
    if (key != 0) results = digest(mix(results, d), value, active);
  }
  for (unsigned d = 0; d < i.destination_predicate_count; ++d) cursor.predicate();
  if (key == 0) return;
  if (known_.size() == most_known) known_.clear();
  const auto [known, is_new] = known_.emplace(key, results);
  if (!is_new && known->second != results) {
    cursor.path().malformed(i.opcode + " has another result than before in this launch for the same operands");
  }
}

}  // namespace regatta::trace
