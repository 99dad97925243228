// SPDX-License-Identifier: Apache-2.0
//
// A register file's rows, as seen by what switches them: which row has which register, and every access.
#pragma once

#include <regatta/baseline/windows.h>
#include <regatta/protocol/payload.h>

#include <cstdint>
#include <systemc>

namespace regatta::models {

/// Bound to a banked file (BankedFile::row_use) whose rows may sleep or be off. The file, or the block that renames its
/// registers, says where registers lie. The file announces accesses; time is its own cycle count.
class RowUse : public virtual sc_core::sc_interface {
 public:
  /// A launch begins: no register has a row.
  virtual void rows_started(std::uint32_t rows, unsigned warp_size) = 0;
  /// The register, which has no row, lies in this one from now on. A row can have several registers.
  virtual void row_taken(protocol::WarpSlot warp, protocol::RegisterId reg, Row row) = 0;
  /// The register has no row any more. Nothing if it had none.
  virtual void row_freed(protocol::WarpSlot warp, protocol::RegisterId reg) = 0;
  /// An access reaches the row, and would be done in cycle `done` if the row were on: the cycle in which it is. Before
  /// the value moves. The row wakes for a move (an access without an instruction).
  virtual std::uint64_t reach(const protocol::WarpAccess& access, Row row, bool write, std::uint64_t done) = 0;
  /// Lanes of the row whose cells hold nothing, as they were switched off since they were written.
  virtual protocol::LaneMask lost(Row row) const = 0;
  /// The value has moved, and is there from cycle `done` on.
  virtual void was_read(const protocol::WarpAccess& access, Row row, std::uint64_t done) = 0;
  virtual void was_written(const protocol::WarpAccess& access, Row row, std::uint64_t done) = 0;
  /// An operand came from elsewhere: no row was accessed.
  virtual void was_read_elsewhere(const protocol::WarpAccess& access, std::uint64_t done) = 0;
};

/// Unbound: the rows are always on.
using RowUsePort = sc_core::sc_port<RowUse, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;

/// Implemented by a file that keeps some registers elsewhere than in its rows.
class RowNeeds {
 public:
  virtual ~RowNeeds() = default;
  /// Whether the instruction reads its source from its row, writes its destination to its row.
  virtual bool reads_row(const protocol::DynamicInstruction& instruction, unsigned source) const = 0;
  virtual bool writes_row(const protocol::DynamicInstruction& instruction, unsigned destination) const = 0;
};

}  // namespace regatta::models
