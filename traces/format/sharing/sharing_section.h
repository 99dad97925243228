// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/trace/section_format.h>
#include <regatta/trace/sharing.h>

namespace regatta::trace {

/// decode_sharing() as a SectionFormat has it: throws std::invalid_argument, without the kernel's name.
SharingLayout parse_sharing(const Kernel& kernel, const std::string& payload);

/// The layout of scratchpad sharing, and its relssp instructions.
class SharingSection : public SectionFormat {
 public:
  std::string name() const override { return sharing_section; }
  std::vector<std::string> schemes() const override { return {relssp_optimal_scheme, relssp_postdom_scheme}; }
  /// The layout only.
  void validate(const Kernel& kernel) const override;
  /// Counts the inserted instructions and follows all paths of a thread: one relssp at most, none of the common
  /// accesses behind it, and no unguarded exit without one.
  void verify(const Kernel& kernel) const override;
  std::vector<InfoRow> info(const Kernel& kernel) const override;
  /// "common" behind each instruction that may access the common part.
  std::vector<std::string> notes(const Kernel& kernel) const override;
};

}  // namespace regatta::trace
