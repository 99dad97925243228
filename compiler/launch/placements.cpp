// SPDX-License-Identifier: Apache-2.0
//
// [[pointers]] and [[elements]] tables: what is written into buffers and variables once these have addresses.
#include "parser.h"

namespace regatta::launch {

namespace {

/// Pointers that one table makes, and bytes between them: their product fits.
constexpr std::int64_t most_pointers = std::int64_t{1} << 31, widest_stride = std::int64_t{1} << 31;
constexpr std::uint64_t pointer_bytes = 8;

}  // namespace

void LaunchFileParser::placements(TomlTable& root) {
  for (const toml::table* table : root.tables("elements")) elements(*table);
  for (const toml::table* table : root.tables("pointers")) pointers(*table);
}

void LaunchFileParser::check_placement(TomlTable& t, const Placement& p) const {
  check_fits(t, "in", p.bytes(), p.to);
  check_counters(p.value, nullptr, {});
}

Parameter LaunchFileParser::address(const toml::node& node) {
  Parameter p;
  p.where = TomlTable::position(node);
  p.bytes = p.alignment = pointer_bytes;
  if (node.value_exact<std::int64_t>() == 0) {
    p.type = ir::Type::u64;
    p.bits.push_back(0);
  } else if (node.is_string()) {
    p.kind = Parameter::Kind::buffer;
    p.buffer = find_buffer(*node.value<std::string>(), p.where, false);
  } else if (const toml::table* table = node.as_table()) {
    TomlTable t(out_, *table, "an address");
    pointer(t, p, false, "");
    t.finish();
  } else {
    out_.fail(p.where, "'to' holds " + kind_of(node) +
                           ", expected names of buffers, { buffer = \"...\", offset = ... }, or 0 for a null pointer");
  }
  return p;
}

void LaunchFileParser::pointers(const toml::table& table) {
  TomlTable t(out_, table, "[[pointers]]");
  Placement p;
  p.where = t.where();
  p.to = memory(t, "in", "at");
  std::uint64_t stride = pointer_bytes;
  if (t.has("struct")) {
    const Struct& s = find_struct(t);
    const Field& f = find_field(s, t.required_text("field"), t.where("field"));
    if (f.kind != Field::Kind::pointer) t.fail("field", "field '" + f.name + "' is no pointer");
    p.to.offset += f.at;
    stride = s.bytes;
  }
  if (const auto given = t.integer("stride", pointer_bytes, widest_stride)) {
    stride = static_cast<std::uint64_t>(*given);
  }
  const toml::node* const to = t.node("to");
  if (to == nullptr) t.fail_missing("to", "[[pointers]] has no 'to'");
  if (const toml::array* list = to->as_array()) {
    if (list->empty()) t.fail("to", "'to' is an empty array");
    for (const toml::node& item : *list) {
      p.value = address(item);
      check_placement(t, p);
      out_.placements.push_back(p);
      p.to.offset += stride;
    }
  } else {
    if (!to->is_string()) t.fail("to", "'to' is " + kind_of(*to) + ", expected a buffer's name or an array");
    p.value = address(*to);
    p.stride = stride;
    p.count = static_cast<std::uint64_t>(t.integer("count", 1, most_pointers).value_or(1));
    p.step = static_cast<std::uint64_t>(t.integer("step", 0, widest_stride).value_or(0));
    p.value.buffer_offset = static_cast<std::uint64_t>(t.integer("offset", 0, INT64_MAX).value_or(0));
    const Buffer& b = out_.buffers[p.value.buffer];
    const std::uint64_t way = (p.count - 1) * p.step;
    if (p.value.buffer_offset > b.contents.bytes || way > b.contents.bytes - p.value.buffer_offset) {
      t.fail("to", "address " + std::to_string(p.count - 1) + " is " + std::to_string(p.value.buffer_offset) + " + " +
                       std::to_string(way) + " bytes from the start of buffer '" + b.name + "', which has " +
                       std::to_string(b.contents.bytes));
    }
    check_placement(t, p);
    out_.placements.push_back(std::move(p));
  }
  t.finish();
}

void LaunchFileParser::elements(const toml::table& table) {
  TomlTable t(out_, table, "[[elements]]");
  Placement p;
  p.where = t.where();
  p.to = memory(t, "in", "at");
  const bool is_struct = t.has("struct");
  if (is_struct == t.has("type")) {
    t.fail(std::string("[[elements]] has ") + (is_struct ? "both" : "none") + " of 'struct' and 'type'");
  }
  const Struct* const s = is_struct ? &find_struct(t) : nullptr;
  const ir::Type element = is_struct ? ir::Type::none : type(t, true);
  const std::uint64_t size = is_struct ? s->bytes : ir::size_of(element);
  p.to.offset += size * static_cast<std::uint64_t>(t.integer("first", 0, most_pointers).value_or(0));
  const toml::node* const values = t.node("values");
  if (values == nullptr) t.fail_missing("values", "[[elements]] has no 'values'");
  const toml::array* const list = values->as_array();
  if (list == nullptr || list->empty()) {
    t.fail("values", "'values' is " + (list == nullptr ? kind_of(*values) : "an empty array") +
                         ", expected an array of elements");
  }
  for (const toml::node& item : *list) {
    const Position where = TomlTable::position(item);
    if (is_struct) {
      if (!item.is_table()) {
        out_.fail(where, "'values' holds " + kind_of(item) + ", expected tables of fields of struct '" + s->name + "'");
      }
      p.value = structure_value(*s, *item.as_table(), false, "");
      check_placement(t, p);
      out_.placements.push_back(p);
      p.to.offset += size;
    } else {
      p.value.bits.push_back(scalar_bits(item, element));
    }
  }
  if (!is_struct) {
    p.value.where = p.where;
    p.value.type = element;
    p.value.bytes = size * list->size();
    check_placement(t, p);
    out_.placements.push_back(std::move(p));
  }
  t.finish();
}

}  // namespace regatta::launch
