// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <regatta/base/suggestion.h>
#include <regatta/support/command_line.h>

#include <algorithm>
#include <map>

#include "option_value.h"

namespace regatta::support {
namespace {

constexpr std::size_t help_column = 34;
constexpr std::size_t line_width = 118;

/// "  --name VALUE      help", the help wrapped under itself.
std::string row(const std::string& left, const std::string& help) {
  std::string text = "  " + left;
  if (text.size() + 2 > help_column)
    text += "\n" + std::string(help_column, ' ');
  else
    text.resize(help_column, ' ');
  std::size_t column = help_column;
  std::size_t from = 0;
  while (from < help.size()) {
    const std::size_t space = std::min(help.find(' ', from), help.size());
    const std::string word = help.substr(from, space - from);
    if (column > help_column && column + 1 + word.size() > line_width) {
      text += "\n" + std::string(help_column, ' ');
      column = help_column;
    }
    if (column > help_column) text += " ", ++column;
    text += word;
    column += word.size();
    from = space + 1;
  }
  return text + "\n";
}

std::string module_of(const Option& option) {
  const auto dot = option.name.rfind('.');
  return dot == std::string::npos ? "" : option.name.substr(0, dot);
}

std::string placeholder(const Option& option) {
  if (!option.unit.empty() && option.unit.find(' ') == std::string::npos) return option.unit;
  struct Visitor {
    std::string operator()(bool) const { return "true|false"; }
    std::string operator()(std::int64_t) const { return "N"; }
    std::string operator()(double) const { return "X"; }
    std::string operator()(const std::string&) const { return "TEXT"; }
  };
  return std::visit(Visitor{}, option.default_value);
}

std::string range_of(const Option& option) {
  if (!option.choices.empty()) return expectation(option);
  if (!std::holds_alternative<std::int64_t>(option.default_value)) return "";
  if (option.maximum == INT64_MAX || option.maximum == UINT32_MAX) {
    return option.minimum == 0 ? "" : fmt::format("{} or more", option.minimum);
  }
  return fmt::format("{} to {}", option.minimum, option.maximum);
}

std::string with_default(const std::string& help, const std::string& range, const std::string& value) {
  std::string extra = range;
  if (!value.empty()) extra += (extra.empty() ? "" : "; ") + ("default " + value);
  return extra.empty() ? help : help + " [" + extra + "]";
}

/// What holds without an option: a machine's preset or a file may have said otherwise than the module.
std::string in_force(const Option& option) {
  const std::string value = to_text(option.get());
  if (option.origin == "default" || option.get() == option.default_value) return value;
  if (option.origin == "machine" || option.origin == "paper") return value + ", of the " + option.origin;
  return value + ", of the configuration file";
}

std::string module_page(const std::string& module, const std::vector<const Option*>& options) {
  std::string text = "\n" + (module.empty() ? std::string("general") : module) + ":\n";
  for (const Option* option : options) {
    text += row("--" + option->name + " " + placeholder(*option),
                with_default(option->help, range_of(*option), in_force(*option)));
  }
  return text;
}

std::map<std::string, std::vector<const Option*>> by_module(const OptionSet& knobs) {
  std::map<std::string, std::vector<const Option*>> modules;
  for (const Option& option : knobs.options()) modules[module_of(option)].push_back(&option);
  return modules;
}

}  // namespace

std::string to_text(const OptionValue& value) {
  struct Visitor {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(std::int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return fmt::format("{}", v); }
    std::string operator()(const std::string& v) const { return v; }
  };
  return std::visit(Visitor{}, value);
}

std::string CommandLine::help(const OptionSet& knobs) const {
  std::string text = "usage: " + program_ + " [options]";
  for (const Positional& positional : positionals_) {
    text += positional.required ? " " + positional.placeholder : " [" + positional.placeholder + "]";
  }
  text += "\n" + summary_ + "\n";
  if (!positionals_.empty()) text += "\narguments:\n";
  for (const Positional& positional : positionals_) text += row(positional.placeholder, positional.help);
  text += "\noptions:\n";
  for (const ToolOption& option : tool_options_) {
    std::string value = option.placeholder.empty() ? "" : " " + option.placeholder;
    if (option.optional_value) value = "[=" + option.placeholder + "]";
    const std::string repeat = option.repeatable ? " (may be repeated)" : "";
    text += row("--" + option.name + value, with_default(option.help + repeat, "", option.shown_default));
  }
  text += row("--help", "this page");
  if (!knobs.options().empty()) text += row("--help-module NAME", "the knobs of one module only");
  text += row("--version", "the version");
  for (const auto& [module, options] : by_module(knobs)) text += module_page(module, options);
  return text;
}

std::string CommandLine::help_module(const OptionSet& knobs, const std::string& module) const {
  const auto modules = by_module(knobs);
  const auto found = modules.find(module);
  if (found != modules.end()) return module_page(module, found->second).substr(1);
  std::vector<std::string> names;
  std::string known;
  for (const auto& [name, options] : modules) {
    names.push_back(name);
    known += (known.empty() ? "" : ", ") + name;
  }
  const std::string near = nearest_clause(base::nearest(module, names), knobs.elsewhere(module));
  throw ConfigError("command line: --help-module: unknown module '" + module + "'" + near +
                    (!near.empty() && near.back() == '?' ? " The" : "; the") + " modules are " + known);
}

}  // namespace regatta::support
