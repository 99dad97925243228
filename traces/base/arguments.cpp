// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/arguments.h>
#include <regatta/base/error.h>

namespace regatta::base {

namespace {

/// "--cpi" and "-x" look like options; "-", "-1" and "-.5" do not.
bool looks_like_option(const std::string& word) {
  if (word.size() < 2 || word[0] != '-') return false;
  return (word[1] < '0' || word[1] > '9') && word[1] != '.';
}

}  // namespace

void refuse_option_as_value(const std::vector<std::string>& arguments,
                            const std::function<bool(const std::string&)>& needs_value) {
  for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
    const std::string& option = arguments[i];
    const std::string& value = arguments[i + 1];
    if (option == "--") return;
    if (option.size() < 2 || option[0] != '-' || !needs_value(option)) continue;
    if (looks_like_option(value)) {
      throw InputError("option '" + option + "' needs a value, found '" + value +
                       "', which looks like an option; did you mean " + option + (option[1] == '-' ? "=" : "./") +
                       value + "?");
    }
    ++i;
  }
}

std::vector<std::string> words_of_list(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t from = 0, comma = 0; comma != std::string::npos; from = comma + 1) {
    comma = text.find(',', from);
    words.push_back(text.substr(from, comma == std::string::npos ? comma : comma - from));
  }
  return words;
}

}  // namespace regatta::base
