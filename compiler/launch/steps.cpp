// SPDX-License-Identifier: Apache-2.0
//
// [[step]] tables: what the host does, in order.
#include "computed.h"
#include "parser.h"

#include <regatta/launch/program.h>

#include <algorithm>

namespace regatta::launch {

namespace {

constexpr const char* step_kinds =
    "'run', 'repeat', 'while', 'swap', 'fill', 'copy', 'load', 'allocate', 'free', 'create' and 'destroy'";

}  // namespace

std::vector<Step> LaunchFileParser::steps(TomlTable& t, std::vector<std::string>& counters, unsigned depth) {
  std::vector<Step> result;
  for (const toml::table* table : t.tables(depth == 0 ? "step" : "steps"))
    result.push_back(step(*table, counters, depth));
  return result;
}

Step LaunchFileParser::step(const toml::table& table, std::vector<std::string>& counters, unsigned depth) {
  TomlTable t(out_, table, "[[step]]");
  Step s;
  s.where = t.where();
  std::string kind;
  for (const char* key :
       {"run", "repeat", "while", "swap", "fill", "copy", "load", "allocate", "free", "create", "destroy"}) {
    if (!t.has(key)) continue;
    if (!kind.empty()) t.fail("[[step]] has more than one of " + std::string(step_kinds));
    kind = key;
  }
  if (kind.empty()) t.fail("[[step]] has none of " + std::string(step_kinds));
  if (kind == "run") {
    run_step(t, s, counters);
  } else if (kind == "swap") {
    swap_step(t, s);
  } else if (kind == "copy") {
    copy_step(t, s);
  } else if (kind == "repeat" || kind == "while") {
    loop_step(t, s, counters, depth);
  } else if (kind != "fill" && kind != "load") {
    lifetime_step(t, s, kind.c_str());
  } else {
    fill_step(t, s, kind == "fill" ? "fill" : "load");
  }
  t.finish();
  return s;
}

void LaunchFileParser::run_step(TomlTable& t, Step& s, const std::vector<std::string>& counters) const {
  const std::string name = t.required_text("run");
  const auto known = launches_.find(name);
  if (known == launches_.end())
    t.fail("run", "no [[launch]] is called '" + name + "'" + base::suggestion(name, names_of(out_.launches)));
  s.launch = known->second;
  check_counters(s, counters);
}

void LaunchFileParser::swap_step(TomlTable& t, Step& s) const {
  s.kind = Step::Kind::swap;
  const toml::array* pair = t.node("swap")->as_array();
  if (pair == nullptr || pair->size() != 2 || !pair->get(0)->is_string() || !pair->get(1)->is_string()) {
    t.fail("swap", "'swap' needs the names of two buffers: swap = [\"a\", \"b\"]");
  }
  s.first = find_buffer(*pair->get(0)->value<std::string>(), TomlTable::position(*pair->get(0)), false);
  s.second = find_buffer(*pair->get(1)->value<std::string>(), TomlTable::position(*pair->get(1)), false);
  if (out_.buffers[s.first].contents.bytes != out_.buffers[s.second].contents.bytes) {
    t.fail("swap", "'" + out_.buffers[s.first].name + "' and '" + out_.buffers[s.second].name + "' differ in size");
  }
}

void LaunchFileParser::fill_step(TomlTable& t, Step& s, const char* kind) {
  s.kind = Step::Kind::fill;
  if (names_array(t, kind)) return fill_array_step(t, s, kind);
  s.to = memory(t, kind, "offset");
  if (std::string(kind) == "load") {
    s.contents.fill.init = Init::file;
    s.contents.file = path(t.required_text("file"));
    s.contents.bytes = static_cast<std::uint64_t>(t.integer("bytes", 1, most_bytes).value_or(0));
    s.contents.file_offset = static_cast<std::uint64_t>(t.integer("file_offset", 0, INT64_MAX).value_or(0));
    s.contents.is_part = t.has("file_offset");
    if (s.contents.is_part && s.contents.bytes == 0) t.fail("file_offset", "'file_offset' needs 'bytes'");
  } else {
    s.contents = contents(t, "bytes");
    if (s.contents.fill.init == Init::none) t.fail("init", "init = \"none\" is no contents to fill memory with");
  }
  if (s.contents.bytes == 0 && s.contents.fill.init == Init::file) size_from_file(t, s.contents);
  s.bytes = s.contents.bytes;
  if (s.bytes == 0) s.bytes = rest_of(s.to);
  const unsigned size = ir::size_of(s.contents.fill.type);
  if (s.bytes % size != 0) {
    t.fail("type", "the " + std::to_string(s.bytes) + " bytes of buffer '" + out_.buffers[s.to.index].name +
                       "' are no whole number of " + ir::to_string(s.contents.fill.type) + " elements of " +
                       std::to_string(size) + " bytes");
  }
  check_fits(t, t.has("bytes") ? "bytes" : t.has("file") ? "file" : kind, s.bytes, s.to);
}

void LaunchFileParser::copy_step(TomlTable& t, Step& s) const {
  s.kind = Step::Kind::copy;
  if (names_array(t, "copy") || names_array(t, "to")) return copy_array_step(t, s);
  s.from = memory(t, "copy", "offset");
  s.to = memory(t, "to", "to_offset");
  const auto given = t.integer("bytes", 1, most_bytes);
  s.bytes = given ? static_cast<std::uint64_t>(*given) : rest_of(s.from);
  const char* const key = t.has("bytes") ? "bytes" : "copy";
  check_fits(t, key, s.bytes, s.from);
  check_fits(t, key, s.bytes, s.to);
}

void LaunchFileParser::loop_step(TomlTable& t, Step& s, std::vector<std::string>& counters, unsigned depth) {
  if (depth == max_depth) t.fail("steps are nested more than " + std::to_string(max_depth) + " deep");
  if (t.has("repeat")) {
    s.kind = Step::Kind::repeat;
    s.formula = t.counting_formula("repeat");
    for (const Formula& f : s.formula) check_names(out_, f, "the loop", counters);
    const bool is_known = s.formula.empty();
    if (is_known) s.times = static_cast<std::uint64_t>(*t.integer("repeat", 0, INT64_MAX));
    if (!is_known) t.node("repeat");
  } else {
    while_flag(t, s);
  }
  s.counter = t.text("counter").value_or("");
  if (!s.counter.empty()) {
    if (out_.constants.count(s.counter) != 0)
      t.fail("counter", "'" + s.counter + "' is a constant: count by another name");
    if (std::find(counters.begin(), counters.end(), s.counter) != counters.end()) {
      t.fail("counter", "an enclosing loop already counts '" + s.counter + "'");
    }
    counters.push_back(s.counter);
  }
  s.steps = steps(t, counters, depth + 1);
  if (!s.counter.empty()) counters.pop_back();
  if (s.steps.empty()) t.fail("a loop without steps: give it 'steps = [...]'");
}

void LaunchFileParser::while_flag(TomlTable& t, Step& s) const {
  s.kind = Step::Kind::loop_while;
  s.flag = memory(t, "while", "offset");
  s.max = static_cast<std::uint64_t>(t.integer("max", 1, INT64_MAX).value_or(1000000));
  if (const auto given = t.integer("bytes", 1, 8)) {
    s.bytes = static_cast<std::uint64_t>(*given);
    if (s.bytes != default_flag_bytes(s.bytes))
      t.fail("bytes", "a flag of " + std::to_string(s.bytes) + " bytes, expected 1, 2, 4 or 8");
    check_fits(t, "bytes", s.bytes, s.flag);
  } else if (const std::uint64_t rest = rest_of(s.flag); rest != 0) {
    s.bytes = default_flag_bytes(rest);
    if (rest < s.bytes) {
      t.fail("while", "the flag buffer '" + out_.buffers[s.flag.index].name + "' has " + std::to_string(rest) +
                          " bytes; give the flag's as bytes = 1 or 2");
    }
  }
}

void LaunchFileParser::lifetime_step(TomlTable& t, Step& s, const char* kind) {
  const std::string word = kind;
  s.kind = word == "free" || word == "destroy" ? Step::Kind::release : Step::Kind::allocate;
  const bool begins = s.kind == Step::Kind::allocate;
  if (word == "create" || word == "destroy") {
    s.item = object_item(t, kind);
    if (!begins) return;
    const bool is_texture = s.item.kind == Item::Kind::texture;
    (is_texture ? out_.textures[s.item.index].from_step : out_.surfaces[s.item.index].from_step) = true;
  } else if (names_array(t, kind)) {
    s.item = {Item::Kind::array, arrays_.at(t.required_text(kind))};
    if (begins) out_.arrays[s.item.index].data.from_step = true;
  } else {
    s.item.index = find_buffer(t.required_text(kind), t.where(kind), false);
    if (begins) out_.buffers[s.item.index].from_step = true;
  }
}

Memory LaunchFileParser::memory(TomlTable& t, const char* key, const char* offset_key) const {
  Memory m;
  const std::string name = t.required_text(key);
  const auto variable = globals_.find(name);
  if (variable != globals_.end() && buffers_.count(name) == 0) m.kind = Memory::Kind::variable;
  m.index = m.is_variable() ? variable->second : find_buffer(name, t.where(key), false);
  m.offset = static_cast<std::uint64_t>(t.integer(offset_key, 0, most_bytes).value_or(0));
  if (!m.is_variable() && rest_of(m) == 0) {
    t.fail(offset_key, "'" + std::string(offset_key) + "' is " + std::to_string(m.offset) + ", buffer '" + name +
                           "' has " + std::to_string(out_.buffers[m.index].contents.bytes) + " bytes");
  }
  return m;
}

std::uint64_t LaunchFileParser::rest_of(const Memory& m) const {
  const std::uint64_t bytes = m.is_variable() ? 0 : out_.buffers[m.index].contents.bytes;
  return m.offset < bytes ? bytes - m.offset : 0;
}

void LaunchFileParser::check_fits(TomlTable& t, const char* key, std::uint64_t bytes, const Memory& m) const {
  if (m.is_variable() || bytes <= rest_of(m)) return;
  const Buffer& b = out_.buffers[m.index];
  t.fail(key, std::to_string(bytes) + " bytes from byte " + std::to_string(m.offset) + " on, buffer '" + b.name +
                  "' has " + std::to_string(b.contents.bytes));
}

}  // namespace regatta::launch
