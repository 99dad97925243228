// SPDX-License-Identifier: Apache-2.0
//
// The recorders of a run: which files were asked for, and what each SM needs for them.
#pragma once

#include <regatta/assembly/simulation.h>
#include <regatta/recorders/cta_cycles.h>
#include <regatta/recorders/instruction_cycles.h>
#include <regatta/recorders/pipeline_recorder.h>
#include <regatta/recorders/register_use.h>
#include <regatta/recorders/timeline.h>
#include <regatta/recorders/vcd_recorder.h>
#include <regatta/recorders/working_set.h>
#include <regatta/sm/sm.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/sampler.h>

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace regatta::assembly {

class RecorderSet {
 public:
  /// Opens the files: a path that cannot be written is refused before the run.
  RecorderSet(const Recording& recording, const MachineConfig& machine, support::ClockDomain& clock);

  /// True when the SMs' sockets are looked at: taps are needed.
  bool wants_taps() const { return vcd_ != nullptr; }
  /// Whether the recorders of several SMs write one file, in the order of cycles.
  bool wants_order() const {
    return vcd_ != nullptr || pipeline_ != nullptr || timeline_ != nullptr || ctas_ != nullptr;
  }
  /// What observes SM `index`, whose clock is `clock` and whose storage has `banks` banks (0: the register file's).
  /// Taps may be null unless wanted. `gates` are the names of its issue gates.
  void add_sm(unsigned index, sm::Sm& sm, const support::ClockDomain& clock, unsigned banks,
              recorders::SocketTap<1024>* reads, recorders::SocketTap<1024>* writes, recorders::SocketTap<256>* memory,
              const std::vector<std::string>& gates);
  /// After elaboration: begins to sample. `settle` brings all counters up to the end of a cycle.
  void begin(const std::vector<support::StatGroup>& groups, std::function<void(std::uint64_t)> settle);
  void launch(std::uint32_t index, const trace::Kernel& kernel, const trace::Launch& launch);
  /// Of the launch that has just ended, the sum of all SMs; empty unless they are recorded.
  std::vector<CycleStack> cycles_by_instruction() const;
  /// The run is over, in cycle `now`, as it should be or not: the files are complete as far as the run came.
  void finish(std::uint64_t now);
  /// These after finish().
  WorkingSet working_set() const;
  RegisterShare register_use() const;
  /// Throws the ConfigError of a file that could not be written between cycles. Call it when sc_start() has returned.
  void rethrow_error() const;

 private:
  void warn_of_empty_windows(std::uint64_t now) const;
  /// Calls row(cycle) at the end of every `period` cycles, with all counters up to date.
  void sample_every(std::uint64_t period, std::function<void(std::uint64_t)> row);

  const Recording recording_;
  recorders::VcdShape shape_;
  support::ClockDomain& clock_;
  std::vector<support::ClockDomain::Probe> probes_;  ///< of those that sample
  std::unique_ptr<recorders::VcdFile> vcd_;
  std::unique_ptr<recorders::KanataFile> pipeline_;
  std::unique_ptr<recorders::CtaCyclesFile> ctas_;
  std::unique_ptr<recorders::Timeline> timeline_;
  std::optional<support::Sampler> sampler_;
  std::function<void(std::uint64_t)> settle_;
  std::vector<std::unique_ptr<recorders::VcdRecorder>> vcd_recorders_;
  std::vector<std::unique_ptr<recorders::PipelineRecorder>> pipeline_recorders_;
  std::vector<std::unique_ptr<recorders::CtaCycles>> cta_recorders_;
  std::vector<std::unique_ptr<recorders::RegisterWorkingSet>> working_sets_;
  std::vector<std::unique_ptr<recorders::RegisterUse>> register_uses_;
  std::vector<std::unique_ptr<recorders::InstructionCycles>> instruction_cycles_;
  std::uint32_t launch_ = 0;
  std::exception_ptr error_;
};

}  // namespace regatta::assembly
