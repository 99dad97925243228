// SPDX-License-Identifier: Apache-2.0
//
// The register allocation stage (WIR sections V-A, V-D, V-E): decides where a result goes, and whether it has to be
// written at all.
#pragma once

#include <regatta/models/wir/h3_hash.h>
#include <regatta/models/wir/physical_register_file.h>
#include <regatta/protocol/extension_points.h>
#include <regatta/support/ring.h>

#include <array>

namespace regatta::models::wir {

/// Per instruction: hash (1 cycle, one per scheduler at a time), table (1 cycle); for a hit in the value signature
/// buffer a verify-read, in the verify cache or at the bank; a physical register, for which it queues if there is none;
/// for the first divergent write of a logical register a dummy MOV; then the write, if there is one. Instructions pass
/// the stage independently: a waiting instruction delays others only for registers.
class AllocationStage : public protocol::WritebackPoint {
 public:
  explicit AllocationStage(PhysicalRegisterFile& file);

  bool keeps_cycle_time() const override { return true; }
  unsigned arrive(protocol::DynamicInstruction& d) override;
  std::size_t resume_kept(RecalledList& recalled) override;
  Decision decide(protocol::DynamicInstruction& d, unsigned destination) override {
    return (state_.of(d).writes >> destination & 1) != 0 ? Decision::write : Decision::drop;
  }
  void kernel_started(const protocol::KernelContext& context) override;
  const sc_core::sc_event& changed() const override { return changed_; }
  /// Verify-reads that accessed a bank and whose value is an affine tuple.
  const std::uint64_t& affine_verify_reads() const { return affine_verify_reads_; }

 protected:
  /// Whether the candidate holds the result's value.
  virtual bool same_value(const std::uint32_t* candidate, const std::uint32_t* result) const;

 private:
  unsigned enter(const protocol::DynamicInstruction& d, InFlight& f, std::uint64_t now);
  unsigned advance(protocol::DynamicInstruction& d, InFlight& f, std::uint64_t now);
  void look(const protocol::DynamicInstruction& d, InFlight& f, std::uint64_t now);
  unsigned verify(const protocol::DynamicInstruction& d, InFlight& f, std::uint64_t now);
  bool verify_at_bank(PhysicalRegister reg, const std::uint32_t* result, InFlight& f, std::uint64_t now,
                      std::uint64_t& done);
  void settle(InFlight& f, unsigned destination, bool equal);
  unsigned open_destinations(const protocol::DynamicInstruction& d, const InFlight& f) const;
  bool allocate(const protocol::DynamicInstruction& d, InFlight& f, unsigned& taken);
  bool find_registers(const protocol::DynamicInstruction& d, InFlight& f, unsigned& taken);
  unsigned reach_pool(const InFlight& f, unsigned taken, std::uint64_t now);
  void enter_results(const protocol::DynamicInstruction& d, InFlight& f);
  void take(const protocol::DynamicInstruction& d, InFlight& f, unsigned destination);
  [[gnu::noinline]] unsigned overwritable(const protocol::DynamicInstruction& d, unsigned open) const;
  using Registers = std::array<PhysicalRegister, trace::max_destination_registers>;
  // Rare cases are out of line, to keep the common code in the host's instruction cache.
  [[gnu::noinline]] std::uint64_t move_rest(const protocol::DynamicInstruction& d, const InFlight& f);
  [[gnu::noinline]] bool allocate_or_overwrite(const protocol::DynamicInstruction& d, InFlight& f, unsigned open,
                                               unsigned& places, Registers& regs);
  [[gnu::noinline]] void forget(std::uint32_t hash);
  void forgo_entry(InFlight& f);
  [[gnu::noinline]] void starve(protocol::DynamicInstruction& d, InFlight& f);
  void remember(std::uint32_t hash, PhysicalRegister reg);
  bool candidates_written(const protocol::DynamicInstruction& d, const InFlight& f) const;
  unsigned reach_table(const protocol::DynamicInstruction& d, const InFlight& f, std::uint64_t now);
  unsigned retire_slot(const protocol::DynamicInstruction& d, const InFlight& f, std::uint64_t now);

  PhysicalRegisterFile& file_;
  RegisterState& state_;
  H3Hash hash_;
  Ports hash_units_, verify_ports_, signature_reads_, signature_writes_, allocator_;
  support::Ring<protocol::DynamicInstruction*> starving_;  ///< waiting for free registers, in order of request
  std::vector<Ports> rename_ports_;  ///< write ports, one per scheduler's half of the rename tables
  sc_core::sc_event changed_;
  std::uint64_t affine_verify_reads_ = 0;
};

}  // namespace regatta::models::wir
