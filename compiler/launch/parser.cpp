// SPDX-License-Identifier: Apache-2.0
#include "parser.h"

#include <algorithm>

namespace regatta::launch {

namespace {

constexpr std::array<std::uint32_t, 3> grid_limit{0x7fffffffu, 65535, 65535};
constexpr std::array<std::uint32_t, 3> block_limit{1024, 1024, 64};
constexpr unsigned max_depth = 16;
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
  out_.ptx = path(root.required_text("ptx"));
  const bool is_program = root.has("launch");
  if (is_program) {
    for (const char* key : {"entry", "grid", "block", "dynamic_shared", "registers", "param"}) {
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
  for (const toml::table* table : root.tables("global")) {
    TomlTable t(out_, *table, "[[global]]");
    Global g;
    g.where = t.where();
    g.name = t.required_text("name");
    g.contents = contents(t, "bytes");
    if (g.contents.fill.init == Init::none)
      t.fail("init", "init = \"none\" is for buffers: a variable is zero or initialised");
    t.finish();
    out_.globals.push_back(std::move(g));
  }
  root.finish();
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
    launch.name = t.text("name").value_or(launch.entry);
    for (const Launch& other : out_.launches) {
      if (other.name == launch.name) t.fail("there are two launches called '" + launch.name + "'; give one a 'name'");
    }
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
  const int kinds = int{t.has("scalar")} + int{t.has("buffer")} + int{t.has("counter")} + int{t.has("members")};
  // A buffer that has its size from its contents needs no 'buffer'.
  const bool from_file = kinds == 0 && inline_buffers && t.has("init") && t.has("file");
  if (kinds != 1 && !from_file) {
    t.fail(t.what() + (kinds == 0 ? " has none" : " has more than one") + " of 'scalar', 'buffer'" +
           (inline_buffers ? " and 'members'" : ", 'counter' and 'members'"));
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
  for (std::size_t i = 0; i < out_.buffers.size(); ++i) {
    if (out_.buffers[i].name == name) return i;
  }
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
  const int kinds = int{t.has("run")} + int{t.has("repeat")} + int{t.has("while")} + int{t.has("swap")};
  if (kinds != 1)
    t.fail(std::string("[[step]] has ") + (kinds == 0 ? "none" : "more than one") +
           " of 'run', 'repeat', 'while' and 'swap'");
  if (t.has("run")) {
    const std::string name = t.required_text("run");
    while (s.launch < out_.launches.size() && out_.launches[s.launch].name != name) ++s.launch;
    if (s.launch == out_.launches.size()) {
      t.fail("run", "no [[launch]] is called '" + name + "'" + base::suggestion(name, names_of(out_.launches)));
    }
    check_counters(s, counters);
  } else if (t.has("swap")) {
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
  } else {
    if (depth == max_depth) t.fail("steps are nested more than " + std::to_string(max_depth) + " deep");
    if (t.has("repeat")) {
      s.kind = Step::Kind::repeat;
      s.times = static_cast<std::uint64_t>(*t.integer("repeat", 0, INT64_MAX));
    } else {
      s.kind = Step::Kind::loop_while;
      s.flag = find_buffer(t.required_text("while"), t.where("while"), false);
      if (out_.buffers[s.flag].contents.bytes < 4) t.fail("while", "a flag buffer needs at least 4 bytes");
      s.max = static_cast<std::uint64_t>(t.integer("max", 1, INT64_MAX).value_or(1000000));
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
  t.finish();
  return s;
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
