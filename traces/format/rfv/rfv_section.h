// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/trace/rfv.h>
#include <regatta/trace/section_format.h>

namespace regatta::trace {

/// decode_rfv() as a SectionFormat has it: throws std::invalid_argument, without the kernel's name.
RfvSection parse_rfv(const Kernel& kernel, const std::string& payload);

/// RFV's release points.
class RfvSectionFormat : public SectionFormat {
 public:
  std::string name() const override { return rfv_section; }
  std::string scheme() const override { return rfv_scheme; }
  /// The section only.
  void validate(const Kernel& kernel) const override;
  /// Reads the words, and follows all paths of a single lane: no released register is read before it is written. Lanes
  /// that wait on the SIMT stack are not followed.
  void verify(const Kernel& kernel) const override;
  std::vector<InfoRow> info(const Kernel& kernel) const override;
  /// The registers that each instruction releases.
  std::vector<std::string> notes(const Kernel& kernel) const override;
  std::string inserted_text(const StaticInstruction& instruction) const override;
};

}  // namespace regatta::trace
