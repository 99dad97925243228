// SPDX-License-Identifier: Apache-2.0
#include "liveness_section.h"

#include <algorithm>
#include <cstdio>
#include <optional>

namespace regatta::trace {

namespace {

std::optional<LiveRegisters> live_registers_of(const Kernel& kernel) {
  const AnnotationSection* section = find_section(kernel, liveness_section, liveness_section_version);
  if (section == nullptr) return std::nullopt;
  return parse_live_registers(kernel, section->payload);
}

}  // namespace

void LivenessSection::validate(const Kernel& kernel) const { live_registers_of(kernel); }

std::vector<InfoRow> LivenessSection::info(const Kernel& kernel) const {
  const std::optional<LiveRegisters> live = live_registers_of(kernel);
  if (!live) return {};
  unsigned most = 0;
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < live->instructions(); ++i) {
    const unsigned count = live->count(i);
    most = std::max(most, count);
    sum += count;
  }
  char mean[32];
  std::snprintf(mean, sizeof mean, "%.1f",
                live->instructions() == 0 ? 0.0 : static_cast<double>(sum) / static_cast<double>(live->instructions()));
  return {{"live registers", std::string(mean) + " before an instruction on average, " + std::to_string(most) +
                                 " at most, of " + std::to_string(live->registers)}};
}

std::vector<std::string> LivenessSection::notes(const Kernel& kernel) const {
  const std::optional<LiveRegisters> live = live_registers_of(kernel);
  std::vector<std::string> notes;
  if (!live) return notes;
  for (std::uint32_t i = 0; i < live->instructions(); ++i) notes.push_back(live_text(*live, i));
  return notes;
}

}  // namespace regatta::trace
