// SPDX-License-Identifier: Apache-2.0
//
// The statements that only programs with modern instructions have: how they are drawn and written. The oracle's part is
// in oracle_modern.cpp.
#pragma once

#include <functional>
#include <string>

#include "program.h"

namespace regatta::test::differential {

/// What the generator draws from.
struct Draws {
  std::function<unsigned(std::size_t)> below;
  std::function<Operand(char)> variable;
  std::function<unsigned(char)> count;  ///< variables of a class
  std::function<Statement()> operation;
};
/// One that all threads do together.
Statement draw_together(const Draws& draws);
/// Copies of a thread's own.
Statement draw_copy(const Draws& draws);

/// Declarations and code in front of the statements.
std::string modern_start();
/// `phase`: of the mbarrier, how often it has been used. `label`: unused ones. `copy_body`: text of what is between
/// copies and their wait.
std::string print_modern(const Program& program, const Statement& s, unsigned phase,
                         const std::function<std::string()>& label, const std::string& copy_body);
/// Whether the statement completes a phase of the mbarrier.
bool uses_mbarrier(const Statement& s);

/// "%r5", "7", "0f3F800000".
std::string operand_name(const Operand& o);
std::string guard_text(const Statement& s);

}  // namespace regatta::test::differential
