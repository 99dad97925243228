// SPDX-License-Identifier: Apache-2.0
//
// GREENER (Jatala, thesis, chapter 4): the compiler decides whether a register sleeps or is switched off after each
// access; a run-time table corrects this, and registers are woken before the next access. Also Sleep-Reg, after the
// warped register file, in which every register sleeps after each access.
#pragma once

#include <regatta/greener/power_plan.h>
#include <regatta/greener/run_time_table.h>

#include <regatta/baseline/row_power.h>
#include <regatta/baseline/row_use.h>
#include <regatta/protocol/extension_points.h>
#include <regatta/support/calendar.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/config.h>
#include <regatta/support/cycle_event.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::models {

struct PowerGateConfig {
  unsigned threshold = 0;               ///< W, up to the trace's bound; 0: the trace's own
  bool runtime_table = true;            ///< correct the compiler's states (GREENER; off: Comp-OPT)
  unsigned table_entries = 2;           ///< per warp: 1,280 bytes for 64 warps (section 4.3.5)
  unsigned table_registers = 8;         ///< per entry
  std::string table_search = "any";     ///< other instructions that count: any, or younger ones only
  std::string reserve_sources = "all";  ///< sources reserved until read: all, or only those that do not stay on

  /// Knobs greener.*.
  void declare(support::OptionSet& options);
  void validate() const;
};

/// The knobs, and what the gate is for.
struct PowerGating : PowerGateConfig {
  bool look_ahead = true;  ///< use the compiler's power states; false: Sleep-Reg
  unsigned warps = 64;     ///< of the SM
};

/// Sits at issue and beside the register file. An instruction issues when none of its registers is a source that an
/// older instruction has not read yet (a separate scoreboard, for RAR and WAR; the pipeline handles RAW and WAW) and
/// all rows of its registers are on. Rows that are not on are woken together when the instruction is offered: it is the
/// warp's next, no register is pending, and a collector unit is free. The state of a source is applied when it is in
/// the collector, that of a destination when the results of its instruction are written.
///
/// Rows that belong to no warp are off, and so are a warp's rows until their first access (with Sleep-Reg they sleep
/// from the start of the warp).
///
/// A warp whose registers are moved out of the file has no rows until they come back; what its instructions in flight
/// decide meanwhile is ignored. A move wakes the row of a register, unless this gate has switched it off: then nobody
/// reads its value. A register that slept before it left sleeps again when it is back, if no decoded instruction
/// accesses it; the destination of an instruction in flight is on.
class PowerGate : public sc_core::sc_module,
                  public protocol::IssueGate,
                  public protocol::GateReporter,
                  public protocol::FetchListener,
                  public RowListener,
                  public protocol::LookupClient<bool>,
                  public support::StatProvider {
 public:
  /// The run-time table (GREENER). Not bound: the compiler's states are applied as they are.
  protocol::LookupInitiator<TableQuery, bool> table_lookups;
  sc_core::sc_port<TableUpdates, 1, sc_core::SC_ZERO_OR_MORE_BOUND> table_updates;
  sc_core::sc_port<RowPower> power;  ///< the controller of the rows, on which it votes
  /// Bound where a row is not one register's from the start of a warp to its end: it votes here, by register.
  sc_core::sc_port<RegisterVotes, 1, sc_core::SC_ZERO_OR_MORE_BOUND> registers;

  PowerGate(const sc_core::sc_module_name& name, const PowerGating& config, support::ClockDomain& clock);

  /// Whether it wants a run-time table; only then does it need to be a fetch listener too.
  bool wants_table() const { return config_.look_ahead && config_.runtime_table; }
  /// Some registers' values are elsewhere: sources of those need no row.
  void connect(const RowCodec& codec) { codec_ = &codec; }
  /// Some operands need no row: the file has them elsewhere.
  void connect(const RowNeeds& needs) { needs_ = &needs; }

  bool keeps_cycle_time() const override { return true; }
  bool may_issue(const protocol::DynamicInstruction& instruction) override;
  void issued(const protocol::DynamicInstruction& instruction) override;
  void written_back(const protocol::DynamicInstruction& instruction) override;
  void connect(protocol::GateListener& listener) override { listener_ = &listener; }
  /// Throws support::ConfigError for a kernel without the power states that it needs.
  void kernel_started(const protocol::KernelContext& context) override;
  void warp_started(const protocol::WarpInfo& warp) override;
  void warp_finished(const protocol::WarpInfo& warp) override;
  void fetched(const protocol::WarpInfo& warp, const protocol::InstructionTraits& traits) override;
  /// An instruction is decoded when its fetch arrives.
  void arrived(const protocol::WarpInfo& warp) override;
  const sc_core::sc_event& changed() const override { return changed_; }

  void was_read(const protocol::WarpAccess& access, Row row, protocol::Cycle done) override;
  void rows_started(std::uint32_t rows, unsigned warp_size) override;
  void window_taken(protocol::WarpSlot warp, const RegisterWindow& window, unsigned registers) override;
  void window_left(protocol::WarpSlot warp, const RegisterWindow& window, unsigned registers) override;
  void window_shared(protocol::WarpSlot from, protocol::WarpSlot to, const RegisterWindow& window) override;
  void window_kept(protocol::WarpSlot owner, protocol::WarpSlot left, const RegisterWindow& window, unsigned registers,
                   const protocol::GeneralRegisters& held) override;
  void was_written(const protocol::WarpAccess& access, Row row, protocol::Cycle done) override;
  bool moves(const protocol::WarpAccess& access, Row row, bool into_file) override;

  /// Registers kept on by the run-time table against the compiler's decision.
  std::uint64_t corrections() const { return corrections_; }
  /// Warp-cycles in which instructions were held here.
  std::uint64_t stall_cycles() const { return wake_wait_cycles_ + read_wait_cycles_; }

  /// A late answer of the run-time table.
  void answered(std::uint32_t tag, const bool& accessed) override;

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  void end_of_elaboration() override;
  struct Warp {
    protocol::GeneralRegisters on{};        ///< registers for which this gate votes on
    protocol::GeneralRegisters off{};       ///< registers that it has switched off, or that were not accessed yet
    protocol::GeneralRegisters reserved{};  ///< sources of issued instructions
    protocol::GeneralRegisters unread{};    ///< of these, not yet asked of the file
    protocol::GeneralRegisters writing{};   ///< destinations of instructions in flight
    protocol::GeneralRegisters slept{};     ///< registers that have left the file, and slept before
    protocol::GeneralRegisters back{};      ///< of these, those that are back in rows of another warp
    std::uint64_t ready = 0;                ///< when all that was woken can be accessed
    bool decides = false;                   ///< it has rows, and these have no register of another warp
    RegisterWindow window;
    std::uint64_t decoded = 0;
    std::vector<std::uint32_t> arriving;  ///< fetched, not decoded yet
  };
  /// A source comes out of its row.
  struct ReadDone {
    std::uint64_t sequence;
    std::uint16_t warp;
    std::uint8_t reg;
    trace::RegisterPower state;
  };

  /// A register whose state waits for what the table says; the index is the tag of the lookup.
  struct Awaited {
    bool open = false;
    bool asked = false;    ///< the table has accepted the lookup; else it was busy
    bool dropped = false;  ///< a younger instruction accesses the register, or the warp has ended
    std::uint16_t warp = 0;
    std::uint8_t reg = 0;
    trace::RegisterPower state = trace::RegisterPower::on;
    std::uint64_t sequence = 0;  ///< of the instruction whose access is over
  };

  std::uint64_t now() const { return clock_.now(); }
  /// Handles everything due in the present cycle; called by whichever event comes first.
  void settle();
  void tick();
  bool refuse(protocol::WarpSlot warp, std::uint64_t until, std::uint64_t& count, std::uint64_t& cycles);
  std::uint64_t reads_end(const Warp& w, protocol::WarpSlot slot, const protocol::GeneralRegisters& accessed) const;
  void wake(Warp& w, const protocol::DynamicInstruction& instruction);
  protocol::Cycle vote(protocol::WarpSlot slot, const Warp& w, protocol::RegisterId reg, PowerState state) {
    return registers_ != nullptr ? registers_->vote(slot, reg, state) : power_->vote(voter_, w.window.row(reg), state);
  }
  void vote_all(protocol::WarpSlot slot, PowerState state);
  void apply(protocol::WarpSlot slot, std::uint64_t sequence, protocol::RegisterId reg, trace::RegisterPower state);
  /// The state after an access is settled: what the table says of the register decides whether it is applied.
  void decide(protocol::WarpSlot slot, protocol::RegisterId reg, trace::RegisterPower state, bool accessed);
  /// Asks the table; what it does not answer at once is awaited under `tag`.
  void ask_table(std::uint32_t tag, Awaited decision);
  /// Asks again where the table was busy.
  void ask_again();
  /// The instruction issues: its registers stay on, whatever the table answers about older accesses.
  void forget_decisions(protocol::WarpSlot slot, const protocol::GeneralRegisters& accessed);
  protocol::GeneralRegisters registers_at_start() const {
    const std::uint64_t word = config_.look_ahead ? ~std::uint64_t{0} : 0;
    return {word, word, word, word};
  }
  /// What a row of the warp is until its first access.
  PowerState state_at_start() const { return config_.look_ahead ? PowerState::off : PowerState::sleep; }
  void vote_all(const RegisterWindow& window, unsigned registers, PowerState state);
  /// Rows of the warp's registers that results will be written to are on, as they were at issue.
  void wake_destinations(Warp& w, const RegisterWindow& window);
  /// The warp has no rows any more.
  void forget(protocol::WarpSlot warp);
  bool in_program(const protocol::DynamicInstruction& d) const { return d.traits == &(*traits_)[d.traits->index]; }

  const PowerGating config_;
  const bool search_younger_;
  RowPower* power_ = nullptr;
  RegisterVotes* registers_ = nullptr;
  unsigned voter_ = 0;
  support::ClockDomain& clock_;
  support::CycleClient client_;
  const RowCodec* codec_ = nullptr;
  const RowNeeds* needs_ = nullptr;
  unsigned registers_per_warp_ = 0;
  protocol::GateListener* listener_ = nullptr;
  support::CycleEvent changed_;  ///< never notified: held warps are paused

  const std::vector<protocol::InstructionTraits>* traits_ = nullptr;
  std::vector<PowerPlan> plans_;
  std::vector<Warp> warps_;
  std::vector<std::uint64_t> read_done_;  ///< per warp and register: when its last read is done
  support::Calendar<ReadDone> calendar_;
  std::uint64_t settled_ = 0;  ///< cycle
  bool has_table_ = false;
  std::vector<Awaited> awaited_;
  unsigned open_lookups_ = 0;
  unsigned refused_lookups_ = 0;  ///< of these, those that the table has not accepted

  std::uint64_t corrections_ = 0;
  std::uint64_t wake_waits_ = 0, wake_wait_cycles_ = 0;
  std::uint64_t read_waits_ = 0, read_wait_cycles_ = 0;
  std::uint64_t put_to_sleep_ = 0, switched_off_ = 0, kept_on_ = 0;
};

}  // namespace regatta::models
