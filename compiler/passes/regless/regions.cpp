// SPDX-License-Identifier: Apache-2.0
#include "region_facts.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace regatta::passes {

namespace {

void check(const char* option, unsigned value, unsigned low, unsigned high) {
  if (value < low || value > high)
    throw trace::InputError(std::string("error: --") + option + " is " + std::to_string(value) + ", expected " +
                            std::to_string(low) + " to " + std::to_string(high));
}

template <typename Container>
std::string json_list(const char* name, const Container& numbers) {
  std::string text = std::string("\"") + name + "\":[";
  const char* separator = "";
  for (const auto number : numbers) {
    text += separator + std::to_string(number);
    separator = ",";
  }
  return text + "]";
}

}  // namespace

std::vector<std::uint8_t> Region::registers() const {
  std::vector<std::uint8_t> all = inputs;
  for (const auto* more : {&outputs, &interiors}) all.insert(all.end(), more->begin(), more->end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

void check(const RegionOptions& options) {
  check("region-registers", options.max_registers, 1, trace::region_banks * trace::max_region_lines_per_bank);
  check("region-bank-lines", options.lines_per_bank, 1, trace::max_region_lines_per_bank);
  check("region-head-words", options.head_words, 2, 64);
}

RegionPlan plan_regions(const trace::Kernel& kernel, analysis::FunctionAnalyses& analyses,
                        const RegionOptions& options) {
  check(options);
  std::optional<analysis::WarpLiveness> by_other_rule;
  if (options.lanes != analysis::LaneRule::every_path)
    by_other_rule.emplace(analyses.function(), analyses.cfg(), analyses.dominators(), analyses.reconvergence(),
                          options.lanes);
  const analysis::WarpLiveness& liveness = by_other_rule ? *by_other_rule : analyses.warp_liveness();
  const KernelFacts facts = region_facts(kernel, liveness);
  RegionPlan plan;
  plan.options = options;
  for (std::uint32_t b = 0; b < kernel.blocks.size(); ++b) {
    const trace::BasicBlock& block = kernel.blocks[b];
    for (Region& region : cut_block(facts, b, block.first, block.first + block.count, options)) {
      annotate(facts, block.first, region);
      if (region.live > options.max_registers ||
          *std::max_element(region.words.lines.begin(), region.words.lines.end()) > options.lines_per_bank)
        ++plan.oversized;
      plan.regions.push_back(std::move(region));
    }
  }
  add_invalidations(analyses.cfg(), analyses.reconvergence(), facts, options.head_words, plan.regions);
  return plan;
}

std::size_t insert_region_words(trace::Kernel& kernel, const RegionPlan& plan) {
  std::unordered_map<std::string, std::uint32_t> ids;
  std::uint32_t next = 0;
  const auto know = [&](const trace::StaticInstruction& i) {
    ids.emplace(i.opcode, i.opcode_id);
    next = std::max(next, i.opcode_id + 1);
  };
  for (const trace::StaticInstruction& i : kernel.instructions) know(i);
  for (const trace::InsertedInstruction& i : kernel.inserted) know(i.instruction);
  const std::size_t before = kernel.inserted.size();
  for (const Region& region : plan.regions)
    for (const trace::PlacedWord& placed : trace::encode(region.words)) {
      const char* opcode = trace::to_string(trace::opcode_of(placed.word));
      const auto [id, is_new] = ids.emplace(opcode, next);
      if (is_new) ++next;
      kernel.inserted.push_back({region.begin + placed.before, trace::region_instruction(placed.word, id->second)});
    }
  // Words before the same instruction keep their order; those of another scheme come first.
  std::stable_sort(kernel.inserted.begin(), kernel.inserted.end(),
                   [](const auto& a, const auto& b) { return a.before < b.before; });
  kernel.annotations.push_back({trace::regions_section, trace::regions_section_version, regions_json(plan)});
  return kernel.inserted.size() - before;
}

std::string regions_json(const RegionPlan& plan) {
  std::string text = "{\"options\":{\"max_registers\":" + std::to_string(plan.options.max_registers) +
                     ",\"lines_per_bank\":" + std::to_string(plan.options.lines_per_bank) +
                     ",\"min_instructions\":" + std::to_string(plan.options.min_instructions) + "},\"regions\":[";
  const char* separator = "\n";
  for (const Region& r : plan.regions) {
    text += separator;
    text += "{\"begin\":" + std::to_string(r.begin) + ",\"end\":" + std::to_string(r.end) + "," +
            json_list("inputs", r.inputs) + "," + json_list("outputs", r.outputs) + "," +
            json_list("interiors", r.interiors) + "," + json_list("lines", r.words.lines) +
            ",\"live\":" + std::to_string(r.live) + "}";
    separator = ",\n";
  }
  return text + "\n]}\n";
}

}  // namespace regatta::passes
