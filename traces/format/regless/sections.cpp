// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/section_registry.h>

#include "region_section.h"

namespace regatta::trace {

void add_regless(SectionRegistry& registry) { registry.add(std::make_shared<RegionSection>()); }

}  // namespace regatta::trace
