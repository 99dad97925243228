// SPDX-License-Identifier: Apache-2.0
//
// [constants], and the expressions of launches and parameters: the text is checked here, names when it is known which
// loops run the launch.
#include "computed.h"
#include "parser.h"

#include <algorithm>

namespace regatta::launch {

namespace {

std::string launch_text(const Launch& launch) { return "launch '" + launch.name + "'"; }

}  // namespace

void LaunchFileParser::constants(TomlTable& root) {
  const toml::node* const node = root.node("constants");
  if (node == nullptr) return;
  const toml::table* const table = node->as_table();
  if (table == nullptr) root.fail("constants", "'constants' is " + kind_of(*node) + ", expected a [constants] table");
  for (const auto& [key, value] : *table) {
    const std::string name(key.str());
    const Position where = TomlTable::position(value);
    if (!is_expression_name(name)) {
      out_.fail(where, "a constant is called '" + name + "', expected letters, digits, '_' and '.', no digit first");
    }
    if (!value.is_integer()) out_.fail(where, "constant '" + name + "' is " + kind_of(value) + ", expected an integer");
    out_.constants[name] = *value.value<std::int64_t>();
  }
}

void LaunchFileParser::number_of_launch(const toml::node& node, Computed::What what, std::size_t dimension,
                                        Launch& launch) const {
  Computed c{what, dimension, formula_of(out_, node)};
  if (c.formula.expression.is_constant()) {
    compute(out_, launch, c, {});
  } else {
    launch.computed.push_back(std::move(c));
  }
}

void LaunchFileParser::dimensions(TomlTable& t, const char* key, Computed::What what, Launch& launch) const {
  const bool is_grid = what == Computed::What::grid;
  const std::array<std::uint32_t, 3>& limit = is_grid ? grid_limit : block_limit;
  const toml::node* n = t.node(key);
  if (n == nullptr) t.fail_missing(key, t.what() + " has no '" + key + "'");
  const toml::array* a = n->as_array();
  const std::string name = "'" + std::string(key) + "'";
  if (a == nullptr || a->empty() || a->size() > 3) {
    t.fail(key, name + " is " + (a != nullptr ? "an array of " + std::to_string(a->size()) : kind_of(*n)) +
                    ", expected an array of one to three integers");
  }
  for (std::size_t i = 0; i < a->size(); ++i) {
    const toml::node& item = *a->get(i);
    if (item.is_string()) {
      number_of_launch(item, what, i, launch);
      continue;
    }
    const auto number = item.is_integer() ? item.value<std::int64_t>() : std::nullopt;
    const Position where = TomlTable::position(item);
    if (!number) out_.fail(where, name + " holds " + kind_of(item) + ", expected integers");
    if (*number < 1 || *number > std::int64_t{limit[i]}) {
      out_.fail(where, name + " has " + std::to_string(*number) + " in dimension " + "xyz"[i] + ", expected 1 to " +
                           std::to_string(limit[i]));
    }
    (is_grid ? launch.grid : launch.block)[i] = static_cast<std::uint32_t>(*number);
  }
}

/// cluster = [1, 1, 1] is what a launch has anyway.
void LaunchFileParser::cluster(TomlTable& t) {
  const toml::node* const node = t.node("cluster");
  if (node == nullptr) return;
  const toml::array* const sizes = node->as_array();
  if (sizes == nullptr || sizes->empty() || sizes->size() > 3)
    t.fail("cluster", "'cluster' is " + kind_of(*node) + ", expected an array of 1 to 3 integers");
  for (const toml::node& item : *sizes) {
    const auto number = item.is_integer() ? item.value<std::int64_t>() : std::nullopt;
    if (!number || *number < 1)
      out_.fail(TomlTable::position(item), "'cluster' holds " + (number ? std::to_string(*number) : kind_of(item)) +
                                               ", expected integers of at least 1");
    if (*number > 1) {
      out_.fail(TomlTable::position(item), "'cluster' has " + std::to_string(*number) +
                                               " CTAs in a dimension: clusters of several CTAs, and distributed shared "
                                               "memory, are not supported");
    }
  }
}

void LaunchFileParser::geometry(TomlTable& t, Launch& launch) {
  cluster(t);
  dimensions(t, "grid", Computed::What::grid, launch);
  dimensions(t, "block", Computed::What::block, launch);
  if (!launch.computes(Computed::What::block)) check_threads(out_, launch, t.where("block"), "");
  const toml::node* const shared = t.node("dynamic_shared");
  if (shared != nullptr && shared->is_string()) {
    number_of_launch(*shared, Computed::What::dynamic_shared, 0, launch);
  } else {
    launch.dynamic_shared = static_cast<std::uint32_t>(t.integer("dynamic_shared", 0, max_shared_bytes).value_or(0));
  }
  launch.cooperative = t.boolean("cooperative").value_or(false);
  launch.registers = static_cast<std::uint32_t>(t.integer("registers", 1, trace::max_general_registers).value_or(0));
}

void LaunchFileParser::expression(TomlTable& t, Parameter& p, ir::Type type) {
  const toml::node& node = *t.node("expression");
  if (!node.is_string()) t.fail("expression", "'expression' is " + kind_of(node) + ", expected a string");
  p.type = type;
  p.bytes = p.alignment = ir::size_of(type);
  p.kind = Parameter::Kind::expression;
  p.formula.push_back(formula_of(out_, node));
  if (!p.formula.front().expression.is_constant()) return;
  p.kind = Parameter::Kind::scalar;
  p.bits.push_back(expression_bits(out_, p, {}));
  p.formula.clear();
}

void LaunchFileParser::check_counters(const Step& run, const std::vector<std::string>& counters) const {
  const Launch& launch = out_.launches[run.launch];
  const std::string what = launch_text(launch);
  for (const Computed& c : launch.computed) check_names(out_, c.formula, what, counters);
  for (const Parameter& p : launch.parameters) check_counters(p, &launch, counters);
}

void LaunchFileParser::check_counters(const Parameter& p, const Launch* launch,
                                      const std::vector<std::string>& counters) const {
  for (const Parameter& m : p.members) check_counters(m, launch, counters);
  for (const Formula& f : p.formula) check_names(out_, f, launch == nullptr ? "" : launch_text(*launch), counters);
  if (p.kind != Parameter::Kind::counter) return;
  if (std::find(counters.begin(), counters.end(), p.counter) != counters.end()) return;
  if (launch == nullptr) out_.fail(p.where, "counter '" + p.counter + "' does not count here: no loop is around");
  out_.fail(p.where, "the parameter follows counter '" + p.counter + "', but launch '" + launch->name +
                         "' runs outside of a loop that counts it" + base::suggestion(p.counter, counters));
}

}  // namespace regatta::launch
