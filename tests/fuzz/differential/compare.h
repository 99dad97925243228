// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "program.h"

namespace regatta::test::differential {

/// One way to compile and run a program.
struct Variant {
  unsigned max_registers = 255;
  bool schedule = true;
  unsigned warp_size = 32;
  bool races = false;   ///< look for races, of which no program has any
  bool narrow = false;  ///< addresses take one register
};
std::string to_string(const Variant& variant);

/// Registers {255, 16} x scheduling {on, off} x lanes {32, 64}, one with the race detector, and two with narrow
/// addresses.
const std::vector<Variant>& variants();

/// What was compared, so that a run can show that it exercised what it claims to.
struct Totals {
  std::uint64_t programs = 0;
  std::uint64_t spilled = 0;  ///< programs with spilled registers at 16
  std::uint64_t divergent_branches = 0;
  std::uint64_t warp_instructions = 0;
};

/// Adds one to the count of each kind of modern instruction that the text has.
void count_modern(const std::string& ptx, std::map<std::string, std::uint64_t>& counts);

/// Memory after the program, in every variant, against the oracle's; "" if all agree, else which variant differs,
/// where.
std::string compare(const Program& program, Totals* totals = nullptr);
/// The same with another text for the compiler than print() gives.
std::string compare(const Program& program, const std::string& ptx, Totals* totals = nullptr);

/// The program less all that does not matter to `fails`: statements dropped, branches opened, loops shortened, guards
/// removed.
Program minimise(Program program, const std::function<bool(const Program&)>& fails);

}  // namespace regatta::test::differential
