// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/pass_registry.h>

#include "regmutex_pass.h"

namespace regatta::passes {

void add_regmutex(PassRegistry& registry) { registry.add<RegMutexPass>(); }

}  // namespace regatta::passes
