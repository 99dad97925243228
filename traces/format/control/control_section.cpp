// SPDX-License-Identifier: Apache-2.0
#include "control_section.h"

#include <regatta/trace/verify_control.h>

namespace regatta::trace {

namespace {

std::optional<ControlSection> control_of(const Kernel& kernel) {
  const AnnotationSection* section = find_section(kernel, control_section, control_section_version);
  if (section == nullptr) return std::nullopt;
  return decode_control(kernel, section->payload);
}

}  // namespace

void ControlBitsSection::validate(const Kernel& kernel) const { control_of(kernel); }

void ControlBitsSection::verify(const Kernel& kernel) const {
  if (const std::optional<ControlSection> control = control_of(kernel)) verify_control(kernel, *control);
}

std::vector<InfoRow> ControlBitsSection::info(const Kernel& kernel) const {
  const std::optional<ControlSection> control = control_of(kernel);
  if (!control) return {};
  std::uint64_t fixed = 0, raise = 0, wait = 0, reuse = 0;
  for (std::size_t i = 0; i < control->bits.size(); ++i) {
    const ControlBits& b = control->bits[i];
    fixed += control->latency[i] != 0;
    raise += b.write_counter != no_counter || b.read_counter != no_counter;
    wait += b.wait_mask != 0;
    reuse += b.reuse != 0;
  }
  return {{"control bits", std::to_string(fixed) + " of fixed latency; " + std::to_string(raise) + " raise counters, " +
                               std::to_string(wait) + " wait, " + std::to_string(reuse) + " reuse"}};
}

std::vector<std::string> ControlBitsSection::notes(const Kernel& kernel) const {
  const std::optional<ControlSection> control = control_of(kernel);
  std::vector<std::string> notes;
  if (!control) return notes;
  for (std::size_t i = 0; i < control->bits.size(); ++i) {
    const unsigned latency = control->latency[i];
    notes.push_back("control " + to_string(control->bits[i]) + (latency == 0 ? "" : " L" + std::to_string(latency)));
  }
  return notes;
}

}  // namespace regatta::trace
