// SPDX-License-Identifier: Apache-2.0
#include <regatta/assembly/launch_list.h>
#include <regatta/assembly/simulation.h>

#include "instruction_report.h"
#include "why.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

namespace regatta::assembly {

namespace {

double peak_rss_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_maxrss) / 1024.0;
}

std::string kernel_names(const trace::Reader& trace) {
  std::string names;
  for (const trace::Kernel& k : trace.kernels()) names += (names.empty() ? "" : ",") + k.name;
  return names;
}

const char* to_string(Ending e) {
  switch (e) {
    case Ending::completed:
      return "completed";
    case Ending::interrupted:
      return "interrupted";
    case Ending::value_mismatch:
      return "value_mismatch";
    case Ending::deadlock:
      return "deadlock";
    case Ending::not_conserved:
      return "not_conserved";
  }
  return "";
}

/// A value per reason: structural stalls as one, and by unit at the end.
template <class Value>
nlohmann::ordered_json by_reason(const CycleStack& cycles, Value&& value) {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  nlohmann::ordered_json units = nlohmann::ordered_json::object();
  std::uint64_t structural = 0;
  for (unsigned s = 0; s < protocol::stall_count; ++s) {
    const auto reason = static_cast<protocol::Stall>(s);
    if (s >= protocol::common_stall_count && cycles[s] == 0) continue;
    if (!protocol::is_structural(reason)) {
      all[reason == protocol::Stall::none ? "issued" : protocol::to_string(reason)] = value(cycles[s]);
      continue;
    }
    structural += cycles[s];
    const std::string prefix = "structural_";
    units[std::string(protocol::to_string(reason)).substr(prefix.size())] = value(cycles[s]);
    all["structural"] = value(structural);
  }
  all["structural_by_unit"] = std::move(units);
  return all;
}

nlohmann::ordered_json stall_json(const CycleStack& cycles) {
  nlohmann::ordered_json all = by_reason(cycles, [](std::uint64_t n) { return n; });
  all.erase("issued");
  return all;
}

}  // namespace

nlohmann::ordered_json cpi_stack(const CycleStack& cycles, std::uint64_t warp_instructions, unsigned schedulers) {
  if (warp_instructions == 0 || schedulers == 0) return nlohmann::ordered_json::object();
  return by_reason(cycles, [&](std::uint64_t n) { return double(n) / double(schedulers) / double(warp_instructions); });
}

nlohmann::ordered_json energy_json(const support::EnergyReport& energy) {
  nlohmann::ordered_json structures = nlohmann::ordered_json::object();
  for (const auto& [name, nj] : energy.by_structure()) structures[name] = nj.first + nj.second;
  return {{"total_nj", energy.total_nj()},
          {"dynamic_nj", energy.dynamic_nj()},
          {"static_nj", energy.static_nj()},
          {"by_structure", std::move(structures)}};
}

namespace {

/// The complete energy report: each value, its source, and how often it was charged.
nlohmann::ordered_json energy_details(const SimulationResult& r) {
  using Json = nlohmann::ordered_json;
  Json all = energy_json(r.energy);
  all["table"] = r.energy_table;
  if (!r.without_energy.empty()) all["undeclared"] = r.without_energy;
  all["seconds"] = r.energy.seconds;
  all["mean_watts"] = r.energy.seconds > 0 ? r.energy.total_nj() * 1e-9 / r.energy.seconds : 0.0;
  Json by_static = Json::object();
  for (const auto& [name, nj] : r.energy.by_structure()) by_static[name] = nj.second;
  all["static_by_structure"] = std::move(by_static);
  Json by_basis = Json::object();
  for (unsigned b = 0; b < support::basis_count; ++b) {
    const auto basis = static_cast<support::Basis>(b);
    by_basis[support::to_string(basis)] = r.energy.of(basis);
  }
  all["by_basis"] = std::move(by_basis);
  Json events = Json::array();
  for (const support::EnergyTerm& t : r.energy.terms()) {
    const support::EnergyValue& v = t.value.value;
    Json event{{"structure", t.structure}, {"event", v.name}};
    if (t.is_static) {
      event["powered_seconds"] = t.count;
      event["mw"] = t.value.scaled;
    } else {
      event["count"] = t.count;
      event["pj"] = t.value.scaled;
    }
    event["nj"] = t.nj;
    event["per"] = v.unit;
    event["basis"] = support::to_string(v.basis);
    event["source"] = v.source;
    if (!t.value.note.empty()) event["scaling"] = t.value.note;
    if (!t.module.empty()) event["module"] = t.module;
    events.push_back(std::move(event));
  }
  all["by_event"] = std::move(events);
  return all;
}

}  // namespace

namespace {

/// Of a run of selected launches: which ran, and what the others were used for.
nlohmann::ordered_json sampling_json(const SimulationResult& r, const trace::Reader& trace) {
  std::vector<std::uint32_t> simulated;
  for (const LaunchResult& l : r.launches) simulated.push_back(l.index);
  return {{"launches", trace.launches().size()},
          {"simulated", launches_text(simulated)},
          {"warmed", launches_text(r.skipped->warmed)},
          {"warmed_warp_instructions", r.skipped->warmed_warp_instructions},
          {"warmed_lines", r.skipped->warmed_lines}};
}

/// What tells programs apart: their code, their launches, their data; and the mix of the simulated launches.
nlohmann::ordered_json program_json(const SimulationResult& r, const trace::Reader& trace) {
  using Json = nlohmann::ordered_json;
  Json kernels = Json::array();
  for (std::size_t k = 0; k < trace.kernels().size(); ++k) {
    const trace::Kernel& kernel = trace.kernels()[k];
    kernels.push_back({{"name", kernel.name},
                       {"instructions", kernel.instructions.size()},
                       {"registers", kernel.registers_per_thread},
                       {"launch_registers", trace::registers_at_launch(kernel)},
                       {"spilled_registers", kernel.spilled_registers},
                       {"code", fmt::format("{:016x}", trace.code_digest(k))}});
  }
  std::array<std::uint64_t, trace::op_class_count> classes{};
  bool known = true;
  for (const LaunchResult& l : r.launches) {
    const std::optional<trace::LaunchSignature>& signature = trace.launches()[l.index].signature;
    known = known && signature.has_value();
    if (known)
      std::transform(classes.begin(), classes.end(), signature->classes.begin(), classes.begin(), std::plus<>());
  }
  Json mix = Json::object();
  for (std::size_t c = 0; known && c < classes.size(); ++c) {
    if (classes[c] != 0) mix[trace::to_string(static_cast<trace::OpClass>(c))] = classes[c];
  }
  return {{"kernels", std::move(kernels)},
          {"launches", trace.launches().size()},
          {"data", fmt::format("{:016x}", trace.data_digest())},
          {"warp_instructions", std::move(mix)}};
}

}  // namespace

nlohmann::ordered_json stats_document(const SimulationResult& r, const trace::Reader& trace, const std::string& machine,
                                      const std::string& scheme, const support::OptionSet& options) {
  using Json = nlohmann::ordered_json;
  Json document;
  document["regatta"] = REGATTA_VERSION;
  document["kernel"] = kernel_names(trace);
  document["trace"] = trace.path();
  if (trace.variants().size() > 1) document["variant"] = trace.variant().name;
  document["program"] = program_json(r, trace);
  document["machine"] = machine;
  document["scheme"] = scheme;
  if (!r.idle.empty()) document["idle"] = r.idle;
  if (!r.scheduler.empty()) document["scheduler"] = r.scheduler;
  if (!r.residency.empty()) document["residency"] = r.residency;
  Json config = Json::object();
  for (const support::Option& o : options.options()) {
    std::visit([&](const auto& v) { config[o.name] = v; }, o.get());
  }
  document["config"] = std::move(config);
  document["ending"] = to_string(r.ending);
  document["partial"] = r.ending != Ending::completed;
  document["cycles"] = r.cycles;
  document["warp_instructions"] = r.warp_instructions;
  document["thread_instructions"] = r.thread_instructions;
  document["ipc"] = r.cycles == 0 ? 0.0 : double(r.warp_instructions) / double(r.cycles);
  document["checks"] = {{"operands_checked", r.operands_checked}, {"mismatches", r.mismatches}};
  if (r.shared_words_checked) document["checks"]["shared_words_checked"] = *r.shared_words_checked;
  if (!r.fault.empty()) document["fault"] = r.fault;
  document["issue_cycles"] = r.stall_cycles[0];
  document["stall_cycles"] = stall_json(r.stall_cycles);
  document["cpi_stack"] = cpi_stack(r.stall_cycles, r.warp_instructions, r.schedulers);
  Json launches = Json::array();
  for (const LaunchResult& l : r.launches) {
    Json& launch = launches.emplace_back();
    if (r.skipped) launch["launch"] = l.index;
    launch.update(Json{{"kernel", l.kernel},
                       {"cycles", l.cycles},
                       {"ctas", l.ctas},
                       {"warp_instructions", l.warp_instructions},
                       {"thread_instructions", l.thread_instructions},
                       {"issue_cycles", l.stall_cycles[0]},
                       {"stall_cycles", stall_json(l.stall_cycles)},
                       {"cpi_stack", cpi_stack(l.stall_cycles, l.warp_instructions, r.schedulers)},
                       {"energy", energy_json(l.energy)}});
    for (std::size_t i = 0; i < l.stats.size(); ++i) launch["stats"][r.launch_stats[i]] = l.stats[i];
  }
  document["launches"] = std::move(launches);
  if (r.skipped) document["sampling"] = sampling_json(r, trace);
  document["energy"] = energy_details(r);
  if (!r.why.empty()) document["why"] = why_json(r.why);
  if (Json lines = cpi_lines_json(r, trace); !lines.empty()) document["cpi_lines"] = std::move(lines);
  if (const WorkingSet& w = r.register_working_set; w.window != 0) {
    document["register_working_set"] = {{"window", w.window}, {"mean", w.mean}, {"peak", w.peak}};
  }
  if (const RegisterShare& u = r.register_use; u.window != 0) {
    document["register_use"] = {{"window", u.window}, {"mean", u.mean}, {"lowest", u.lowest}, {"highest", u.highest}};
  }
  document["stats"] = r.stats;
  if (!r.waits.all().empty()) document["waits"] = r.waits.json(options);
  if (!r.scheme_report.empty()) document.update(r.scheme_report);
  document["host"] = {{"seconds", r.seconds},
                      {"warp_instructions_per_second", r.seconds > 0 ? double(r.warp_instructions) / r.seconds : 0.0},
                      {"peak_rss_mib", peak_rss_mib()},
                      {"threads", r.threads}};
  if (r.sm_seconds > 0) {
    document["host"]["sm_seconds"] = r.sm_seconds;
    document["host"]["memory_seconds"] = r.memory_seconds;
  }
  return document;
}

}  // namespace regatta::assembly
