// SPDX-License-Identifier: Apache-2.0
//
// The live register information cache of FineReg's register management unit (MICRO 2018, section V-C, Figure 10).
#pragma once

#include <regatta/baseline/memory_requester.h>
#include <regatta/finereg/operations.h>
#include <regatta/protocol/lifecycle.h>
#include <regatta/protocol/lookup.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/cycle_event.h>
#include <regatta/support/stats.h>
#include <regatta/trace/live_registers.h>

#include <cstdint>
#include <optional>
#include <systemc>
#include <vector>

namespace regatta::models {

/// Direct-mapped: `entries` of a PC and a bit vector of 64 registers. The answer to a PC (a static instruction index)
/// is the vector of its live registers. A hit is answered at once. A miss reads the sector of 32 bytes that holds the
/// vector from memory, past the L1, where the compiler's list lies, 8 bytes an instruction; then the answer comes
/// later, and the cache is busy until then.
class LiveVectorCache final : public sc_core::sc_module,
                              public protocol::Lookup<std::uint32_t, std::uint64_t>,
                              public protocol::LifecycleListener,
                              public support::StatProvider,
                              MemoryRequesterClient {
 public:
  protocol::LookupTarget<std::uint32_t, std::uint64_t> lookups;

  LiveVectorCache(const sc_core::sc_module_name& name, unsigned entries, const LineMemory& memory,
                  support::ClockDomain& clock);

  protocol::MemoryInitiatorSocket& memory() { return memory_.socket; }
  /// A twin of the unit, which gets the operations from now on; null: none.
  void set_twin(RmuTwin* twin) { twin_ = twin; }

  /// Throws support::ConfigError for a kernel whose trace has no live registers, or with more than 63 of them.
  void kernel_started(const protocol::KernelContext& context) override;
  protocol::LookupReply look_up(const std::uint32_t& pc, std::uint32_t tag, std::uint64_t& vector) override;
  const sc_core::sc_event& changed() const override { return changed_; }

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

  const std::uint64_t& hits() const { return hits_; }
  const std::uint64_t& misses() const { return misses_; }

 private:
  struct Entry {
    bool valid = false;
    std::uint32_t pc = 0;
    std::uint64_t vector = 0;
  };
  struct Miss {
    std::uint32_t pc = 0, tag = 0;
    std::uint32_t read = 0;  ///< of memory
    bool answered = false;   ///< by memory
  };
  void memory_answered(std::uint32_t tag, const unsigned char* data, std::uint64_t when) override;
  void fill();

  support::ClockDomain& clock_;
  MemoryRequester memory_;
  support::CycleClient wakeup_;
  support::CycleEvent changed_;
  unsigned line_bytes_;
  std::vector<Entry> entries_;
  trace::LiveRegisters live_;
  std::uint64_t list_ = 0;  ///< address of the kernel's list
  std::optional<Miss> miss_;
  std::uint32_t last_read_ = 0;  ///< tag of the last read of memory
  std::uint64_t hits_ = 0, misses_ = 0;
  RmuTwin* twin_ = nullptr;
};

}  // namespace regatta::models
