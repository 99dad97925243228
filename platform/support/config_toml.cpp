// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/suggestion.h>
#include <regatta/support/config.h>
#include <regatta/support/toml_path.h>

#include <regatta_tomlpp.h>
#include <algorithm>
#include <set>
#include <sstream>

#include "option_value.h"

namespace regatta::support {
namespace {

std::string place_of(const std::string& file, const toml::source_region& region) {
  return file + ":" + std::to_string(region.begin.line) + ":" + std::to_string(region.begin.column);
}

/// A value as written, for messages.
std::string shown(const toml::node& node) {
  if (node.is_array()) return "an array";
  if (node.is_table()) return "a table";
  if (const auto* text = node.as_string()) return "'" + text->get() + "'";
  std::ostringstream out;
  node.visit([&](const auto& value) {
    if constexpr (toml::is_value<decltype(value)>) out << value;
  });
  return out.str();
}

struct Entry {
  std::string name;
  const toml::key* key;
  const toml::node* value;
};

class Loader {
 public:
  Loader(const std::vector<Option>& options, const OptionSet& set, const std::string& file) : set_(set), file_(file) {
    for (const Option& option : options) {
      for (auto dot = option.name.find('.'); dot != std::string::npos; dot = option.name.find('.', dot + 1)) {
        tables_.insert(option.name.substr(0, dot));
      }
    }
  }

  void collect(const toml::table& table, const std::string& prefix,
               const std::function<bool(const std::string&)>& wanted = nullptr) {
    for (auto&& [key, node] : table) {
      if (wanted && !wanted(std::string(key.str()))) continue;
      const std::string name = prefix + std::string(key.str());
      const bool known_option = set_.find(name) != nullptr;
      if (const auto* inner = node.as_table(); inner != nullptr && !known_option) {
        if (tables_.count(name) == 0) {
          const std::vector<std::string> known(tables_.begin(), tables_.end());
          throw ConfigError(place_of(file_, key.source()) + ": unknown table '" + name + "'" +
                            nearest_clause(base::nearest(name, known), set_.elsewhere(name)));
        }
        collect(*inner, name + ".");
      } else {
        if (!known_option && tables_.count(name) != 0) {
          throw ConfigError(place_of(file_, node.source()) + ": " + name + ": found " + shown(node) +
                            ", expected a table of options: [" + name + "]");
        }
        if (!known_option) {
          throw ConfigError(place_of(file_, key.source()) + ": unknown option '" + name + "'" +
                            nearest_clause(set_.nearest(name), set_.elsewhere(name)));
        }
        entries_.push_back({name, &key, &node});
      }
    }
  }

  /// In the order of the text, so that the first message is about the first mistake.
  std::vector<Entry> entries() {
    std::sort(entries_.begin(), entries_.end(),
              [](const Entry& a, const Entry& b) { return a.key->source().begin < b.key->source().begin; });
    return entries_;
  }

 private:
  const OptionSet& set_;
  const std::string& file_;
  std::set<std::string> tables_;
  std::vector<Entry> entries_;
};

OptionValue read(const Option& option, const toml::node& node, const std::string& place, const std::string& file) {
  const OptionValue& like = option.default_value;
  if (std::holds_alternative<bool>(like)) {
    if (const auto* value = node.as_boolean()) return value->get();
  } else if (std::holds_alternative<std::int64_t>(like)) {
    if (const auto* value = node.as_integer()) return static_cast<std::int64_t>(value->get());
  } else if (std::holds_alternative<double>(like)) {
    if (const auto* value = node.as_floating_point()) return value->get();
    if (const auto* value = node.as_integer()) return static_cast<double>(value->get());
  } else if (const auto* value = node.as_string()) {
    return option.is_path ? beside(file, value->get()) : value->get();
  }
  refuse(option, place, shown(node));
}

}  // namespace

void require_toml(const std::string& text) {
  try {
    static_cast<void>(toml::parse(text));
  } catch (const toml::parse_error& error) {
    throw ConfigError("the configuration cannot be written as TOML: line " + std::to_string(error.source().begin.line) +
                      ": " + std::string(error.description()));
  }
}

void OptionSet::load_toml(const std::string& text, const std::string& file, const std::string& origin,
                          const std::function<bool(const std::string& table)>& wanted) {
  toml::table document;
  try {
    document = toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    throw ConfigError(place_of(file, error.source()) + ": not valid TOML: " + std::string(error.description()));
  }
  Loader loader(options_, *this, file);
  loader.collect(document, "", wanted);
  for (const Entry& entry : loader.entries()) {
    const auto option =
        std::find_if(options_.begin(), options_.end(), [&](const Option& o) { return o.name == entry.name; });
    const std::string place = place_of(file, entry.value->source());
    assign(*option, read(*option, *entry.value, place, file), origin, place);
  }
}

}  // namespace regatta::support
