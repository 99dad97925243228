// SPDX-License-Identifier: Apache-2.0
//
// Configuration: every knob of every module is an option with a name ("l1.mshrs"), a type, a unit, a
// default, a range and a one-line help. Sources, later ones win: default, machine preset (TOML),
// --config files (TOML), command line.
#pragma once

#include <regatta/base/error.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace regatta::support {

/// Bad input or usage: the text is printed unchanged, exit status 2.
class ConfigError : public base::InputError {
 public:
  using base::InputError::InputError;
};

/// A trace that cannot be simulated as it is: an annotation is missing, or its code is another one than the scheme or
/// the machine needs. The tool adds the command that makes one which fits.
class UnfitTrace : public ConfigError {
 public:
  /// `options`: those of regatta-annotate that make the kernel fit, "--max-registers 63"; "": the default ones do.
  explicit UnfitTrace(const std::string& message, std::string options = "")
      : ConfigError(message), options_(std::move(options)) {}
  const std::string& options() const { return options_; }

 private:
  std::string options_;
};

using OptionValue = std::variant<bool, std::int64_t, double, std::string>;

/// One knob. `set` throws ConfigError for bad values; `get` returns the current value.
struct Option {
  std::string name;  ///< "module.knob", lower case, words joined by '_'
  std::string unit;  ///< "cycles", "bytes", "entries", "" ...
  std::string help;  ///< one line, with the source of the default where there is one
  OptionValue default_value;
  std::int64_t minimum = 0;  ///< integers only
  std::int64_t maximum = INT64_MAX;
  std::vector<std::string> choices;  ///< strings only; empty: anything
  char joined_by = 0;                ///< strings with choices: several of them, with this between; 0: one
  bool is_path = false;              ///< path of a .toml file or a built-in name; in a file, relative to that file
  std::function<void(const OptionValue&)> set;
  std::function<OptionValue()> get;
  std::string origin = "default";  ///< default | machine | file | command line
};

/// What `option` takes, without the unit: "1 to 1024", "0 or more", "true or false", "gto, lrr".
std::string range_text(const Option& option);

/// All options of an assembly. Configuration structs declare their members here:
///
///   struct RegisterFileConfig {
///     unsigned banks = 16;
///     void declare(support::OptionSet& o) {
///       o.add("register_file.banks", banks, "banks", "banks of one SM's register file", 1, 1024);
///     }
///   };
///
/// The struct must outlive the set. The values in the struct at declaration are the defaults.
class OptionSet {
 public:
  void add(std::string_view name, unsigned& value, std::string_view unit, std::string_view help,
           std::int64_t minimum = 0, std::int64_t maximum = UINT32_MAX);
  void add(std::string_view name, std::uint64_t& value, std::string_view unit, std::string_view help,
           std::int64_t minimum = 0, std::int64_t maximum = INT64_MAX);
  void add(std::string_view name, double& value, std::string_view unit, std::string_view help);
  void add(std::string_view name, bool& value, std::string_view help);
  void add(std::string_view name, std::string& value, std::string_view help, std::vector<std::string> choices = {});
  /// One of the choices, or several with `joined_by` between them ("finereg+greener").
  void add_joined(std::string_view name, std::string& value, std::string_view help, std::vector<std::string> choices,
                  char joined_by);
  /// A built-in name or the path of a .toml file. Paths in a TOML document are relative to its folder (`beside`).
  void add_path(std::string_view name, std::string& value, std::string_view help);

  const std::vector<Option>& options() const { return options_; }
  /// nullptr if unknown.
  const Option* find(const std::string& name) const;
  /// Sets one option from text, as on a command line. Throws ConfigError: unknown name (with the nearest
  /// known one), wrong type, out of range, not a choice. `origin` and `place` are for the message and the record.
  void set(const std::string& name, const std::string& text, const std::string& origin, const std::string& place);
  /// Sets options from a TOML document: tables are modules, keys are knobs ([l1] mshrs = 32). `file` is for messages,
  /// which have line and column. Top-level tables for which `wanted` is false are ignored.
  void load_toml(const std::string& text, const std::string& file, const std::string& origin,
                 const std::function<bool(const std::string& table)>& wanted = nullptr);
  /// The known name that begins with `name`, or else the nearest one by edit distance, "" if none is near.
  std::string nearest(const std::string& name) const;
  /// `others` are options under other circumstances, which `where` names ("--scheme NAME"): for messages about them.
  void add_absent(const OptionSet& others, const std::string& where);
  /// Where an option or a table of that name is one, as in " (known under --scheme NAME)"; "" if nowhere.
  std::string elsewhere(const std::string& name) const;

 private:
  struct Absent {
    std::string name, where;
  };

  void insert(Option option);
  std::vector<Option> options_;
  std::vector<Absent> absent_;
};

/// The current values as a TOML document that load_toml() reads back from `file`, which may be empty. Unit and origin
/// are comments. `without`: options to omit. Throws ConfigError for text that TOML cannot represent (not UTF-8).
std::string to_toml(const OptionSet& options, const std::string& file, const std::vector<std::string>& without = {});

}  // namespace regatta::support
