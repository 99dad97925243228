// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/baseline/banked_file.h>
#include <regatta/baseline/budget_rows.h>
#include <regatta/baseline/window_mapping.h>
#include <regatta/support/clock_domain.h>

#include <memory>
#include <string>
#include <systemc>
#include <utility>

namespace regatta::models {

/// A banked file whose windows another block can give, and from which registers can be moved: what a scheme needs that
/// switches CTAs, whatever else the file does.
class MovableFile : public WindowUser {
 public:
  using WindowPort = sc_core::sc_port<WindowPolicy, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;
  virtual WindowPort& window_port() = 0;
  virtual WindowMapping& mapping() = 0;
  /// The name of the file's own policy, which the port replaces.
  virtual std::string own_windows() const = 0;
  /// The result that waits for room at a bank; null if none does.
  virtual const protocol::WarpAccess* held_write() const = 0;
  virtual protocol::OptionalOperandTargetSocket& move_read_socket() = 0;
  virtual protocol::OptionalOperandTargetSocket& move_write_socket() = 0;
};

/// A banked file in which every resident warp has a window of rows, from its start to its end: banks, a policy that
/// gives windows, and the mapping that holds them. `File` supplies what BankedFile asks for, and calls
/// kernel_started(), warp_started() and warp_finished() here where it has its own.
template <class File>
class WindowedFile : public BankedFile<File>, public MovableFile {
 public:
  /// Bound to another block, that gives the windows instead of the file's own.
  WindowPort other_windows;

  WindowedFile(const sc_core::sc_module_name& name, const RegisterFileConfig& config,
               std::unique_ptr<WindowPolicy> windows, support::ClockDomain& clock)
      : BankedFile<File>(name, config, clock),
        other_windows("other_windows"),
        unit_("windows", std::move(windows)),
        own_(unit_.get()),
        windows_(&unit_.get()) {}

  void end_of_elaboration() override {
    if (other_windows.size() != 0) windows_ = other_windows.operator->();
  }

  void kernel_started(const protocol::KernelContext& context) override {
    BankedFile<File>::kernel_started(context);
    mapping_.start(static_cast<std::uint32_t>(this->config_.registers), this->registers_per_warp_);
    windows_->kernel_started(static_cast<std::uint32_t>(this->config_.registers), this->registers_per_warp_);
    budgets_.stop();
    if (context.kernel != nullptr && context.kernel->launch_registers != 0)
      budgets_.start(context, this->config_.sub_cores);
  }
  void warp_started(const protocol::WarpInfo& warp) override {
    if (budgets_.used()) return start_with_budget(warp);
    for (const protocol::WarpSlot other : windows_->shares_with(warp.warp)) mapping_.alias(warp.warp, other);
    const std::string wrong = mapping_.map(warp.warp, windows_->assign(warp.warp));
    if (!wrong.empty()) SC_REPORT_ERROR("regatta/register_windows", wrong.c_str());
    if (this->use_ == nullptr) return;
    for_each_register(
        [&](protocol::RegisterId r) { this->use_->row_taken(warp.warp, r, *mapping_.place(warp.warp, r)); });
  }
  void warp_finished(const protocol::WarpInfo& warp) override {
    if (budgets_.used() && this->use_ != nullptr)
      each_budgeted(warp, 0, budget_end, [&](protocol::RegisterId r, Row) { this->use_->row_freed(warp.warp, r); });
    if (this->use_ != nullptr && !budgets_.used()) {
      for_each_register([&](protocol::RegisterId r) { this->use_->row_freed(warp.warp, r); });
    }
    if (mapping_.mapped(warp.warp)) mapping_.unmap(warp.warp);
    windows_->release(warp.warp);
  }

  const WindowMapping& mapping() const { return mapping_; }
  WindowPort& window_port() override { return other_windows; }
  std::string own_windows() const override { return own_.name(); }
  WindowMapping& mapping() override { return mapping_; }
  const protocol::WarpAccess* held_write() const override { return BankedFile<File>::held_write(); }
  protocol::OptionalOperandTargetSocket& move_read_socket() override { return this->move_reads; }
  protocol::OptionalOperandTargetSocket& move_write_socket() override { return this->move_writes; }
  const WindowPolicy& windows() const { return *windows_; }

 protected:
  /// budget_changed() and budget_obstacle() of a file that follows budgets, as long as its windows are fixed.
  void change_budget(const protocol::WarpInfo& warp, unsigned before, unsigned after) {
    if (this->use_ != nullptr)
      each_budgeted(warp, after, before, [&](protocol::RegisterId r, Row) { this->use_->row_freed(warp.warp, r); });
    if (!budgets_.change(warp, before, after)) {
      SC_REPORT_ERROR("regatta/register_file", ("the CTA of warp " + std::to_string(warp.warp.value()) +
                                                " has fewer than " + std::to_string(after - before) + " free rows")
                                                   .c_str());
    }
    take_rows(warp, before, after);
  }
  std::string fixed_windows_obstacle() const {
    return windows_->name() == "fixed" ? std::string() : "has windows that the policy '" + windows_->name() + "' gives";
  }
  void end_cta(const protocol::CtaInfo& cta) {
    if (budgets_.used()) budgets_.cta_finished(cta.cta);
  }

  /// Row of the access, refused where the register has none.
  std::uint32_t row_of(const protocol::WarpAccess& access) const {
    const std::uint32_t row = mapping_.row(access.warp, access.reg);
    return __builtin_expect(static_cast<int>(row == WindowMapping::no_row), 0) != 0 ? row_of_budget(access) : row;
  }
  std::size_t row(const tlm::tlm_generic_payload&, const protocol::WarpAccess& access) const { return row_of(access); }

  WindowUnit unit_;
  const WindowPolicy& own_;
  WindowPolicy* windows_;
  WindowMapping mapping_;
  BudgetRows budgets_;

 private:
  friend class BankedFile<File>;
  static constexpr unsigned budget_end = 256;

  [[gnu::noinline]] std::uint32_t row_of_budget(const protocol::WarpAccess& access) const {
    const std::uint32_t row = budgets_.used() ? budgets_.row(access.warp, access.reg) : BudgetRows::no_row;
    if (row == BudgetRows::no_row) this->refuse(access);
    return row;
  }
  void start_with_budget(const protocol::WarpInfo& warp) {
    budgets_.warp_started(warp, windows_->assign(warp.warp).base, this->registers_per_warp_);
    take_rows(warp, 0, this->registers_per_warp_);
  }
  void take_rows(const protocol::WarpInfo& warp, unsigned from, unsigned to) {
    if (this->use_ == nullptr) return;
    each_budgeted(warp, from, to, [&](protocol::RegisterId r, Row row) { this->use_->row_taken(warp.warp, r, row); });
  }
  /// Calls f(register, row) for those of the registers that have a row.
  template <class F>
  void each_budgeted(const protocol::WarpInfo& warp, unsigned from, unsigned to, F&& f) const {
    for (unsigned r = from; r < to; ++r) {
      const protocol::RegisterId reg(static_cast<std::uint8_t>(r));
      const std::uint32_t row = budgets_.row(warp.warp, reg);
      if (row != BudgetRows::no_row) f(reg, Row(row));
    }
  }
  template <class F>
  void for_each_register(F&& f) const {
    for (unsigned r = 0; r < this->registers_per_warp_; ++r) f(protocol::RegisterId(static_cast<std::uint8_t>(r)));
  }
};

}  // namespace regatta::models
