// SPDX-License-Identifier: Apache-2.0
//
// A TOML table read key by key: every key asked for is known, any other is refused with the nearest known one.
#pragma once

#include <regatta/base/suggestion.h>
#include <regatta/launch/launch_file.h>

#include <regatta_tomlpp.h>

#include <optional>
#include <string>
#include <vector>

namespace regatta::launch {

class TomlTable {
 public:
  /// `what` names the table in messages: "[[param]]".
  TomlTable(const LaunchFile& file, const toml::table& table, std::string what)
      : file_(file), table_(table), what_(std::move(what)) {}

  bool has(const char* key) const { return table_.contains(key); }
  const toml::node* node(const char* key);
  std::optional<std::string> text(const char* key);
  /// A number, or an expression of constants.
  std::optional<std::int64_t> integer(const char* key, std::int64_t low, std::int64_t high);
  /// Of a key that is there: its expression, if that is a string and follows counters.
  std::vector<Formula> counting_formula(const char* key) const;
  std::optional<bool> boolean(const char* key);
  std::optional<double> number(const char* key);
  /// An array of tables, empty if the key is not there.
  std::vector<const toml::table*> tables(const char* key);
  std::string required_text(const char* key);

  /// Refuses keys that were not asked for. `hint` is added when a key is known but does not belong here.
  void finish() const;

  Position where() const { return position(table_); }
  Position where(const char* key) const;
  static Position position(const toml::node& node);
  [[noreturn]] void fail(const char* key, const std::string& what) const { file_.fail(where(key), what); }
  [[noreturn]] void fail(const std::string& what) const { file_.fail(where(), what); }
  /// A key is missing; if an unknown one looks like it, that is the error.
  [[noreturn]] void fail_missing(const char* key, const std::string& what) const;
  const std::string& what() const { return what_; }

 private:
  const LaunchFile& file_;
  const toml::table& table_;
  std::string what_;
  std::vector<std::string> known_;
};

/// The expression in a node that is a string. Throws trace::InputError.
Formula formula_of(const LaunchFile& file, const toml::node& node);

/// "an integer", "a string" ... for messages.
std::string kind_of(const toml::node& node);

}  // namespace regatta::launch
