// SPDX-License-Identifier: Apache-2.0
// What the schemes that switch CTAs have in common, on the baseline's parts or on another scheme's.
#include "scheme_finereg.h"

#include <regatta/assembly/waits.h>

#include <algorithm>

namespace regatta::schemes {

using assembly::Feature;
using assembly::Place;

void SwitchingScheme::declare(support::OptionSet& o) {
  switching_.declare(o);
  declare_own(o);
}

void SwitchingScheme::register_stats(support::StatGroup& g, const std::vector<support::StatGroup>& modules) {
  g.path() == "residency" ? register_residency(g) : register_own(g, modules);
}

void SwitchingScheme::add_waits(assembly::Waits& waits) const {
  waits.add("sm*.switch_engine.switch_cycles", assembly::Wait::Of::ctas, {"switching.latency"});
  add_own_waits(waits);
}

assembly::Takings SwitchingScheme::switching_takings() {
  assembly::Takings t;
  t.takes = {Place::residency};
  t.needs = {Feature::leaving_ctas};
  return t;
}

assembly::Takings SwitchingScheme::moving_takings() {
  assembly::Takings t = switching_takings();
  for (const Place p : {Place::windows, Place::writeback_point, Place::listeners, Place::l1_clients}) t.takes.add(p);
  t.needs.add(Feature::given_windows);
  return t;
}

// How many of the resident warps and CTAs are active is the SM's to limit.
void SwitchingScheme::prepare(assembly::MachineConfig& machine) const {
  machine.sm.max_warps = std::max(machine.sm.max_warps, switching_.max_warps);
  machine.sm.max_ctas = std::max(machine.sm.max_ctas, switching_.max_ctas);
}

models::SwitchEngine& SwitchingScheme::add_engine(const assembly::BuildContext& c, assembly::SmParts& parts) {
  parts.residency.reset();
  parts.registered_residency = nullptr;
  auto engine = std::make_unique<models::SwitchEngine>("switch_engine", switching_, c.clock);
  auto monitor = std::make_unique<models::CtaStatusMonitor>("status_monitor");
  engine->status.bind(monitor->access);
  models::SwitchEngine& made = *engine;
  engines_.push_back(&made);
  parts.modules.push_back(std::move(monitor));
  parts.residency = std::move(engine);
  return made;
}

SwitchingScheme::PlacedFile SwitchingScheme::divide_file(const assembly::BuildContext& c,
                                                         assembly::SmParts& parts) const {
  models::MovableFile* const file = &assembly::file_without_windows(parts, name_);
  auto places = std::make_unique<models::CtaPlaceWindows>("cta_places", c.machine.sm.sub_cores);
  file->window_port().bind(places->windows);
  places->connect(
      file->mapping(), [file] { return file->held_write(); }, file);
  const PlacedFile divided{*file, *places};
  parts.listeners.push_back(places.get());
  parts.modules.push_back(std::move(places));
  return divided;
}

std::string SwitchingScheme::add_l1_client(assembly::SmParts& parts, protocol::MemoryInitiatorSocket& socket) {
  parts.l1_clients.push_back(&socket);
  return ".l1_arbiter.port" + std::to_string(parts.l1_clients.size()) + "_requests";
}

void SwitchingScheme::check_machine(const assembly::MachineConfig& m) const {
  if (m.register_file.priority != "fcfs") {
    refuse("register_file.priority", m.register_file.priority, "fcfs: banks that CTAs are moved from have no other");
  }
}

void SwitchingScheme::refuse(const std::string& what, const std::string& found, const std::string& expected) const {
  throw support::ConfigError("configuration: scheme " + name() + ": " + what + " = " + found + ", expected " +
                             expected);
}

}  // namespace regatta::schemes
