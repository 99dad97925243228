// SPDX-License-Identifier: Apache-2.0
//
// One streaming multiprocessor. Its clock domain's scheduler runs the stages of the pipeline in a fixed order in every
// cycle in which something can happen; otherwise the SM sleeps. The parts that a scheme replaces are bound to its ports
// and sockets; the pipeline knows no scheme.
#pragma once

#include <regatta/protocol/extension_points.h>
#include <regatta/protocol/observer.h>
#include <regatta/protocol/payload.h>
#include <regatta/sm/causes.h>
#include <regatta/sm/cta_source.h>
#include <regatta/sm/sm_config.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/stats.h>

#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::sm {

class StuckReport;

class Sm : public sc_core::sc_module, public support::StatProvider {
 public:
  using PolicyFactory = std::function<std::shared_ptr<protocol::WarpScheduler>()>;

  /// `index` is the SM's number in the GPU; `config` must outlive the SM.
  Sm(const sc_core::sc_module_name& name, const SmConfig& config, support::ClockDomain& clock, unsigned index,
     const PolicyFactory& scheduler);
  ~Sm() override;

  // Control-side extension points.
  sc_core::sc_port<protocol::OperandStorage> storage;
  sc_core::sc_port<protocol::IssueGate, 0, sc_core::SC_ZERO_OR_MORE_BOUND> gates;
  sc_core::sc_port<protocol::ReusePoint, 1, sc_core::SC_ZERO_OR_MORE_BOUND> reuse_point;
  sc_core::sc_port<protocol::WritebackPoint, 1, sc_core::SC_ZERO_OR_MORE_BOUND> writeback_point;
  sc_core::sc_port<protocol::DecodePoint, 1, sc_core::SC_ZERO_OR_MORE_BOUND> decode_point;
  sc_core::sc_port<protocol::FetchListener, 0, sc_core::SC_ZERO_OR_MORE_BOUND> fetch_listeners;
  sc_core::sc_port<protocol::SharedContents, 1, sc_core::SC_ZERO_OR_MORE_BOUND> shared_contents;
  sc_core::sc_port<protocol::OperandCache, 1, sc_core::SC_ZERO_OR_MORE_BOUND> operand_cache;
  sc_core::sc_port<protocol::Residency> residency;
  sc_core::sc_port<CtaSource> cta_source;
  // Data side.
  protocol::OperandInitiatorSocket& operand_read_socket();
  protocol::OperandInitiatorSocket& operand_write_socket();
  protocol::MemoryInitiatorSocket& memory_socket();
  /// To the contents of shared memory, if they are modelled.
  protocol::OptionalSharedInitiatorSocket& shared_socket();
  /// For parts that implement no extension point: notified after the others, in the order of these calls. Call it
  /// before simulation starts; the listener must outlive the SM.
  void add_listener(protocol::LifecycleListener& listener);
  /// Call it before simulation starts; the observer must outlive the SM.
  void add_observer(protocol::Observer& observer);
  /// `heartbeat` is called every few thousand active cycles, for progress displays and interruption.
  void set_heartbeat(std::function<void()> heartbeat);
  /// Called with a message when the SM has retried for SmConfig::watchdog_cycles without progress, and nothing inside
  /// it is due. The callee ends the run, unless it knows that what the SM waits for is on its way. Without a callback
  /// this is a SystemC error.
  void set_watchdog(std::function<void(const std::string&)> watchdog);

  /// Leaves in the instruction cache what a past launch of the kernel that is not simulated would have: the lines of
  /// the static instructions with `executed`. Calls missed(address, sectors) for each line that would have been
  /// fetched, as a request of the L1's line size. Takes no time; only between launches.
  void warm_code(const trace::Kernel& kernel, std::uint32_t kernel_index, const std::vector<bool>& executed,
                 const std::function<void(std::uint64_t, std::uint8_t)>& missed);
  /// Begins a launch: the SM must be idle, `kernel` and `launch` must live until the launch ends.
  void start(const trace::Kernel& kernel, const trace::Launch& launch, std::uint32_t launch_index);
  /// Updates the counters that are not updated in every cycle to the end of cycle `end`, before statistics are read:
  /// the cycles of a sleeping SM, and the executed instructions by opcode class. Call it between cycles.
  void account_until(protocol::Cycle end);
  /// The residency policy's plan for the running launch.
  const protocol::ResourcePlan& plan() const;
  /// Call it when the launch has ended (no events left).
  void finish();
  /// Call it instead if the run ends in the middle of a launch: recorders complete their data.
  void break_off();
  /// Rethrows the exception that ended the run inside the pipeline: an InputError of the trace, or a ConfigError of an
  /// observer that cannot write its file; SystemC would convert it to a report. Call it after sc_start() has returned.
  void rethrow_error() const;
  /// No CTA resident, no access outstanding.
  bool idle() const;
  /// The load-store unit has accesses to make, or outstanding.
  bool uses_memory() const;
  /// Each holder, the warps that it holds and since when, a paragraph per holder; for the report of a deadlock.
  std::string describe_stuck() const;

  /// The policy of the first scheduler.
  const protocol::WarpScheduler& scheduler_policy() const;
  /// Grows with every instruction issued or completed and every memory access answered, that is, with progress.
  std::uint64_t steps() const;
  /// To be asked after SmConfig::watchdog_cycles without a step: whether one can come without anybody else's doing,
  /// since something inside the SM is due in a later cycle, however late.
  bool waits();
  /// The message for a run without progress.
  static std::string no_progress(std::uint64_t cycles);

  std::uint64_t warp_instructions() const;
  std::uint64_t thread_instructions() const;
  std::uint64_t ctas_finished() const;
  /// Scheduler-cycles by reason; Stall::none counts issues.
  std::uint64_t stall_cycles(protocol::Stall reason) const;

  /// What its schedulers met in the sampled cycles of all launches, and what its memory instructions asked of the
  /// load-store unit, by kernel of the trace and static instruction. Call account_until() before.
  const CauseSamples& cause_samples() const;
  const std::vector<std::vector<AccessCounts>>& accesses() const;
  /// The names of its gates, by CauseKey::detail.
  std::vector<std::string> gate_names() const;

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  void end_of_elaboration() override;
  /// Throws support::ConfigError for what needs a storage that plans its reads.
  void check_plan() const;
  /// Refuses a kernel with setmaxnreg where a part cannot follow it.
  void check_budgets(const trace::Kernel& kernel) const;
  void tick();
  void give_up();
  void cycle();
  void end_cycle();
  void last_stage();
  /// sm.watchdog cycles have brought no step.
  [[gnu::noinline, gnu::cold]] void no_step();

  friend class StuckReport;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace regatta::sm
