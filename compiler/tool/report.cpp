// SPDX-License-Identifier: Apache-2.0
#include <regatta/tool/compile.h>

#include <nlohmann/json.hpp>

namespace regatta::tool {

namespace {

using Json = nlohmann::ordered_json;

Json value_of(const passes::Figure& figure) {
  if (const auto* count = std::get_if<std::uint64_t>(&figure.value)) return *count;
  if (const auto* real = std::get_if<double>(&figure.value)) return *real;
  Json group = Json::object();
  for (const passes::Figure& part : std::get<std::vector<passes::Figure>>(figure.value))
    group[part.key] = value_of(part);
  return group;
}

Json code_json(const CodeResult& result) {
  Json entries = Json::array();
  for (const EntryReport& e : result.entries) {
    Json j;
    j["name"] = e.name;
    j["accepted"] = e.accepted;
    j["message"] = e.message;
    if (e.accepted) {
      j["registers"] = e.registers;
      j["registers_needed"] = e.registers_needed;
      j["register_budget"] = e.register_budget;
      if (e.entry_registers != 0) j["entry_registers"] = e.entry_registers;
      j["budget_set_by"] = e.budget_set_by;
      j["spills"] = e.spills;
      j["spill_bytes"] = e.spill_bytes;
      j["instructions"] = e.instructions;
      j["blocks"] = e.blocks;
      j["loops"] = e.loops;
      j["live_registers"] = e.live_registers;
      j["shared_bytes"] = e.shared_bytes;
      j["local_bytes"] = e.local_bytes;
    } else {
      for (const char* key :
           {"registers", "registers_needed", "register_budget", "budget_set_by", "spills", "spill_bytes",
            "instructions", "blocks", "loops", "live_registers", "shared_bytes", "local_bytes"})
        j[key] = nullptr;
    }
    Json left_out = Json::object();
    for (const passes::PassSummary& pass : e.passes) {
      const bool has_run = e.accepted && pass.left_out.empty();
      for (const passes::Figure& figure : pass.figures) j[figure.key] = has_run ? value_of(figure) : Json();
      if (!pass.left_out.empty()) left_out[pass.name] = pass.left_out;
    }
    if (!left_out.empty()) j["left_out"] = std::move(left_out);
    j["warnings"] = e.warnings;
    entries.push_back(std::move(j));
  }
  Json report;
  report["entries"] = std::move(entries);
  if (!result.launches.empty()) {
    Json launches = Json::array();
    for (const LaunchReport& l : result.launches) {
      launches.push_back(Json{{"entry", l.entry},
                              {"ctas", l.ctas},
                              {"traced_ctas", l.traced_ctas},
                              {"warp_instructions", l.warp_instructions},
                              {"thread_instructions", l.thread_instructions}});
    }
    report["launches"] = std::move(launches);
  }
  if (!result.races.empty()) {
    Json races = Json::array();
    for (const emulator::Race& r : result.races) races.push_back(Json{{"message", r.message}, {"times", r.times}});
    report["races"] = std::move(races);
  }
  if (!result.stray_reads.empty()) {
    Json strays = Json::array();
    for (const emulator::StrayRead& r : result.stray_reads)
      strays.push_back(Json{{"message", r.message}, {"lanes", r.lanes}});
    report["out_of_bounds"] = std::move(strays);
  }
  return report;
}

}  // namespace

std::string report_json(const AnnotateResult& result) {
  Json report = code_json(result);
  Json variants = Json::array();
  for (const VariantResult& v : result.variants) {
    Json variant{{"name", v.variant.name}, {"schemes", v.variant.schemes}, {"options", v.variant.options}};
    variant.update(code_json(v));
    variants.push_back(std::move(variant));
  }
  if (!variants.empty()) report["variants"] = std::move(variants);
  if (!result.without_variant.empty()) report["without_variant"] = result.without_variant;
  // A file name need not be UTF-8; a report has to be.
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace regatta::tool
