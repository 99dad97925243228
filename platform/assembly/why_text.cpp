// SPDX-License-Identifier: Apache-2.0
// Causes as text and as JSON.
#include "why.h"

#include <nlohmann/json.hpp>

namespace regatta::assembly {

std::string source_of(const trace::Kernel& kernel, const trace::StaticInstruction& i) {
  if (i.source_line != 0 && i.source_file < kernel.source_files.size()) {
    return kernel.source_files[i.source_file] + ":" + std::to_string(i.source_line);
  }
  return (kernel.ptx_file.empty() ? kernel.name : kernel.ptx_file) + ":" + std::to_string(i.ptx_line);
}

nlohmann::ordered_json why_json(const std::vector<WhyCause>& causes) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const WhyCause& c : causes) {
    nlohmann::ordered_json one{{"cause", c.name}, {"sentence", c.sentence}, {"held", c.held}, {"gain_at_most", c.gain}};
    if (!c.kernel.empty()) {
      one["kernel"] = c.kernel;
      one["source"] = c.source;
      one["instruction"] = c.instruction;
    }
    list.push_back(std::move(one));
  }
  return list;
}

std::string why_text(const std::vector<WhyCause>& causes) {
  std::string text;
  for (std::size_t i = 0; i < causes.size() && i < 3; ++i) {
    if (i != 0 && causes[i].weight() < 0.03) break;
    text += "why: " + causes[i].sentence + "\n";
  }
  return text;
}

}  // namespace regatta::assembly
