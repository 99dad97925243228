// SPDX-License-Identifier: Apache-2.0
//
// The value signature buffer with its hash (WIR section V-A) as a block.
#pragma once

#include <regatta/protocol/lifecycle.h>
#include <regatta/protocol/lookup.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/stats.h>
#include <regatta/wir/h3_hash.h>
#include <regatta/wir/ports.h>
#include <regatta/wir/references.h>
#include <regatta/wir/vsb_entries.h>
#include <regatta/wir/vsb_operations.h>
#include <regatta/wir/wir_config.h>

#include <cstdint>
#include <string>
#include <systemc>

namespace regatta::models::wir {

/// Which register may hold this value?
struct VsbRequest {
  const std::uint32_t* value = nullptr;  ///< of all lanes; valid until the answer
};
struct VsbAnswer {
  std::uint32_t hash = 0;
  /// Its value may be another one with the same hash. The instruction owns a reference to it. no_register: there is
  /// none, or its counter is full.
  PhysicalRegister candidate = no_register;
};

class VsbAccess : public virtual sc_core::sc_interface {
 public:
  // Ports, booked ahead; each returns the cycle of the access.
  virtual std::uint64_t book_hash() = 0;
  virtual std::uint64_t book_read() = 0;
  virtual std::uint64_t book_write(std::uint64_t from) = 0;
  /// `reg` has a value with this hash. The entry takes a reference of its own. In low-register mode the entry in the
  /// hash's place is given up instead.
  virtual void enter(std::uint32_t hash, PhysicalRegister reg) = 0;
  /// Gives up the entry in the hash's place, whatever it holds.
  virtual void evict(std::uint32_t hash) = 0;
};

/// Ports for a lookup are booked before: an instruction knows by them when it may ask. A lookup in the cycle that was
/// booked is accepted.
class Vsb : public sc_core::sc_module,
            public VsbAccess,
            public ReferenceKeeper,
            public protocol::Lookup<VsbRequest, VsbAnswer>,
            public protocol::LifecycleListener,
            public support::StatProvider {
 public:
  protocol::LookupTarget<VsbRequest, VsbAnswer> lookups;
  sc_core::sc_export<VsbAccess> access;
  sc_core::sc_export<ReferenceKeeper> keeper;
  sc_core::sc_port<References> references;

  Vsb(const sc_core::sc_module_name& name, const WirMachine& config, support::ClockDomain& clock);

  protocol::LookupReply look_up(const VsbRequest& request, std::uint32_t, VsbAnswer& answer) override {
    if (*low_mode_) references_->settle();
    accessed_ = clock_.now();
    ++reads_;
    if (__builtin_expect(static_cast<int>(twin_ != nullptr), 0) != 0) {
      const VsbResult found = operate(VsbOperation::find(request.value, hash_.lanes()));
      answer.hash = found.hash;
      answer.candidate = found.reg;
    } else {
      answer.hash = hash_(request.value);
      answer.candidate = entries_.find(answer.hash);
    }
    // A counter at its maximum allows no more sharers, which counts as a miss.
    if (answer.candidate == no_register || !references_->share(&answer.candidate, 1)) {
      ++misses_;
      answer.candidate = no_register;
    } else {
      ++hits_;
    }
    return protocol::LookupReply::answered;
  }
  /// Never notified: the ports are booked.
  const sc_core::sc_event& changed() const override { return changed_; }
  std::uint64_t book_hash() override { return hash_ports_.take(clock_.now()); }
  std::uint64_t book_read() override { return read_ports_.take(clock_.now()); }
  std::uint64_t book_write(std::uint64_t from) override {
    const std::uint64_t slot = write_ports_.take(from);
    write_waits_ += slot - from;
    return slot;
  }
  void enter(std::uint32_t hash, PhysicalRegister reg) override;
  void evict(std::uint32_t hash) override;

  unsigned give_up_idle(std::uint64_t cycle, PhysicalRegister* regs) override;
  void give_up_while(const std::function<bool()>& more) override;
  void give_up_all() override;
  void count(ReferenceCounts& counts) const override;

  void end_of_elaboration() override {
    references_ = references.operator->();
    low_mode_ = &references->low_mode();
  }
  void kernel_started(const protocol::KernelContext& context) override;
  /// `twin` takes part in every operation on hash and entries.
  void set_twin(VsbTwin* twin) { twin_ = twin; }
  /// For the report of a difference: how many entries there are, and the one that the last operation was about.
  std::string describe_entries() const;
  const std::uint64_t& hits() const { return hits_; }
  const std::uint64_t& misses() const { return misses_; }
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  void drop(std::uint32_t hash);
  PhysicalRegister evict_entry(std::size_t which);
  /// With a twin: on the model's state, then on the twin's.
  VsbResult operate(const VsbOperation& operation);

  const unsigned hash_bits_;
  support::ClockDomain& clock_;
  References* references_ = nullptr;
  const bool* low_mode_ = nullptr;
  H3Hash hash_;
  VsbEntries entries_;
  VsbTwin* twin_ = nullptr;      ///< null: none
  std::uint32_t last_hash_ = 0;  ///< with a twin: of its last operation
  Ports hash_ports_, read_ports_, write_ports_;
  std::uint64_t accessed_ = ~std::uint64_t{0};  ///< cycle of the last access
  std::uint64_t random_ = 1;
  double rows_ = 1;  ///< width of a register, in 32 lanes
  std::uint64_t reads_ = 0, writes_ = 0, hits_ = 0, misses_ = 0, write_waits_ = 0, low_evictions_ = 0;
  sc_core::sc_event changed_;
};

}  // namespace regatta::models::wir
