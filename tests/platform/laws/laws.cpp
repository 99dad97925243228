// SPDX-License-Identifier: Apache-2.0
#include "laws.h"

namespace regatta::test {

assembly::MachineConfig machine(const std::string& name) {
  assembly::MachineConfig m;
  support::OptionSet options;
  m.declare(options);
  std::string file;
  const std::string text = assembly::machine_text(name, file);
  options.load_toml(text, file, "machine");
  m.validate();
  return m;
}

unsigned lanes(const assembly::MachineConfig&) { return 32; }

}  // namespace regatta::test
