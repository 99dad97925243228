// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/trace/regmutex.h>
#include <regatta/trace/section_format.h>

namespace regatta::trace {

/// decode_regmutex() as a SectionFormat has it: throws std::invalid_argument, without the kernel's name.
RegMutexRegisters parse_regmutex(const Kernel& kernel, const std::string& payload);

/// RegMutex's register sets, acquires and releases.
class RegMutexSection : public SectionFormat {
 public:
  std::string name() const override { return regmutex_section; }
  std::string scheme() const override { return regmutex_scheme; }
  /// The sets only.
  void validate(const Kernel& kernel) const override;
  /// Follows all paths of a single lane: acquires and releases alternate, and the section is held where it is needed.
  /// Lanes that wait on the SIMT stack are not followed.
  void verify(const Kernel& kernel) const override;
  std::vector<InfoRow> info(const Kernel& kernel) const override;
  /// The registers of the extended set that each instruction names.
  std::vector<std::string> notes(const Kernel& kernel) const override;
};

}  // namespace regatta::trace
