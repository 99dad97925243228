// SPDX-License-Identifier: Apache-2.0
//
// Operand collector units: an issued instruction takes a unit, asks the operand storage for each distinct register it
// reads, and leaves for execution when all have been delivered. Units are generic, of one scheduler, or for one kind of
// instruction: those are the scheduler's own when their number divides among the schedulers, and shared otherwise.
#pragma once

#include <regatta/protocol/payload.h>
#include <regatta/support/ring.h>

#include "contract.h"
#include "core.h"
#include "holds.h"
#include "operand_path.h"
#include "request_channel.h"

#include <optional>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::sm {

class ExecutionUnits;

class OperandCollectors final : public OperandPath, tlm::tlm_bw_transport_if<> {
 public:
  OperandCollectors(const sc_core::sc_module_name& name, Core& core, ExecutionUnits& execution);

  protocol::OperandInitiatorSocket read_socket;
  protocol::OperandInitiatorSocket& socket() override { return read_socket; }
  void connect(const std::string& storage) override { reads_of_.set_target(storage); }

  bool available(unsigned scheduler, protocol::Unit kind) const override {
    return (pools_[scheduler].free | pools_[own_[scheduler][static_cast<unsigned>(kind)]].free) != 0;
  }
  unsigned closed(unsigned scheduler) const override {
    if (pools_[scheduler].free != 0) return 0;
    unsigned kinds = 0;
    for (unsigned u = static_cast<unsigned>(protocol::Unit::sp); u < protocol::unit_count; ++u) {
      if (pools_[own_[scheduler][u]].free == 0) kinds |= 1u << u;
    }
    return kinds;
  }
  protocol::Stall reason(unsigned scheduler, protocol::Unit kind) const override {
    return protocol::structural_stall(holder(scheduler, kind));
  }
  /// Takes a unit (one must be available) and sends the reads, in operand order.
  void enter(DynamicInstruction& d) override;
  void operands_ready(std::uint32_t unit) override;
  /// `unit` will be ready soon.
  void prefetch(std::uint32_t unit) const {
    const auto* d = reinterpret_cast<const char*>(units_[unit].instruction);
    __builtin_prefetch(d);
    __builtin_prefetch(d + 64);
  }
  void dispatched(DynamicInstruction& d) override;
  std::optional<Hold> holds(const DynamicInstruction& d) const override;
  std::vector<const DynamicInstruction*> holders(unsigned scheduler, protocol::Unit kind) const override;
  const DynamicInstruction& in_place(std::uint32_t unit) const override { return *units_[unit].instruction; }
  bool waits_for_operands(const DynamicInstruction& d, Cycle at) const override {
    if (unit_of_.size() <= d.pool_index) return false;
    const Collector& c = units_[unit_of_[d.pool_index]];
    return c.instruction == &d && at > c.taken && (d.operands_pending != 0 || c.ready > at);
  }
  bool is_due() const override;
  /// Sends reads that the storage's back-pressure held.
  void cycle() override;
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  struct Read {
    std::uint32_t unit;
    std::uint8_t operand;
  };
  struct Collector {
    DynamicInstruction* instruction = nullptr;
    Cycle ready;
    Cycle taken;
    std::uint32_t pool = 0;
  };
  /// Units that are interchangeable.
  struct Pool {
    std::uint32_t first = 0;
    std::uint64_t free = 0;                                 ///< a bit per unit
    std::array<std::uint8_t, protocol::unit_count> held{};  ///< units by the kind of instruction in them
  };

  std::uint32_t add_pool(unsigned units);
  /// Whose instructions hold what an instruction of this kind, which finds no unit, would take: the kind itself where
  /// it has units of its own, otherwise the kind that has most of the scheduler's generic units.
  protocol::Unit holder(unsigned scheduler, protocol::Unit kind) const {
    if (own_[scheduler][static_cast<unsigned>(kind)] != scheduler) return kind;
    const auto& held = pools_[scheduler].held;
    unsigned most = 0;
    for (unsigned u = 1; u < held.size(); ++u) most = held[u] > held[most] ? u : most;
    return static_cast<protocol::Unit>(most);
  }

  void request_all(std::uint32_t unit, DynamicInstruction& d);
  [[gnu::noinline]] void request(std::uint32_t unit, unsigned operand);
  [[gnu::noinline, gnu::cold]] void spoil(protocol::WarpValue& value);
  [[gnu::noinline, gnu::cold]] void check_origin(const protocol::WarpAccess& access) const;
  void delivered(std::uint32_t unit, protocol::WarpAccess& access, Cycle when);
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  Core& core_;
  ExecutionUnits& execution_;
  std::vector<Collector> units_;
  std::vector<Pool> pools_;  ///< the schedulers' generic units, then those for one kind
  /// The pool for a kind alone, per scheduler; the generic one where there is none.
  std::vector<std::array<std::uint32_t, protocol::unit_count>> own_;
  std::vector<std::uint32_t> unit_of_;  ///< by pool index
  protocol::OperandPayloadPool payloads_;
  support::Ring<Read> backlog_;
  RequestChannel channel_;
  TargetContract reads_of_;
  const bool checked_;  ///< SmConfig::check_contracts
  std::uint64_t instructions_ = 0;
  std::uint64_t reads_ = 0;
  std::uint64_t duplicates_ = 0;
  std::uint64_t held_reads_ = 0;
  std::uint32_t spoilt_ = 0;
};

}  // namespace regatta::sm
