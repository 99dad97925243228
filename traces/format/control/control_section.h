// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/trace/control.h>
#include <regatta/trace/section_format.h>

namespace regatta::trace {

/// The control bits of modern NVIDIA GPUs.
class ControlBitsSection : public SectionFormat {
 public:
  std::string name() const override { return control_section; }
  /// The payload is laid out by the kernel's instructions, so that a reader can check it at once.
  void validate(const Kernel& kernel) const override;
  /// verify_control().
  void verify(const Kernel& kernel) const override;
  std::vector<InfoRow> info(const Kernel& kernel) const override;
  std::vector<std::string> notes(const Kernel& kernel) const override;
};

}  // namespace regatta::trace
