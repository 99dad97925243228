// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/trace/region_words.h>
#include <regatta/trace/section_format.h>

namespace regatta::trace {

/// RegLess's regions. The section is JSON for people and tools and is not looked into; what hardware sees are the
/// inserted instruction words.
class RegionSection : public SectionFormat {
 public:
  std::string name() const override { return regions_section; }
  std::string scheme() const override { return region_scheme; }
  /// Reads all words. A reader does not: a trace whose words are broken still serves every other scheme.
  void verify(const Kernel& kernel) const override { read_region_stream(kernel); }
  std::string inserted_text(const StaticInstruction& instruction) const override {
    return region_word_text(region_word(instruction));
  }
};

}  // namespace regatta::trace
