// SPDX-License-Identifier: Apache-2.0
//
// Random programs, for faults that any program meets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "wir_support.h"

namespace regatta::test {

/// Instructions of all kinds on 12 registers, few values: CTAs of 64 threads.
inline std::string random_program(const std::string& name, unsigned seed) {
  std::mt19937 random(seed);
  const auto any = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  TraceBuilder b;
  // Few values that differ between warps now and then: much is shared, and registers are written all the time.
  std::uint32_t salt = 0;
  b.set_rule([&](std::uint32_t index, unsigned lane, const std::vector<std::uint32_t>& sources) {
    std::uint32_t sum = index % 5;
    for (const std::uint32_t s : sources) sum = sum * 3 + s;
    const trace::StaticInstruction& i = b.kernel().instructions[index];
    if (i.opcode == "own") sum += salt;
    return sum % 7 + (i.opcode == "own" ? lane * salt : 0);
  });
  constexpr unsigned registers = 12;
  std::vector<std::uint32_t> partial;
  for (unsigned r = 0; r < registers; ++r) b.op(trace::OpClass::constant_load, {r}, {});
  for (unsigned n = 0; n < 220; ++n) {
    const unsigned a = any(registers), c = any(registers), d = any(registers - 1);
    std::uint32_t index = 0;
    switch (any(9)) {
      case 0:
        index = b.op(trace::OpClass::int64, {d, d + 1}, {a, c});
        break;
      case 1:
        index = b.op(trace::OpClass::sfu, {d}, {a});
        break;
      case 2:
        index = b.load(trace::MemorySpace::local, d, a);
        break;
      case 3:
        index = b.op(trace::OpClass::int_add, {d}, {});
        b.kernel().instructions[index].opcode = "own";
        b.kernel().instructions[index].operands.push_back({trace::Operand::Kind::special, 1, false, 0});
        continue;
      case 4:
        if (any(4) == 0) b.barrier();
        index = b.store(trace::MemorySpace::local, a, c);
        break;
      default:
        index = b.op(trace::OpClass::int_add, {d}, {a, c});
    }
    if (b.kernel().instructions[index].op_class == trace::OpClass::int_add) {
      // The rule goes by the place in the code; the opcode has to say as much.
      b.kernel().instructions[index].opcode = "op." + std::to_string(index % 5);
    } else {
      b.kernel().instructions[index].opcode += "." + std::to_string(index % 5);
    }
    if (any(3) == 0) partial.push_back(index);
  }
  for (unsigned r = 0; r < registers; ++r) {
    trace::StaticInstruction& i = b.kernel().instructions[r];
    i.opcode = "first." + std::to_string(r % 5);
  }
  b.exit();
  b.launch(10, 64);
  for (unsigned cta = 0; cta < 10; ++cta) {
    b.begin_cta();
    for (unsigned warp = 0; warp < 2; ++warp) {
      b.begin_warp();
      salt = cta % 3 == 0 ? 0 : cta * 2 + warp;
      for (std::uint32_t i = 0; i < b.kernel().instructions.size(); ++i) {
        const bool divergent = std::find(partial.begin(), partial.end(), i) != partial.end() && any(2) == 0;
        b.execute(i, divergent ? (random() | 1u) : 0, {trace::local_window});
      }
      b.end_warp();
    }
    b.end_cta();
  }
  return b.write(name);
}

}  // namespace regatta::test
