// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/support/config.h>

#include <string>

namespace regatta::models {

/// Banks of a register file, their ports and timing: the knobs register_file.*, used by every banked file.
struct RegisterFileConfig {
  unsigned banks = 16;
  unsigned registers = 2048;                 ///< warp registers of one SM: 2048 x 32 lanes x 4 bytes = 256 KB
  unsigned latency = 1;                      ///< cycles of one bank access
  unsigned arbitration = 1;                  ///< cycles from a read request to the earliest bank access
  std::string ports = "1rw";                 ///< per bank: one shared port, or one or two read ports and a write port
  std::string mapping = "warp_interleaved";  ///< register and warp to bank
  unsigned sub_cores = 1;                    ///< of the SM, for mapping "sub_core"; set by the assembly (sm.sub_cores)
  std::string priority = "fcfs";             ///< of reads and writes at a shared port
  unsigned planned_read_ports = 1;           ///< per bank, for reads that are planned (ReadPlanner); 0: any number
  bool cache = false;                        ///< a register file cache before the read ports of every sub-core
  unsigned write_queue = 8;                  ///< most that may wait at a bank before write-back is held: cycles of
                                             ///< work under "fcfs", writes under a priority

  /// Whether warps find their registers in the banks of their sub-core alone.
  bool by_sub_core() const { return mapping == "sub_core" || mapping == "sub_core_register"; }
  bool shared_port() const { return ports == "1rw"; }
  unsigned read_ports() const { return ports == "2r1w" ? 2 : 1; }

  /// Knobs register_file.*.
  void declare(support::OptionSet& options);
  void validate() const;
};

}  // namespace regatta::models
