// SPDX-License-Identifier: Apache-2.0
//
// Which code of a program, and which annotation, each scheme of regatta-sim runs on. regatta-annotate makes a variant
// of a trace by it (--for SCHEME), and regatta-sim names the command that does. A new scheme is one line of the table.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace regatta::trace {

/// An option of regatta-annotate; a switch has no value.
struct CodeOption {
  std::string name;  ///< without the dashes
  std::string value;
};

/// A code other than the one that most schemes run on.
struct SchemeCode {
  std::string name;  ///< of the variant
  std::vector<CodeOption> options;
  std::vector<std::string> schemes;                    ///< that run on it
  std::vector<CodeOption> shared_memory_options = {};  ///< further ones, for programs with shared memory

  /// All options for a program.
  std::vector<CodeOption> options_for(bool shared_memory) const;
};

/// All codes besides the first, in the order in which a trace has them.
const std::vector<SchemeCode>& scheme_codes();
/// The code that a scheme needs; nullptr: the first.
const SchemeCode* code_of_scheme(const std::string& scheme);
/// The section that a scheme reads; nullopt: none, or none that is written without an option.
std::optional<std::string> annotation_of_scheme(const std::string& scheme);
/// The names of all schemes.
std::vector<std::string> schemes_with_code();
/// "--max-registers 63 --shared-values"
std::string to_string(const std::vector<CodeOption>& options);

}  // namespace regatta::trace
