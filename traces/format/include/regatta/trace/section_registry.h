// SPDX-License-Identifier: Apache-2.0
//
// The list of section formats. To add one, derive from SectionFormat and add it here or in a program of your own.
#pragma once

#include <regatta/trace/section_format.h>

#include <memory>
#include <string>
#include <vector>

namespace regatta::trace {

/// The section formats that a reader or writer of traces knows. A section or scheme without a format is legal: readers
/// keep it and list its name, and do not decode it. Copies of a registry share the formats.
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
