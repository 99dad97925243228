// SPDX-License-Identifier: Apache-2.0
//
// "Where is R5 of warp 3?": the part of a register file that knows. Banks, ports and rows do not.
#pragma once

#include <regatta/baseline/windows.h>

#include <optional>

namespace regatta::models {

/// The row of every warp register, one answer for every kind of file: windows of rows (WindowMapping), rename tables of
/// a scheme. A file's access path calls its own mapping directly; this interface is for everybody else.
class RegisterMapping {
 public:
  virtual ~RegisterMapping() = default;
  /// The row that holds the register now; none when it has no row: the warp is not resident or its registers were moved
  /// away, the register lies outside its window, or nothing was written to it yet in a file that allocates at a write.
  virtual std::optional<Row> place(protocol::WarpSlot warp, protocol::RegisterId reg) const = 0;
};

}  // namespace regatta::models
