// SPDX-License-Identifier: Apache-2.0
#include "laws.h"

namespace regatta::test {

assembly::MachineConfig machine(const std::string& name) {
  assembly::MachineConfig m;
  support::OptionSet options;
  m.declare(options);
  assembly::load_machine(options, m, name);
  m.validate();
  return m;
}

unsigned lanes(const assembly::MachineConfig& m) { return m.sm.lanes; }

}  // namespace regatta::test
