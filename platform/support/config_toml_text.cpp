// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/command_line.h>
#include <regatta/support/config.h>
#include <regatta/support/toml_path.h>

#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <utility>

#include "option_value.h"

namespace regatta::support {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

/// `path` as `beside(file, ...)` takes it: from the folder of the file that will say it.
std::string seen_from(const std::string& file, const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(file).parent_path();
  if (folder.empty() || folder == "." || !is_toml_path(path) || fs::path(path).is_absolute()) return path;
  std::error_code error;
  const fs::path from_folder = fs::proximate(path, folder, error);
  return error ? fs::absolute(path).string() : from_folder.string();
}

std::string value_text(const Option& option, const std::string& file) {
  const OptionValue value = option.get();
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return to_text(value);
  return quoted(option.is_path ? seen_from(file, *text) : *text);
}

std::string comment(const Option& option) {
  std::string text = option.unit;
  if (option.origin != "default") text += (text.empty() ? "" : ", ") + ("of the " + option.origin);
  return text.empty() ? text : "  # " + text;
}

}  // namespace

std::string to_toml(const OptionSet& options, const std::string& file, const std::vector<std::string>& without) {
  // Tables in the order in which they were declared; the lines of a module need not have been declared together.
  std::vector<std::pair<std::string, std::string>> tables;
  for (const Option& option : options.options()) {
    if (std::find(without.begin(), without.end(), option.name) != without.end()) continue;
    const auto dot = option.name.rfind('.');
    const std::string module = dot == std::string::npos ? "" : option.name.substr(0, dot);
    auto table = std::find_if(tables.begin(), tables.end(), [&](const auto& t) { return t.first == module; });
    // Keys of no table come first: behind a table's head they would be that table's.
    if (table == tables.end()) table = tables.emplace(module.empty() ? tables.begin() : tables.end(), module, "");
    table->second +=
        option.name.substr(dot + 1) + " = " + value_text(option, file) + comment(option) + "\n";  // npos + 1 is 0
  }
  std::string text;
  for (const auto& [module, lines] : tables) {
    if (!text.empty()) text += "\n";
    if (!module.empty()) text += "[" + module + "]\n";
    text += lines;
  }
  require_toml(text);
  return text;
}

}  // namespace regatta::support
