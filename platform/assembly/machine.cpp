// SPDX-License-Identifier: Apache-2.0
#include <regatta/assembly/machine.h>

#include <regatta/support/atomic_file.h>
#include <regatta_embedded/machine_preset.h>

namespace regatta::assembly {

void MachineConfig::declare(support::OptionSet& o) {
  o.add("machine.sms", sms, "SMs", "of the whole machine; L2 and DRAM bandwidth are shared out among them", 1, 1024);
  o.add("machine.clock_mhz", clock_mhz, "MHz", "SM clock", 1, 100000);
  sm.declare(o);
  register_file.declare(o);
  l1.declare(o);
  memory.declare(o);
  energy.declare(o);
}

void MachineConfig::validate() const {
  sm.validate();
  register_file.validate();
  l1.check();
  memory.check();
  if (l1.line_bytes != memory.l2.line_bytes) {
    throw support::ConfigError("configuration: l1.line_bytes = " + std::to_string(l1.line_bytes) +
                               " and l2.line_bytes = " + std::to_string(memory.l2.line_bytes) + " must be equal");
  }
}

std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  for (std::string_view name : embedded::machine_preset_names()) names.emplace_back(name);
  return names;
}

std::string machine_text(const std::string& name, std::string& file) {
  if (const auto text = embedded::machine_preset(name)) {
    file = "machine " + name;
    return std::string(*text);
  }
  if (name.find('/') != std::string::npos || (name.size() > 5 && name.substr(name.size() - 5) == ".toml")) {
    file = name;
    return support::read_text_file(name);
  }
  std::string known;
  for (const std::string& n : machine_names()) known += (known.empty() ? "" : ", ") + n;
  const std::string nearest = support::nearest_name(name, machine_names());
  throw support::ConfigError("--machine: unknown machine '" + name + "'" +
                             (nearest.empty() ? "" : ", did you mean '" + nearest + "'?") + " Known: " + known +
                             ", or the path of a .toml file");
}

}  // namespace regatta::assembly
