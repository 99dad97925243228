// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/register_file/register_file.h>

#include <regatta/support/energy.h>

namespace regatta::models {

void RegisterFile::register_energy(support::EnergyGroup& g) {
  // An access moves a whole row, whatever lanes are active: banks are not gated by lane.
  const double rows = warp_size_ / 32.0;
  const support::ArrayGeometry size{double(config_.registers) * warp_size_ * trace::bytes_per_lane,
                                    double(config_.banks)};
  g.event("register_structures", "register_file.read", read_count_, rows, size);
  g.event("register_structures", "register_file.write", write_count_, rows, size);
  g.leakage("register_structures", "register_file.leakage", size);
}

}  // namespace regatta::models
