// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/arguments.h>
#include <regatta/base/suggestion.h>
#include <regatta/support/command_line.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <memory>

#include "option_value.h"

namespace po = boost::program_options;

namespace regatta::support {
namespace {

constexpr const char* place = "command line";

/// Long options only, no abbreviations; "-1" stays a value.
constexpr int style = po::command_line_style::allow_long | po::command_line_style::long_allow_adjacent |
                      po::command_line_style::long_allow_next;

[[noreturn]] void fail(const std::string& message) { throw ConfigError(std::string(place) + ": " + message); }

}  // namespace

CommandLine::CommandLine(std::string program, std::string version, std::string summary)
    : program_(std::move(program)), version_(std::move(version)), summary_(std::move(summary)) {}

void CommandLine::flag(const std::string& name, bool& value, const std::string& help, bool when_given) {
  tool_options_.push_back(
      {name, "", help, "", false, false, false, [&value, when_given](const std::string&) { value = when_given; }});
}

void CommandLine::add_scalar(const std::string& name, const std::string& placeholder, const std::string& help,
                             const std::function<void(OptionSet&)>& declare) {
  // A knob gives type, range and choices; only its name is shown as the option's.
  OptionSet one;
  declare(one);
  auto knob = std::make_shared<Option>(one.options().front());
  knob->name = "--" + name;
  const std::string shown = to_text(knob->default_value);
  const bool any_text = std::holds_alternative<std::string>(knob->default_value);
  tool_options_.push_back({name, placeholder, help, shown, false, any_text, false, [knob](const std::string& text) {
                             assign(*knob, read_text(*knob, text, place), place, place);
                           }});
}

void CommandLine::option(const std::string& name, std::string& value, const std::string& placeholder,
                         const std::string& help, std::vector<std::string> choices) {
  add_scalar(name, placeholder, help, [&](OptionSet& o) { o.add("value", value, help, std::move(choices)); });
}

void CommandLine::option(const std::string& name, unsigned& value, const std::string& placeholder,
                         const std::string& help, std::int64_t minimum, std::int64_t maximum) {
  add_scalar(name, placeholder, help, [&](OptionSet& o) { o.add("value", value, "", help, minimum, maximum); });
}

void CommandLine::option(const std::string& name, std::uint64_t& value, const std::string& placeholder,
                         const std::string& help, std::int64_t minimum, std::int64_t maximum) {
  add_scalar(name, placeholder, help, [&](OptionSet& o) { o.add("value", value, "", help, minimum, maximum); });
}

void CommandLine::option(const std::string& name, double& value, const std::string& placeholder,
                         const std::string& help) {
  add_scalar(name, placeholder, help, [&](OptionSet& o) { o.add("value", value, "", help); });
}

void CommandLine::optional_value(const std::string& name, std::string& value, const std::string& placeholder,
                                 const std::string& help) {
  tool_options_.push_back({name, placeholder, help, "", false, true, true, [&value](const std::string& text) {
                             if (!text.empty()) value = text;
                           }});
}

void CommandLine::list(const std::string& name, std::vector<std::string>& values, const std::string& placeholder,
                       const std::string& help) {
  tool_options_.push_back(
      {name, placeholder, help, "", true, true, false, [this, name, &values](const std::string& text) {
         if (!given(name)) values.clear();
         values.push_back(text);
       }});
}

void CommandLine::positional(const std::string& placeholder, std::string& value, const std::string& help,
                             bool required) {
  positionals_.push_back({placeholder, help, required, &value});
}

const CommandLine::ToolOption* CommandLine::find(const std::string& name) const {
  for (const ToolOption& option : tool_options_) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

bool CommandLine::given(const std::string& name) const {
  return std::find(given_.begin(), given_.end(), name) != given_.end();
}

std::vector<std::string> CommandLine::near(const std::string& name, const OptionSet& knobs) const {
  std::vector<std::string> names{"help", "help-module", "version"};
  for (const ToolOption& option : tool_options_) names.push_back(option.name);
  for (const Option& option : knobs.options()) names.push_back(option.name);
  std::vector<std::string> found = base::beginning_with(name, names);
  if (found.empty()) found.push_back(base::nearest(name, names));
  if (found.front().empty()) found.front() = knobs.nearest(name);
  if (found.front().empty()) return {};
  for (std::string& one : found) one.insert(0, "--");
  return found;
}

bool CommandLine::takes_text(const std::string& name, const OptionSet& knobs) const {
  if (const ToolOption* option = find(name)) return option->text;
  const Option* knob = knobs.find(name);
  return knob != nullptr && std::holds_alternative<std::string>(knob->default_value);
}

CommandLine::Split CommandLine::split(int argc, const char* const* argv, const OptionSet& knobs, bool tolerant) const {
  po::options_description known;
  auto add = known.add_options();
  add("help", "")("version", "")("help-module", po::value<std::string>(), "");
  for (const ToolOption& option : tool_options_) {
    if (option.placeholder.empty()) {
      add(option.name.c_str(), "");
    } else if (option.optional_value) {
      add(option.name.c_str(), po::value<std::string>()->implicit_value(""), "");
    } else {
      add(option.name.c_str(), po::value<std::string>(), "");
    }
  }
  for (const Option& option : knobs.options()) add(option.name.c_str(), po::value<std::string>(), "");

  std::vector<std::string> arguments;
  for (int i = 1; i < argc; ++i) arguments.emplace_back(std::string(argv[i]) == "-h" ? "--help" : argv[i]);

  if (!tolerant) {
    try {
      base::refuse_option_as_value(arguments, [&](const std::string& option) {
        if (option.compare(0, 2, "--") != 0) return false;
        const ToolOption* known_option = find(option.substr(2));
        return (known_option == nullptr || !known_option->optional_value) && takes_text(option.substr(2), knobs);
      });
    } catch (const base::InputError& e) {
      fail(e.what());
    }
  }

  Split result;
  try {
    const auto parsed = po::command_line_parser(arguments).options(known).style(style).allow_unregistered().run();
    for (const auto& option : parsed.options) {
      if (option.position_key != -1) {
        for (const std::string& value : option.value) {
          if (value.size() > 1 && value[0] == '-' && !tolerant) {
            fail("unknown option '" + value + "' (options are written --name)");
          }
          result.unnamed.push_back(value);
        }
      } else if (option.unregistered) {
        if (tolerant) continue;
        std::string name = option.string_key;
        name.erase(0, name.find_first_not_of('-'));
        std::string told = knobs.elsewhere(name);
        if (told.empty()) told = base::did_you_mean(near(name, knobs));
        if (told.empty() && !finder_.empty()) told = "; " + finder_;
        fail("unknown option '--" + name + "'" + told);
      } else {
        const std::string& name = option.string_key;
        const bool word_of_its_own = option.original_tokens.size() > 1;
        const ToolOption* known_option = find(name);
        if (word_of_its_own && known_option != nullptr && known_option->optional_value) {
          const std::string& word = option.value.front();
          fail("'--" + name + " " + word + "': write --" + name + "=" + word + " for a value of --" + name +
               ", or put an argument before the option");
        }
        result.named.emplace_back(option.string_key, option.value.empty() ? "" : option.value.front());
      }
    }
  } catch (const po::invalid_command_line_syntax& error) {
    using Kind = po::invalid_command_line_syntax;
    std::string name = error.get_option_name();
    name.erase(0, name.find_first_not_of('-'));
    switch (error.kind()) {
      case Kind::missing_parameter:
      case Kind::empty_adjacent_parameter:
        fail("option '--" + name + "' needs a value");
      case Kind::extra_parameter:
        fail("option '--" + name + "' takes no value");
      default:
        fail("option '--" + name + "' is malformed");
    }
  } catch (const po::error& error) {
    fail(error.what());
  }

  std::vector<std::string> seen;
  for (const auto& [name, value] : result.named) {
    const ToolOption* option = find(name);
    const bool repeatable = option != nullptr && (option->repeatable || option->placeholder.empty());
    if (!repeatable && std::find(seen.begin(), seen.end(), name) != seen.end()) {
      fail("option '--" + name + "' is given twice");
    }
    seen.push_back(name);
  }
  return result;
}

void CommandLine::take_tool_options(const Split& split) {
  given_.clear();
  for (const auto& [name, value] : split.named) {
    if (const ToolOption* option = find(name)) {
      option->set(value);
      given_.push_back(name);
    }
  }
}

void CommandLine::prescan(int argc, const char* const* argv) {
  take_tool_options(split(argc, argv, OptionSet(), true));
}

bool CommandLine::parse(int argc, const char* const* argv, const OptionSet& knobs) {
  const Split line = split(argc, argv, knobs, false);
  knob_values_.clear();
  answer_.clear();
  for (const auto& [name, value] : line.named) {
    if (name == "help") return answer_ = help(knobs), false;
    if (name == "help-module") return answer_ = help_module(knobs, value), false;
    if (name == "version") return answer_ = program_ + " " + version_ + "\n", false;
  }
  take_tool_options(line);
  for (const Assignment& assignment : line.named) {
    if (find(assignment.first) == nullptr) knob_values_.push_back(assignment);
  }
  if (line.unnamed.size() > positionals_.size()) {
    fail("unexpected argument '" + line.unnamed[positionals_.size()] + "'");
  }
  for (std::size_t i = 0; i < positionals_.size(); ++i) {
    if (i < line.unnamed.size()) {
      *positionals_[i].value = line.unnamed[i];
    } else if (positionals_[i].required) {
      fail(positionals_[i].placeholder + " is missing: " + positionals_[i].help + " (--help shows the usage)");
    }
  }
  return true;
}

void CommandLine::apply(OptionSet& knobs) const {
  for (const auto& [name, value] : knob_values_) knobs.set(name, value, "command line", place);
}

}  // namespace regatta::support
