// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/control.h>

namespace regatta::trace {

namespace {

/// "cvt.rn.f32.s32": from an integer of 32 bits to f32, to the nearest, which the arithmetic pipelines do (I2FP).
bool converts_word(const std::string& opcode) {
  return opcode.find(".rn.f32.s32") != std::string::npos || opcode.find(".rn.f32.u32") != std::string::npos;
}

/// "cvt.rni.s32.f32": whether one of the types is a float. ".ftz" is no type.
bool converts_float(const std::string& opcode) {
  for (std::size_t dot = opcode.find('.'); dot != std::string::npos; dot = opcode.find('.', dot + 1)) {
    std::size_t at = dot + 1;
    if (opcode.compare(at, 1, "b") == 0) ++at;  // bf16
    if (opcode.compare(at, 1, "f") == 0 && at + 1 < opcode.size() && opcode[at + 1] >= '0' && opcode[at + 1] <= '9')
      return true;
  }
  return false;
}

/// A constant or parameter whose place in the bank the instruction names, of one or two words: as a move of a constant
/// operand, or two.
bool moves_constant(const StaticInstruction& i) {
  const bool reads_special = i.space == MemorySpace::none;
  constexpr unsigned two_words = 8;
  return !reads_special && i.source_count == 0 && i.access_bytes <= two_words;
}

}  // namespace

bool has_fixed_latency(const StaticInstruction& i) {
  switch (i.op_class) {
    case OpClass::nop:
    case OpClass::int_add:
    case OpClass::int_max:
    case OpClass::int_mul:
    case OpClass::int_mad:
    case OpClass::int64:
    case OpClass::fp32_add:
    case OpClass::fp32_max:
    case OpClass::fp32_mul:
    case OpClass::fp32_mad:
    case OpClass::branch:
    case OpClass::exit:
    case OpClass::metadata:
      return true;
    case OpClass::convert:
      return !converts_float(i.opcode) || converts_word(i.opcode);
    case OpClass::constant_load:
      return moves_constant(i);
    case OpClass::int_div:
    case OpClass::fp32_div:
    case OpClass::fp64_add:
    case OpClass::fp64_max:
    case OpClass::fp64_mul:
    case OpClass::fp64_mad:
    case OpClass::fp64_div:
    case OpClass::sfu:
    case OpClass::shuffle:
    case OpClass::load:
    case OpClass::store:
    case OpClass::atomic:
    case OpClass::fence:
    case OpClass::barrier:
    case OpClass::tensor:
    case OpClass::async:
      return false;
  }
  return false;
}

}  // namespace regatta::trace
