// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/register_pool/pooled_register_file.h>

#include <regatta/support/energy.h>

#include <stdexcept>
#include <string>

namespace regatta::models {

PooledRegisterFile::PooledRegisterFile(const sc_core::sc_module_name& name, const RegisterFileConfig& config,
                                       unsigned slices, unsigned granularity, const SharedRegisterPool& pool,
                                       sc_core::sc_time clock_period)
    : BankedFile(name, config, clock_period),
      sections("sections"),
      pool_(pool),
      granularity_(granularity),
      fixed_(slices) {
  rows_.resize(config.registers, 32);
}

void PooledRegisterFile::kernel_started(const protocol::KernelContext& context) {
  BankedFile::kernel_started(context);
  sets_ = SharedRegisterPool::sets_of(*context.kernel);
  const std::uint32_t pool = pool_.sections_for(*context.kernel, sets_) * sets_.extended;
  pool_begin_ = static_cast<std::uint32_t>(config_.registers) - pool;
  fixed_.kernel_started(pool_begin_, base_registers(sets_));
  rows_.resize(config_.registers, context.warp_size);
}

void PooledRegisterFile::refuse_extended(const protocol::WarpAccess& a) const {
  SC_REPORT_FATAL("regatta/register_file",
                  ("warp " + std::to_string(a.warp.value()) + " register R" + std::to_string(a.reg.value()) +
                   " has no row: it is of the extended set, and the warp holds no section")
                      .c_str());
  throw std::logic_error("a fatal SystemC report returned");
}

void PooledRegisterFile::register_energy(support::EnergyGroup& g) {
  const double rows = warp_size_ / 32.0;
  const support::ArrayGeometry size{double(config_.registers) * warp_size_ * trace::bytes_per_lane,
                                    double(config_.banks)};
  g.event("register_structures", "register_file.read", ports_.reads(), rows, size);
  g.event("register_structures", "register_file.write", ports_.writes(), rows, size);
  g.leakage("register_structures", "register_file.leakage", size);
}

}  // namespace regatta::models
