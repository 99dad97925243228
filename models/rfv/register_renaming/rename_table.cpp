// SPDX-License-Identifier: Apache-2.0
#include <regatta/rfv/rename_table.h>

#include <regatta/support/energy.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace regatta::models {

RenameTable::RenameTable(const sc_core::sc_module_name& name, const RenamingConfig& config)
    : sc_module(name),
      lookup("lookup"),
      entries("entries"),
      row_use("row_use"),
      max_warps_(config.max_warps),
      file_rows_(config.file.registers) {
  lookup.bind(*this);
  entries.bind(*this);
}

void RenameTable::begin(const RenamingPlan& plan, unsigned warps) {
  direct_ = plan.section.exempt;
  rows_.assign(at(protocol::WarpSlot(static_cast<protocol::WarpSlot::rep>(warps)), 0), none);
  unsigned row_bits = 0;
  while ((std::uint64_t{1} << row_bits) < file_rows_) ++row_bits;
  const std::uint64_t entries_of_warp = plan.section.table_entries != 0 ? plan.section.table_entries : plan.registers;
  bits_ = std::max(bits_, max_warps_ * entries_of_warp * (row_bits + 1));
}

trace::RfvRegisters RenameTable::direct(const trace::Kernel& kernel) const {
  const std::optional<trace::RfvSection> section = trace::find_rfv(kernel);
  return section ? section->exempt : 0;
}

void RenameTable::enter(protocol::WarpSlot warp, unsigned reg, std::uint32_t row) {
  rows_[at(warp, reg)] = row;
  entered_ += (direct_ >> reg & 1) ^ 1;
  if (use_ != nullptr) use_->row_taken(warp, protocol::RegisterId(static_cast<std::uint8_t>(reg)), Row(row));
}

std::uint32_t RenameTable::remove(protocol::WarpSlot warp, unsigned reg) {
  removed_ += (direct_ >> reg & 1) ^ 1;
  if (use_ != nullptr) use_->row_freed(warp, protocol::RegisterId(static_cast<std::uint8_t>(reg)));
  return std::exchange(rows_[at(warp, reg)], none);
}

void RenameTable::register_stats(support::StatGroup& g) {
  g.counter("entered", entered_, "entries", "written: a register got a row");
  g.counter("removed", removed_, "entries", "cleared: its row was given back");
  g.derived(
      "bits", [this] { return double(bits_); }, "bits",
      "of the table of all warps of the SM, for the kernel that needs most: a row and whether there is one");
}

void RenameTable::register_energy(support::EnergyGroup& g) {
  const support::ArrayGeometry size{table_bytes(), 0};
  g.event("register_renaming", "register_renaming.table", entered_, 1, size);
  g.event("register_renaming", "register_renaming.table", removed_, 1, size);
  g.leakage("register_renaming", "register_renaming.table_leakage", size);
}

}  // namespace regatta::models
