// SPDX-License-Identifier: Apache-2.0
//
// GREENER and Sleep-Reg (Jatala, thesis, chapter 4), and what other gated files share with them.
#include <regatta/greener/scheme_gated.h>

#include <regatta/assembly/connect_lookup.h>
#include <regatta/assembly/waits.h>
#include <regatta/baseline/fixed_windows.h>
#include <regatta/baseline/register_file.h>
#include <regatta/baseline/switched_rows.h>
#include <regatta/greener/unused_rows.h>

#include <typeinfo>

namespace regatta::schemes {

using models::PowerState;

void GatedScheme::declare(support::OptionSet& options) {
  if (axis_ != nullptr) axis_->declare(options);
  options.add("gated.unused_rows_off", unused_rows_off_,
              "rows of no warp that are switched off: none; those beyond what the kernel's warps can have at once, for "
              "the whole kernel; or all, at any time",
              {"none", "kernel", "always"});
  transistors_.declare(options);
  power_.declare(options);
}

void GatedScheme::validate(const assembly::MachineConfig& machine) const {
  transistors_.validate();
  power_.validate();
  if (axis_ != nullptr) axis_->validate(machine);
}

std::vector<std::pair<std::string, std::string>> GatedScheme::written_files() const {
  return axis_ != nullptr ? axis_->written_files() : std::vector<std::pair<std::string, std::string>>{};
}

std::optional<assembly::Takings> GatedScheme::takings() const {
  using assembly::Feature;
  using assembly::Place;
  assembly::Takings t;
  t.takes = {Place::row_power, Place::gates, Place::fetch_listeners, Place::observers};
  t.provides = {Feature::given_windows};
  if (axis_ == nullptr || axis_->needs_file().empty()) {
    t.yields = {Place::storage};
    t.needs = {Feature::switched_rows};
  } else {
    t.takes.add(Place::storage);
  }
  if (axis_ != nullptr && axis_->has_windows()) t.takes.add(Place::windows);
  return t;
}

void GatedScheme::add_parts(const assembly::BuildContext& c, assembly::SmParts& parts) {
  row_lanes_ = c.machine.sm.lanes;
  cycle_ns_ = c.clock.period().to_seconds() * 1e9;
  const protocol::OperandStorage& storage = *parts.storage;
  typeid(storage) == typeid(models::RegisterFile) ? add_gated_file(c, parts) : add_switched_rows(c, parts);
}

models::SleepTransistors GatedScheme::transistors(const assembly::BuildContext& c) const {
  models::SleepTransistors config{transistors_, c.machine.register_file.banks, {}};
  config.wake_factor = power_.wake_factor();
  return config;
}

void GatedScheme::add_gated_file(const assembly::BuildContext& c, assembly::SmParts& parts) {
  parts.storage.reset();  // its name is the gated file's
  models::SleepTransistors config = transistors(c);
  const unsigned slices = c.machine.sm.sub_cores;
  std::unique_ptr<models::WindowPolicy> windows;
  if (axis_ != nullptr) {
    config.segments = axis_->segments(c.machine.sm.lanes);
    windows = axis_->window_policy(slices);
  }
  if (windows == nullptr) windows = std::make_unique<models::FixedWindows>(slices);
  auto transistors = std::make_unique<models::SleepTransistorController>("sleep_transistors", config, c.clock);
  auto file = std::make_unique<models::GatedRegisterFile>("register_file", c.machine.register_file, std::move(windows),
                                                          c.clock);
  file->power.bind(transistors->votes);
  transistors->cells.bind(file->cells);
  file->add_listener(*transistors);
  if (unused_rows_off_ != "none") {
    const auto when = unused_rows_off_ == "kernel" ? models::UnusedRowsOff::kernel : models::UnusedRowsOff::always;
    file->own_listener(std::make_unique<models::UnusedRows>(*transistors, when, slices));
  }
  const models::RowCodec* const codec =
      axis_ == nullptr ? nullptr : axis_->add_parts(GatedParts{c, parts, transistors_, *transistors, *file});
  Handles handles{transistors.get(), file.get(), nullptr};
  if (auto gate = add_power_states(c, parts, handles)) {
    if (codec != nullptr) gate->connect(*codec);
    file->add_listener(*gate);
    parts.gates.push_back(std::move(gate));
  }
  sms_.push_back(handles);
  parts.modules.push_back(std::move(transistors));
  parts.storage = std::move(file);
}

void GatedScheme::require_no_axes() const {
  std::string setting = axis_ == nullptr ? "" : axis_->needs_file();
  if (setting.empty() && unused_rows_off_ != "none") setting = "gated.unused_rows_off = " + unused_rows_off_;
  if (setting.empty()) return;
  throw support::ConfigError("configuration: " + setting + " needs the register file of '" + name_ +
                             "', found the storage of another scheme");
}

void GatedScheme::add_switched_rows(const assembly::BuildContext& c, assembly::SmParts& parts) {
  require_no_axes();
  const models::SleepTransistors config = transistors(c);
  auto transistors = std::make_unique<models::SleepTransistorController>("sleep_transistors", config, c.clock);
  auto rows = std::make_unique<models::SwitchedRows>("switched_rows", c.machine.register_file.latency, c.clock);
  rows->power.bind(transistors->votes);
  transistors->cells.bind(rows->cells);
  rows->add_listener(*transistors);
  for (models::RowUsePort* port : parts.row_uses) port->bind(rows->use);
  Handles handles{transistors.get(), rows.get(), nullptr};
  if (auto gate = add_power_states(c, parts, handles)) {
    gate->registers.bind(rows->registers);
    if (parts.row_needs != nullptr) gate->connect(*parts.row_needs);
    rows->add_listener(*gate);
    parts.gates.push_back(std::move(gate));
  } else {
    rows->keep_on();
  }
  sms_.push_back(handles);
  parts.modules.push_back(std::move(transistors));
  parts.modules.push_back(std::move(rows));
}

std::unique_ptr<models::PowerGate> GatedScheme::power_gate(const models::PowerGating& config,
                                                           support::ClockDomain& clock) const {
  return std::make_unique<models::PowerGate>("power_gate", config, clock);
}

std::unique_ptr<models::PowerGate> GatedScheme::add_power_states(const assembly::BuildContext& c,
                                                                 assembly::SmParts& parts, Handles& handles) const {
  if (power_.states == "always_on") return nullptr;
  const models::PowerGating config{power_.gate, power_.states == "greener", c.machine.sm.max_warps};
  std::unique_ptr<models::PowerGate> gate = power_gate(config, c.clock);
  gate->power.bind(handles.transistors->votes);
  if (gate->wants_table()) {
    auto table = std::make_unique<models::RunTimeTable>("power_table", config.warps, config.table_entries, c.clock);
    assembly::connect_lookup(c, parts, "power_table", gate->table_lookups, table->lookups);
    gate->table_updates.bind(table->updates);
    parts.fetch_listeners.push_back(gate.get());
    parts.modules.push_back(std::move(table));
  }
  handles.gate = gate.get();
  return gate;
}

std::vector<std::string> GatedScheme::stat_groups() const {
  std::vector<std::string> groups{"power"};
  if (axis_ != nullptr) groups.push_back(axis_->stat_group());
  return groups;
}

void GatedScheme::add_waits(assembly::Waits& waits) const {
  using Of = assembly::Wait::Of;
  waits.add_latency("sm*.sleep_transistors.wakeups_sleep", "sleep_transistors.wake_sleep");
  waits.add_latency("sm*.sleep_transistors.wakeups_off", "sleep_transistors.wake_off");
  waits.add("sm*.sleep_transistors.delayed_wakes", Of::warps, {"sleep_transistors.wakes_per_cycle"});
  waits.add("sm*.power_gate.read_wait_cycles", Of::warps, {"greener.reserve_sources"});
  waits.add("sm*.power_table.overflows", Of::warps, {"greener.table_entries"});
  if (axis_ != nullptr) axis_->add_waits(waits);
}

void GatedScheme::report(nlohmann::ordered_json&) const {
  if (axis_ != nullptr) axis_->report();
}

void GatedScheme::register_stats(support::StatGroup& g, const std::vector<support::StatGroup>&) {
  if (axis_ != nullptr && g.path() == axis_->stat_group()) return axis_->register_stats(g);
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
        const double lifetime = sum([](const Handles& sm) { return sm.rows->allocated_row_cycles(); });
        return lifetime == 0 ? 0.0 : sum([](const Handles& sm) { return sm.rows->accesses(); }) / lifetime;
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

void add_greener(assembly::SchemeRegistry& registry) {
  const auto add = [&](const char* name, const char* help, const GatedPowerConfig& power) {
    auto scheme = std::make_unique<GatedScheme>(name, help, power);
    scheme->set_published({"Jatala, thesis, chapter 4", "k20x", {}});
    registry.add(std::move(scheme));
  };
  GatedPowerConfig states;
  add("always_on", "gated register file whose rows stay on: the reference for the other gated schemes", states);
  states.states = "greener";
  add("greener",
      "GREENER: compiler and decoded instructions decide whether a register sleeps or is off between accesses", states);
  states.states = "sleep_reg";
  add("sleep_reg", "Sleep-Reg: registers sleep after every access, rows of no warp are off", states);
}

}  // namespace regatta::schemes
