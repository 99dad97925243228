// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/section_registry.h>

#include <stdexcept>

namespace regatta::trace {

void SectionRegistry::add(std::shared_ptr<const SectionFormat> format) {
  for (const auto& known : formats_) {
    if (known->name() == format->name())
      throw std::invalid_argument("the annotation section '" + format->name() + "' is registered already");
  }
  for (const std::string& scheme : format->schemes())
    if (const SectionFormat* known = of_scheme(scheme); known != nullptr)
      throw std::invalid_argument("section '" + known->name() + "' inserts the instructions of scheme '" + scheme +
                                  "' already");
  formats_.push_back(std::move(format));
}

const SectionFormat* SectionRegistry::of_scheme(const std::string& scheme) const {
  if (scheme.empty()) return nullptr;
  for (const auto& format : formats_)
    for (const std::string& own : format->schemes())
      if (own == scheme) return format.get();
  return nullptr;
}

const AnnotationSection* find_section(const Kernel& kernel, const std::string& name, std::uint32_t version) {
  for (const AnnotationSection& a : kernel.annotations)
    if (a.name == name && a.version == version) return &a;
  return nullptr;
}

}  // namespace regatta::trace
