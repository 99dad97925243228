// SPDX-License-Identifier: Apache-2.0
#include <regatta/assembly/energy_config.h>
#include <regatta/base/suggestion.h>

#include <fmt/format.h>
#include <regatta/base/input_file.h>
#include <regatta/support/toml_path.h>
#include <regatta_embedded/energy_table.h>

#include <algorithm>

namespace regatta::assembly {

namespace {

/// Values that every table has and an option may replace.
constexpr const char* base_values[] = {"register_file.read",
                                       "register_file.write",
                                       "register_file.leakage",
                                       "operand_collector.instruction",
                                       "instruction_cache.access",
                                       "instruction_buffer.instruction",
                                       "scheduler.issue",
                                       "pipeline.instruction",
                                       "execution.integer",
                                       "execution.fp32",
                                       "execution.special",
                                       "execution.fp64",
                                       "load_store.address",
                                       "shared_memory.access",
                                       "l1.read",
                                       "l1.write",
                                       "constant_cache.access",
                                       "l2.read",
                                       "l2.write",
                                       "l2.leakage",
                                       "interconnect.flit",
                                       "memory_controller.access",
                                       "dram.read",
                                       "dram.write",
                                       "dram.activate",
                                       "dram.background",
                                       "sm.static",
                                       "sm.clock",
                                       "chip.constant"};
constexpr const char* power_values[] = {
    "register_file.leakage", "l2.leakage", "dram.background", "sm.static", "sm.clock", "chip.constant"};

/// Loads the table `name`, a built-in one or a file. `said_by` says where the name was given; `depth` tables are based
/// on it.
support::EnergyTable load_table(const std::string& name, std::string& file, std::vector<std::string>* files,
                                const std::string& said_by, unsigned depth = 0) {
  constexpr unsigned deepest = 8;
  if (depth == deepest) {
    throw support::ConfigError(file + ": 'base' leads through more than " + std::to_string(deepest) +
                               " energy tables, expected an end (is one its own base?)");
  }
  std::string text;
  if (const auto builtin = embedded::energy_table(name)) {
    text = *builtin;
    file = "energy table " + name;
  } else if (support::is_toml_path(name)) {
    try {
      text = base::read_text(name);
    } catch (const base::InputError& e) {
      throw support::ConfigError(said_by + ": " + e.what());
    }
    file = name;
    if (files != nullptr) files->push_back(name);
  } else {
    throw support::ConfigError(said_by + ": unknown table '" + name + "'" +
                               base::suggestion_and_known(name, energy_table_names()) +
                               ", or the path of a .toml file");
  }
  return support::EnergyTable::parse(text, file, [&](const std::string& base) {
    std::string base_file = file;
    return load_table(support::beside(file, base), base_file, files, file + ": base", depth + 1);
  });
}

}  // namespace

EnergyConfig::EnergyConfig() {
  for (const char* name : base_values) overrides.push_back(Override{name, unset});
}

void EnergyConfig::declare(support::OptionSet& o) {
  o.add_path("energy.table", table, "energy table: a built-in one, or the path of a .toml file (also --energy)");
  o.add("energy.node_nm", node_nm, "nm", "process node to which dynamic energies are scaled; 0: the table's own");
  o.add("energy.lane_gating", lane_gating,
        "execution units consume energy for active lanes only; false: for all lanes of a warp");
  for (Override& v : overrides) {
    const bool power = std::find(std::begin(power_values), std::end(power_values), v.name) != std::end(power_values);
    std::string name = v.name;
    std::replace(name.begin(), name.end(), '.', '_');
    o.add("energy." + name, v.value, power ? "mW" : "pJ",
          "replaces " + v.name + " of the energy table and is scaled like it; -1: the table's");
  }
}

std::vector<std::string> energy_table_names() {
  std::vector<std::string> names;
  for (const std::string_view name : embedded::energy_table_names()) names.emplace_back(name);
  return names;
}

const std::vector<std::string>& energy_structures() {
  static const std::vector<std::string> names = {
      "register_structures", "reuse_structures",  "front_end", "pipeline",       "execution",
      "load_store",          "shared_memory",     "l1",        "constant_cache", "l2",
      "interconnect",        "memory_controller", "dram",      "sm_static",      "card"};
  return names;
}

std::vector<std::string> unknown_structures(const std::vector<support::EnergyGroup>& groups,
                                            const std::vector<std::string>& further) {
  std::vector<std::string> known = energy_structures();
  known.insert(known.end(), further.begin(), further.end());
  std::vector<std::string> messages;
  const auto look_at = [&](const std::string& module, const std::string& structure) {
    if (std::find(known.begin(), known.end(), structure) != known.end()) return;
    const std::string what = module + " declares energy of the structure '" + structure +
                             "', which is not a line of the breakdown; expected one that platform/energy/README.md "
                             "lists, or that the scheme names in energy_structures()" +
                             base::suggestion(structure, known);
    if (std::find(messages.begin(), messages.end(), what) == messages.end()) messages.push_back(what);
  };
  for (const support::EnergyGroup& group : groups) {
    for (const support::EnergyGroup::Event& e : group.events()) look_at(group.module(), e.structure);
    for (const support::EnergyGroup::Leakage& l : group.leakages()) look_at(group.module(), l.structure);
  }
  return messages;
}

support::EnergyTable EnergyConfig::load(std::vector<std::string>* files) const {
  const auto refuse = [](const std::string& message) { throw support::ConfigError("configuration: " + message); };
  std::string file;
  support::EnergyTable loaded = load_table(table, file, files, "configuration: energy.table");
  for (const char* name : base_values) {
    const bool power =
        std::find(std::begin(power_values), std::end(power_values), std::string(name)) != std::end(power_values);
    if (loaded.at(name).is_power != power) {
      refuse(file + ": '" + name + "' must be given in " + (power ? "mw" : "pj"));
    }
  }
  for (const Override& v : overrides) {
    if (v.value == unset) continue;
    std::string name = v.name;
    std::replace(name.begin(), name.end(), '.', '_');
    if (!(v.value >= 0 && v.value <= support::largest_energy_value)) {
      refuse(fmt::format("energy.{} must lie between 0 and {:g}, or be -1 for the table's value, found {}", name,
                         support::largest_energy_value, v.value));
    }
    loaded.override_value(v.name, v.value);
  }
  if (node_nm != 0) {
    if (!(node_nm >= 1 && node_nm <= 1000)) {
      refuse(
          fmt::format("energy.node_nm must lie between 1 and 1000 nm, or be 0 for the table's own, found {}", node_nm));
    }
    loaded.set_node(node_nm);
  }
  return loaded;
}

}  // namespace regatta::assembly
