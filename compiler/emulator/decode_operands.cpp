// SPDX-License-Identifier: Apache-2.0
#include "decode.h"
#include "diagnostics.h"

#include <algorithm>

namespace regatta::emulator {

using ir::Operand;

void OperandDecoder::fail(const ir::Instruction& i, const std::string& what) const {
  throw trace::InputError(location_text(f_, i) + "error: kernel '" + f_.name + "': " + what + " in '" +
                          ir::to_text(i, true) + "'" + source_text(f_, i));
}

std::uint32_t OperandDecoder::fresh_constant() {
  const auto at = static_cast<std::uint32_t>(program_.constants.size());
  program_.constants.resize(program_.constants.size() + 2 * program_.lanes);
  return at;
}

std::uint32_t OperandDecoder::constant(std::uint64_t value) {
  const auto known = constants_.find(value);
  if (known != constants_.end()) return known->second;
  const std::uint32_t at = fresh_constant();
  for (unsigned i = 0; i < program_.lanes; ++i) {
    program_.constants[at + i] = static_cast<std::uint32_t>(value);
    program_.constants[at + program_.lanes + i] = static_cast<std::uint32_t>(value >> 32);
  }
  constants_[value] = at;
  return at;
}

std::uint32_t OperandDecoder::parameter(std::uint64_t offset, ir::Type type, const ir::Instruction& i) {
  for (const ParameterPatch& p : program_.parameters) {
    if (p.offset == offset && p.type == type) return p.constant;
  }
  program_.parameters.push_back({fresh_constant(), offset, type, &i});
  return program_.parameters.back().constant;
}

LaneSource OperandDecoder::source(Op& op, const ir::Instruction& i, const Operand& o, unsigned words) {
  switch (o.kind) {
    case Operand::Kind::reg: {
      if (o.words < words) fail(i, "a 32-bit register where 64 bits are needed");
      if (o.id + o.words > f_.registers_used) fail(i, "register R" + std::to_string(o.id) + " beyond the allocation");
      for (unsigned w = 0; w < std::max<unsigned>(words, 1); ++w) {
        if (op.read_count == std::size(op.reads)) fail(i, "too many source registers");
        op.reads[op.read_count++] = static_cast<std::uint8_t>(o.id + w);
      }
      return {Bank::registers, o.id * program_.lanes};
    }
    case Operand::Kind::immediate: {
      std::uint64_t value = o.value;
      if (!o.symbol.empty()) {
        if (!image_.has_global(o.symbol)) fail(i, "variable '" + o.symbol + "', which is defined nowhere,");
        value += image_.global_address(o.symbol);
      }
      return {Bank::constants, constant(value)};
    }
    case Operand::Kind::special: {
      const auto special = static_cast<ir::Special>(o.value);
      op.dynamic_special |= special >= ir::Special::clock && special <= ir::Special::globaltimer_hi;
      auto& known = program_.specials;
      auto slot = std::find(known.begin(), known.end(), special);
      if (slot == known.end()) slot = known.insert(known.end(), special);
      return {Bank::specials, static_cast<std::uint32_t>(slot - known.begin()) * 2 * program_.lanes};
    }
    case Operand::Kind::parameter: {
      if (o.words < words) fail(i, "a 32-bit parameter where 64 bits are needed");
      return {Bank::constants, parameter(o.value, o.words == 2 ? ir::Type::b64 : ir::Type::b32, i)};
    }
    default:
      fail(i, "an operand that is no value");
  }
}

std::uint32_t OperandDecoder::destination(Op& op, const ir::Instruction& i, const Operand& o, unsigned words) {
  if (!o.is_reg()) fail(i, "a destination that is no register");
  if (words != 0 && o.words != words) {
    fail(i, "a destination of " + std::to_string(32 * o.words) + " bits where the result has " +
                std::to_string(32 * words));
  }
  if (o.id + o.words > f_.registers_used) fail(i, "register R" + std::to_string(o.id) + " beyond the allocation");
  for (unsigned w = 0; w < o.words; ++w) {
    if (op.write_count == std::size(op.writes)) fail(i, "too many destination registers");
    op.writes[op.write_count++] = static_cast<std::uint8_t>(o.id + w);
  }
  return o.id * program_.lanes;
}

PredicateSource OperandDecoder::predicate(const ir::Instruction& i, const Operand& o) {
  PredicateSource p;
  p.negated = o.negated;
  if (o.kind == Operand::Kind::immediate) {
    p.value = o.value != 0;
  } else if (o.is_predicate()) {
    if (o.id >= trace::max_predicates) fail(i, "predicate P" + std::to_string(o.id) + " beyond the allocation");
    p.number = static_cast<std::int16_t>(o.id);
  } else {
    fail(i, "an operand that is no predicate");
  }
  return p;
}

void OperandDecoder::predicate_destination(Op& op, const ir::Instruction& i, const Operand& o) {
  if (!o.is_predicate() || o.id >= trace::max_predicates) fail(i, "a destination that is no predicate");
  if (op.predicate_write_count == std::size(op.predicate_writes)) fail(i, "too many destination predicates");
  op.predicate_writes[op.predicate_write_count++] = static_cast<std::uint8_t>(o.id);
}

}  // namespace regatta::emulator
