// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/section_registry.h>

#include "power_section.h"

namespace regatta::trace {

void add_greener(SectionRegistry& registry) { registry.add(std::make_shared<PowerSection>()); }

}  // namespace regatta::trace
