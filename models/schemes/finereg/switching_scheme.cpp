// SPDX-License-Identifier: Apache-2.0
// What the schemes that switch CTAs have in common, on the baseline's parts or on another scheme's.
#include "scheme_finereg.h"

#include <algorithm>

namespace regatta::schemes {

void SwitchingScheme::declare(support::OptionSet& o) {
  if (base_ != nullptr) base_->declare(o);
  switching_.declare(o);
  declare_own(o);
}

void SwitchingScheme::validate(const assembly::MachineConfig& machine) const {
  if (base_ != nullptr) base_->validate(machine);
  validate_own(machine);
}

std::vector<std::pair<std::string, std::string>> SwitchingScheme::written_files() const {
  return base_ == nullptr ? std::vector<std::pair<std::string, std::string>>{} : base_->written_files();
}

std::vector<std::string> SwitchingScheme::stat_groups() const {
  std::vector<std::string> groups;
  if (base_ != nullptr) groups = base_->stat_groups();
  groups.insert(groups.end(), {"residency", name_});
  return groups;
}

std::vector<std::string> SwitchingScheme::energy_structures() const {
  std::vector<std::string> structures;
  if (base_ != nullptr) structures = base_->energy_structures();
  structures.emplace_back("cta_switching");
  return structures;
}

void SwitchingScheme::register_stats(support::StatGroup& g, const std::vector<support::StatGroup>& modules) {
  if (g.path() == "residency") return register_residency(g);
  if (g.path() == name_) return register_own(g, modules);
  base_->register_stats(g, modules);
}

void SwitchingScheme::add_laws(assembly::ConservationLaws& laws, const std::string& sm) const {
  if (base_ != nullptr) base_->add_laws(laws, sm);
  add_own_laws(laws, sm);
}

void SwitchingScheme::report(nlohmann::ordered_json& document) const {
  if (base_ != nullptr) base_->report(document);
}

assembly::SmParts SwitchingScheme::base_parts(const assembly::BuildContext& c, std::uint64_t registers) {
  machines_.push_back(std::make_shared<assembly::MachineConfig>(c.machine));
  assembly::MachineConfig& machine = *machines_.back();
  machine.register_file.registers = registers;
  // Tables by warp or CTA slot have an entry for every resident one. How many are active is the SM's to limit.
  machine.sm.max_warps = std::max(machine.sm.max_warps, switching_.max_warps);
  machine.sm.max_ctas = std::max(machine.sm.max_ctas, switching_.max_ctas);
  const assembly::BuildContext context{machine, c.clock_period, c.sm_index, c.check_protocol, c.lookup_delay};
  return base_ == nullptr ? assembly::baseline_parts(context) : base_->build(context);
}

models::SwitchEngine& SwitchingScheme::add_engine(const assembly::BuildContext& c, assembly::SmParts& parts) {
  parts.residency.reset();
  parts.registered_residency = nullptr;
  auto engine = std::make_unique<models::SwitchEngine>("switch_engine", switching_, c.clock_period);
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
  auto* const file = dynamic_cast<models::MovableFile*>(parts.storage.get());
  if (file == nullptr) {
    throw support::ConfigError("scheme " + name() + ": '" + name_ +
                               "' moves registers between windows of a register "
                               "file, and the storage of '" +
                               base_->name() + "' has none");
  }
  if (const std::string windows = file->own_windows(); windows != "fixed") {
    throw support::ConfigError("scheme " + name() + ": '" + name_ +
                               "' gives warps the windows of their CTA's place, and '" + base_->name() +
                               "' gives windows of its own (" + windows + "): expected a scheme with fixed windows");
  }
  auto places = std::make_unique<models::CtaPlaceWindows>("cta_places", c.machine.sm.sub_cores);
  file->window_port().bind(places->windows);
  places->connect(
      file->mapping(), [file] { return file->held_write(); }, file);
  const PlacedFile divided{*file, *places};
  parts.listeners.push_back(places.get());
  parts.modules.push_back(std::move(places));
  return divided;
}

void SwitchingScheme::set_writeback_point(assembly::SmParts& parts,
                                          std::unique_ptr<protocol::WritebackPoint> point) const {
  if (parts.writeback_point != nullptr) {
    throw support::ConfigError("scheme " + name() + ": both '" + name_ + "' and '" + base_->name() +
                               "' need the SM's write-back point");
  }
  parts.writeback_point = std::move(point);
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
