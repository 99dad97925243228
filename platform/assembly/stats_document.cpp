// SPDX-License-Identifier: Apache-2.0
#include <regatta/assembly/simulation.h>

#include <sys/resource.h>

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
  }
  return "";
}

}  // namespace

nlohmann::ordered_json stats_document(const SimulationResult& r, const trace::Reader& trace, const std::string& machine,
                                      const std::string& scheme, const support::OptionSet& options) {
  using Json = nlohmann::ordered_json;
  Json document;
  document["regatta"] = REGATTA_VERSION;
  document["kernel"] = kernel_names(trace);
  document["trace"] = trace.path();
  document["machine"] = machine;
  document["scheme"] = scheme;
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
  Json stalls = Json::object();
  for (unsigned s = 1; s < protocol::stall_count; ++s) {
    stalls[protocol::to_string(static_cast<protocol::Stall>(s))] = r.stall_cycles[s];
  }
  document["stall_cycles"] = std::move(stalls);
  Json launches = Json::array();
  for (const LaunchResult& l : r.launches) {
    launches.push_back({{"kernel", l.kernel},
                        {"cycles", l.cycles},
                        {"ctas", l.ctas},
                        {"warp_instructions", l.warp_instructions},
                        {"thread_instructions", l.thread_instructions}});
  }
  document["launches"] = std::move(launches);
  document["stats"] = r.stats;
  if (!r.scheme_report.empty()) document.update(r.scheme_report);
  document["host"] = {{"seconds", r.seconds},
                      {"warp_instructions_per_second", r.seconds > 0 ? double(r.warp_instructions) / r.seconds : 0.0},
                      {"peak_rss_mib", peak_rss_mib()}};
  return document;
}

}  // namespace regatta::assembly
