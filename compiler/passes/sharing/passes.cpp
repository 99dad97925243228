// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/pass_registry.h>

#include "sharing_pass.h"

namespace regatta::passes {

void add_sharing(PassRegistry& registry) { registry.add<SharingPass>(); }

}  // namespace regatta::passes
