// SPDX-License-Identifier: Apache-2.0
#include "power_section.h"

namespace regatta::trace {

void PowerSection::validate(const Kernel& kernel) const {
  if (const AnnotationSection* section = find_power_section(kernel); section != nullptr)
    decode_power_states(kernel, section->payload);
}

std::vector<InfoRow> PowerSection::info(const Kernel& kernel) const {
  const AnnotationSection* section = find_power_section(kernel);
  if (section == nullptr) return {};
  const PowerStates power = decode_power_states(kernel, section->payload);
  return {{"power states",
           "threshold " + std::to_string(power.threshold) + ", distances up to " + std::to_string(power.bound)}};
}

std::vector<std::string> PowerSection::notes(const Kernel& kernel) const {
  const AnnotationSection* section = find_power_section(kernel);
  if (section == nullptr) return {};
  const PowerStates power = decode_power_states(kernel, section->payload);
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    const StaticInstruction& instruction = kernel.instructions[i];
    const std::string text = power_text(instruction, power_bits(instruction, power.next[i], power.threshold));
    notes.push_back(text.empty() ? "" : "power " + text);
  }
  return notes;
}

}  // namespace regatta::trace
