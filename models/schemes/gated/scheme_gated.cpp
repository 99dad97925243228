// SPDX-License-Identifier: Apache-2.0
#include "scheme_gated.h"

#include <regatta/models/banks/fixed_windows.h>
#include <regatta/models/register_windows/rotating_windows.h>
#include <regatta/models/register_windows/round_robin_windows.h>
#include <regatta/models/sleep_transistors/unused_rows.h>

namespace regatta::schemes {

using models::PowerState;

void GatedConfig::declare(support::OptionSet& o) {
  o.add(
      "gated.windows", windows,
      "rows of a warp: those of its slot, the same rotated at every reassignment (RAR), or the next free window (ARGO)",
      {"fixed", "rotating", "round_robin"});
  o.add("gated.compression", compression,
        "register compression: none, a base and two deltas beside the file (RC), or a base and deltas in the row "
        "(Warped-Compression)",
        {"none", "rc", "wc"});
  o.add("gated.unused_rows_off", unused_rows_off,
        "rows of no warp that are switched off: none; those beyond what the kernel's warps can have at once, for the "
        "whole kernel; or all, at any time",
        {"none", "kernel", "always"});
}

void GatedScheme::declare(support::OptionSet& options) {
  axes_.declare(options);
  transistors_.declare(options);
  power_.declare(options);
  aging_.declare(options);
}

void GatedScheme::validate(const assembly::MachineConfig& machine) const {
  transistors_.validate();
  power_.validate();
  aging_.validate();
  validate_twins(machine.sm.lanes);
}

std::vector<std::pair<std::string, std::string>> GatedScheme::written_files() const {
  const cosim::TwinOptions& twin = aging_.compression.twin;
  return {{"--wear.rows_file", aging_.rows_file},
          {"--wear.bits_file", aging_.bits_file},
          {"--compression.waveform", twin.implementation == "model" ? "" : twin.waveform}};
}

std::unique_ptr<models::WindowPolicy> GatedScheme::window_policy(unsigned slices) const {
  if (axes_.windows == "rotating") return std::make_unique<models::RotatingWindows>(slices);
  if (axes_.windows == "round_robin") return std::make_unique<models::RoundRobinWindows>(slices);
  return std::make_unique<models::FixedWindows>(slices);
}

assembly::SmParts GatedScheme::build(const assembly::BuildContext& c) {
  assembly::SmParts parts = assembly::baseline_parts(c);
  parts.storage.reset();  // its name is the gated file's
  models::SleepTransistorsConfig config = transistors_;
  config.banks = c.machine.register_file.banks;
  if (axes_.compression == "wc") config.segments = models::aging::warped_segments(c.machine.sm.lanes);
  slices_ = c.machine.sm.sub_cores;
  auto transistors = std::make_unique<models::SleepTransistors>("sleep_transistors", config, c.clock_period);
  auto file = std::make_unique<models::GatedRegisterFile>("register_file", c.machine.register_file, *transistors,
                                                          window_policy(c.machine.sm.sub_cores), c.clock_period);
  transistors->connect(*file);
  file->add_listener(*transistors);
  if (axes_.unused_rows_off != "none") {
    const auto when = axes_.unused_rows_off == "kernel" ? models::UnusedRowsOff::kernel : models::UnusedRowsOff::always;
    file->own_listener(std::make_unique<models::UnusedRows>(*transistors, when, slices_));
  }
  row_lanes_ = c.machine.sm.lanes;
  cycle_ns_ = c.clock_period.to_seconds() * 1e9;
  sms_.emplace_back();
  sms_.back().transistors = transistors.get();
  sms_.back().file = file.get();
  const Sm sm{c, parts, *transistors, *file};
  add_wear(sm, sms_.back(), config.segments);
  add_compression(sm, sms_.back());
  add_power_states(sm, sms_.back());
  parts.modules.push_back(std::move(transistors));
  parts.storage = std::move(file);
  return parts;
}

void GatedScheme::register_stats(support::StatGroup& g, const std::vector<support::StatGroup>&) {
  if (g.path() == "aging") return register_aging_stats(g);
  register_power_stats(g);
}

void GatedScheme::register_power_stats(support::StatGroup& g) {
  const auto sum = [this](auto&& of) {
    double all = 0;
    for (const Handles& sm : sms_) all += static_cast<double>(of(sm));
    return all;
  };
  for (const PowerState state : {PowerState::on, PowerState::sleep, PowerState::off}) {
    g.derived(
        std::string("row_cycles.") + to_string(state),
        [sum, state] { return sum([state](const Handles& sm) { return sm.transistors->row_cycles(state); }); },
        "row-cycles", std::string("of rows that are ") + (state == PowerState::sleep ? "asleep" : to_string(state)));
  }
  for (const PowerState state : {PowerState::sleep, PowerState::off}) {
    g.derived(
        std::string("wakeups.") + to_string(state),
        [sum, state] { return sum([state](const Handles& sm) { return sm.transistors->wakeups(state); }); }, "rows",
        std::string("that began to wake from ") + to_string(state));
  }
  g.derived(
      "access_fraction",
      [sum] {
        const double lifetime = sum([](const Handles& sm) { return sm.file->allocated_row_cycles(); });
        return lifetime == 0 ? 0.0 : sum([](const Handles& sm) { return sm.file->accesses(); }) / lifetime;
      },
      "ratio", "fraction of a register's lifetime (that of its warp) in which it is accessed, one cycle per access");
  g.derived(
      "leakage_energy",
      [this, sum] {
        const double leaked = sum([this](const Handles& sm) {
          return sm.transistors->row_cycles(PowerState::on) +
                 transistors_.sleep_leakage * sm.transistors->row_cycles(PowerState::sleep) +
                 transistors_.off_leakage * sm.transistors->row_cycles(PowerState::off);
        });
        double pj = leaked * power_.row_mw() * cycle_ns_;
        for (const PowerState from : {PowerState::sleep, PowerState::off}) {
          pj += power_.wake_pj(from) * sum([from](const Handles& sm) { return sm.transistors->wakeups(from); });
        }
        return pj * row_lanes_ / 32 / 1000;
      },
      "nJ", "leakage of the rows and energy to wake them, on gated.leakage_node");
  g.derived(
      "lookup_corrections",
      [sum] { return sum([](const Handles& sm) { return sm.gate == nullptr ? 0 : sm.gate->corrections(); }); },
      "warp registers", "kept on against the compiler's decision, because a decoded instruction accesses them");
  g.derived(
      "stall_cycles",
      [sum] { return sum([](const Handles& sm) { return sm.gate == nullptr ? 0 : sm.gate->stall_cycles(); }); },
      "warp-cycles", "that instructions waited for rows to wake, or for an older instruction to read a register");
}

void add_gated(assembly::SchemeRegistry& registry) {
  const auto add = [&](const char* name, const char* help, const GatedConfig& axes,
                       const models::SleepTransistorsConfig& transistors = {}, const GatedPowerConfig& power = {},
                       bool wear = false) {
    registry.add(std::make_unique<GatedScheme>(name, help, axes, transistors, power, wear));
  };
  models::SleepTransistorsConfig gating;  // aging paper, section 5.1.3: 10 cycles, 232.88 pJ, nothing asleep
  gating.wake_off = 10;
  gating.wake_off_energy = "wake_gated";
  add("always_on", "gated register file whose rows stay on: the reference for the other gated schemes", GatedConfig{});
  GatedPowerConfig states;
  states.states = "greener";
  add("greener",
      "GREENER: compiler and decoded instructions decide whether a register sleeps or is off between accesses",
      GatedConfig{}, {}, states);
  states.states = "sleep_reg";
  add("sleep_reg", "Sleep-Reg: registers sleep after every access, rows of no warp are off", GatedConfig{}, {}, states);
  add("rar", "RAR: the rows of a window rotate at every reassignment (aging-aware register file)",
      GatedConfig{"rotating", "kernel"}, gating, {}, true);
  add("rc", "RC: compressed registers are kept in a table, and their rows are off (aging-aware register file)",
      GatedConfig{"fixed", "kernel", "rc"}, gating, {}, true);
  add("rc_rar", "RC and RAR together", GatedConfig{"rotating", "kernel", "rc"}, gating, {}, true);
  add("wc", "Warped-Compression: compressed registers use a part of their row, and the rest is off",
      GatedConfig{"fixed", "kernel", "wc"}, gating, {}, true);
  add("argo", "ARGO: warps take windows in turn, and unused windows are off", GatedConfig{"round_robin", "kernel"},
      gating, {}, true);
}

}  // namespace regatta::schemes
