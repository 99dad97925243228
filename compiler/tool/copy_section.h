// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/trace/section_registry.h>

#include <string>

namespace regatta::tool {

/// Adds the section `name` of one static form of a kernel to another one of the same code, in place of a section of its
/// name, with the instructions of its scheme. Does nothing if `from` does not have it.
void copy_section(const trace::Kernel& from, const std::string& name, const trace::SectionRegistry& sections,
                  trace::Kernel& to);

}  // namespace regatta::tool
