// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/baseline/row_use.h>
#include <regatta/protocol/ids.h>
#include <regatta/rfv/renaming_plan.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <systemc>
#include <vector>

namespace regatta::models {

/// Row i of bank b of a file with B banks is row i * B + b.
class RowLookup : public virtual sc_core::sc_interface {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  /// The row of a warp's register; `none` if it has none.
  virtual std::uint32_t row(protocol::WarpSlot warp, protocol::RegisterId reg) const = 0;
  /// Registers of the kernel that are mapped directly, without an entry of the table.
  virtual trace::RfvRegisters direct(const trace::Kernel& kernel) const = 0;
  virtual double table_bytes() const = 0;
};

class RowEntries : public virtual sc_core::sc_interface {
 public:
  /// A launch begins: no warp has a row.
  virtual void begin(const RenamingPlan& plan, unsigned warps) = 0;
  virtual void enter(protocol::WarpSlot warp, unsigned reg, std::uint32_t row) = 0;
  /// Returns the row that the register had.
  virtual std::uint32_t remove(protocol::WarpSlot warp, unsigned reg) = 0;
};

/// Warp and architectural register to physical row (RFV, MICRO 2015). Exempt registers have a fixed row per warp slot
/// throughout a launch: their entries stand for wires, not for bits of the table.
class RenameTable final : public sc_core::sc_module, public RowLookup, public RowEntries, public support::StatProvider {
 public:
  sc_core::sc_export<RowLookup> lookup;
  sc_core::sc_export<RowEntries> entries;
  RowUsePort row_use;  ///< told which register has which row, where rows are switched

  RenameTable(const sc_core::sc_module_name& name, const RenamingConfig& config);

  std::uint32_t row(protocol::WarpSlot warp, protocol::RegisterId reg) const override {
    if (__builtin_expect(static_cast<int>(reg.value() > trace::max_rfv_registers), 0) != 0) return none;
    return rows_[at(warp, reg.value())];
  }
  trace::RfvRegisters direct(const trace::Kernel& kernel) const override;
  double table_bytes() const override { return double(bits_) / 8; }
  void end_of_elaboration() override { use_ = row_use.size() != 0 ? row_use.operator->() : nullptr; }
  void begin(const RenamingPlan& plan, unsigned warps) override;
  void enter(protocol::WarpSlot warp, unsigned reg, std::uint32_t row) override;
  std::uint32_t remove(protocol::WarpSlot warp, unsigned reg) override;

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  static std::size_t at(protocol::WarpSlot warp, unsigned reg) { return std::size_t{warp.value()} << 6 | reg; }

  const unsigned max_warps_, file_rows_;
  RowUse* use_ = nullptr;
  trace::RfvRegisters direct_ = 0;
  std::vector<std::uint32_t> rows_;  ///< by warp and register
  std::uint64_t entered_ = 0, removed_ = 0, bits_ = 0;
};

}  // namespace regatta::models
