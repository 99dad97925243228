// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/section_registry.h>

#include "rfh_section.h"

namespace regatta::trace {

void add_rfh(SectionRegistry& registry) { registry.add(std::make_shared<RfhSection>()); }

}  // namespace regatta::trace
