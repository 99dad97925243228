// SPDX-License-Identifier: Apache-2.0
#include <regatta/sharing/shared_register_file.h>

#include <regatta/support/energy.h>

#include <algorithm>
#include <utility>

namespace regatta::models {

using protocol::WarpSlot;

SharedRegisterFile::SharedRegisterFile(const sc_core::sc_module_name& name, const RegisterFileConfig& config,
                                       unsigned slices, support::ClockDomain& clock)
    : SharedRegisterFile(name, config, std::make_unique<SharedWindows>(slices), clock) {}

SharedRegisterFile::SharedRegisterFile(const sc_core::sc_module_name& name, const RegisterFileConfig& config,
                                       std::unique_ptr<SharedWindows> windows, support::ClockDomain& clock)
    : WindowedFile(name, config, std::move(windows), clock),
      pairs("pairs"),
      boundary("boundary"),
      shared_(static_cast<SharedWindows&>(unit_.get())) {
  rows_.resize(config.registers, 32);
}

void SharedRegisterFile::end_of_elaboration() {
  WindowedFile::end_of_elaboration();
  shared_.connect(*pairs.operator->(), *boundary.operator->());
}

void SharedRegisterFile::kernel_started(const protocol::KernelContext& context) {
  shared_.launch(context.warps_per_cta);
  WindowedFile::kernel_started(context);
  private_ = boundary->private_registers();
  homes_.resize(std::size_t{pairs->plan().ctas} * context.warps_per_cta);
  for (std::size_t i = 0; i < homes_.size(); ++i) {
    const auto warp = WarpSlot(static_cast<WarpSlot::rep>(i));
    homes_[i] = std::min(warp, shared_.partner(warp).value_or(warp));
  }
  rows_.resize(config_.registers, context.warp_size);
}

void SharedRegisterFile::register_energy(support::EnergyGroup& g) {
  const double rows = warp_size_ / 32.0;
  const support::ArrayGeometry size{double(config_.registers) * warp_size_ * trace::bytes_per_lane,
                                    double(config_.banks)};
  g.event("register_structures", "register_file.read", ports_.reads(), rows, size);
  g.event("register_structures", "register_file.write", ports_.writes(), rows, size);
  if (!rows_switched()) g.leakage("register_structures", "register_file.leakage", size);
}

}  // namespace regatta::models
