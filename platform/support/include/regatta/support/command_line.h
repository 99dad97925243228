// SPDX-License-Identifier: Apache-2.0
//
// The command line of a tool: the tool's own options plus every knob of an OptionSet as --module.knob value.
// Parsed by Boost.Program_options; abbreviations are not accepted. A bad command line is a ConfigError that names the
// option and, if it is unknown, the nearest known one.
//
//   std::string machine = "gtx980", trace;
//   CommandLine line("regatta-sim", "0.1.0", "Replays an annotated trace on an SM platform.");
//   line.positional("TRACE", trace, "annotated trace (.rgt)");
//   line.option("machine", machine, "NAME", "machine preset");
//   line.prescan(argc, argv);                    // the preset determines which knobs exist
//   ... build the OptionSet, load the preset ...
//   if (!line.parse(argc, argv, knobs)) { std::cout << line.answer(); return 0; }
//   ... load --config ...
//   line.apply(knobs);                           // the command line overrides files
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

  /// The tool's own options; the values at declaration are the defaults. Names have no dashes ("no-check"). A flag
  /// takes no value and sets `value` to `when_given`; every other option takes one value and may be given once. A
  /// separate word that looks like an option is not accepted as a value (--stats --cpi); write --stats=--cpi for that.
  void flag(const std::string& name, bool& value, const std::string& help, bool when_given = true);
  void option(const std::string& name, std::string& value, const std::string& placeholder, const std::string& help,
              std::vector<std::string> choices = {});
  void option(const std::string& name, unsigned& value, const std::string& placeholder, const std::string& help,
              std::int64_t minimum = 0, std::int64_t maximum = UINT32_MAX);
  void option(const std::string& name, std::uint64_t& value, const std::string& placeholder, const std::string& help,
              std::int64_t minimum = 0, std::int64_t maximum = INT64_MAX);
  void option(const std::string& name, double& value, const std::string& placeholder, const std::string& help);
  /// `--name` alone does not change `value`; a value needs the equals sign, `--name=VALUE`, so it cannot be confused
  /// with an argument.
  void optional_value(const std::string& name, std::string& value, const std::string& placeholder,
                      const std::string& help);
  /// May be given any number of times; the values are appended in order.
  void list(const std::string& name, std::vector<std::string>& values, const std::string& placeholder,
            const std::string& help);
  /// An argument without a name, in order of declaration; parse() rejects a line without a required one.
  void positional(const std::string& placeholder, std::string& value, const std::string& help, bool required = true);

  /// What finds an option, for the message about one that nothing is near to: "regatta list knobs PATTERN finds one".
  void finder(const std::string& text) { finder_ = text; }

  /// Sets the tool's own options and ignores everything else, including unknown options.
  void prescan(int argc, const char* const* argv);
  /// Checks the whole line. False: --help, --help-module or --version was given; print answer().
  bool parse(int argc, const char* const* argv, const OptionSet& knobs);
  /// Sets the knobs of the parsed line, with origin "command line".
  void apply(OptionSet& knobs) const;

  /// Whether the tool's own option `name` was given on the line parsed last.
  bool given(const std::string& name) const;
  const std::string& answer() const { return answer_; }
  /// The page printed by --help: usage, the tool's options, then the knobs by module.
  std::string help(const OptionSet& knobs) const;
  /// The knobs of one module; throws ConfigError if there is no such module.
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

  /// Splits the line; with `tolerant`, unknown options are ignored instead of rejected.
  Split split(int argc, const char* const* argv, const OptionSet& knobs, bool tolerant) const;
  void take_tool_options(const Split& split);
  void add_scalar(const std::string& name, const std::string& placeholder, const std::string& help,
                  const std::function<void(OptionSet&)>& declare);
  /// The options that begin with `name`, or else the nearest one.
  std::vector<std::string> near(const std::string& name, const OptionSet& knobs) const;
  bool takes_text(const std::string& name, const OptionSet& knobs) const;
  const ToolOption* find(const std::string& name) const;

  std::string program_;
  std::string version_;
  std::string summary_;
  std::string finder_;
  std::vector<ToolOption> tool_options_;
  std::vector<Positional> positionals_;
  std::vector<Assignment> knob_values_;
  std::vector<std::string> given_;
  std::string answer_;
};

/// An option's value as it would be written in a file or on a command line.
std::string to_text(const OptionValue& value);

}  // namespace regatta::support
