// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/pass_registry.h>

#include "power_pass.h"

namespace regatta::passes {

void add_greener(PassRegistry& registry) { registry.add<PowerPass>(); }

}  // namespace regatta::passes
