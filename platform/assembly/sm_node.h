// SPDX-License-Identifier: Apache-2.0
//
// One SM with its storage, its scheme's parts and its L1, under one name.
#pragma once

#include <regatta/assembly/machine.h>
#include <regatta/assembly/scheme.h>
#include <regatta/assembly/simulation.h>
#include <regatta/memory/l1_cache.h>
#include <regatta/memory/request_arbiter.h>
#include <regatta/protocol/base_protocol_checker.h>
#include <regatta/sm/sm.h>
#include <regatta/support/clock_domain.h>

#include "drop_log.h"
#include "recorder_set.h"

#include <memory>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::assembly {

class SmNode : public sc_core::sc_module {
 public:
  /// `clock`: the SM's own branch of the machine's, or that itself.
  SmNode(const sc_core::sc_module_name& name, const MachineConfig& machine, Scheme& scheme, support::ClockDomain& clock,
         unsigned index, const SimulationOptions& options, RecorderSet& recorders);

  /// Where the storage that the pipeline is bound to stands in the module hierarchy; empty when it is no module.
  std::string storage_path() const;
  /// What the policies in use are called.
  std::string scheduler_name() const;
  std::string residency_name() const;
  /// The modules that take part in the data path and declare no energy, of their own or of a module inside.
  std::vector<std::string> without_energy() const;
  /// For the message of a wrong value: the write-back point dropped what was written to the register last. Empty: it
  /// did not, or SmConfig::check_contracts is off.
  std::string blame(protocol::WarpSlot warp, protocol::RegisterId reg) const;
  /// Nothing in the SM needs SystemC's own time to be exact within a cycle.
  bool keeps_cycle_time() const;
  /// At the end of a launch: nothing may be open on a checked socket, and no lookup for long.
  void finish_protocol_checks();
  /// For the report of a deadlock: what waits in the pipeline and in the scheme's parts, a line each.
  std::string describe_stuck() const;

  std::unique_ptr<checker::FaultInjector> fault;
  std::unique_ptr<recorders::SocketTap<1024>> read_tap, write_tap, read_fault, write_fault;
  std::unique_ptr<recorders::SocketTap<256>> memory_tap;
  SmParts parts;
  std::unique_ptr<sm::Sm> sm;
  std::unique_ptr<memory::RequestArbiter> arbiter;  ///< before the L1, when others than the load-store unit use it
  std::unique_ptr<memory::L1Cache> l1;
  std::unique_ptr<protocol::BaseProtocolChecker<1024>> read_checker, write_checker;
  std::unique_ptr<protocol::BaseProtocolChecker<256>> memory_checker;

 private:
  /// Throws support::ConfigError if a part of the scheme could make control bits wrong.
  void check_control_bits(const std::string& scheme) const;
  /// Cycles after which a lookup counts as unanswered at the end of a launch, whose user need not wait for it.
  static constexpr unsigned unanswered_ = 1000;

  const MachineConfig& machine_;
  std::string scheduler_;             ///< the registered policy's name; empty: the scheme has its own
  std::unique_ptr<DropLog> dropped_;  ///< with SmConfig::check_contracts and a write-back point
};

}  // namespace regatta::assembly
