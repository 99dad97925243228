// SPDX-License-Identifier: Apache-2.0
//
// Between the parts of warp-level register allocation: how many more warps a register file has rows for.
#pragma once

#include <regatta/protocol/ids.h>

#include <systemc>

namespace regatta::models {

/// Rows are given to warps in windows of one size. The file is divided into slices (sm.sub_cores), and a warp's window
/// lies in the slice of its slot.
class WarpRoom : public virtual sc_core::sc_interface {
 public:
  virtual unsigned slices() const = 0;
  virtual unsigned slice_of(protocol::WarpSlot warp) const = 0;
  /// Windows of the slice that no warp has.
  virtual unsigned free_windows(unsigned slice) const = 0;
};

}  // namespace regatta::models
