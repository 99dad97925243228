// SPDX-License-Identifier: Apache-2.0
//
// The register management unit (RMU) of FineReg (MICRO 2018, section V-C, Figure 10): moves the live registers of
// stalled CTAs to the pending CTA register file, and back.
#pragma once

#include <regatta/models/cta_registers/cta_registers.h>
#include <regatta/models/cta_registers/pending_entries.h>
#include <regatta/models/register_management/live_vector_cache.h>
#include <regatta/models/register_management/operations.h>
#include <regatta/models/register_management/pending_tables.h>
#include <regatta/models/register_management/register_counter.h>
#include <regatta/models/register_management/register_mover.h>
#include <regatta/support/config.h>

#include <memory>
#include <string>
#include <systemc>

namespace regatta::models {

struct RegisterManagementConfig {
  unsigned vector_entries = 32;  ///< of the cache of bit vectors (section V-C)
  unsigned entry_latency = 4;    ///< cycles to read a tag and its register, the first of a chain (section V-E)
  cosim::TwinOptions twin;       ///< rmu.implementation

  // Set by the assembly.
  unsigned entries = 1024;  ///< of the pending CTA register file
  unsigned ctas = 128;      ///< entries of the pointer table
  unsigned line_bytes = 128;
  unsigned sm = 0;

  RmuShape shape() const { return {vector_entries, entries, ctas}; }
  /// Knobs finereg.*, but for the size of the files, and rmu.*.
  void declare(support::OptionSet& options);
};

/// The unit with its parts, bound to each other, but for the lookups of the counter. Left to bind: the mover's ports
/// `places` and `pending` and its sockets, the memory socket of the cache.
class RegisterManagementUnit final : public sc_core::sc_module {
 public:
  LiveVectorCache vectors;
  RegisterCounter counter;
  PointerTable pointers;
  FreeSpaceMonitor free_space;
  RegisterMover* mover = nullptr;
  /// The same, for its place as the SM's write-back point; part of this module's object tree.
  std::unique_ptr<RegisterMover> owned_mover;

  RegisterManagementUnit(const sc_core::sc_module_name& name, const RegisterManagementConfig& config,
                         sc_core::sc_time clock_period);

  /// Makes the twin that the configuration names, if it names one, and gives it the parts' operations. The module that
  /// is returned, null without a twin, must outlive the unit.
  std::unique_ptr<sc_core::sc_module> make_twin(const RegisterManagementConfig& config, sc_core::sc_time clock_period);
  /// The state of all parts, for the report of a difference.
  std::string describe_state() const;
};

}  // namespace regatta::models
