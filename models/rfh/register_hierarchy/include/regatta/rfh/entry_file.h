// SPDX-License-Identifier: Apache-2.0
//
// The small files of RFH (Gebhart et al., MICRO 2011): the operand register file (ORF) and the last-result file (LRF).
#pragma once

#include <regatta/protocol/ids.h>
#include <regatta/protocol/lifecycle.h>
#include <regatta/protocol/warp_registers.h>
#include <regatta/support/energy.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <systemc>
#include <vector>

namespace regatta::models {

/// The entries of a file, by slot of an active warp and number. Never refuses: the file has a port per operand [M].
/// Cycles are those of the SM's clock; each function returns the cycle in which the access is done, later than `at`.
class ThreadEntries : public virtual sc_core::sc_interface {
 public:
  /// Copies all lanes of the entry to `data`, a warp register. A lane of `executing` in which the entry has not been
  /// written since its warp's strand began gets the complement of what the cell holds.
  virtual std::uint64_t read(unsigned slot, unsigned entry, protocol::LaneMask executing, std::uint32_t* data,
                             std::uint64_t at) = 0;
  /// Writes the `lanes` of the entry. `ready`: the cycle from which on it can be read.
  virtual void write(unsigned slot, unsigned entry, protocol::LaneMask lanes, const std::uint32_t* data,
                     std::uint64_t ready) = 0;
  /// The entries of the slot hold nothing any more.
  virtual void lose(unsigned slot) = 0;
  /// Cycles of an access.
  virtual unsigned cycles() const = 0;
};

/// Entries of all slots, with the values of all lanes. Hardware has no tags and no valid bits; the valid lanes here
/// make sure that a value which a correct program cannot rely on is not delivered by luck.
class EntryFile final : public sc_core::sc_module,
                        public protocol::LifecycleListener,
                        public ThreadEntries,
                        public support::StatProvider {
 public:
  sc_core::sc_export<ThreadEntries> entries;

  enum class Kind : std::uint8_t {
    operand,     ///< ORF: as many entries per thread as the kernel's section says
    last_result  ///< LRF: one entry per thread, or one in each of three banks
  };
  /// `slots`: warps that have entries at a time.
  EntryFile(const sc_core::sc_module_name& name, Kind kind, unsigned slots, unsigned cycles);

  void kernel_started(const protocol::KernelContext& context) override;
  std::uint64_t read(unsigned slot, unsigned entry, protocol::LaneMask executing, std::uint32_t* data,
                     std::uint64_t at) override;
  void write(unsigned slot, unsigned entry, protocol::LaneMask lanes, const std::uint32_t* data,
             std::uint64_t ready) override;
  void lose(unsigned slot) override;
  unsigned cycles() const override { return cycles_; }

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;
  std::uint64_t bits() const;

 private:
  struct Entry {
    protocol::LaneMask valid = 0;
    std::uint64_t ready = 0;  ///< of a copy: the cycle in which it arrives from the main file
  };
  [[gnu::noinline, gnu::cold]] void spoil(protocol::LaneMask lanes, std::uint32_t* data);

  const Kind kind_;
  const unsigned slots_;
  const unsigned cycles_;
  unsigned entries_per_slot_ = 1;
  unsigned warp_size_ = 32;
  protocol::LaneMask all_lanes_ = 0;
  std::vector<Entry> state_;
  protocol::WarpRegisters values_;
  std::uint64_t reads_ = 0, writes_ = 0, late_reads_ = 0, lost_reads_ = 0;
};

}  // namespace regatta::models
