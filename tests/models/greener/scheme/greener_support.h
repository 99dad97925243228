// SPDX-License-Identifier: Apache-2.0
//
// Hand-made traces with power states, watched row by row.
#pragma once

#include <regatta/greener/gated_register_file.h>
#include <regatta/greener/scheme_gated.h>
#include <regatta/greener/sleep_transistors.h>
#include <regatta/trace/power_states.h>

#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness.h"

namespace regatta::test {

/// One instruction's way, in cycles.
struct PowerPassage {
  std::uint32_t index = 0;
  std::uint64_t issued = 0, dispatched = 0, retired = 0;
};

struct Switch {
  std::uint64_t cycle = 0;
  models::PowerState state = models::PowerState::on;
  friend bool operator==(const Switch& a, const Switch& b) { return a.cycle == b.cycle && a.state == b.state; }
};
inline std::ostream& operator<<(std::ostream& out, const Switch& s) {
  return out << models::to_string(s.state) << " in " << s.cycle;
}

/// What happened to warp 0, which is alone, and whose window begins at row 0.
struct PowerRun {
  std::vector<PowerPassage> passages;                 ///< in order of issue
  std::map<std::uint32_t, std::vector<Switch>> rows;  ///< after the launch has begun
  assembly::SimulationResult result;
  const PowerPassage& of(std::uint32_t index) const {
    for (const PowerPassage& p : passages) {
      if (p.index == index) return p;
    }
    FAIL("instruction " << index << " was not issued");
    return passages.front();
  }
  std::uint64_t gap(std::uint32_t from, std::uint32_t to) const { return of(to).issued - of(from).issued; }
  double power(const std::string& key) const { return result.stats.at("power").at(key).get<double>(); }
  std::uint64_t gate(const std::string& key) const {
    return result.stats.at("sm0.power_gate").at(key).get<std::uint64_t>();
  }
};

class PowerRecorder : public protocol::Observer {
 public:
  explicit PowerRecorder(PowerRun& run) : run_(run) {}
  std::vector<protocol::Event> interests() const override {
    using protocol::Event;
    return {Event::issued, Event::operands_delivered, Event::retired};
  }
  void issued(protocol::Cycle now, const protocol::DynamicInstruction& d) override {
    open_[d.pool_index] = run_.passages.size();
    run_.passages.push_back(PowerPassage{d.traits->index, now.value(), 0, 0});
  }
  void operands_delivered(protocol::Cycle now, const protocol::DynamicInstruction& d) override {
    run_.passages[open_.at(d.pool_index)].dispatched = now.value();
  }
  void retired(protocol::Cycle now, const protocol::DynamicInstruction& d) override {
    run_.passages[open_.at(d.pool_index)].retired = now.value();
  }

 private:
  PowerRun& run_;
  std::map<std::uint32_t, std::size_t> open_;
};

class RowRecorder : public models::RowObserver {
 public:
  explicit RowRecorder(PowerRun& run) : run_(run) {}
  void switched(protocol::Cycle at, models::Row row, models::SegmentMask, models::PowerState state) override {
    run_.rows[row.value()].push_back(Switch{at.value(), state});
  }

 private:
  PowerRun& run_;
};

/// A gated scheme with its rows watched.
class WatchedGated : public schemes::GatedScheme {
 public:
  WatchedGated(PowerRun& run, const schemes::GatedPowerConfig& power, const models::SleepTransistorConfig& transistors)
      : GatedScheme("watched", "a gated scheme, watched", power, transistors), run_(run), rows_(run) {}
  assembly::SmParts build(const assembly::BuildContext& context) override {
    assembly::SmParts parts = GatedScheme::build(context);
    parts.observers.push_back(std::make_unique<PowerRecorder>(run_));
    for (const auto& module : parts.modules) {
      if (auto* transistors = dynamic_cast<models::SleepTransistorController*>(module.get()))
        transistors->add_observer(rows_);
    }
    return parts;
  }

 private:
  PowerRun& run_;
  RowRecorder rows_;
};

/// Says of a register at an instruction what comes next.
using Said = std::map<std::pair<std::uint32_t, unsigned>, trace::NextAccess>;

/// Puts a section `power` into the kernel: what is said, and of all other registers that they are needed at once.
inline void add_power_states(TraceBuilder& b, const Said& said, unsigned threshold = 3) {
  trace::PowerStates states;
  states.threshold = threshold;
  for (std::uint32_t index = 0; index < b.kernel().instructions.size(); ++index) {
    const trace::StaticInstruction& i = b.kernel().instructions[index];
    std::vector<trace::NextAccess>& next = states.next.emplace_back();
    const auto add = [&](unsigned reg) {
      const auto found = said.find({index, reg});
      next.push_back(found == said.end() ? trace::NextAccess{1, true} : found->second);
    };
    for (unsigned d = 0; d < i.destination_count; ++d) add(i.destinations[d]);
    for (unsigned s = 0; s < i.source_count; ++s) add(i.sources[s]);
  }
  b.kernel().annotations.push_back({trace::power_section, trace::power_section_version, trace::encode(states)});
}

inline schemes::GatedPowerConfig greener_config() {
  schemes::GatedPowerConfig c;
  c.states = "greener";
  return c;
}

inline PowerRun watch(TraceBuilder& b, const std::string& name, const schemes::GatedPowerConfig& power,
                      const models::SleepTransistorConfig& transistors = {},
                      const assembly::MachineConfig& machine = {}) {
  PowerRun run;
  WatchedGated scheme(run, power, transistors);
  // Several processes use one name: the file is this one's.
  const std::string trace = b.write(name + "_" + std::to_string(::getpid()));
  run.result = simulate(trace, scheme, machine);
  std::filesystem::remove(trace);
  for (auto& [row, switches] : run.rows) {
    // The launch begins with every row off.
    if (!switches.empty() && switches.front().cycle == 0) switches.erase(switches.begin());
  }
  return run;
}

}  // namespace regatta::test
