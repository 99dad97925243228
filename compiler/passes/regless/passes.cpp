// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/pass_registry.h>

#include "region_pass.h"

namespace regatta::passes {

void add_regless(PassRegistry& registry) { registry.add<RegionPass>(); }

}  // namespace regatta::passes
