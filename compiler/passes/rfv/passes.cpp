// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/pass_registry.h>

#include "rfv_pass.h"

namespace regatta::passes {

void add_rfv(PassRegistry& registry) { registry.add<RfvPass>(); }

}  // namespace regatta::passes
