// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/section_registry.h>

#include "regmutex_section.h"

namespace regatta::trace {

void add_regmutex(SectionRegistry& registry) { registry.add(std::make_shared<RegMutexSection>()); }

}  // namespace regatta::trace
