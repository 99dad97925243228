// SPDX-License-Identifier: Apache-2.0
#include <regatta/assembly/machine.h>
#include <regatta/base/suggestion.h>

#include <regatta/base/input_file.h>
#include <regatta/support/toml_path.h>
#include <regatta_embedded/machine_preset.h>

namespace regatta::assembly {

void MachineConfig::declare(support::OptionSet& o) {
  o.add_path("machine.base", base, "machine that supplies all values not set here (a preset, or the path of a file)");
  o.add("machine.sms", sms, "SMs", "SMs of the whole machine; L2 and DRAM bandwidth are divided among them", 1, 1024);
  o.add("machine.clock_mhz", clock_mhz, "MHz", "SM clock", 1, 100000);
  sm.declare(o, sm::SmConfig::Policies{names_of(policies.schedulers()), names_of(policies.residencies()),
                                       described(policies.schedulers()), described(policies.residencies())});
  scheduler.declare(o);
  register_file.declare(o);
  l1.declare(o);
  memory.declare(o);
  energy.declare(o);
  policies.declare(o);
}

void MachineConfig::validate() const {
  sm.validate();
  models::RegisterFileConfig file = register_file;
  file.sub_cores = sm.sub_cores;
  file.validate();
  if (file.by_sub_core() && sm.schedulers % sm.sub_cores != 0) {
    throw support::ConfigError("configuration: register_file.mapping = " + file.mapping +
                               " needs as many schedulers in every one of " + std::string("sm.sub_cores = ") +
                               std::to_string(sm.sub_cores) +
                               ": expected a multiple, found sm.schedulers = " + std::to_string(sm.schedulers));
  }
  if (sm.has_sub_cores()) {
    check_sub_cores();
  } else if (register_file.cache) {
    throw support::ConfigError("configuration: register_file.cache = true needs sm.operand_path = sub_core, found " +
                               sm.operand_path);
  }
  l1.check();
  memory.check();
  if (l1.line_bytes != memory.l2.line_bytes) {
    throw support::ConfigError("configuration: l1.line_bytes = " + std::to_string(l1.line_bytes) +
                               " and l2.line_bytes = " + std::to_string(memory.l2.line_bytes) + " must be equal");
  }
}

void MachineConfig::check_sub_cores() const {
  const auto refuse = [](const std::string& knob, const std::string& found, const std::string& expected) {
    throw support::ConfigError("configuration: sm.operand_path = sub_core: expected register_file." + knob + " = " +
                               expected + ", found " + found);
  };
  if (register_file.mapping != "sub_core_register") refuse("mapping", register_file.mapping, "sub_core_register");
  if (register_file.banks != 2 * sm.sub_cores) {
    refuse("banks", std::to_string(register_file.banks), std::to_string(2 * sm.sub_cores) + ", two per sub-core");
  }
  if (register_file.shared_port()) refuse("ports", register_file.ports, "1r1w: a bank reads and writes in one cycle");
}

namespace {
/// Prefix of a preset's name in messages; a file is named by its path.
constexpr const char* preset_prefix = "machine ";
}  // namespace

std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  for (std::string_view name : embedded::machine_preset_names()) names.emplace_back(name);
  return names;
}

std::string machine_text(const std::string& name, std::string& file, const std::string& said_by) {
  if (const auto text = embedded::machine_preset(name)) {
    file = preset_prefix + name;
    return std::string(*text);
  }
  if (support::is_toml_path(name)) {
    file = name;
    try {
      return base::read_text(name);
    } catch (const base::InputError& e) {
      throw support::ConfigError(said_by + ": " + e.what());
    }
  }
  throw support::ConfigError(said_by + ": unknown machine '" + name + "'" +
                             base::suggestion_and_known(name, machine_names()) + ", or the path of a .toml file");
}

std::vector<std::string> load_machine(support::OptionSet& options, MachineConfig& machine, const std::string& name) {
  if (name.empty()) throw support::ConfigError("--machine: found no name, expected a machine");
  // Bases are applied first, so that settings of the named machine win.
  std::vector<std::pair<std::string, std::string>> chain;  // text, name in messages
  std::string said_by = "--machine";
  for (std::string next = name; !next.empty();) {
    constexpr std::size_t longest = 8;
    if (chain.size() == longest) {
      throw support::ConfigError("machine '" + name + "': machine.base leads through more than " +
                                 std::to_string(longest) + " machines, expected an end (is one its own base?)");
    }
    std::string file;
    std::string text = machine_text(next, file, said_by);
    machine.base.clear();
    options.load_toml(text, file, "machine");
    next = machine.base;
    said_by = file + ": machine.base";
    chain.emplace_back(std::move(text), std::move(file));
  }
  if (chain.size() != 1) {
    for (auto link = chain.rbegin(); link != chain.rend(); ++link)
      options.load_toml(link->first, link->second, "machine");
  }
  std::vector<std::string> files;
  for (const auto& [text, file] : chain) {
    if (file.rfind(preset_prefix, 0) != 0) files.push_back(file);
  }
  return files;
}

}  // namespace regatta::assembly
