// SPDX-License-Identifier: Apache-2.0
//
// Options of regatta-annotate that belong to a pass. The pass declares them; the command line, --help and the checks
// follow from that.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace regatta::passes {

/// An option as --help shows it.
struct PassOption {
  enum class Kind { number, choice, text, flag };
  std::string name;                  ///< without the dashes: "liveness-rule"
  std::string placeholder;           ///< of its value: "N"
  std::string help;                  ///< one sentence, with the range
  std::string default_value;         ///< empty: none
  std::vector<std::string> choices;  ///< the words that a choice takes
  Kind kind = Kind::number;          ///< a number is whole, 0 or more; a flag takes no value
};

/// Values by the option's name, as texts of a command line. Options that are not in it keep their defaults.
using PassOptionValues = std::map<std::string, std::string>;

/// The options of one pass. The variables that they set are the pass's members and must outlive this object; what they
/// hold when they are declared is the default.
class PassOptions {
 public:
  /// A whole number. Its range is the pass's to check (AnnotationPass::validate()).
  void number(const std::string& name, unsigned& value, const std::string& placeholder, const std::string& help);
  /// Likewise, without a default: `value` stays empty unless the option is given.
  void number(const std::string& name, std::optional<unsigned>& value, const std::string& placeholder,
              const std::string& help);
  /// A text, which the pass checks; `value` stays empty unless the option is given.
  void text(const std::string& name, std::optional<std::string>& value, const std::string& placeholder,
            const std::string& help);
  /// A switch, off by default. As a text it is "on".
  void flag(const std::string& name, bool& value, const std::string& help);
  /// One of some words.
  template <class Value>
  void choice(const std::string& name, Value& value, const std::vector<std::pair<std::string, Value>>& choices,
              const std::string& placeholder, const std::string& help) {
    PassOption option{name, placeholder, help, "", {}, PassOption::Kind::choice};
    for (const auto& [word, meaning] : choices) {
      option.choices.push_back(word);
      if (meaning == value) option.default_value = word;
    }
    add(std::move(option), [&value, choices](const std::string& text) {
      for (const auto& [word, meaning] : choices)
        if (word == text) value = meaning;
    });
  }

  const std::vector<PassOption>& options() const { return options_; }
  /// Whether there is an option of this name.
  bool has(const std::string& name) const;
  /// Throws trace::InputError for a text that the option does not take.
  void set(const std::string& name, const std::string& text) const;

 private:
  using Setter = std::function<void(const std::string&)>;
  void add(PassOption option, Setter set);

  std::vector<PassOption> options_;
  std::vector<Setter> setters_;  ///< by place in options_; the text has been checked against the choices
};

}  // namespace regatta::passes
