// SPDX-License-Identifier: Apache-2.0
//
// The threads that the oracle walks through a program.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "program.h"

namespace regatta::test::differential {

inline constexpr unsigned lanes = 32;  // of a warp as CUDA knows it, whatever the width of the machine

/// Values of variables, by class.
using Frame = std::array<std::vector<std::uint64_t>, class_count>;
using Slot = std::array<std::uint8_t, slot_bytes>;

struct Thread {
  Frame frame;
  std::array<Slot, 3> slots{};  ///< by Space
  bool exited = false;
};

inline std::uint64_t cut(std::uint64_t v, char c) {
  if (c == 'p') return v & 1;
  const unsigned bytes = class_bytes(c);
  return bytes == 8 ? v : v & ((std::uint64_t{1} << (8 * bytes)) - 1);
}
inline std::uint64_t get(const Frame& f, const Operand& o) {
  return o.immediate ? o.bits : f[class_index(o.type)][o.variable];
}
inline void set(Frame& f, const Operand& o, std::uint64_t v) { f[class_index(o.type)][o.variable] = cut(v, o.type); }

inline bool guard_holds(const Frame& f, const Statement& s) {
  if (s.guard < 0) return true;
  return (f[class_index('p')][static_cast<unsigned>(s.guard)] != 0) != s.guard_negated;
}

inline std::uint32_t word_of(const Slot& slot, unsigned at) {
  std::uint32_t word = 0;
  std::memcpy(&word, &slot[at], sizeof word);
  return word;
}

/// Products and moves of matrices, and bulk copies, of the threads of a CTA.
void run_modern(const Statement& s, std::vector<Thread>& threads);

}  // namespace regatta::test::differential
