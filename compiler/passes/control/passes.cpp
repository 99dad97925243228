// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/pass_registry.h>

#include "control_pass.h"

namespace regatta::passes {

void add_control(PassRegistry& registry) { registry.add<ControlPass>(); }

}  // namespace regatta::passes
