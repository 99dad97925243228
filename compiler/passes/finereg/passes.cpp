// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/pass_registry.h>

#include "liveness_pass.h"

namespace regatta::passes {

void add_finereg(PassRegistry& registry) { registry.add<LivenessPass>(); }

}  // namespace regatta::passes
