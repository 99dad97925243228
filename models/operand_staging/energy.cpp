// SPDX-License-Identifier: Apache-2.0
#include "shard.h"

#include <regatta/support/energy.h>

namespace regatta::models {

void StagingShard::register_energy(support::EnergyGroup&) {}

}  // namespace regatta::models
