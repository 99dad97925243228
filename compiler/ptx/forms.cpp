// SPDX-License-Identifier: Apache-2.0
#include "forms.h"

#include "form_tables.h"
#include "lowering.h"
#include "parser.h"

#include <algorithm>
#include <unordered_map>

namespace regatta::ptx {
namespace {

std::vector<Form> make_forms() {
  std::vector<Form> all;
  for (const auto& table :
       {integer_forms, float_forms, half_forms, logic_forms, move_forms, packed_forms, video_forms, memory_forms,
        texture_forms, warp_forms, tensor_forms, group_forms, control_forms, cluster_forms, async_forms}) {
    const std::vector<Form> forms = table();
    all.insert(all.end(), forms.begin(), forms.end());
  }
  return all;
}

struct Row {
  const Form* form;
  std::vector<std::string> required;
  std::vector<ir::Type> types, second_types;
  std::vector<std::string> lists;  ///< of types
};

std::vector<std::string> split(const char* text, char separator) {
  std::vector<std::string> parts;
  std::string part;
  for (const char* c = text; *c != '\0'; ++c) {
    if (*c != separator) {
      part += *c;
    } else {
      parts.push_back(std::move(part));
      part.clear();
    }
  }
  if (!part.empty()) parts.push_back(std::move(part));
  return parts;
}

std::vector<ir::Type> types_of(const char* text) {
  std::vector<ir::Type> types;
  for (const std::string& name : split(text, ' ')) types.push_back(type_named(name));
  return types;
}

using Index = std::unordered_map<std::string_view, std::vector<Row>>;

const Index& index() {
  static const Index table = [] {
    Index t;
    for (const Form& f : forms()) {
      Row row{&f, split(f.name, '.'), {}, {}, {}};
      if (*f.types == '*') {
        row.lists = split(f.types + 1, ' ');
      } else {
        row.types = types_of(f.types);
        row.second_types = types_of(f.second_types);
      }
      row.required.erase(row.required.begin());
      const std::string_view name(f.name);
      t[name.substr(0, name.find('.'))].push_back(std::move(row));
    }
    return t;
  }();
  return table;
}

bool contains(const std::vector<ir::Type>& list, ir::Type t) {
  for (ir::Type x : list)
    if (x == t) return true;
  return false;
}

/// The range of operand counts a form takes.
std::pair<std::size_t, std::size_t> operand_range(const Form& f) {
  const std::string text = f.operands;
  if (text.size() == 4 && text[1] == '.')
    return {static_cast<std::size_t>(text[0] - '0'), static_cast<std::size_t>(text[3] - '0')};
  return {text.size(), text.size()};
}

/// Whether the modifiers that are no part of the row's name and options are one of its lists of types.
bool has_listed_types(const Row& row, const Statement& s) {
  std::vector<std::string> required = row.required;
  std::string types;
  for (const std::string& m : s.modifiers) {
    if (const auto at = std::find(required.begin(), required.end(), m); at != required.end()) {
      required.erase(at);
    } else if (!is_option(row.form->options, m)) {
      types += (types.empty() ? "" : ".") + m;
    }
  }
  return required.empty() && std::find(row.lists.begin(), row.lists.end(), types) != row.lists.end();
}

bool has_operands(const Row& row, const Statement& s) {
  const auto [low, high] = operand_range(*row.form);
  return s.operands.size() >= low && s.operands.size() <= high;
}

/// How well a statement's modifiers fit a row.
enum class Fit { no, modifiers_only, yes };

Fit fit(const Row& row, const Statement& s, std::vector<ir::Type>& types) {
  types.clear();
  if (!row.lists.empty()) {
    if (!has_listed_types(row, s)) return Fit::no;
    return has_operands(row, s) ? Fit::yes : Fit::modifiers_only;
  }
  for (const std::string& r : row.required) {
    bool found = false;
    for (const std::string& m : s.modifiers) found = found || m == r;
    if (!found) return Fit::no;
  }
  for (const std::string& m : s.modifiers) {
    if (std::find(row.required.begin(), row.required.end(), m) != row.required.end()) continue;
    if (is_option(row.form->options, m)) continue;
    const ir::Type t = type_named(m);
    if (t == ir::Type::none) return Fit::no;
    types.push_back(t);
  }
  const std::size_t wanted = (row.types.empty() ? 0u : 1u) + (row.second_types.empty() ? 0u : 1u);
  if (types.size() != wanted) return Fit::no;
  if (wanted > 0 && !contains(row.types, types[0])) return Fit::no;
  if (wanted > 1 && !contains(row.second_types, types[1])) return Fit::no;
  return has_operands(row, s) ? Fit::yes : Fit::modifiers_only;
}

}  // namespace

const std::vector<Form>& forms() {
  static const std::vector<Form> table = make_forms();
  return table;
}

bool is_known_mnemonic(std::string_view mnemonic) { return index().count(mnemonic) != 0; }

const Form& match_form(const Statement& s, const std::string& file, ir::Instruction& proto) {
  const auto rows = index().find(s.mnemonic);
  if (s.unparsed || rows == index().end()) fail(file, s.at, refusal(s));
  std::vector<ir::Type> types;
  const Form* near = nullptr;
  for (const Row& row : rows->second) {
    const Fit f = fit(row, s, types);
    if (f == Fit::modifiers_only && near == nullptr) near = row.form;
    if (f != Fit::yes) continue;
    proto.op = row.form->op;
    if (!types.empty()) proto.type = types[0];
    if (types.size() > 1) proto.source_type = types[1];
    for (const std::string& m : s.modifiers)
      if (type_named(m) == ir::Type::none) apply_option(proto, m);
    return *row.form;
  }
  if (near == nullptr || is_refused_form(s)) fail(file, s.at, refusal(s));
  const auto [low, high] = operand_range(*near);
  fail(file, s.at,
       "'" + s.name + "' has " + std::to_string(s.operands.size()) + " operands, expected " + std::to_string(low) +
           (high != low ? " to " + std::to_string(high) : ""));
}

}  // namespace regatta::ptx
