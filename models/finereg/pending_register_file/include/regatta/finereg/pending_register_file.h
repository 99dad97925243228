// SPDX-License-Identifier: Apache-2.0
//
// The pending CTA register file (PCRF) of FineReg (MICRO 2018, sections V-D and V-E, Figure 11): live registers of CTAs
// that are not active, chained per CTA.
#pragma once

#include <regatta/finereg/pending_entries.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <systemc>
#include <vector>

namespace regatta::models {

/// Section V-D and V-F: an entry has 1 + 1 + 10 + 5 + 6 = 23 bits of tag (the paper's total counts 21) and 128 bytes.
/// On a machine of 64 lanes, which the paper does not consider, it has 256 bytes.
class PendingRegisterFile final : public sc_core::sc_module, public PendingEntries, public support::StatProvider {
 public:
  sc_core::sc_export<PendingEntries> access;

  /// `lanes`: of a register, 32 or 64.
  PendingRegisterFile(const sc_core::sc_module_name& name, unsigned entries, support::ClockDomain& clock,
                      unsigned lanes = 32);

  unsigned entries() const override { return static_cast<unsigned>(tags_.size()); }
  bool can_read() const override { return read_at_ != clock_.now() + 1; }
  bool can_write() const override { return written_at_ != clock_.now() + 1; }
  PendingTag read(unsigned entry, trace::WarpValue& value) override;
  void write(unsigned entry, const PendingTag& tag, const trace::WarpValue& value) override;
  void merge(unsigned entry, protocol::LaneMask lanes, const trace::WarpValue& value) override;
  void write_tag(unsigned entry, const PendingTag& tag) override;
  const PendingTag& tag(unsigned entry) const override { return tags_[entry]; }

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  void check(unsigned entry, const char* what) const;

  support::ClockDomain& clock_;
  const unsigned lanes_;
  std::vector<PendingTag> tags_;
  std::vector<std::uint32_t> values_;           ///< lanes of every entry
  std::uint64_t read_at_ = 0, written_at_ = 0;  ///< the cycle after the port was used last
  std::uint64_t reads_ = 0, writes_ = 0, merges_ = 0, tag_accesses_ = 0;
};

}  // namespace regatta::models
