// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/pass_options.h>

#include <regatta/base/suggestion.h>
#include <regatta/trace/types.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace regatta::passes {

namespace {

/// "a, b or c"
std::string list_text(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

unsigned whole_number(const std::string& option, const std::string& text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw trace::InputError("error: --" + option + " '" + text + "', expected a whole number");
  return value;
}

}  // namespace

void PassOptions::number(const std::string& name, unsigned& value, const std::string& placeholder,
                         const std::string& help) {
  add({name, placeholder, help, std::to_string(value), {}, PassOption::Kind::number},
      [name, &value](const std::string& text) { value = whole_number(name, text); });
}

void PassOptions::number(const std::string& name, std::optional<unsigned>& value, const std::string& placeholder,
                         const std::string& help) {
  add({name, placeholder, help, value ? std::to_string(*value) : "", {}, PassOption::Kind::number},
      [name, &value](const std::string& text) { value = whole_number(name, text); });
}

void PassOptions::text(const std::string& name, std::optional<std::string>& value, const std::string& placeholder,
                       const std::string& help) {
  add({name, placeholder, help, value.value_or(""), {}, PassOption::Kind::text},
      [&value](const std::string& text) { value = text; });
}

void PassOptions::flag(const std::string& name, bool& value, const std::string& help) {
  add({name, "", help, "", {}, PassOption::Kind::flag}, [name, &value](const std::string& text) {
    if (text != "on") throw trace::InputError("error: --" + name + " '" + text + "', expected no value");
    value = true;
  });
}

bool PassOptions::has(const std::string& name) const {
  return std::any_of(options_.begin(), options_.end(), [&](const PassOption& o) { return o.name == name; });
}

void PassOptions::set(const std::string& name, const std::string& text) const {
  for (std::size_t i = 0; i < options_.size(); ++i) {
    const std::vector<std::string>& choices = options_[i].choices;
    if (options_[i].name != name) continue;
    if (!choices.empty() && std::find(choices.begin(), choices.end(), text) == choices.end())
      throw trace::InputError("error: --" + name + " '" + text + "', expected " + list_text(choices) +
                              base::suggestion(text, choices));
    setters_[i](text);
    return;
  }
  throw std::logic_error("no pass has declared the option '" + name + "'");
}

void PassOptions::add(PassOption option, Setter set) {
  options_.push_back(std::move(option));
  setters_.push_back(std::move(set));
}

}  // namespace regatta::passes
