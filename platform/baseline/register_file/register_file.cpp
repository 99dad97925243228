// SPDX-License-Identifier: Apache-2.0
#include <regatta/baseline/register_file.h>
#include <regatta/support/energy.h>

namespace regatta::models {

RegisterFile::RegisterFile(const sc_core::sc_module_name& name, const RegisterFileConfig& config,
                           support::ClockDomain& clock, std::unique_ptr<WindowPolicy> windows)
    : WindowedFile(name, config, std::move(windows), clock), window_(config.banks, config.planned_read_ports) {
  rows_.resize(config.registers, 32);
}

void RegisterFile::kernel_started(const protocol::KernelContext& context) {
  WindowedFile::kernel_started(context);
  rows_.resize(config_.registers, context.warp_size);
}

protocol::ReadPlanner* RegisterFile::plan_reads() {
  if (row_use.size() != 0 || move_reads.size() != 0 || config_.shared_port()) return nullptr;
  plans_ = true;
  return this;
}

bool RegisterFile::plan(protocol::WarpSlot warp, const protocol::RegisterId* registers, unsigned count,
                        protocol::Cycle first, unsigned cycles, std::uint8_t* slots) {
  std::array<unsigned, ReadWindow::most_operands> banks{};
  for (unsigned i = 0; i < count; ++i) banks[i] = bank_of(warp, registers[i]);
  return window_.reserve(banks.data(), count, first.value(), cycles, slots);
}

void RegisterFile::register_energy(support::EnergyGroup& g) {
  // An access moves a whole row, whatever lanes are active: banks are not gated by lane.
  const double rows = warp_size_ / 32.0;
  const support::ArrayGeometry size{double(config_.registers) * warp_size_ * trace::bytes_per_lane,
                                    double(config_.banks)};
  g.event("register_structures", "register_file.read", ports_.reads(), rows, size);
  g.event("register_structures", "register_file.write", ports_.writes(), rows, size);
  register_move_energy(g, rows, size);
  if (!rows_switched()) g.leakage("register_structures", "register_file.leakage", size);
}

}  // namespace regatta::models
