// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/section_registry.h>

#include "rfv_section.h"

namespace regatta::trace {

void add_rfv(SectionRegistry& registry) { registry.add(std::make_shared<RfvSectionFormat>()); }

}  // namespace regatta::trace
