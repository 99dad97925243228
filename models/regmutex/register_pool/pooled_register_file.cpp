// SPDX-License-Identifier: Apache-2.0
#include <regatta/regmutex/pooled_register_file.h>

#include <regatta/support/energy.h>

#include <stdexcept>
#include <string>

namespace regatta::models {

PooledRegisterFile::PooledRegisterFile(const sc_core::sc_module_name& name, const RegisterFileConfig& config,
                                       unsigned slices, unsigned granularity, const SharedRegisterPool& pool,
                                       support::ClockDomain& clock)
    : BankedFile(name, config, clock),
      sections("sections"),
      section_user("section_user"),
      pool_(pool),
      granularity_(granularity),
      fixed_(slices) {
  section_user.bind(*this);
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

void PooledRegisterFile::warp_started(const protocol::WarpInfo& warp) {
  if (use_ == nullptr) return;
  const std::uint32_t base = fixed_.base(warp.warp);
  for_each_register(false, [&](protocol::RegisterId r, unsigned i) { use_->row_taken(warp.warp, r, Row(base + i)); });
}

void PooledRegisterFile::warp_finished(const protocol::WarpInfo& warp) {
  if (use_ == nullptr) return;
  for_each_register(false, [&](protocol::RegisterId r, unsigned) { use_->row_freed(warp.warp, r); });
}

void PooledRegisterFile::section_taken(protocol::WarpSlot warp) {
  if (use_ == nullptr) return;
  const std::uint32_t first = pool_begin_ + sections_->section(warp) * sets_.extended;
  for_each_register(true, [&](protocol::RegisterId r, unsigned i) { use_->row_taken(warp, r, Row(first + i)); });
}

void PooledRegisterFile::section_returns(protocol::WarpSlot warp) {
  if (use_ == nullptr) return;
  for_each_register(true, [&](protocol::RegisterId r, unsigned) { use_->row_freed(warp, r); });
}

void PooledRegisterFile::refuse_extended(const protocol::WarpAccess& a) const {
  SC_REPORT_ERROR("regatta/register_file",
                  ("warp " + std::to_string(a.warp.value()) + " register R" + std::to_string(a.reg.value()) +
                   " has no row: it is of the extended set, and the warp holds no section")
                      .c_str());
  throw std::logic_error("an error that SystemC reported was ignored");
}

void PooledRegisterFile::register_energy(support::EnergyGroup& g) {
  const double rows = warp_size_ / 32.0;
  const support::ArrayGeometry size{double(config_.registers) * warp_size_ * trace::bytes_per_lane,
                                    double(config_.banks)};
  g.event("register_structures", "register_file.read", ports_.reads(), rows, size);
  g.event("register_structures", "register_file.write", ports_.writes(), rows, size);
  if (!rows_switched()) g.leakage("register_structures", "register_file.leakage", size);
}

}  // namespace regatta::models
