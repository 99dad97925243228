// SPDX-License-Identifier: Apache-2.0
//
// RFH's compiler (Gebhart, Keckler, Krashinsky, Dally, MICRO 2011): strands, and the level of the register hierarchy at
// which each operand is read and written. regatta/trace/rfh.h says what hardware may rely on.
#pragma once

#include <regatta/trace/rfh.h>

namespace regatta::passes {

/// Energy of an access, pJ per 128 bits (four lanes of a register). Only the ratios matter. Defaults: the 32 nm figures
/// of Gebhart et al. as we recall them, not verified. The wires to the ALUs, 1.9 pJ/mm for 32 bits and 1 mm long from
/// the main file, are left out: they make the main file dearer still, and every saving stays a saving.
struct RfhEnergy {
  double main_read = 8, main_write = 11;
  double orf_read = 1.2, orf_write = 4.4;    ///< three entries
  double last_read = 0.7, last_write = 2.0;  ///< of a bank too, if the LRF is split: it has as many entries
};

struct RfhOptions {
  unsigned entries = trace::default_orf_entries;  ///< of the ORF, per thread
  bool split = false;                             ///< the LRF has a bank for each operand slot
  RfhEnergy energy;
};

/// Throws trace::InputError for values out of range.
void check(const RfhOptions& options);

trace::RfhPlan plan_rfh(const trace::Kernel& kernel, const RfhOptions& options);
/// Adds the section `rfh` to the kernel.
void add_rfh(trace::Kernel& kernel, const trace::RfhPlan& plan);

/// Energy of all accesses, each instruction counted once.
double energy_of(const trace::RfhAccesses& accesses, const RfhEnergy& energy);

}  // namespace regatta::passes
