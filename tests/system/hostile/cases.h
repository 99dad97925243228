// SPDX-License-Identifier: Apache-2.0
//
// Cases of the hostile suite, as its text files describe them (README.md of this folder).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::test {

struct HostileCase {
  std::string place;                               ///< "options.txt:12"
  std::vector<std::vector<std::string>> set_up;    ///< commands: words of each line that begins with '+'
  std::vector<std::string> command;                ///< program (annotate, sim, trace) and its arguments
  std::uint64_t memory_bytes = 0, file_bytes = 0;  ///< limits; 0: none
  int status = -1;
  std::string out = "*";          ///< pattern of standard output
  std::string err;                ///< pattern of standard error, without the last newline
  std::vector<std::string> made;  ///< files that are new or may have changed
};

/// The cases of a file in this folder. Throws std::runtime_error naming file and line of what it does not understand.
std::vector<HostileCase> read_cases(const std::string& name);

/// Whether `text` is what `pattern` describes; '*' stands for any characters.
bool matches(const std::string& pattern, const std::string& text);

/// Runs one case in a folder of its own and checks what holds for every one: the status and the messages; no signal;
/// inputs that are not `made` are as they were; every file that is new is `made` and whole; nothing is left in the
/// making. Reports by Catch's CHECK.
void check_case(const HostileCase& c);

}  // namespace regatta::test
