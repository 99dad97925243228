// SPDX-License-Identifier: Apache-2.0
//
// The register file cache of a modern NVIDIA GPU: operands that the compiler wants to stay for the next reader.
#pragma once

#include <regatta/protocol/operand_cache.h>
#include <regatta/support/energy.h>
#include <regatta/support/stats.h>

#include <array>
#include <cstdint>
#include <systemc>
#include <vector>

namespace regatta::models {

/// Per sub-core, an entry for each of two banks (register number mod 2) and three source positions, with a warp and a
/// register as tag (Huerta et al., MICRO 2025, section 5.3.1). A read at a bank and position finds its register there
/// if the tags are equal. Any read there clears the entry, unless the operand has the reuse flag, which stores it.
/// Neither writes nor the end of a warp clear an entry: a wrong flag gives an old value.
class RegisterFileCache : public sc_core::sc_module, public protocol::OperandCache, public support::StatProvider {
 public:
  static constexpr unsigned banks = 2;
  static constexpr unsigned positions = 3;

  RegisterFileCache(const sc_core::sc_module_name& name, unsigned sub_cores);

  bool keeps_cycle_time() const override { return true; }
  bool holds(const protocol::CachedOperand& operand) const override;
  bool access(const protocol::CachedOperand& operand) override;
  const protocol::WarpValue& value(const protocol::CachedOperand& operand) const override;
  void fill(const protocol::CachedOperand& operand, const protocol::WarpValue& value) override;
  /// A launch finds it empty.
  void kernel_started(const protocol::KernelContext& context) override;
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override {
    group.costs_nothing("the energy tables have no value for it");
  }

 private:
  struct Entry {
    bool valid = false;
    protocol::WarpSlot warp;
    protocol::RegisterId reg;
    protocol::WarpValue value;
  };
  using SubCore = std::array<std::array<Entry, positions>, banks>;
  Entry& entry(const protocol::CachedOperand& operand) {
    return sub_cores_[operand.sub_core][operand.reg.value() % banks][operand.position];
  }
  const Entry& entry(const protocol::CachedOperand& operand) const {
    return sub_cores_[operand.sub_core][operand.reg.value() % banks][operand.position];
  }

  std::vector<SubCore> sub_cores_;
  std::uint64_t accesses_ = 0, hits_ = 0, stores_ = 0, fills_ = 0;
};

}  // namespace regatta::models
