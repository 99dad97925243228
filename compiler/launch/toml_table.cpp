// SPDX-License-Identifier: Apache-2.0
#include "toml_table.h"

#include "computed.h"

#include <algorithm>

namespace regatta::launch {

Position TomlTable::position(const toml::node& node) {
  const auto begin = node.source().begin;
  return {static_cast<std::uint32_t>(begin.line), static_cast<std::uint32_t>(begin.column)};
}

Position TomlTable::where(const char* key) const {
  const toml::node* n = table_.get(key);
  return n != nullptr ? position(*n) : where();
}

const toml::node* TomlTable::node(const char* key) {
  known_.emplace_back(key);
  return table_.get(key);
}

std::optional<std::string> TomlTable::text(const char* key) {
  const toml::node* n = node(key);
  if (n == nullptr) return std::nullopt;
  if (!n->is_string()) fail(key, "'" + std::string(key) + "' is " + kind_of(*n) + ", expected a string");
  return n->value<std::string>();
}

void TomlTable::fail_missing(const char* key, const std::string& what) const {
  for (const auto& [other, value] : table_) {
    const std::string name(other.str());
    if (std::find(known_.begin(), known_.end(), name) != known_.end() || base::nearest(name, {key}).empty()) continue;
    const auto begin = other.source().begin;
    file_.fail({static_cast<std::uint32_t>(begin.line), static_cast<std::uint32_t>(begin.column)},
               "unknown key '" + name + "' in " + what_ + base::did_you_mean({key}));
  }
  fail(what);
}

std::string TomlTable::required_text(const char* key) {
  const auto v = text(key);
  if (!v) fail_missing(key, what_ + " has no '" + key + "'");
  if (v->empty()) fail(key, "'" + std::string(key) + "' is empty");
  return *v;
}

std::optional<std::int64_t> TomlTable::integer(const char* key, std::int64_t low, std::int64_t high) {
  const toml::node* n = node(key);
  if (n == nullptr) return std::nullopt;
  std::int64_t v = 0;
  std::string values;
  if (n->is_string()) {
    const Formula f = formula_of(file_, *n);
    check_names(file_, f, "", {});
    v = value_of(file_, f, {});
    values = f.expression.values({});
  } else if (n->is_integer()) {
    v = *n->value<std::int64_t>();
  } else {
    fail(key, "'" + std::string(key) + "' is " + kind_of(*n) + ", expected an integer");
  }
  if (v < low || v > high) {
    fail(key, "'" + std::string(key) + "' is " + std::to_string(v) + ", expected " + std::to_string(low) + " to " +
                  std::to_string(high) + values);
  }
  return v;
}

std::vector<Formula> TomlTable::counting_formula(const char* key) const {
  const toml::node* n = table_.get(key);
  if (n == nullptr || !n->is_string()) return {};
  Formula f = formula_of(file_, *n);
  if (f.expression.is_constant()) return {};
  return {std::move(f)};
}

std::optional<bool> TomlTable::boolean(const char* key) {
  const toml::node* n = node(key);
  if (n == nullptr) return std::nullopt;
  if (!n->is_boolean()) fail(key, "'" + std::string(key) + "' is " + kind_of(*n) + ", expected true or false");
  return n->value<bool>();
}

std::optional<double> TomlTable::number(const char* key) {
  const toml::node* n = node(key);
  if (n == nullptr) return std::nullopt;
  if (!n->is_number()) fail(key, "'" + std::string(key) + "' is " + kind_of(*n) + ", expected a number");
  return n->value<double>();
}

std::vector<const toml::table*> TomlTable::tables(const char* key) {
  std::vector<const toml::table*> result;
  const toml::node* n = node(key);
  if (n == nullptr) return result;
  const toml::array* a = n->as_array();
  if (a == nullptr) fail(key, "'" + std::string(key) + "' is " + kind_of(*n) + ", expected [[" + key + "]] tables");
  for (const toml::node& item : *a) {
    const toml::table* t = item.as_table();
    if (t == nullptr)
      file_.fail(position(item), "'" + std::string(key) + "' holds " + kind_of(item) + ", expected tables");
    result.push_back(t);
  }
  return result;
}

void TomlTable::finish() const {
  for (const auto& [key, value] : table_) {
    const std::string name(key.str());
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    const auto begin = key.source().begin;
    file_.fail({static_cast<std::uint32_t>(begin.line), static_cast<std::uint32_t>(begin.column)},
               "unknown key '" + name + "' in " + what_ + base::suggestion(name, known_));
  }
}

Formula formula_of(const LaunchFile& file, const toml::node& node) {
  Formula f;
  f.where = TomlTable::position(node);
  const std::string text = *node.value<std::string>();
  const toml::source_region& source = node.source();
  f.is_on_line = source.begin.line == source.end.line && source.end.column - source.begin.column == text.size() + 2;
  try {
    f.expression = Expression::parse(text, file.constants);
  } catch (const ExpressionError& e) {
    file.fail(f.at(e.at()), e.what());
  }
  return f;
}

std::string kind_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a floating-point number";
    case toml::node_type::boolean:
      return "a boolean";
    default:
      return "a date or time";
  }
}

}  // namespace regatta::launch
