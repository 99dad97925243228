// SPDX-License-Identifier: Apache-2.0
//
// The register management unit (RMU) of FineReg (MICRO 2018, section V-C, Figure 10): moves the live registers of
// stalled CTAs to the pending CTA register file, and back.
#pragma once

#include <regatta/finereg/cta_registers.h>
#include <regatta/finereg/live_vector_cache.h>
#include <regatta/finereg/operations.h>
#include <regatta/finereg/pending_entries.h>
#include <regatta/finereg/pending_tables.h>
#include <regatta/finereg/register_counter.h>
#include <regatta/finereg/register_mover.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/config.h>

#include <memory>
#include <string>
#include <systemc>

namespace regatta::models {

struct RmuConfig {
  unsigned vector_entries = 32;  ///< of the cache of bit vectors (section V-C)
  unsigned entry_latency = 4;    ///< cycles to read a tag and its register, the first of a chain (section V-E)
  cosim::TwinOptions twin;       ///< rmu.implementation

  /// Knobs finereg.*, but for the size of the files, and rmu.*.
  void declare(support::OptionSet& options);
};

/// The unit with its parts, bound to each other, but for the lookups of the counter. Left to bind: the mover's ports
/// `places` and `pending` and its sockets, the memory socket of the cache.
class Rmu final : public sc_core::sc_module {
 public:
  LiveVectorCache vectors;
  RegisterCounter counter;
  PointerTable pointers;
  FreeSpaceMonitor free_space;
  RegisterMover* mover = nullptr;
  /// The same, for its place as the SM's write-back point; part of this module's object tree.
  std::unique_ptr<RegisterMover> owned_mover;

  /// `shape`: with config.vector_entries.
  Rmu(const sc_core::sc_module_name& name, const RmuConfig& config, const RmuShape& shape, const LineMemory& memory,
      support::ClockDomain& clock);

  /// Makes the twin that the configuration names, if it names one, and gives it the parts' operations. The module that
  /// is returned, null without a twin, must outlive the unit.
  std::unique_ptr<sc_core::sc_module> make_twin(const RmuConfig& config, const RmuShape& shape,
                                                support::ClockDomain& clock);
  /// The state of all parts, for the report of a difference.
  std::string describe_state() const;
};

}  // namespace regatta::models
