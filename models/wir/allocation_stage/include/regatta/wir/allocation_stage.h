// SPDX-License-Identifier: Apache-2.0
//
// The register allocation stage (WIR sections V-A, V-D, V-E): decides where a result goes, and whether it has to be
// written at all.
#pragma once

#include <regatta/protocol/extension_points.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/cycle_event.h>
#include <regatta/support/energy.h>
#include <regatta/support/ring.h>
#include <regatta/support/stats.h>
#include <regatta/wir/in_flight.h>
#include <regatta/wir/physical_register_file.h>
#include <regatta/wir/register_allocator.h>
#include <regatta/wir/rename_tables.h>
#include <regatta/wir/reuse_buffer.h>
#include <regatta/wir/verify_cache.h>
#include <regatta/wir/vsb.h>

#include <array>
#include <deque>
#include <systemc>
#include <vector>

namespace regatta::models::wir {

/// Per instruction: hash (1 cycle, one per scheduler at a time), table (1 cycle); for a hit in the value signature
/// buffer a verify-read, in the verify cache or at the bank; a physical register, for which it queues if there is none;
/// for the first divergent write of a logical register a dummy MOV; then the write, if there is one. Instructions pass
/// the stage independently: a waiting instruction delays others only for registers.
class AllocationStage : public sc_core::sc_module,
                        public protocol::WritebackPoint,
                        public protocol::LookupClient<VsbAnswer>,
                        public protocol::LookupClient<VerifyAnswer>,
                        public protocol::LookupClient<GrantedRegisters>,
                        public support::StatProvider {
 public:
  protocol::LookupInitiator<VsbRequest, VsbAnswer> signatures;
  protocol::LookupInitiator<VerifyRequest, VerifyAnswer> verify_cache;
  protocol::LookupInitiator<AllocationRequest, GrantedRegisters> allocator;
  sc_core::sc_port<VsbAccess> vsb_access;
  sc_core::sc_port<CachedValues> cached;
  sc_core::sc_port<References> references;
  sc_core::sc_port<ReaderCredits> credits;
  sc_core::sc_port<RenameAccess> tables;
  sc_core::sc_port<ReuseUpdates> reuse;
  sc_core::sc_port<RegisterAccess> registers;

  AllocationStage(const sc_core::sc_module_name& name, const WirConfig& config, support::ClockDomain& clock,
                  InFlightTable& in_flight);

  bool keeps_cycle_time() const override { return true; }
  unsigned arrive(protocol::DynamicInstruction& d) override;
  std::size_t resume_kept(RecalledList& recalled) override;
  Decision decide(protocol::DynamicInstruction& d, unsigned destination) override {
    return (in_flight_.of(d).writes >> destination & 1) != 0 ? Decision::write : Decision::drop;
  }
  const sc_core::sc_event& changed() const override { return changed_; }
  // Late answers; their tags are of `tag()`.
  void answered(std::uint32_t tag, const VsbAnswer& answer) override;
  void answered(std::uint32_t tag, const VerifyAnswer& answer) override;
  void answered(std::uint32_t tag, const GrantedRegisters& granted) override;

  void end_of_elaboration() override;
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override {
    group.costs_nothing("counted by the signature buffer, the verify cache, the allocator and the register file");
  }

  struct Counters {
    std::uint64_t dummy_movs = 0, false_positives = 0, verify_forwarded = 0;
    std::uint64_t starved = 0, in_place = 0, signature_read_waits = 0, allocator_waits = 0;
    /// Verify-reads that accessed a bank and whose value is an affine tuple.
    std::uint64_t affine_verify_reads = 0;
  };
  const Counters& counters() const { return counters_; }

 protected:
  /// Whether the candidate holds the result's value.
  virtual bool same_value(const std::uint32_t* candidate, const std::uint32_t* result) const;

 private:
  enum class Grant : std::uint8_t { none, later, granted };

  static constexpr unsigned bit(unsigned i) { return 1u << i; }
  static std::uint32_t tag(const protocol::DynamicInstruction& d, unsigned destination) {
    return d.pool_index * trace::max_destination_registers + destination;
  }
  unsigned enter(const protocol::DynamicInstruction& d, InFlight& f, std::uint64_t now);
  unsigned advance(protocol::DynamicInstruction& d, InFlight& f, std::uint64_t now);
  unsigned look(protocol::DynamicInstruction& d, InFlight& f, std::uint64_t now);
  unsigned verify(protocol::DynamicInstruction& d, InFlight& f, std::uint64_t now);
  bool verify_at_bank(PhysicalRegister reg, const std::uint32_t* result, InFlight& f, std::uint64_t now,
                      std::uint64_t& done);
  void settle(InFlight& f, unsigned destination, bool equal);
  void candidate(InFlight& f, unsigned destination, const VsbAnswer& answer);
  unsigned open_destinations(const protocol::DynamicInstruction& d, const InFlight& f) const;
  Grant allocate(protocol::DynamicInstruction& d, InFlight& f);
  Grant find_registers(protocol::DynamicInstruction& d, InFlight& f);
  void give(const protocol::DynamicInstruction& d, InFlight& f, unsigned from_pool, const GrantedRegisters& granted);
  unsigned reach_pool(const InFlight& f, std::uint64_t now);
  void enter_results(protocol::DynamicInstruction& d, InFlight& f);
  [[gnu::noinline]] unsigned overwritable(const protocol::DynamicInstruction& d, unsigned open) const;
  // Rare cases are out of line, to keep the common code in the host's instruction cache.
  [[gnu::noinline]] std::uint64_t move_rest(const protocol::DynamicInstruction& d, const InFlight& f);
  [[gnu::noinline]] void starve(protocol::DynamicInstruction& d, InFlight& f);
  [[gnu::noinline]] unsigned keep_until_answered(protocol::DynamicInstruction& d);
  InFlight& take_answer(std::uint32_t tag);
  void forgo_entry(InFlight& f);
  bool candidates_written(const protocol::DynamicInstruction& d, const InFlight& f) const;
  unsigned reach_table(const protocol::DynamicInstruction& d, const InFlight& f, std::uint64_t now);
  unsigned retire_slot(const protocol::DynamicInstruction& d, const InFlight& f, std::uint64_t now);
  bool hashed(const InFlight& f) const { return !f.divergent && has_signatures_; }

  const bool has_signatures_, has_verify_cache_, affine_;
  const unsigned back_delay_, verify_patience_;
  support::ClockDomain& clock_;
  InFlightTable& in_flight_;
  VsbAccess* vsb_access_ = nullptr;
  CachedValues* cached_ = nullptr;
  References* references_ = nullptr;
  const RegisterPool* pool_ = nullptr;  ///< the owners of each register
  RenameAccess* tables_ = nullptr;
  const RenameEntries* entries_ = nullptr;
  ReuseUpdates* reuse_ = nullptr;
  RegisterAccess* registers_ = nullptr;
  support::Ring<protocol::DynamicInstruction*> starving_;  ///< waiting for free registers, in order of request
  std::vector<protocol::DynamicInstruction*> waiting_;     ///< by pool index: for late answers
  std::deque<protocol::DynamicInstruction*> answered_;     ///< all late answers are there
  Counters counters_;
  support::CycleEvent changed_;
};

}  // namespace regatta::models::wir
