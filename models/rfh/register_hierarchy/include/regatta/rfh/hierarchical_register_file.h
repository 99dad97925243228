// SPDX-License-Identifier: Apache-2.0
//
// The register file of RFH (Gebhart, Keckler, Krashinsky, Dally, MICRO 2011): a banked main file, and in front of it
// two small files whose entries the compiler manages.
#pragma once

#include <regatta/baseline/fixed_windows.h>
#include <regatta/baseline/windowed_file.h>
#include <regatta/protocol/warp_registers.h>
#include <regatta/rfh/active_entries.h>
#include <regatta/rfh/entry_file.h>
#include <regatta/rfh/operand_levels.h>
#include <regatta/support/clock_domain.h>

#include <array>
#include <cstdint>
#include <memory>
#include <systemc>
#include <vector>

namespace regatta::models {

/// The main file is the conventional one (RegisterFile), to the cycle. An operand that names an entry alone takes no
/// bank. All three files hold values; nothing but the operand's levels says where a value is.
///
/// A result is written to all its levels, and done when the slowest is. A read that copies its register is done when
/// the main file answers; the copy can be read from that cycle on. Within an instruction all reads come before the
/// copies.
class HierarchicalRegisterFile final : public WindowedFile<HierarchicalRegisterFile>, public RowNeeds {
 public:
  sc_core::sc_port<EntrySlots> slots;
  sc_core::sc_port<ThreadEntries> orf, lrf;

  HierarchicalRegisterFile(const sc_core::sc_module_name& name, const RegisterFileConfig& config,
                           support::ClockDomain& clock);

  void end_of_elaboration() override;
  void kernel_started(const protocol::KernelContext& context) override;
  void budget_changed(const protocol::WarpInfo& warp, unsigned before, unsigned after) override {
    change_budget(warp, before, after);
  }
  void cta_finished(const protocol::CtaInfo& cta) override { end_cta(cta); }
  std::string budget_obstacle() const override { return fixed_windows_obstacle(); }
  bool reads_row(const protocol::DynamicInstruction& d, unsigned source) const override {
    return d.injected || (levels_[d.traits->index].reads[source] & level_main) != 0;
  }
  bool writes_row(const protocol::DynamicInstruction& d, unsigned destination) const override {
    return d.injected || (levels_[d.traits->index].writes[destination] & level_main) != 0;
  }
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  friend class BankedFile<HierarchicalRegisterFile>;
  static constexpr bool answers_late = false;
  using Payload = tlm::tlm_generic_payload;
  /// The levels of the operand; the main file for transfers without an instruction of the program.
  unsigned level_of(const Payload& payload, const protocol::WarpAccess& access) const {
    if (__builtin_expect(static_cast<int>(access.instruction == nullptr || access.instruction->injected), 0) != 0) {
      return level_main;
    }
    const OperandLevels& l = levels_[access.instruction->traits->index];
    return payload.is_read() ? l.reads[access.operand] : l.writes[access.operand];
  }
  unsigned bank(const Payload& payload, const protocol::WarpAccess& access) const {
    return (level_of(payload, access) & level_main) != 0 ? bank_of(access.warp, access.reg) : no_bank;
  }
  std::uint64_t transfer(Payload& payload, protocol::WarpAccess& access, unsigned bank, std::uint64_t done) {
    const unsigned level = level_of(payload, access);
    return payload.is_read() ? read(payload, access, level, bank, done) : write(payload, access, level, done);
  }
  void debug_transfer(Payload& payload, protocol::WarpAccess& access, unsigned bank) {
    copy_row(payload, rows_[row_of(access)]);
    if (payload.is_read()) access.origin = protocol::Origin{"bank", bank};
  }
  std::uint64_t read(Payload& payload, protocol::WarpAccess& access, unsigned level, unsigned bank, std::uint64_t done);
  std::uint64_t write(Payload& payload, protocol::WarpAccess& access, unsigned level, std::uint64_t done);
  std::uint64_t read_entry(std::uint32_t* data, protocol::WarpAccess& access, unsigned level, std::uint64_t at);
  void write_entries(const protocol::WarpAccess& access, unsigned level, protocol::LaneMask lanes,
                     const std::uint32_t* data, std::uint64_t ready);
  void copy_to_entries(const protocol::WarpAccess& access, const OperandLevels& levels);

  EntrySlots* slots_ = nullptr;
  ThreadEntries *orf_ = nullptr, *lrf_ = nullptr;
  std::vector<OperandLevels> levels_;  ///< by static instruction
  protocol::WarpRegisters rows_;
  /// What the instruction's reads have found that are copied, until its last read.
  struct Copy {
    const std::uint32_t* data = nullptr;
    std::uint64_t done = 0;
  };
  std::array<Copy, trace::max_source_registers> copies_;
  std::uint64_t main_reads_ = 0, main_writes_ = 0, copied_ = 0, further_writes_ = 0;
  std::uint64_t homeless_reads_ = 0, dropped_ = 0;
};

}  // namespace regatta::models
