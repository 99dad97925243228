// SPDX-License-Identifier: Apache-2.0
#include "parser.h"
#include "computed.h"

#include <algorithm>

namespace regatta::launch {

namespace {

/// Bytes of a kernel's parameters (CUDA 12.1 and later).
constexpr std::int64_t max_parameter_bytes = 32764;

}  // namespace

void LaunchFileParser::parse(const toml::table& root_table) {
  TomlTable root(out_, root_table, "the launch file");
  const bool is_program = root.has("launch");
  constants(root);
  structs(root);
  ptx_files(root, is_program);
  for (const toml::table* table : root.tables("global")) global(*table);
  arrays(root);
  name_textures(root);
  if (is_program) {
    for (const char* key :
         {"entry", "grid", "block", "dynamic_shared", "cluster", "cooperative", "registers", "param"}) {
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
  placements(root);
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
    if (t.has("expect") || t.has("unordered")) g.contents.fill.type = type(t, false);
  } else {
    g.contents = contents(t, "bytes");
    if (g.contents.fill.init == Init::none)
      t.fail("init", "init = \"none\" is for buffers: a variable is zero or initialised");
  }
  g.expect = expectation(t, g.contents.fill.type);
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
  for (const Computed& c : launch.computed) check_names(out_, c.formula, "", {});
  for (const Parameter& p : launch.parameters) check_counters(p, nullptr, {});
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
  for (const char* key :
       {"scalar", "buffer", "counter", "expression", "members", "struct", "texture", "surface", "tensor_map"})
    kinds += int{t.has(key)};
  // A buffer that has its size from its contents needs no 'buffer'.
  const bool from_file = kinds == 0 && inline_buffers && t.has("init") && t.has("file");
  if (kinds != 1 && !from_file) {
    t.fail(t.what() + (kinds == 0 ? " has none" : " has more than one") + " of 'scalar', 'expression', 'buffer'" +
           (inline_buffers ? "" : ", 'counter'") + ", 'texture', 'surface', 'tensor_map', 'struct' and 'members'");
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
  } else if (t.has("expression")) {
    expression(t, p, type(t, true));
  } else if (t.has("struct")) {
    structure(t, p, inline_buffers, name);
  } else if (t.has("counter")) {
    if (inline_buffers) t.fail("counter", "'counter' needs [[step]] tables with a loop");
    counter(t, p, type(t, true));
  } else if (t.has("texture") || t.has("surface")) {
    object(t, p);
  } else if (t.has("tensor_map")) {
    tensor_map(t, p, inline_buffers, name);
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

void LaunchFileParser::counter(TomlTable& t, Parameter& p, ir::Type type) {
  p.kind = Parameter::Kind::counter;
  p.counter = t.required_text("counter");
  p.type = type;
  p.scale = t.integer("scale", INT64_MIN, INT64_MAX).value_or(1);
  p.offset = t.integer("offset", INT64_MIN, INT64_MAX).value_or(0);
  p.bytes = p.alignment = ir::size_of(p.type);
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
  p.formula = t.counting_formula("offset");
  if (!p.formula.empty()) {
    t.node("offset");
    return;
  }
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

}  // namespace regatta::launch
