// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/trace/live_registers.h>
#include <regatta/trace/section_format.h>

namespace regatta::trace {

/// decode_live_registers() as a SectionFormat has it: throws std::invalid_argument, without the kernel's name.
LiveRegisters parse_live_registers(const Kernel& kernel, const std::string& payload);

/// FineReg's live registers.
class LivenessSection : public SectionFormat {
 public:
  std::string name() const override { return liveness_section; }
  /// The payload is laid out by the kernel's instructions and registers, so that a reader can check it at once.
  void validate(const Kernel& kernel) const override;
  std::vector<InfoRow> info(const Kernel& kernel) const override;
  std::vector<std::string> notes(const Kernel& kernel) const override;
};

}  // namespace regatta::trace
