// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/extension_points.h>
#include <regatta/rfv/release_flag_cache.h>
#include <regatta/rfv/rename_table.h>
#include <regatta/rfv/row_availability.h>
#include <regatta/rfv/row_throttle.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/cycle_event.h>
#include <regatta/support/stats.h>

#include <array>
#include <cstdint>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::models {

class ReadsServed : public virtual sc_core::sc_interface {
 public:
  /// A bank has read the register for an instruction; its row may be written by another warp from now on.
  virtual void served(protocol::WarpSlot warp, protocol::RegisterId reg) = 0;
};

class LaunchRoom : public virtual sc_core::sc_interface {
 public:
  /// Whether a CTA may be launched in this slot now.
  virtual bool may_launch(protocol::CtaSlot cta) = 0;
  /// Notified when the answer may have changed from no to yes.
  virtual const sc_core::sc_event& launch_changed() const = 0;
};

/// Gives and takes rows (RFV, MICRO 2015). An instruction that writes a register without a row takes one at issue; it
/// does not issue while the throttle keeps the rows for others. The words of its decode point say what is released: a
/// pbr word before the first instruction of its block, a flag of a pir word when the flagged instruction has read its
/// operands. A release waits for older reads and writes of the register in flight; a new write cancels it meanwhile.
class RenamingGate : public sc_core::sc_module,
                     public protocol::IssueGate,
                     public protocol::GateReporter,
                     public protocol::DecodePoint,
                     public protocol::InsertionCache,
                     public ReadsServed,
                     public LaunchRoom,
                     public support::StatProvider {
 public:
  sc_core::sc_port<RowEntries> entries;
  sc_core::sc_port<RowPool> rows;
  sc_core::sc_port<FlagLookup> flags;
  sc_core::sc_export<ReadsServed> reads;
  sc_core::sc_export<LaunchRoom> room_for_ctas;

  RenamingGate(const sc_core::sc_module_name& name, const RenamingConfig& config, support::ClockDomain& clock);

  void end_of_elaboration() override;
  bool keeps_cycle_time() const override { return true; }
  void connect(protocol::GateListener& listener) override { listener_ = &listener; }
  void kernel_started(const protocol::KernelContext& context) override;
  void cta_launched(const protocol::CtaInfo& cta) override { throttle_.launched(cta.cta); }
  void cta_finished(const protocol::CtaInfo& cta) override { throttle_.finished(cta.cta); }
  void warp_started(const protocol::WarpInfo& warp) override;
  void warp_finished(const protocol::WarpInfo& warp) override;

  bool may_issue(const protocol::DynamicInstruction& instruction) override;
  void issued(const protocol::DynamicInstruction& instruction) override;
  void written_back(const protocol::DynamicInstruction& instruction) override;

  std::string scheme() const override { return trace::rfv_scheme; }
  unsigned room(protocol::WarpSlot warp) const override { return config_.words - warps_[warp.value()].words; }
  void decoded(const protocol::WarpInfo& warp, std::uint32_t inserted, std::uint64_t sequence) override;
  bool held(protocol::WarpSlot warp, std::uint32_t inserted) override;
  bool in_code() const override { return !config_.words_are_free(); }
  const sc_core::sc_event& changed() const override { return changed_; }

  void served(protocol::WarpSlot warp, protocol::RegisterId reg) override;
  bool may_launch(protocol::CtaSlot cta) override;
  const sc_core::sc_event& launch_changed() const override { return launch_changed_; }

  /// A line per warp that waits for rows.
  virtual std::string describe_stuck() const;
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 protected:
  // Replaced by tests that plant a fault.
  virtual unsigned cta_rows(const RenamingPlan& plan) const { return plan.cta_rows; }
  virtual std::uint64_t word_of(const trace::Kernel& kernel, std::uint32_t inserted) const;
  bool to_be_read(protocol::WarpSlot warp, unsigned reg) const { return reads_[at(warp, reg)] != 0; }
  /// Whether an instruction in flight still has to read the register, or to write it.
  virtual bool in_use(protocol::WarpSlot warp, unsigned reg) const {
    return to_be_read(warp, reg) || (warps_[warp.value()].writing >> reg & 1) != 0;
  }

  using Registers = trace::RfvRegisters;
  struct Warp {
    Registers owned = 0;                 ///< renamed registers with a row
    Registers away = 0;                  ///< renamed registers in memory (SpillingGate)
    Registers releasing = 0;             ///< of both, those whose release waits
    Registers writing = 0;               ///< renamed registers with a write in flight
    std::uint64_t issued = 0;            ///< sequence of the last instruction that issued
    unsigned first_word = 0, words = 0;  ///< ring of decoded words
    unsigned waits_for = 0;              ///< rows that its closed instruction takes; 0: open
    std::uint16_t cta = 0, part = 0;
  };
  static std::size_t at(protocol::WarpSlot warp, unsigned reg) { return std::size_t{warp.value()} << 6 | reg; }
  template <class F>
  static void for_each(Registers registers, F&& f) {
    for (; registers != 0; registers &= registers - 1) f(static_cast<unsigned>(__builtin_ctzll(registers)));
  }
  static unsigned count(Registers registers) { return static_cast<unsigned>(__builtin_popcountll(registers)); }

  // What a gate does otherwise that moves registers to memory.
  virtual bool may_take(const protocol::DynamicInstruction& d, unsigned n);
  /// The warp's registers that some path reads before it writes them get rows.
  virtual void take_at_start(protocol::WarpSlot warp, Registers registers) { take(warp, registers); }
  /// Rows have come back while warps wait.
  virtual void open_warps();

  void take(protocol::WarpSlot warp, Registers registers);
  /// As take(), for registers that are counted elsewhere.
  void get_rows(protocol::WarpSlot warp, Warp& w, Registers registers);
  void give_back(protocol::WarpSlot warp, Warp& w, unsigned reg);
  void rows_came_back();
  /// The warp, which is closed, waits for rows behind the others.
  void wait_for_rows(protocol::WarpSlot warp);
  /// Of the warps that wait, the first `kept` are left.
  void keep_waiting(std::size_t kept);
  void open(protocol::WarpSlot warp);

  const RenamingConfig config_;
  support::ClockDomain& clock_;
  protocol::GateListener* listener_ = nullptr;
  RenamingPlan plan_;
  RowThrottle throttle_;
  std::vector<Warp> warps_;                  ///< by slot
  std::vector<std::uint8_t> reads_;          ///< by slot and register: reads in flight
  std::vector<protocol::WarpSlot> waiting_;  ///< closed warps, in the order in which they were

 private:
  /// What a static instruction does with renamed registers.
  struct Static {
    Registers written = 0;
    std::array<Registers, trace::use_slots> slots{};  ///< of its sources, by operand slot
  };
  /// An inserted instruction of the scheme.
  struct Word {
    bool pir = false;
    std::uint64_t flags = 0;  ///< pir: 3 bits per instruction
    Registers released = 0;   ///< pbr
  };
  struct Held {
    std::uint64_t sequence = 0;  ///< of the instruction behind it
    std::uint32_t word = 0;
  };

  void read_words(const trace::Kernel& kernel);
  void read_instructions(const protocol::KernelContext& context);
  void reserve_exempt(const protocol::KernelContext& context);
  void obey_words(protocol::WarpSlot warp, Warp& w, const protocol::DynamicInstruction& d);
  void pop_word(Warp& w);
  /// Returns how many have a row that is released now or when nothing uses it any more.
  unsigned release(protocol::WarpSlot warp, Registers registers);
  void close(protocol::WarpSlot warp, Warp& w, unsigned rows);

  support::CycleEvent changed_, launch_changed_;
  RowEntries* entries_ = nullptr;
  RowPool* pool_ = nullptr;
  FlagLookup* flags_ = nullptr;

  Registers renamed_ = 0;
  std::vector<Static> static_;
  std::vector<Word> words_;                 ///< by index into Kernel::inserted
  std::vector<Held> held_;                  ///< by slot, config_.words each
  std::vector<std::uint32_t> direct_rows_;  ///< by slot and register, of exempt ones
  bool launch_refused_ = false;
  std::uint64_t throttled_since_ = 0;
  std::uint64_t pir_ = 0, pbr_ = 0, allocations_ = 0, at_start_ = 0, flag_releases_ = 0, block_releases_ = 0;
  std::uint64_t end_releases_ = 0, delayed_ = 0, cancelled_ = 0, without_row_ = 0;
  std::uint64_t refusals_ = 0, launches_refused_ = 0, throttled_cycles_ = 0;
};

}  // namespace regatta::models
