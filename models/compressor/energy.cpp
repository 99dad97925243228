// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/compressor/compressor.h>

#include <regatta/support/energy.h>

namespace regatta::models {

void Compressor::register_energy(support::EnergyGroup&) {}

}  // namespace regatta::models
