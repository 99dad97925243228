// SPDX-License-Identifier: Apache-2.0
#include <regatta/baseline/register_file_config.h>

namespace regatta::models {

void RegisterFileConfig::declare(support::OptionSet& o) {
  o.add("register_file.banks", banks, "banks", "banks of an SM's register file, each a warp register wide", 1, 1024);
  o.add("register_file.registers", registers, "warp registers", "warp registers per SM: 2048 are 256 KB at 32 lanes", 1,
        1 << 20);
  o.add("register_file.latency", latency, "cycles", "latency of a bank access", 1, 1000);
  o.add("register_file.arbitration", arbitration, "cycles", "cycles from a read request to the earliest bank access", 0,
        1000);
  o.add("register_file.ports", ports,
        "ports of a bank: one shared by reads and writes, or one or two for reads and one for writes",
        {"1rw", "1r1w", "2r1w"});
  o.add("register_file.mapping", mapping,
        "bank of a register: (register + warp) or register modulo the banks, or either within the banks of the warp's "
        "sub-core",
        {"warp_interleaved", "register", "sub_core", "sub_core_register"});
  o.add("register_file.read_ports", planned_read_ports, "ports",
        "read ports of a bank with sm.operand_path = sub_core, in place of those of register_file.ports; 0: any number",
        0, 3);
  o.add(
      "register_file.cache", cache,
      "with sm.operand_path = sub_core: a register file cache that keeps the operands with reuse flags of the trace's "
      "control bits; a scheme's storage that does not plan its reads has none");
  o.add("register_file.priority", priority, "arbitration of a shared port: order of arrival, or reads or writes first",
        {"fcfs", "read", "write"});
  o.add("register_file.write_queue", write_queue, "cycles or writes",
        "most that may wait at a bank before write-back is held: cycles of work with priority fcfs, otherwise writes",
        1, 4096);
}

void RegisterFileConfig::validate() const {
  if (banks > registers) {
    throw support::ConfigError("configuration: register_file.banks = " + std::to_string(banks) +
                               " exceeds register_file.registers = " + std::to_string(registers) +
                               ": a bank would hold nothing");
  }
  if (shared_port() && priority == "fcfs" && arbitration > 64) {
    throw support::ConfigError("configuration: register_file.arbitration = " + std::to_string(arbitration) +
                               " with register_file.ports = 1rw: a port for reads and writes is planned 64 cycles "
                               "ahead, expected at most 64, separate ports or a register_file.priority");
  }
  if (by_sub_core() && banks % sub_cores != 0) {
    throw support::ConfigError("configuration: register_file.mapping = " + mapping +
                               " divides register_file.banks = " + std::to_string(banks) +
                               " among sm.sub_cores = " + std::to_string(sub_cores) + ": expected a multiple");
  }
}

}  // namespace regatta::models
