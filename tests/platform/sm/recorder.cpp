// SPDX-License-Identifier: Apache-2.0
#include "recorder.h"

#include <map>
#include <utility>

namespace regatta::test {

namespace {

class Recorder : public protocol::Observer {
 public:
  explicit Recorder(Recording& recording) : recording_(recording) {}
  std::vector<protocol::Event> interests() const override {
    using protocol::Event;
    return {Event::issued, Event::operands_delivered, Event::retired, Event::cycles};
  }
  void issued(protocol::Cycle now, const protocol::DynamicInstruction& d) override {
    open_[d.pool_index] = recording_.passages.size();
    Passage p;
    p.warp = d.warp.value();
    p.scheduler = d.scheduler;
    p.index = d.traits->index;
    p.sequence = d.sequence;
    p.injected = d.injected;
    p.active = d.active;
    p.issued = now.value();
    recording_.passages.push_back(p);
  }
  void operands_delivered(protocol::Cycle now, const protocol::DynamicInstruction& d) override {
    recording_.passages[open_.at(d.pool_index)].dispatched = now.value();
  }
  void retired(protocol::Cycle now, const protocol::DynamicInstruction& d) override {
    recording_.passages[open_.at(d.pool_index)].retired = now.value();
  }
  void cycles(protocol::Cycle, std::uint64_t count, const std::vector<protocol::Stall>& stall) override {
    recording_.slots += count * stall.size();
  }

 private:
  Recording& recording_;
  std::map<std::uint32_t, std::size_t> open_;
};

class RecordedBaseline : public assembly::Scheme {
 public:
  RecordedBaseline(Recording& recording, const std::function<void(assembly::SmParts&)>& change)
      : recording_(recording), change_(change) {}
  std::string name() const override { return "recorded"; }
  std::string help() const override { return "the baseline, watched"; }
  assembly::SmParts build(const assembly::BuildContext& context) override {
    assembly::SmParts parts = assembly::baseline_parts(context);
    parts.observers.push_back(std::make_unique<Recorder>(recording_));
    if (change_) change_(parts);
    return parts;
  }

 private:
  Recording& recording_;
  const std::function<void(assembly::SmParts&)>& change_;
};

}  // namespace

const Passage& Recording::of(unsigned warp, std::uint32_t index) const {
  for (const Passage& p : passages) {
    if (p.warp == warp && p.index == index && !p.injected) return p;
  }
  FAIL("warp " << warp << " did not issue instruction " << index);
  return passages.front();
}

Recording record(TraceBuilder& builder, const std::string& name, const assembly::MachineConfig& machine,
                 const std::function<void(assembly::SmParts&)>& change) {
  const std::string path = builder.write(name);
  const trace::Reader reader(path);
  Recording recording;
  RecordedBaseline scheme(recording, change);
  assembly::SimulationOptions options;
  options.check_protocol = true;
  assembly::Simulation simulation(machine, scheme, options, reader);
  recording.result = simulation.run();
  INFO(recording.result.message);
  REQUIRE(recording.result.ending == assembly::Ending::completed);
  REQUIRE(recording.result.mismatches == 0);
  return recording;
}

assembly::MachineConfig one_scheduler() {
  assembly::MachineConfig m;
  m.sm.schedulers = m.sm.sp_units = m.sm.sfu_units = m.sm.dp_units = 1;
  m.sm.fetch_width = 8;
  m.sm.buffer_entries = 16;
  return m;
}

std::uint64_t counter(const Recording& r, const char* group, const char* name) {
  return r.result.stats.at(group).at(name).get<std::uint64_t>();
}

std::vector<std::uint64_t> strided(std::uint64_t base, std::uint64_t stride) {
  std::vector<std::uint64_t> addresses;
  for (unsigned lane = 0; lane < 32; ++lane) addresses.push_back(base + lane * stride);
  return addresses;
}

}  // namespace regatta::test
