// SPDX-License-Identifier: Apache-2.0
#include "parser.h"

#include <regatta/launch/program.h>

#include <algorithm>

namespace regatta::launch {

namespace {

constexpr std::array<std::uint32_t, 3> grid_limit{0x7fffffffu, 65535, 65535};
constexpr std::array<std::uint32_t, 3> block_limit{1024, 1024, 64};
constexpr unsigned max_depth = 16;
constexpr std::int64_t most_bytes = std::int64_t{1} << 40;
constexpr const char* step_kinds = "'run', 'repeat', 'while', 'swap', 'fill', 'copy', 'load', 'allocate' and 'free'";
/// Bytes of a kernel's parameters (CUDA 12.1 and later).
constexpr std::int64_t max_parameter_bytes = 32764;

template <class T>
std::vector<std::string> names_of(const std::vector<T>& items) {
  std::vector<std::string> names;
  for (const T& item : items) names.push_back(item.name);
  return names;
}

}  // namespace

void LaunchFileParser::parse(const toml::table& root_table) {
  TomlTable root(out_, root_table, "the launch file");
  const bool is_program = root.has("launch");
  ptx_files(root, is_program);
  for (const toml::table* table : root.tables("global")) global(*table);
  arrays(root);
  name_textures(root);
  if (is_program) {
    for (const char* key : {"entry", "grid", "block", "dynamic_shared", "cooperative", "registers", "param"}) {
      if (root.has(key))
        root.fail(key, "'" + std::string(key) + "' belongs into a [[launch]] table, since there are such");
    }
    program(root);
  } else {
    for (const char* key : {"buffer", "step"}) {
      if (root.has(key)) root.fail(key, "[[" + std::string(key) + "]] tables need at least one [[launch]] table");
    }
    single(root);
  }
  textures(root, !is_program);
  root.finish();
}

void LaunchFileParser::global(const toml::table& table) {
  TomlTable t(out_, table, "[[global]]");
  Global g;
  g.where = t.where();
  g.name = t.required_text("name");
  g.symbol = t.text("symbol").value_or(g.name);
  g.module = module(t);
  if (const toml::node* init = t.node("init"); init != nullptr && init->value<std::string>() == "module") {
    g.contents.fill.init = Init::none;
  } else {
    g.contents = contents(t, "bytes");
    if (g.contents.fill.init == Init::none)
      t.fail("init", "init = \"none\" is for buffers: a variable is zero or initialised");
  }
  t.finish();
  globals_.emplace(g.name, out_.globals.size());
  out_.globals.push_back(std::move(g));
}

void LaunchFileParser::ptx_files(TomlTable& root, bool is_program) {
  // Launches may have files of their own, all of them or some.
  std::vector<std::string> own;
  bool all_named = is_program && !root.tables("launch").empty();
  for (const toml::table* l : is_program ? root.tables("launch") : std::vector<const toml::table*>{}) {
    const toml::node* name = l->get("ptx");
    all_named = all_named && name != nullptr;
    if (name != nullptr && name->is_string()) own.push_back(*name->value<std::string>());
  }
  const toml::node* node = root.node("ptx");
  if (const toml::array* list = node != nullptr ? node->as_array() : nullptr) {
    for (const toml::node& item : *list) {
      const auto name = item.is_string() ? item.value<std::string>() : std::nullopt;
      const Position where = TomlTable::position(item);
      if (!name) out_.fail(where, "'ptx' holds " + kind_of(item) + ", expected names of files");
      if (name->empty()) out_.fail(where, "'ptx' holds an empty name");
      add_ptx(*name);
    }
    if (out_.ptx.empty()) root.fail("ptx", "'ptx' is an empty array");
  } else if (node != nullptr || !all_named) {
    add_ptx(root.required_text("ptx"));
  }
  for (const std::string& name : own) add_ptx(name);
}

std::size_t LaunchFileParser::add_ptx(const std::string& name) {
  const std::string file = path(name);
  const auto [known, is_new] = ptx_.try_emplace(file, out_.ptx.size());
  if (is_new) out_.ptx.push_back(file);
  return known->second;
}

std::optional<std::size_t> LaunchFileParser::module(TomlTable& t) {
  if (!t.has("ptx")) return std::nullopt;
  return add_ptx(t.required_text("ptx"));
}

void LaunchFileParser::single(TomlTable& root) {
  Launch launch;
  launch.where = root.where();
  launch.entry = root.required_text("entry");
  launch.entry_where = root.where("entry");
  launch.name = launch.entry;
  geometry(root, launch);
  parameters(root, launch, true);
  out_.launches.push_back(std::move(launch));
  Step run;
  run.where = root.where();
  out_.steps.push_back(run);
}

void LaunchFileParser::program(TomlTable& root) {
  for (const toml::table* table : root.tables("buffer")) {
    TomlTable t(out_, *table, "[[buffer]]");
    Buffer b = buffer(t, "bytes", "");
    t.finish();
    add_buffer(std::move(b));
  }
  for (const toml::table* table : root.tables("launch")) {
    TomlTable t(out_, *table, "[[launch]]");
    Launch launch;
    launch.where = t.where();
    launch.entry = t.required_text("entry");
    launch.entry_where = t.where("entry");
    launch.module = module(t);
    launch.name = t.text("name").value_or(launch.entry);
    if (!launches_.emplace(launch.name, out_.launches.size()).second)
      t.fail("there are two launches called '" + launch.name + "'; give one a 'name'");
    launch.traced = t.boolean("trace").value_or(true);
    geometry(t, launch);
    parameters(t, launch, false);
    t.finish();
    out_.launches.push_back(std::move(launch));
  }
  std::vector<std::string> counters;
  if (root.has("step")) {
    out_.steps = steps(root, counters, 0);
    return;
  }
  for (std::size_t i = 0; i < out_.launches.size(); ++i) {
    Step run;
    run.launch = i;
    run.where = out_.launches[i].where;
    check_counters(run, counters);
    out_.steps.push_back(run);
  }
}

void LaunchFileParser::geometry(TomlTable& t, Launch& launch) {
  const auto grid = t.dimensions("grid", grid_limit), block = t.dimensions("block", block_limit);
  if (!grid) t.fail_missing("grid", t.what() + " has no 'grid'");
  if (!block) t.fail_missing("block", t.what() + " has no 'block'");
  launch.grid = *grid;
  launch.block = *block;
  const std::uint32_t threads = launch.block[0] * launch.block[1] * launch.block[2];
  if (threads > 1024) {
    t.fail("block", "a block of " + std::to_string(launch.block[0]) + " x " + std::to_string(launch.block[1]) + " x " +
                        std::to_string(launch.block[2]) + " has " + std::to_string(threads) +
                        " threads, expected at most 1024");
  }
  launch.dynamic_shared = static_cast<std::uint32_t>(t.integer("dynamic_shared", 0, max_shared_bytes).value_or(0));
  launch.cooperative = t.boolean("cooperative").value_or(false);
  launch.registers = static_cast<std::uint32_t>(t.integer("registers", 1, trace::max_general_registers).value_or(0));
}

void LaunchFileParser::parameters(TomlTable& t, Launch& launch, bool inline_buffers) {
  for (const toml::table* table : t.tables(inline_buffers ? "param" : "params")) {
    const std::string name = "param" + std::to_string(launch.parameters.size());
    launch.parameters.push_back(parameter(*table, inline_buffers, name, 0));
  }
}

Parameter LaunchFileParser::parameter(const toml::table& table, bool inline_buffers, const std::string& name,
                                      unsigned depth) {
  TomlTable t(out_, table, depth != 0 ? "a member" : inline_buffers ? "[[param]]" : "[[launch.params]]");
  Parameter p;
  p.where = t.where();
  int kinds = 0;
  for (const char* key : {"scalar", "buffer", "counter", "members", "texture", "surface"}) kinds += int{t.has(key)};
  // A buffer that has its size from its contents needs no 'buffer'.
  const bool from_file = kinds == 0 && inline_buffers && t.has("init") && t.has("file");
  if (kinds != 1 && !from_file) {
    t.fail(
        t.what() + (kinds == 0 ? " has none" : " has more than one") + " of 'scalar', 'buffer'" +
        (inline_buffers ? ", 'texture', 'surface' and 'members'" : ", 'counter', 'texture', 'surface' and 'members'"));
  }
  if (t.has("scalar")) {
    p.kind = Parameter::Kind::scalar;
    p.type = type(t, true);
    const toml::node& value = *t.node("scalar");
    if (const toml::array* list = value.as_array()) {
      if (list->empty()) t.fail("scalar", "'scalar' is an empty array");
      for (const toml::node& item : *list) p.bits.push_back(scalar_bits(item, p.type));
    } else {
      p.bits.push_back(scalar_bits(value, p.type));
    }
    p.bytes = p.bits.size() * ir::size_of(p.type);
    p.alignment = ir::size_of(p.type);
  } else if (t.has("counter")) {
    if (inline_buffers) t.fail("counter", "'counter' needs [[step]] tables with a loop");
    p.kind = Parameter::Kind::counter;
    p.counter = t.required_text("counter");
    p.type = type(t, true);
    p.scale = t.integer("scale", INT64_MIN, INT64_MAX).value_or(1);
    p.offset = t.integer("offset", INT64_MIN, INT64_MAX).value_or(0);
    p.bytes = p.alignment = ir::size_of(p.type);
  } else if (t.has("texture") || t.has("surface")) {
    object(t, p);
  } else if (t.has("buffer") || from_file) {
    pointer(t, p, inline_buffers, name);
  } else {
    members(t, p, inline_buffers, name, depth);
  }
  if (depth != 0) {
    p.at = static_cast<std::uint64_t>(t.integer("at", 0, max_parameter_bytes).value_or(-1));
  }
  t.finish();
  return p;
}

void LaunchFileParser::pointer(TomlTable& t, Parameter& p, bool inline_buffers, const std::string& name) {
  p.kind = Parameter::Kind::buffer;
  p.bytes = p.alignment = 8;
  const toml::node* value = t.node("buffer");
  if (!inline_buffers || (value != nullptr && value->is_string())) {
    p.buffer = find_buffer(t.required_text("buffer"), t.where("buffer"), inline_buffers);
  } else {
    Buffer b = buffer(t, "buffer", name);
    p.buffer = out_.buffers.size();
    add_buffer(std::move(b));
  }
  const Buffer& b = out_.buffers[p.buffer];
  p.buffer_offset = static_cast<std::uint64_t>(t.integer("offset", 0, INT64_MAX).value_or(0));
  if (p.buffer_offset > b.contents.bytes) {
    t.fail("offset", "'offset' is " + std::to_string(p.buffer_offset) + ", buffer '" + b.name + "' has " +
                         std::to_string(b.contents.bytes) + " bytes");
  }
}

void LaunchFileParser::members(TomlTable& t, Parameter& p, bool inline_buffers, const std::string& name,
                               unsigned depth) {
  p.kind = Parameter::Kind::structure;
  if (depth == max_depth) t.fail("members are nested more than " + std::to_string(max_depth) + " deep");
  std::uint64_t end = 0;
  for (const toml::table* table : t.tables("members")) {
    const std::size_t number = p.members.size();
    Parameter m = parameter(*table, inline_buffers, name + "." + std::to_string(number), depth + 1);
    // Without a place of its own a member lies where C puts it.
    if (m.at == UINT64_MAX) m.at = (end + m.alignment - 1) / m.alignment * m.alignment;
    if (m.at < end) {
      out_.fail(m.where, "member " + std::to_string(number) + " is at byte " + std::to_string(m.at) +
                             ", the one before it ends at " + std::to_string(end));
    }
    end = m.at + m.bytes;
    p.alignment = std::max(p.alignment, m.alignment);
    p.members.push_back(std::move(m));
  }
  if (p.members.empty()) t.fail("members", "'members' is empty");
  p.bytes = (end + p.alignment - 1) / p.alignment * p.alignment;
  if (const auto bytes = t.integer("bytes", 1, max_parameter_bytes)) {
    if (static_cast<std::uint64_t>(*bytes) < end) {
      t.fail("bytes", "'bytes' is " + std::to_string(*bytes) + ", the members take " + std::to_string(end));
    }
    p.bytes = static_cast<std::uint64_t>(*bytes);
  }
}

std::size_t LaunchFileParser::find_buffer(const std::string& name, const Position& where, bool inline_buffers) const {
  const auto known = buffers_.find(name);
  if (known != buffers_.end()) return known->second;
  const std::string what = inline_buffers ? "no buffer before this one" : "no [[buffer]]";
  out_.fail(where, what + " is called '" + name + "'" + base::suggestion(name, names_of(out_.buffers)));
}

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
  for (const char* key : {"run", "repeat", "while", "swap", "fill", "copy", "load", "allocate", "free"}) {
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
  } else if (kind == "allocate" || kind == "free") {
    lifetime_step(t, s, kind == "free" ? "free" : "allocate");
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
    s.times = static_cast<std::uint64_t>(*t.integer("repeat", 0, INT64_MAX));
  } else {
    while_flag(t, s);
  }
  s.counter = t.text("counter").value_or("");
  if (!s.counter.empty()) {
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
  s.kind = std::string(kind) == "free" ? Step::Kind::release : Step::Kind::allocate;
  s.first = find_buffer(t.required_text(kind), t.where(kind), false);
  if (s.kind == Step::Kind::allocate) out_.buffers[s.first].from_step = true;
}

Memory LaunchFileParser::memory(TomlTable& t, const char* key, const char* offset_key) const {
  Memory m;
  const std::string name = t.required_text(key);
  const auto variable = globals_.find(name);
  m.is_variable = variable != globals_.end() && buffers_.count(name) == 0;
  m.index = m.is_variable ? variable->second : find_buffer(name, t.where(key), false);
  m.offset = static_cast<std::uint64_t>(t.integer(offset_key, 0, most_bytes).value_or(0));
  if (!m.is_variable && rest_of(m) == 0) {
    t.fail(offset_key, "'" + std::string(offset_key) + "' is " + std::to_string(m.offset) + ", buffer '" + name +
                           "' has " + std::to_string(out_.buffers[m.index].contents.bytes) + " bytes");
  }
  return m;
}

std::uint64_t LaunchFileParser::rest_of(const Memory& m) const {
  const std::uint64_t bytes = m.is_variable ? 0 : out_.buffers[m.index].contents.bytes;
  return m.offset < bytes ? bytes - m.offset : 0;
}

void LaunchFileParser::check_fits(TomlTable& t, const char* key, std::uint64_t bytes, const Memory& m) const {
  if (m.is_variable || bytes <= rest_of(m)) return;
  const Buffer& b = out_.buffers[m.index];
  t.fail(key, std::to_string(bytes) + " bytes from byte " + std::to_string(m.offset) + " on, buffer '" + b.name +
                  "' has " + std::to_string(b.contents.bytes));
}

void LaunchFileParser::check_counters(const Step& run, const std::vector<std::string>& counters) const {
  const Launch& launch = out_.launches[run.launch];
  for (const Parameter& p : launch.parameters) check_counters(p, launch, counters);
}

void LaunchFileParser::check_counters(const Parameter& p, const Launch& launch,
                                      const std::vector<std::string>& counters) const {
  for (const Parameter& m : p.members) check_counters(m, launch, counters);
  if (p.kind != Parameter::Kind::counter) return;
  if (std::find(counters.begin(), counters.end(), p.counter) != counters.end()) return;
  out_.fail(p.where, "the parameter follows counter '" + p.counter + "', but launch '" + launch.name +
                         "' runs outside of a loop that counts it" + base::suggestion(p.counter, counters));
}

}  // namespace regatta::launch
