// SPDX-License-Identifier: Apache-2.0
//
// The register allocator's part in the bench: counts the references to a few physical registers and says when the
// machine is in low-register mode. Small and slow; models/wir/register_allocator.h is the block.
#pragma once

#include <regatta/support/clock_domain.h>
#include <regatta/wir/references.h>

#include <array>
#include <cstdint>
#include <string>
#include <systemc>

namespace one_block {

namespace wir = regatta::models::wir;

class RegisterCounts : public sc_core::sc_module, public wir::References {
 public:
  static constexpr unsigned registers = 16;
  static constexpr unsigned most = 1023;  ///< a counter has 10 bits
  /// The block that is asked to give up its entries in low-register mode.
  sc_core::sc_port<wir::ReferenceKeeper> keeper;

  RegisterCounts(const sc_core::sc_module_name& name, regatta::support::ClockDomain& clock)
      : sc_module(name), keeper("keeper"), clock_(clock) {
    // The bench has one reference to each register, as a rename entry would. So no register is ever free.
    count_.fill(1);
  }

  void set_low(bool low) {
    settle();
    low_ = low;
    settled_ = clock_.now();
  }
  /// References of all registers, without those of the bench.
  unsigned total() const { return total_; }

  // References.
  bool share(const wir::PhysicalRegister* regs, unsigned count) override {
    settle();
    for (unsigned i = 0; i < count && regs[i] != wir::no_register; ++i) {
      if (count_.at(regs[i].value()) < most) {
        add(regs[i]);
        continue;
      }
      while (i-- > 0) remove(regs[i]);
      return false;
    }
    return true;
  }
  void release(wir::PhysicalRegister reg) override {
    settle();
    if (reg != wir::no_register) remove(reg);
  }
  bool low() override {
    settle();
    return low_;
  }
  const bool& low_mode() const override { return low_; }
  /// For each past cycle of low-register mode, once: a block that was not accessed in the cycle gives up an entry.
  void settle() override {
    for (; low_ && settled_ < clock_.now(); ++settled_) {
      wir::PhysicalRegister regs[wir::ReferenceKeeper::most_given_up];
      const unsigned count = keeper->give_up_idle(settled_, regs);
      for (unsigned i = 0; i < count; ++i) remove(regs[i]);
    }
  }
  void check() const override {
    wir::ReferenceCounts kept;
    kept.references.resize(registers);
    kept.holds.resize(registers);
    keeper->count(kept);
    for (unsigned i = 0; i < registers; ++i) {
      if (count_[i] == kept.references[i] + 1) continue;
      const std::string message = "p" + std::to_string(i) + ": " + std::to_string(count_[i] - 1) +
                                  " references are counted, the block has " + std::to_string(kept.references[i]);
      SC_REPORT_ERROR("one_block/references", message.c_str());
    }
  }
  // The reuse buffer does not call these.
  void hold(const wir::PhysicalRegister*, unsigned) override { unexpected(); }
  void end_hold(wir::PhysicalRegister) override { unexpected(); }
  void replace(wir::PhysicalRegister, wir::PhysicalRegister) override { unexpected(); }

 private:
  void add(wir::PhysicalRegister reg) {
    ++count_.at(reg.value());
    ++total_;
  }
  void remove(wir::PhysicalRegister reg) {
    if (count_.at(reg.value()) == 1) SC_REPORT_ERROR("one_block/references", "a reference is given up twice");
    --count_[reg.value()];
    --total_;
  }
  static void unexpected() { SC_REPORT_ERROR("one_block/references", "a transaction that the bench does not play"); }

  regatta::support::ClockDomain& clock_;
  std::array<unsigned, registers> count_{};
  unsigned total_ = 0;
  bool low_ = false;
  std::uint64_t settled_ = 0;  ///< the first cycle that the keeper was not asked about
};

}  // namespace one_block
