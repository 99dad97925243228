// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/shell_words.h>
#include <regatta/trace/making.h>

#include <algorithm>

namespace regatta::trace {

namespace {

constexpr const char* program = "regatta-annotate";

/// nullopt if some word is no option.
std::optional<std::vector<Making::Option>> parse(const std::vector<std::string>& words) {
  std::vector<Making::Option> options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string word = words[i] == "-o" ? "--out" : words[i];
    if (word.rfind("--", 0) != 0 || word.size() == 2) return std::nullopt;
    const std::size_t equals = word.find('=');
    Making::Option option{word.substr(2, equals == std::string::npos ? equals : equals - 2), std::nullopt, false};
    if (equals != std::string::npos) {
      option.value = word.substr(equals + 1);
      option.joined = true;
    } else if (i + 1 < words.size() && words[i + 1].rfind('-', 0) != 0) {
      option.value = words[++i];
    }
    options.push_back(std::move(option));
  }
  return options;
}

}  // namespace

std::optional<Making> Making::of(const std::string& producer) {
  const std::optional<std::vector<std::string>> words = base::shell_words(producer);
  // The version stands behind the name.
  if (!words || words->size() < 2 || words->front() != program) return std::nullopt;
  std::optional<std::vector<Option>> options = parse({words->begin() + 2, words->end()});
  if (!options) return std::nullopt;
  Making making;
  making.options_ = *std::move(options);
  if (!making.value("launch")) return std::nullopt;
  return making;
}

std::vector<Making::Option> Making::options_of(const std::string& text) {
  const std::optional<std::vector<std::string>> words = base::shell_words(text);
  return words ? parse(*words).value_or(std::vector<Option>{}) : std::vector<Option>{};
}

std::optional<std::string> Making::value(const std::string& name) const {
  for (const Option& o : options_) {
    if (o.name == name) return o.value;
  }
  return std::nullopt;
}

void Making::set(const std::string& name, const std::string& value) {
  const std::optional<std::string> given = value.empty() ? std::nullopt : std::optional<std::string>(value);
  for (Option& o : options_) {
    if (o.name != name) continue;
    o.value = given;
    return;
  }
  options_.push_back({name, given, false});
}

void Making::add_scheme(const std::string& scheme) {
  const std::string before = value("for").value_or("");
  if (before == "all" || ("," + before + ",").find("," + scheme + ",") != std::string::npos) return;
  set("for", before.empty() ? scheme : before + "," + scheme);
}

void Making::remove(const std::string& name) {
  const auto is_it = [&](const Option& o) { return o.name == name; };
  options_.erase(std::remove_if(options_.begin(), options_.end(), is_it), options_.end());
}

std::vector<std::string> Making::words() const {
  std::vector<std::string> words;
  for (const Option& o : options_) {
    words.push_back("--" + o.name + (o.joined && o.value ? "=" + *o.value : ""));
    if (o.value && !o.joined) words.push_back(*o.value);
  }
  return words;
}

std::string Making::text() const { return program + (" " + base::shell_text(words())); }

}  // namespace regatta::trace
