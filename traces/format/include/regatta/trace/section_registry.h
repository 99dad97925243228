// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/trace/section_format.h>

#include <memory>
#include <string>
#include <vector>

namespace regatta::trace {

/// The formats that a reader or writer of traces knows. A section or scheme without a format is legal: it is kept,
/// listed by name, and not looked into. Copies share the formats.
class SectionRegistry {
 public:
  /// The formats of the passes of regatta-annotate.
  static SectionRegistry with_builtin();

  /// Throws std::invalid_argument when the name or the scheme is taken.
  void add(std::shared_ptr<const SectionFormat> format);
  /// In the order in which they were added.
  const std::vector<std::shared_ptr<const SectionFormat>>& formats() const { return formats_; }
  /// The format whose pass inserts instructions for `scheme`, nullptr when none is known.
  const SectionFormat* of_scheme(const std::string& scheme) const;

 private:
  std::vector<std::shared_ptr<const SectionFormat>> formats_;
};

}  // namespace regatta::trace
