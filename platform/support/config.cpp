// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/suggestion.h>
#include <regatta/support/config.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <type_traits>

#include "option_value.h"

namespace regatta::support {
namespace {

bool well_formed(const std::string& name) {
  if (name.empty() || name.front() == '.' || name.back() == '.' || name.find("..") != std::string::npos) return false;
  return std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '_' || c == '.';
  });
}

std::string prefixed(const std::string& place, const std::string& message) {
  return place.empty() ? message : place + ": " + message;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// Whether `name` is the option, or a table in which it is.
bool is_or_contains(const std::string& name, const std::string& option) {
  return option == name || option.compare(0, name.size() + 1, name + ".") == 0;
}

/// Adds the name of an option and of the tables in which it is, each once.
void add_with_tables(std::vector<std::string>& names, const std::string& option) {
  for (std::size_t dot = option.find('.');; dot = option.find('.', dot + 1)) {
    const std::string name = option.substr(0, dot);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    if (dot == std::string::npos) return;
  }
}

/// Names of which `name` is the beginning. A module alone begins too many: it needs a part of the knob.
std::vector<std::string> begun_names(const std::string& name, const std::vector<std::string>& names) {
  if (name.find('.') == std::string::npos) return {};
  return base::beginning_with(name, names);
}

std::string knob_of(const std::string& name) { return name.substr(name.rfind('.') + 1); }

/// For a knob given without its module ("mshrs" for "l1.mshrs"), or under a wrong one: the first of `names` with the
/// same knob, or else with the nearest one if `name` has no module; "" if there is none.
std::string nearest_by_knob(const std::string& name, const std::vector<std::string>& names) {
  const auto with_knob = [&](const std::string& knob) -> std::string {
    for (const std::string& known : names) {
      if (knob_of(known) == knob) return known;
    }
    return "";
  };
  const std::string same = with_knob(knob_of(name));
  if (!same.empty() || name.find('.') != std::string::npos) return same;
  std::vector<std::string> knobs;
  for (const std::string& known : names) knobs.push_back(knob_of(known));
  const std::string near = base::nearest(name, knobs);
  return near.empty() ? "" : with_knob(near);
}

/// Whole-text conversions: false when `text` is anything but one value.
bool parse(const std::string& text, std::int64_t& value) {
  const char* first = text.data() + (text.size() > 1 && text[0] == '+' && text[1] != '-' ? 1 : 0);
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(first, last, value);
  return error == std::errc() && end == last;
}

bool parse(const std::string& text, double& value) {
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  return error == std::errc() && end == last;
}

bool parse(const std::string& text, bool& value) {
  for (const char* word : {"true", "on", "yes", "1"}) {
    if (text == word) return value = true, true;
  }
  for (const char* word : {"false", "off", "no", "0"}) {
    if (text == word) return value = false, true;
  }
  return false;
}

}  // namespace

std::string nearest_clause(const std::string& nearest, const std::string& elsewhere) {
  if (!elsewhere.empty()) return elsewhere;
  return nearest.empty() ? std::string() : base::did_you_mean({nearest});
}

std::string range_text(const Option& option) {
  struct Visitor {
    const Option& option;
    std::string operator()(bool) const { return "true or false"; }
    std::string operator()(double) const { return "a number"; }
    std::string operator()(std::int64_t) const {
      const std::string minimum = std::to_string(option.minimum);
      if (option.maximum == INT64_MAX || option.maximum == UINT32_MAX) return minimum + " or more";
      return minimum + " to " + std::to_string(option.maximum);
    }
    std::string operator()(const std::string&) const {
      return option.choices.empty() ? std::string("a text") : joined(option.choices);
    }
  };
  return std::visit(Visitor{option}, option.default_value);
}

std::string expectation(const Option& option) {
  struct Visitor {
    const Option& option;
    std::string operator()(bool) const { return "true or false"; }
    std::string operator()(double) const { return "a finite number"; }
    std::string operator()(std::int64_t) const {
      const std::string minimum = std::to_string(option.minimum);
      if (option.maximum == INT64_MAX) return "an integer of " + minimum + " or more";
      return "an integer from " + minimum + " to " + std::to_string(option.maximum);
    }
    std::string operator()(const std::string&) const {
      return option.choices.empty() ? std::string("a string") : "one of " + joined(option.choices);
    }
  };
  const std::string text = std::visit(Visitor{option}, option.default_value);
  return option.unit.empty() ? text : text + " (" + option.unit + ")";
}

void refuse(const Option& option, const std::string& place, const std::string& found) {
  throw ConfigError(prefixed(place, option.name + ": expected " + expectation(option) + ", found " + found));
}

OptionValue read_text(const Option& option, const std::string& text, const std::string& place) {
  return std::visit(
      [&](auto value) -> OptionValue {
        if constexpr (std::is_same_v<decltype(value), std::string>) {
          return text;
        } else {
          if (!parse(text, value)) refuse(option, place, "'" + text + "'");
          return value;
        }
      },
      option.default_value);
}

void assign(Option& option, const OptionValue& value, const std::string& origin, const std::string& place) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    if (*integer < option.minimum || *integer > option.maximum) refuse(option, place, std::to_string(*integer));
  } else if (const auto* number = std::get_if<double>(&value)) {
    if (!std::isfinite(*number)) refuse(option, place, std::isnan(*number) ? "nan" : (*number > 0 ? "inf" : "-inf"));
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    const auto& choices = option.choices;
    for (std::size_t begin = 0; !choices.empty() && begin <= text->size();) {
      const std::size_t joint = option.joined_by == 0 ? std::string::npos : text->find(option.joined_by, begin);
      const std::size_t end = std::min(joint, text->size());
      const std::string part = text->substr(begin, end - begin);
      if (std::find(choices.begin(), choices.end(), part) == choices.end()) {
        refuse(option, place, "'" + *text + "'" + nearest_clause(base::nearest(part, choices)));
      }
      begin = end + 1;
    }
  }
  option.set(value);
  option.origin = origin;
}

void OptionSet::insert(Option option) {
  if (!well_formed(option.name)) throw std::logic_error("option name '" + option.name + "' is not 'module.knob'");
  if (find(option.name) != nullptr) throw std::logic_error("option '" + option.name + "' is declared twice");
  option.default_value = option.get();
  if (const auto* integer = std::get_if<std::int64_t>(&option.default_value)) {
    if (*integer < option.minimum || *integer > option.maximum) {
      throw std::logic_error("option '" + option.name + "': the default is out of its own range");
    }
  }
  options_.push_back(std::move(option));
}

void OptionSet::add(std::string_view name, unsigned& value, std::string_view unit, std::string_view help,
                    std::int64_t minimum, std::int64_t maximum) {
  Option option;
  option.name = name;
  option.unit = unit;
  option.help = help;
  option.minimum = std::max<std::int64_t>(minimum, 0);
  option.maximum = std::min<std::int64_t>(maximum, UINT32_MAX);
  option.set = [&value](const OptionValue& v) { value = static_cast<unsigned>(std::get<std::int64_t>(v)); };
  option.get = [&value] { return OptionValue(static_cast<std::int64_t>(value)); };
  insert(std::move(option));
}

void OptionSet::add(std::string_view name, std::uint64_t& value, std::string_view unit, std::string_view help,
                    std::int64_t minimum, std::int64_t maximum) {
  Option option;
  option.name = name;
  option.unit = unit;
  option.help = help;
  option.minimum = std::max<std::int64_t>(minimum, 0);
  option.maximum = maximum;
  option.set = [&value](const OptionValue& v) { value = static_cast<std::uint64_t>(std::get<std::int64_t>(v)); };
  option.get = [&value] { return OptionValue(static_cast<std::int64_t>(value)); };
  insert(std::move(option));
}

void OptionSet::add(std::string_view name, double& value, std::string_view unit, std::string_view help) {
  Option option;
  option.name = name;
  option.unit = unit;
  option.help = help;
  option.set = [&value](const OptionValue& v) { value = std::get<double>(v); };
  option.get = [&value] { return OptionValue(value); };
  insert(std::move(option));
}

void OptionSet::add(std::string_view name, bool& value, std::string_view help) {
  Option option;
  option.name = name;
  option.help = help;
  option.set = [&value](const OptionValue& v) { value = std::get<bool>(v); };
  option.get = [&value] { return OptionValue(value); };
  insert(std::move(option));
}

void OptionSet::add(std::string_view name, std::string& value, std::string_view help,
                    std::vector<std::string> choices) {
  Option option;
  option.name = name;
  option.help = help;
  option.choices = std::move(choices);
  option.set = [&value](const OptionValue& v) { value = std::get<std::string>(v); };
  option.get = [&value] { return OptionValue(value); };
  insert(std::move(option));
}

void OptionSet::add_joined(std::string_view name, std::string& value, std::string_view help,
                           std::vector<std::string> choices, char joined_by) {
  add(name, value, help, std::move(choices));
  options_.back().joined_by = joined_by;
}

void OptionSet::add_path(std::string_view name, std::string& value, std::string_view help) {
  add(name, value, help);
  options_.back().is_path = true;
}

const Option* OptionSet::find(const std::string& name) const {
  for (const Option& option : options_) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

std::string OptionSet::nearest(const std::string& name) const {
  std::vector<std::string> names;
  for (const Option& option : options_) names.push_back(option.name);
  const std::vector<std::string> begun = begun_names(name, names);
  if (!begun.empty()) return begun.front();
  const std::string near = base::nearest(name, names);
  return near.empty() ? nearest_by_knob(name, names) : near;
}

void OptionSet::add_absent(const OptionSet& others, const std::string& where) {
  for (const Option& option : others.options()) {
    if (find(option.name) == nullptr) absent_.push_back({option.name, where});
  }
}

std::string OptionSet::elsewhere(const std::string& name) const {
  std::vector<std::string> places;
  for (const Absent& a : absent_) {
    if (is_or_contains(name, a.name) && std::find(places.begin(), places.end(), a.where) == places.end())
      places.push_back(a.where);
  }
  std::string text;
  for (const std::string& place : places) text += (text.empty() ? " (known under " : ", ") + place;
  if (!text.empty()) return text + ")";
  // Names of both kinds compete; those of the present circumstances win a tie.
  std::vector<std::string> present, absent;
  for (const Option& option : options_) add_with_tables(present, option.name);
  for (const Absent& a : absent_) add_with_tables(absent, a.name);
  std::vector<std::string> all = present;
  all.insert(all.end(), absent.begin(), absent.end());
  const std::vector<std::string> begun_here = begun_names(name, present), begun_there = begun_names(name, absent);
  if (!begun_here.empty()) return "";
  std::string near = begun_there.empty() ? base::nearest(name, all) : begun_there.front();
  if (near.empty()) near = nearest_by_knob(name, all);
  if (near.empty() || std::find(present.begin(), present.end(), near) != present.end()) return "";
  for (const Absent& a : absent_) {
    if (!is_or_contains(near, a.name) || std::find(places.begin(), places.end(), a.where) != places.end()) continue;
    places.push_back(a.where);
    text += (text.empty() ? "" : ", ") + a.where;
  }
  return "; did you mean '" + near + "' (under " + text + ")?";
}

void OptionSet::set(const std::string& name, const std::string& text, const std::string& origin,
                    const std::string& place) {
  const auto found = std::find_if(options_.begin(), options_.end(), [&](const Option& o) { return o.name == name; });
  if (found == options_.end()) {
    throw ConfigError(
        prefixed(place, "unknown option '" + name + "'" + nearest_clause(nearest(name), elsewhere(name))));
  }
  assign(*found, read_text(*found, text, place), origin, place);
}

}  // namespace regatta::support
