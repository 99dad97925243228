// SPDX-License-Identifier: Apache-2.0
#include <regatta/rfv/virtual_register_file.h>

#include <regatta/support/energy.h>

#include <stdexcept>
#include <string>

namespace regatta::models {

VirtualRegisterFile::VirtualRegisterFile(const sc_core::sc_module_name& name, const RenamingConfig& config,
                                         support::ClockDomain& clock)
    : BankedFile(name, config.file, clock),
      rows("rows"),
      reads_served("reads_served"),
      rename_cycles_(config.rename_cycles) {
  cells_.resize(config_.registers, 32);
}

void VirtualRegisterFile::end_of_elaboration() {
  lookup_ = rows.operator->();
  served_ = reads_served.operator->();
}

void VirtualRegisterFile::kernel_started(const protocol::KernelContext& context) {
  BankedFile::kernel_started(context);
  direct_ = lookup_->direct(*context.kernel);
  cells_.resize(config_.registers, context.warp_size);
}

void VirtualRegisterFile::no_row(const protocol::WarpAccess& a) {
  const bool read = a.instruction != nullptr && a.operand < a.instruction->traits->read_count &&
                    a.instruction->traits->reads[a.operand] == a.reg;
  SC_REPORT_ERROR(
      "regatta/register_file",
      ("warp " + std::to_string(a.warp.value()) + " register R" + std::to_string(a.reg.value()) +
       " has no row: it was released before this " + (read ? "read" : "access") + ", or nothing was written to it")
          .c_str());
  throw std::logic_error("an error that SystemC reported was ignored");
}

void VirtualRegisterFile::register_stats(support::StatGroup& g) {
  BankedFile::register_stats(g);
  g.counter("table_accesses", table_accesses_, "warp registers", "read or written whose row the rename table has");
}

void VirtualRegisterFile::register_energy(support::EnergyGroup& g) {
  const double per_row = warp_size_ / 32.0;
  const support::ArrayGeometry size{double(config_.registers) * warp_size_ * trace::bytes_per_lane,
                                    double(config_.banks)};
  // The leakage is the availability's, which knows the sub-arrays that are off.
  g.event("register_structures", "register_file.read", ports_.reads(), per_row, size);
  g.event("register_structures", "register_file.write", ports_.writes(), per_row, size);
  register_move_energy(g, per_row, size);
  g.event("register_renaming", "register_renaming.table", table_accesses_, 1, {lookup_->table_bytes(), 0});
}

}  // namespace regatta::models
