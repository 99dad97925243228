// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/section_registry.h>

#include "liveness_section.h"

namespace regatta::trace {

void add_finereg(SectionRegistry& registry) { registry.add(std::make_shared<LivenessSection>()); }

}  // namespace regatta::trace
