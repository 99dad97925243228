// SPDX-License-Identifier: Apache-2.0
//
// [[struct]] tables: C structures that are declared once, and values of them by the names of their fields.
#include "parser.h"

#include <algorithm>

namespace regatta::launch {

namespace {

constexpr const char* pointer_type = "pointer";
constexpr std::int64_t most_elements = 1 << 20;
constexpr std::uint64_t largest_struct = std::uint64_t{1} << 30;

std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace

void LaunchFileParser::structs(TomlTable& root) {
  for (const toml::table* table : root.tables("struct")) {
    TomlTable t(out_, *table, "[[struct]]");
    Struct s;
    s.name = t.required_text("name");
    if (named_type(s.name) || s.name == pointer_type) {
      t.fail("name", "a struct is called '" + s.name + "', which is a type already");
    }
    for (const Struct& other : structs_) {
      if (other.name == s.name) t.fail("name", "there are two structs called '" + s.name + "'");
    }
    for (const toml::table* of : t.tables("fields")) {
      Field f = field(*of, s.bytes);
      for (const Field& other : s.fields) {
        if (other.name == f.name) {
          out_.fail(TomlTable::position(*of), "struct '" + s.name + "' has two fields called '" + f.name + "'");
        }
      }
      s.bytes = f.at + f.count * f.bytes;
      if (s.bytes > largest_struct) {
        out_.fail(TomlTable::position(*of),
                  "struct '" + s.name + "' has more than " + std::to_string(largest_struct) + " bytes");
      }
      s.alignment = std::max(s.alignment, f.alignment);
      s.fields.push_back(std::move(f));
    }
    if (s.fields.empty()) t.fail(t.has("fields") ? "fields" : "name", "struct '" + s.name + "' has no 'fields'");
    if (const auto alignment = t.integer("alignment", 1, 4096)) {
      const auto given = static_cast<std::uint32_t>(*alignment);
      if (given < s.alignment || (given & (given - 1)) != 0) {
        t.fail("alignment", "'alignment' is " + std::to_string(given) + ", expected a power of two from " +
                                std::to_string(s.alignment) + " on, which the fields need");
      }
      s.alignment = given;
    }
    const std::uint64_t end = s.bytes;
    s.bytes = rounded_up(end, s.alignment);
    if (const auto bytes = t.integer("bytes", 1, static_cast<std::int64_t>(largest_struct))) {
      if (static_cast<std::uint64_t>(*bytes) < end) {
        t.fail("bytes", "'bytes' is " + std::to_string(*bytes) + ", the fields take " + std::to_string(end));
      }
      s.bytes = static_cast<std::uint64_t>(*bytes);
    }
    t.finish();
    structs_.push_back(std::move(s));
  }
}

Field LaunchFileParser::field(const toml::table& table, std::uint64_t end) const {
  TomlTable t(out_, table, "a field");
  Field f;
  f.name = t.required_text("name");
  const std::string type = t.required_text("type");
  if (const auto scalar = named_type(type)) {
    f.type = *scalar;
    f.bytes = f.alignment = ir::size_of(*scalar);
  } else if (type == pointer_type) {
    f.kind = Field::Kind::pointer;
    f.type = ir::Type::u64;
    f.bytes = f.alignment = 8;
  } else {
    const auto known =
        std::find_if(structs_.begin(), structs_.end(), [&](const Struct& other) { return other.name == type; });
    if (known == structs_.end()) {
      std::vector<std::string> names = names_of(structs_);
      names.emplace_back(pointer_type);
      t.fail("type", "unknown type '" + type + "', expected " + type_list + ", pointer, or a [[struct]] above" +
                         base::suggestion(type, names));
    }
    f.kind = Field::Kind::structure;
    f.structure = static_cast<std::size_t>(known - structs_.begin());
    f.bytes = known->bytes;
    f.alignment = known->alignment;
  }
  if (const auto count = t.integer("count", 1, most_elements)) {
    f.is_array = true;
    f.count = static_cast<std::uint64_t>(*count);
  }
  // Without a place of its own a field lies where C puts it.
  f.at = rounded_up(end, f.alignment);
  if (const auto at = t.integer("at", 0, static_cast<std::int64_t>(largest_struct))) {
    f.at = static_cast<std::uint64_t>(*at);
    if (f.at < end) {
      t.fail("at", "field '" + f.name + "' is at byte " + std::to_string(f.at) + ", the one before it ends at " +
                       std::to_string(end));
    }
  }
  t.finish();
  return f;
}

const Struct& LaunchFileParser::find_struct(TomlTable& t) const {
  const std::string name = t.required_text("struct");
  for (const Struct& s : structs_) {
    if (s.name == name) return s;
  }
  t.fail("struct", "no [[struct]] is called '" + name + "'" + base::suggestion(name, names_of(structs_)));
}

const Field& LaunchFileParser::find_field(const Struct& s, const std::string& name, const Position& where) const {
  for (const Field& f : s.fields) {
    if (f.name == name) return f;
  }
  out_.fail(where, "struct '" + s.name + "' has no field '" + name + "'" + base::suggestion(name, names_of(s.fields)));
}

void LaunchFileParser::structure(TomlTable& t, Parameter& p, bool inline_buffers, const std::string& name) {
  const Struct& s = find_struct(t);
  const toml::node* const fields = t.node("fields");
  const Position where = p.where;
  static const toml::table none;
  if (fields != nullptr && !fields->is_table()) {
    t.fail("fields", "'fields' is " + kind_of(*fields) + ", expected a table of fields of struct '" + s.name + "'");
  }
  p = structure_value(s, fields != nullptr ? *fields->as_table() : none, inline_buffers, name);
  p.where = where;
}

Parameter LaunchFileParser::structure_value(const Struct& s, const toml::table& fields, bool inline_buffers,
                                            const std::string& name) {
  Parameter p;
  p.kind = Parameter::Kind::structure;
  p.where = TomlTable::position(fields);
  p.bytes = s.bytes;
  p.alignment = s.alignment;
  for (const auto& [key, value] : fields) {
    const std::string field_name(key.str());
    const auto begin = key.source().begin;
    const Position where{static_cast<std::uint32_t>(begin.line), static_cast<std::uint32_t>(begin.column)};
    const Field& f = find_field(s, field_name, where);
    Parameter m = field_value(f, value, inline_buffers, name + "." + field_name);
    m.at = f.at;
    p.members.push_back(std::move(m));
  }
  return p;
}

Parameter LaunchFileParser::field_value(const Field& f, const toml::node& node, bool inline_buffers,
                                        const std::string& name) {
  if (!f.is_array) return field_element(f, node, inline_buffers, name);
  const Position where = TomlTable::position(node);
  const toml::array* const list = node.as_array();
  const std::string most = std::to_string(f.count);
  if (list == nullptr) {
    out_.fail(where, "field '" + f.name + "' is " + kind_of(node) + ", expected an array of at most " + most);
  }
  if (list->size() > f.count) {
    out_.fail(where,
              "field '" + f.name + "' has " + std::to_string(list->size()) + " elements, expected at most " + most);
  }
  Parameter p;
  p.kind = Parameter::Kind::structure;
  p.where = where;
  p.bytes = f.count * f.bytes;
  for (std::size_t i = 0; i < list->size(); ++i) {
    Parameter m = field_element(f, *list->get(i), inline_buffers, name + "." + std::to_string(i));
    m.at = i * f.bytes;
    p.members.push_back(std::move(m));
  }
  return p;
}

Parameter LaunchFileParser::field_element(const Field& f, const toml::node& node, bool inline_buffers,
                                          const std::string& name) {
  const toml::table* const table = node.as_table();
  const Position where = TomlTable::position(node);
  const std::string what = "field '" + f.name + "'";
  if (f.kind == Field::Kind::structure) {
    if (table == nullptr) {
      out_.fail(where, what + " is " + kind_of(node) + ", expected a table of fields of struct '" +
                           structs_[f.structure].name + "'");
    }
    return structure_value(structs_[f.structure], *table, inline_buffers, name);
  }
  Parameter p;
  p.where = where;
  p.type = f.type;
  p.bytes = f.bytes;
  if (table == nullptr) {
    if (f.kind == Field::Kind::pointer && node.value_exact<std::int64_t>() != 0) {
      out_.fail(where, what + " is " + kind_of(node) + ", expected { buffer = \"...\" }, or 0 for a null pointer");
    }
    p.bits.push_back(scalar_bits(node, f.type));
    return p;
  }
  TomlTable t(out_, *table, what);
  const bool is_pointer = f.kind == Field::Kind::pointer, is_number = !is_pointer;
  const bool has_address = f.bytes == 8 && !ir::is_float(f.type);
  if (has_address && t.has("buffer")) {
    pointer(t, p, inline_buffers, name);
  } else if (has_address && (t.has("texture") || t.has("surface"))) {
    object(t, p);
  } else if (is_number && t.has("counter")) {
    counter(t, p, f.type);
  } else if (is_number && t.has("expression")) {
    expression(t, p, f.type);
  } else {
    const std::string number = "'counter'", address = "'buffer', 'texture' and 'surface'";
    t.fail(what + " has none of " +
           (is_pointer    ? address
            : has_address ? number + ", 'expression', " + address
                          : number + " and 'expression'"));
  }
  t.finish();
  return p;
}

}  // namespace regatta::launch
