// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/section_registry.h>

#include "control_section.h"

namespace regatta::trace {

void add_control(SectionRegistry& registry) { registry.add(std::make_shared<ControlBitsSection>()); }

}  // namespace regatta::trace
