// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/pass_registry.h>

#include "rfh_pass.h"

namespace regatta::passes {

void add_rfh(PassRegistry& registry) { registry.add<RfhPass>(); }

}  // namespace regatta::passes
