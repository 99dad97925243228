// SPDX-License-Identifier: Apache-2.0
//
// The command that made a trace, as its producer line has it, and commands like it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace regatta::trace {

/// A call of regatta-annotate.
class Making {
 public:
  struct Option {
    std::string name;                  ///< without the dashes
    std::optional<std::string> value;  ///< none: a switch
    bool joined = false;               ///< written --name=value
  };

  /// Of a producer line (Reader::producer()); nullopt if the line is no command of regatta-annotate that could be given
  /// again.
  static std::optional<Making> of(const std::string& producer);
  /// Options as text: "--max-registers 63".
  static std::vector<Option> options_of(const std::string& text);

  const std::vector<Option>& options() const { return options_; }
  /// The value of an option; nullopt if it is not there or has none.
  std::optional<std::string> value(const std::string& name) const;
  /// Gives an option a value, or another one; "": a switch.
  void set(const std::string& name, const std::string& value);
  /// Adds a scheme to those of --for.
  void add_scheme(const std::string& scheme);
  void remove(const std::string& name);

  /// The words behind the program's name.
  std::vector<std::string> words() const;
  /// For a shell.
  std::string text() const;

 private:
  std::vector<Option> options_;
};

}  // namespace regatta::trace
