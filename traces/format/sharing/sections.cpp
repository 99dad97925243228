// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/section_registry.h>

#include "sharing_section.h"

namespace regatta::trace {

void add_sharing(SectionRegistry& registry) { registry.add(std::make_shared<SharingSection>()); }

}  // namespace regatta::trace
