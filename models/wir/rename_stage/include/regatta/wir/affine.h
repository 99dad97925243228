// SPDX-License-Identifier: Apache-2.0
//
// The affine machine (WIR section VII-A): a register whose lanes have a constant stride is stored as a tuple of base
// and stride in one of the eight narrow banks of a group, and an instruction with affine sources and result costs one
// lane. Energy accounting only: the timing is that of the machine without tuples.
#pragma once

#include <regatta/protocol/observer.h>
#include <regatta/support/stats.h>

#include <array>
#include <cstdint>
#include <systemc>
#include <vector>

namespace regatta::models::wir {

/// Whether all lanes have one stride, modulo 2^32.
inline bool is_affine(const std::uint32_t* value, unsigned lanes) {
  const std::uint32_t stride = value[1] - value[0];
  std::uint32_t differing = 0;
  for (unsigned i = 2; i < lanes; ++i) differing |= (value[i] - value[i - 1]) ^ stride;
  return differing == 0;
}

class AllocationStage;

/// Observes reads, execution and writes, and subtracts the savings of tuples from the energy of the register file and
/// the execution units. The first divergent write turns a register back into a vector: partial writes cost the whole
/// width.
class AffineMeter : public sc_core::sc_module, public protocol::Observer, public support::StatProvider {
 public:
  /// `stage`: that of the machine with reuse, whose verify-reads count too; null without reuse. `registers` and
  /// `banks`: those of the register file whose energy is saved.
  AffineMeter(const sc_core::sc_module_name& name, const AllocationStage* stage, unsigned registers, unsigned banks);

  std::vector<protocol::Event> interests() const override;
  bool keeps_cycle_time() const override { return true; }
  void kernel_started(protocol::Cycle, const protocol::KernelContext& context) override;
  void operands_delivered(protocol::Cycle, const protocol::DynamicInstruction& d) override;
  void register_written(protocol::Cycle, const protocol::DynamicInstruction& d, unsigned destination,
                        bool written) override;
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  const AllocationStage* stage_;
  unsigned registers_, banks_;
  unsigned warp_size_ = 32;
  protocol::LaneMask all_lanes_ = 0;
  std::uint64_t none_ = 0;
  std::uint64_t reads_ = 0, writes_ = 0, instructions_ = 0;
  std::array<std::uint64_t, 2> saved_lanes_{};  ///< integer, fp32
};

}  // namespace regatta::models::wir
