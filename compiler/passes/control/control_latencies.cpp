// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/control_latencies.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>

namespace regatta::passes {

namespace {

using trace::OpClass;

struct FixedRow {
  OpClass op_class;
  unsigned cycles;
};

// Huerta et al., MICRO 2025, section 4 and table 2 for FADD, FFMA and MOV: 4. Their simulator's configuration of an RTX
// A6000 has the same for all 32-bit integer and floating-point operations. int64 is two instructions of ours: the
// second starts two cycles behind the first, on 16 lanes. A move of a constant is MOV; of two, two MOVs. Branches: same
// configuration.
constexpr FixedRow ampere[] = {
    {OpClass::nop, 1},      {OpClass::int_add, 4},  {OpClass::int_max, 4},  {OpClass::int_mul, 4},
    {OpClass::int_mad, 4},  {OpClass::int64, 6},    {OpClass::convert, 4},  {OpClass::fp32_add, 4},
    {OpClass::fp32_max, 4}, {OpClass::fp32_mul, 4}, {OpClass::fp32_mad, 4}, {OpClass::constant_load, 4},
    {OpClass::branch, 3},   {OpClass::exit, 3},     {OpClass::metadata, 1},
};
// Same configuration: HFMA2 takes one cycle more, and 13 cycles pass until a guard can use a comparison. ptxas 13.0
// writes the same stall count of 13 for sm_90.
constexpr unsigned half_cycles = 5, predicate_cycles = 13;
constexpr unsigned constant_pair_cycles = 6;
// ptxas 13.0 gives BRA and EXIT a stall count of 5 for sm_90.
constexpr unsigned control_cycles = 5;

/// "add.f16x2", "fma.rn.bf16": the operation, not a conversion, is of 16-bit floats.
bool is_half(const trace::StaticInstruction& i) {
  const auto ends = [&](const char* type) {
    const std::size_t n = std::strlen(type);
    return i.opcode.size() >= n && i.opcode.compare(i.opcode.size() - n, n, type) == 0;
  };
  return ends("f16") || ends("f16x2");
}

/// Cycles by which the operands of a 64-bit instruction may take longer than the three in which all others are read:
/// each of the two banks of a sub-core reads a register per cycle (section 5.3).
unsigned more_read_cycles(const trace::StaticInstruction& i) {
  constexpr unsigned window = 3;
  std::set<unsigned> banks[2];
  for (unsigned s = 0; s < i.source_count; ++s) banks[i.sources[s] % 2u].insert(i.sources[s]);
  const auto most = static_cast<unsigned>(std::max(banks[0].size(), banks[1].size()));
  return most > window ? most - window : 0;
}

}  // namespace

ControlLatencies::ControlLatencies()
    : half(half_cycles),
      predicate(predicate_cycles),
      constant_pair(constant_pair_cycles),
      control_stall(control_cycles) {
  for (const FixedRow& row : ampere) op_class[static_cast<std::size_t>(row.op_class)] = row.cycles;
}

unsigned ControlLatencies::of(const trace::StaticInstruction& i) const {
  return trace::has_fixed_latency(i) ? row(i) + more_read_cycles(i) : 0;
}

unsigned ControlLatencies::row(const trace::StaticInstruction& i) const {
  constexpr unsigned one_word = 4;
  if (i.destination_predicate_count != 0) return predicate;
  if (i.op_class == OpClass::constant_load && i.access_bytes > one_word) return constant_pair;
  const bool is_float = i.op_class == OpClass::fp32_add || i.op_class == OpClass::fp32_max ||
                        i.op_class == OpClass::fp32_mul || i.op_class == OpClass::fp32_mad;
  if (is_float && is_half(i)) return half;
  return op_class[static_cast<std::size_t>(i.op_class)];
}

void ControlLatencies::set(const std::string& list, const std::string& option) {
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string item = list.substr(at, end - at);
    at = end + 1;
    const std::size_t equals = item.find('=');
    const auto bad = [&](const std::string& expected) {
      throw trace::InputError("error: --" + option + " has '" + item + "', expected " + expected);
    };
    if (equals == std::string::npos) bad("NAME=CYCLES");
    const std::string name = item.substr(0, equals), number = item.substr(equals + 1);
    unsigned* row = name == "half"            ? &half
                    : name == "predicate"     ? &predicate
                    : name == "constant_pair" ? &constant_pair
                                              : nullptr;
    for (const FixedRow& known : ampere)
      if (name == trace::to_string(known.op_class)) row = &op_class[static_cast<std::size_t>(known.op_class)];
    if (row == nullptr) bad("a class of fixed latency, half, predicate or constant_pair");
    unsigned cycles = 0;
    const auto [rest, error] = std::from_chars(number.data(), number.data() + number.size(), cycles);
    if (error != std::errc() || rest != number.data() + number.size() || cycles < 1 || cycles > max_fixed_latency)
      bad("1 to " + std::to_string(max_fixed_latency) + " cycles");
    *row = cycles;
  }
}

}  // namespace regatta::passes
