// SPDX-License-Identifier: Apache-2.0
#include "recorder_set.h"

#include <spdlog/spdlog.h>
#include <algorithm>
#include <cmath>

namespace regatta::assembly {

RecorderSet::RecorderSet(const Recording& recording, const MachineConfig& machine, support::ClockDomain& clock)
    : recording_(recording), clock_(clock) {
  shape_.schedulers = machine.sm.schedulers;
  shape_.issue_width = machine.sm.issue_width;
  shape_.banks = machine.register_file.banks;
  shape_.read_ports = machine.register_file.read_ports();
  // Writes are handed over writeback.width at a time, but as many may be done in one cycle as there are banks.
  shape_.write_ports = std::max(machine.sm.writeback_width, machine.register_file.banks);
  shape_.ctas = machine.sm.max_ctas;
  shape_.warps = machine.sm.max_warps;
  shape_.dispatches = std::max(
      {machine.sm.sp_units, machine.sm.sfu_units, machine.sm.dp_units, machine.sm.tensor.units, machine.sm.lsu_queue});
  if (!recording_.vcd_file.empty()) {
    const auto ps = static_cast<std::uint64_t>(std::llround(clock.period().to_seconds() * 1e12));
    vcd_ = std::make_unique<recorders::VcdFile>(recording_.vcd_file, ps, recording_.vcd_cycles);
  }
  if (!recording_.pipeline_file.empty()) {
    pipeline_ = std::make_unique<recorders::KanataFile>(recording_.pipeline_file, recording_.pipeline_cycles,
                                                        recording_.pipeline_ctas);
  }
  if (!recording_.timeline_file.empty()) {
    timeline_ = std::make_unique<recorders::Timeline>(
        recording_.timeline_file,
        recorders::Timeline::Options{recording_.timeline_cycles, recording_.timeline_ctas, machine.clock_mhz});
  }
  if (!recording_.cta_file.empty()) ctas_ = std::make_unique<recorders::CtaCyclesFile>(recording_.cta_file);
}

void RecorderSet::add_sm(unsigned index, sm::Sm& sm, const support::ClockDomain& clock, unsigned banks,
                         recorders::SocketTap<1024>* reads, recorders::SocketTap<1024>* writes,
                         recorders::SocketTap<256>* memory, const std::vector<std::string>& gates) {
  if (vcd_ != nullptr) {
    recorders::VcdShape shape = shape_;
    if (banks != 0) {
      shape.banks = banks;
      shape.read_ports = 1;
      shape.write_ports = std::max(shape.write_ports, banks);
    }
    vcd_recorders_.push_back(std::make_unique<recorders::VcdRecorder>(*vcd_, index, shape, clock));
    vcd_recorders_.back()->watch(*reads, *writes, *memory);
    sm.add_observer(*vcd_recorders_.back());
  }
  if (pipeline_ != nullptr) {
    pipeline_recorders_.push_back(std::make_unique<recorders::PipelineRecorder>(*pipeline_, index));
    sm.add_observer(*pipeline_recorders_.back());
  }
  if (timeline_ != nullptr) {
    recorders::TimelineRecorder& recorder = timeline_->add_sm({index, shape_.schedulers, gates}, clock);
    sm.add_observer(recorder);
    sm.add_listener(recorder.listener());
  }
  if (ctas_ != nullptr) {
    cta_recorders_.push_back(std::make_unique<recorders::CtaCycles>(*ctas_, index));
    sm.add_observer(*cta_recorders_.back());
  }
  if (recording_.working_set_cycles != 0) {
    working_sets_.push_back(std::make_unique<recorders::RegisterWorkingSet>(recording_.working_set_cycles));
    sm.add_observer(*working_sets_.back());
  }
  if (recording_.register_use_instructions != 0) {
    register_uses_.push_back(std::make_unique<recorders::RegisterUse>(recording_.register_use_instructions));
    sm.add_observer(*register_uses_.back());
  }
  if (recording_.cycles_by_instruction) {
    instruction_cycles_.push_back(std::make_unique<recorders::InstructionCycles>());
    sm.add_observer(*instruction_cycles_.back());
  }
}

void RecorderSet::begin(const std::vector<support::StatGroup>& groups, std::function<void(std::uint64_t)> settle) {
  settle_ = std::move(settle);
  if (!recording_.sample_file.empty()) {
    sampler_.emplace(recording_.sample_file, groups);
    sample_every(recording_.sample_cycles, [this](std::uint64_t cycle) { sampler_->row(cycle, launch_); });
  }
  if (timeline_ != nullptr && recording_.timeline_sample_cycles != 0) {
    timeline_->watch(groups);
    sample_every(recording_.timeline_sample_cycles, [this](std::uint64_t cycle) { timeline_->sample(cycle); });
  }
}

void RecorderSet::sample_every(std::uint64_t period, std::function<void(std::uint64_t)> row) {
  probes_.push_back(clock_.add_probe(period, [this, row = std::move(row)](std::uint64_t cycle) {
    if (error_) return;
    try {
      settle_(cycle);
      row(cycle);
    } catch (const base::InputError&) {
      // Kept until the run has ended, because SystemC would turn the exception into a report.
      error_ = std::current_exception();
      clock_.pause();
    }
  }));
}

void RecorderSet::launch(std::uint32_t index, const trace::Kernel& kernel, const trace::Launch& launch) {
  if (!probes_.empty()) clock_.catch_up();
  launch_ = index;
  if (timeline_ != nullptr) timeline_->launch(clock_.now(), index, kernel, launch);
}

void RecorderSet::rethrow_error() const {
  if (error_) std::rethrow_exception(error_);
}

void RecorderSet::warn_of_empty_windows(std::uint64_t now) const {
  const auto warn = [&](const std::string& file, const recorders::Window& window, const char* option) {
    if (file.empty() || window.first <= now) return;
    spdlog::warn("{} begins in cycle {}, the run ended in cycle {}: '{}' shows nothing of it", option, window.first,
                 now, file);
  };
  warn(recording_.vcd_file, recording_.vcd_cycles, "--vcd-window");
  warn(recording_.pipeline_file, recording_.pipeline_cycles, "--pipeline-window");
  warn(recording_.timeline_file, recording_.timeline_cycles, "--timeline-window");
  if (pipeline_ != nullptr && pipeline_->empty() && recording_.pipeline_cycles.first <= now) {
    spdlog::warn("no instruction of a CTA of --pipeline-ctas was fetched in the window: '{}' shows none",
                 recording_.pipeline_file);
  }
  if (timeline_ != nullptr && timeline_->empty() && recording_.timeline_cycles.first <= now) {
    spdlog::warn("no CTA of --timeline-ctas was resident in the window: '{}' shows none", recording_.timeline_file);
  }
}

void RecorderSet::finish(std::uint64_t now) {
  if (!probes_.empty()) {
    clock_.catch_up();
    for (const auto probe : probes_) clock_.remove_probe(probe);
    // For the last interval, which the end of the run cuts short.
    settle_(now);
  }
  if (sampler_) {
    if (now > sampler_->last_cycle()) sampler_->row(now, launch_);
    sampler_->finish();
  }
  if (timeline_ != nullptr) timeline_->finish(now);
  warn_of_empty_windows(now);
  for (auto& recorder : pipeline_recorders_) recorder->finish(now);
  for (auto& set : working_sets_) set->finish(now);
  for (auto& use : register_uses_) use->finish();
  if (pipeline_ != nullptr) pipeline_->finish();
  if (vcd_ != nullptr) vcd_->finish(now);
  if (ctas_ != nullptr) ctas_->finish();
}

WorkingSet RecorderSet::working_set() const {
  WorkingSet all;
  all.window = recording_.working_set_cycles;
  std::uint64_t windows = 0, registers = 0;
  for (const auto& set : working_sets_) {
    windows += set->windows();
    registers += set->registers();
    all.peak = std::max(all.peak, set->peak());
  }
  if (windows != 0) all.mean = double(registers) / double(windows);
  return all;
}

RegisterShare RecorderSet::register_use() const {
  RegisterShare all;
  all.window = recording_.register_use_instructions;
  std::uint64_t windows = 0;
  double sum = 0;
  for (const auto& use : register_uses_) {
    if (use->windows() == 0) continue;  // an SM without a CTA
    all.lowest = windows == 0 ? use->lowest() : std::min(all.lowest, use->lowest());
    all.highest = std::max(all.highest, use->highest());
    windows += use->windows();
    sum += use->sum();
  }
  if (windows != 0) all.mean = sum / double(windows);
  return all;
}

std::vector<CycleStack> RecorderSet::cycles_by_instruction() const {
  std::vector<CycleStack> all;
  for (const auto& recorder : instruction_cycles_) {
    all.resize(recorder->launch().size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (unsigned s = 0; s < protocol::stall_count; ++s) all[i][s] += recorder->launch()[i][s];
    }
  }
  return all;
}

}  // namespace regatta::assembly
