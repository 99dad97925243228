// SPDX-License-Identifier: Apache-2.0
//
// The reuse stage (WIR section V-C, VI-B) and retirement (section V-B): looks an instruction up in the reuse buffer,
// and writes the rename table and the buffer at its end.
#pragma once

#include <regatta/protocol/extension_points.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/cycle_event.h>
#include <regatta/support/energy.h>
#include <regatta/support/stats.h>
#include <regatta/wir/in_flight.h>
#include <regatta/wir/lookup_queue.h>
#include <regatta/wir/physical_register_file.h>
#include <regatta/wir/rename_tables.h>
#include <regatta/wir/retry_queue.h>
#include <regatta/wir/reuse_buffer.h>

#include <array>
#include <deque>
#include <functional>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

namespace regatta::models::wir {

class ReuseUnit : public sc_core::sc_module,
                  public protocol::ReusePoint,
                  public protocol::LookupClient<ReuseAnswer>,
                  public support::StatProvider {
 public:
  protocol::LookupInitiator<ReuseRequest, ReuseAnswer> buffer;
  sc_core::sc_port<ReuseUpdates> updates;
  sc_core::sc_port<RetryAccess> retries;
  sc_core::sc_port<RenameAccess> tables;
  sc_core::sc_port<References> references;
  sc_core::sc_port<RegisterAccess> registers;

  ReuseUnit(const sc_core::sc_module_name& name, const WirMachine& config, support::ClockDomain& clock,
            InFlightTable& in_flight);

  bool keeps_cycle_time() const override { return true; }
  Decision decide(protocol::DynamicInstruction& d) override;
  unsigned latency() const override { return front_delay_; }
  std::size_t resume_kept(unsigned asked, DecidedList& decided) override;
  bool needs_cycle() const override {
    return !held_.empty() || waiting_ != 0 || !unrenamed_.empty() || (in_queue_ != 0 && retries_->must_retry());
  }
  void written_back(const protocol::DynamicInstruction& d) override;
  void kernel_started(const protocol::KernelContext& context) override;
  const sc_core::sc_event& changed() const override { return changed_; }
  void answered(std::uint32_t pool_index, const ReuseAnswer& answer) override;

  /// The supplier and the register, from the bypass on until the result is written.
  std::string result_origin(const protocol::DynamicInstruction& d, unsigned destination) const override;
  /// Asked for the name of the block that answered an owner with a result.
  void set_supplier(std::function<std::string(std::uint32_t owner)> supplier) { supplier_ = std::move(supplier); }

  void end_of_elaboration() override;
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override {
    group.costs_nothing("counted by the reuse buffer and the rename tables");
  }

  /// What the scheme's own statistics are made of.
  struct Counters {
    std::uint64_t reused_arithmetic = 0, reused_load = 0, reused_pending = 0;
    std::uint64_t reused_registers = 0, racy_loads = 0, wide_immediates = 0;
    std::array<std::uint64_t, protocol::unit_count> executed{};  ///< by unit
  };
  const Counters& counters() const { return counters_; }

 private:
  Decision hold(protocol::DynamicInstruction& d, const InFlight& f, std::uint64_t since);
  Decision look_up(protocol::DynamicInstruction& d, InFlight& f, bool retry);
  Decision act(protocol::DynamicInstruction& d, InFlight& f, const ReuseAnswer& answer);
  Decision act_on_retry(protocol::DynamicInstruction& d, InFlight& f, const ReuseAnswer& answer);
  void take_renamed(std::uint64_t now);
  void take_answers(DecidedList& decided, std::size_t& count);
  // Rare cases are out of line, to keep the common code in the host's instruction cache.
  [[gnu::noinline]] Decision retry(protocol::DynamicInstruction& d);
  [[noreturn, gnu::noinline, gnu::cold]] void no_result(const protocol::DynamicInstruction& d, PhysicalRegister reg,
                                                        unsigned destination) const;
  [[gnu::noinline]] Decision bypass(protocol::DynamicInstruction& d, InFlight& f, const ReuseResult& result,
                                    bool waited);
  Decision execute(const InFlight& f);
  void retire(const protocol::DynamicInstruction& d, InFlight& f);
  void update_buffer(const protocol::DynamicInstruction& d, InFlight& f);

  support::ClockDomain& clock_;
  const unsigned front_delay_;
  const bool pending_;
  const unsigned recount_interval_;
  const unsigned physical_;
  InFlightTable& in_flight_;
  ReuseUpdates* updates_ = nullptr;
  RetryAccess* retries_ = nullptr;
  RenameAccess* tables_ = nullptr;
  References* references_ = nullptr;
  RegisterAccess* registers_ = nullptr;
  LookupQueue held_;
  // Late answers.
  struct Late {
    protocol::DynamicInstruction* instruction;
    ReuseAnswer answer;
  };
  std::vector<protocol::DynamicInstruction*> unrenamed_;  ///< whose registers are not known yet, in order of issue
  std::vector<protocol::DynamicInstruction*> asking_;     ///< by pool index: who waits for an answer, or null
  std::vector<bool> retrying_;                            ///< by pool index: that waited for a result
  std::deque<Late> late_;                                 ///< answers to act on
  unsigned waiting_ = 0;                                  ///< answers to come, or to act on
  unsigned in_queue_ = 0;                                 ///< instructions in the retry queue
  std::uint64_t retired_ = 0;
  bool racy_ = false;  ///< the race detector found its loads unordered
  Counters counters_;
  support::CycleEvent changed_;
  std::function<std::string(std::uint32_t)> supplier_;
};

}  // namespace regatta::models::wir
