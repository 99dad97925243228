// SPDX-License-Identifier: Apache-2.0
//
// The two tables with which FineReg's register management unit finds its way in the pending CTA register file
// (MICRO 2018, section V-C, Figure 10).
#pragma once

#include <regatta/finereg/operations.h>
#include <regatta/protocol/ids.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <optional>
#include <systemc>
#include <vector>

namespace regatta::models {

class FreeEntries : public virtual sc_core::sc_interface {
 public:
  virtual unsigned free() const = 0;
  /// Takes the lowest free entry; none when all are taken.
  virtual std::optional<unsigned> take() = 0;
  virtual void give_back(unsigned entry) = 0;
  virtual bool taken(unsigned entry) const = 0;
  /// Only the first `entries` exist from now on; all are free.
  virtual void limit(unsigned entries) = 0;
};

/// The free space monitor: a flag per entry.
class FreeSpaceMonitor final : public sc_core::sc_module, public FreeEntries, public support::StatProvider {
 public:
  sc_core::sc_export<FreeEntries> access;

  FreeSpaceMonitor(const sc_core::sc_module_name& name, unsigned entries);

  /// A twin of the unit, which gets the operations from now on; null: none.
  void set_twin(RmuTwin* twin);

  unsigned free() const override { return told_free_; }
  std::optional<unsigned> take() override;
  void give_back(unsigned entry) override;
  bool taken(unsigned entry) const override { return taken_[entry]; }
  void limit(unsigned entries) override;
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  /// What counts of an operation if there is a twin.
  RmuResult twin_result(const RmuOperation& operation, bool ok, unsigned entry);

  std::vector<bool> taken_;
  unsigned free_;
  unsigned told_free_;   ///< the twin's number, if it counts
  unsigned lowest_ = 0;  ///< no entry below it is free
  std::uint64_t updates_ = 0, taken_max_ = 0;
  RmuTwin* twin_ = nullptr;
};

/// Where the registers of a pending CTA begin, and how many they are.
struct PendingChain {
  std::uint16_t first = 0;  ///< of no meaning if count is 0
  std::uint16_t count = 0;
};

class ChainPointers : public virtual sc_core::sc_interface {
 public:
  virtual PendingChain get(protocol::CtaSlot cta) = 0;
  virtual void set(protocol::CtaSlot cta, const PendingChain& chain) = 0;
};

/// The PCRF pointer table: an entry per CTA slot. The paper gives a count 6 bits; a CTA can have up to 1,024 live
/// registers, for which it takes 11.
class PointerTable final : public sc_core::sc_module, public ChainPointers, public support::StatProvider {
 public:
  sc_core::sc_export<ChainPointers> access;

  PointerTable(const sc_core::sc_module_name& name, unsigned ctas);

  PendingChain get(protocol::CtaSlot cta) override {
    ++accesses_;
    return chains_[cta.value()];
  }
  void set(protocol::CtaSlot cta, const PendingChain& chain) override {
    ++accesses_;
    chains_[cta.value()] = chain;
  }
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  std::vector<PendingChain> chains_;
  std::uint64_t accesses_ = 0;
};

}  // namespace regatta::models
