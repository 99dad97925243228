// SPDX-License-Identifier: Apache-2.0
//
// The command line of a tool: the tool's own options plus every knob of an OptionSet as --module.knob value.
// Parsed by Boost.Program_options without guessing of abbreviations. A bad command line is a ConfigError that
// names the option and, when it is unknown, the nearest known one.
//
//   std::string machine = "gtx980", trace;
//   CommandLine line("regatta-sim", "0.1.0", "Replays an annotated trace on an SM platform.");
//   line.positional("TRACE", trace, "annotated trace (.rgt)");
//   line.option("machine", machine, "NAME", "machine preset");
//   line.prescan(argc, argv);                    // the preset decides which knobs there are
//   ... build the OptionSet, load the preset ...
//   if (!line.parse(argc, argv, knobs)) { std::cout << line.answer(); return 0; }
//   ... load --config ...
//   line.apply(knobs);                           // the command line wins over files
#pragma once

#include <regatta/support/config.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace regatta::support {

class CommandLine {
 public:
  CommandLine(std::string program, std::string version, std::string summary);

  /// The tool's own options; values present when declared are the defaults. Names are without dashes ("no-check").
  /// A flag takes no value and sets `value` to `when_given`; every other option takes one value, given once.
  /// A text that follows its option as a word of its own must not look like an option (--stats --cpi): that is
  /// refused, and --stats=--cpi is how to mean it.
  void flag(const std::string& name, bool& value, const std::string& help, bool when_given = true);
  void option(const std::string& name, std::string& value, const std::string& placeholder, const std::string& help,
              std::vector<std::string> choices = {});
  void option(const std::string& name, unsigned& value, const std::string& placeholder, const std::string& help,
              std::int64_t minimum = 0, std::int64_t maximum = UINT32_MAX);
  void option(const std::string& name, std::uint64_t& value, const std::string& placeholder, const std::string& help,
              std::int64_t minimum = 0, std::int64_t maximum = INT64_MAX);
  void option(const std::string& name, double& value, const std::string& placeholder, const std::string& help);
  /// `--name` alone leaves `value` as it is; a value needs the equals sign, `--name=VALUE`, so that no argument is
  /// taken for it.
  void optional_value(const std::string& name, std::string& value, const std::string& placeholder,
                      const std::string& help);
  /// May be given any number of times; the values are appended in order.
  void list(const std::string& name, std::vector<std::string>& values, const std::string& placeholder,
            const std::string& help);
  /// An argument without a name, in order of declaration; a missing required one is refused by parse().
  void positional(const std::string& placeholder, std::string& value, const std::string& help, bool required = true);

  /// Sets the tool's own options and ignores all else, errors of unknown options included.
  void prescan(int argc, const char* const* argv);
  /// Checks the whole line. False: --help, --help-module or --version was asked, and answer() is what to print.
  bool parse(int argc, const char* const* argv, const OptionSet& knobs);
  /// Puts the knobs of the parsed line in force, with origin "command line".
  void apply(OptionSet& knobs) const;

  /// True when the tool's own option `name` was given on the line parsed last.
  bool given(const std::string& name) const;
  const std::string& answer() const { return answer_; }
  /// The page --help prints: usage, the tool's options, then the knobs module by module.
  std::string help(const OptionSet& knobs) const;
  /// The knobs of one module only; ConfigError when there is no such module.
  std::string help_module(const OptionSet& knobs, const std::string& module) const;

 private:
  struct ToolOption {
    std::string name;
    std::string placeholder;  ///< empty: a flag
    std::string help;
    std::string shown_default;
    bool repeatable = false;
    bool text = false;            ///< the value is any text
    bool optional_value = false;  ///< the value may be missing
    std::function<void(const std::string&)> set;
  };
  struct Positional {
    std::string placeholder;
    std::string help;
    bool required;
    std::string* value;
  };
  using Assignment = std::pair<std::string, std::string>;  ///< name without dashes, value as written
  struct Split {
    std::vector<Assignment> named;
    std::vector<std::string> unnamed;
  };

  /// Splits the line; with `tolerant`, what is not known is left out instead of refused.
  Split split(int argc, const char* const* argv, const OptionSet& knobs, bool tolerant) const;
  void take_tool_options(const Split& split);
  void add_scalar(const std::string& name, const std::string& placeholder, const std::string& help,
                  const std::function<void(OptionSet&)>& declare);
  std::string nearest(const std::string& name, const OptionSet& knobs) const;
  bool takes_text(const std::string& name, const OptionSet& knobs) const;
  const ToolOption* find(const std::string& name) const;

  std::string program_;
  std::string version_;
  std::string summary_;
  std::vector<ToolOption> tool_options_;
  std::vector<Positional> positionals_;
  std::vector<Assignment> knob_values_;
  std::vector<std::string> given_;
  std::string answer_;
};

/// Text of an option's value as it would be written in a file or on a command line.
std::string to_text(const OptionValue& value);

}  // namespace regatta::support
