// SPDX-License-Identifier: Apache-2.0
//
// A register file whose rows are switched by sleep transistors, and those who switch them. A row holds one warp
// register; it is on, asleep (it keeps its value and refuses access) or off (its value is gone), as a whole or by
// segments of its bits. The file holds rows and ports; a sleep-transistor controller holds their power states; clients
// (a gate that follows the compiler's power states, a compressor, the allocation of windows) vote on them, and so
// compose: a row is in the lowest state that any of them asks for.
//
// Sources: Jatala, thesis, chapter 4 (GREENER); Valero et al., aging-aware register file (RC, RAR), section 5.
#pragma once

#include <regatta/models/banks/windows.h>
#include <regatta/protocol/extension_points.h>
#include <regatta/protocol/ids.h>
#include <regatta/protocol/payload.h>

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::models {

enum class PowerState : std::uint8_t { off, sleep, on };
inline constexpr unsigned power_state_count = 3;
const char* to_string(PowerState s);

/// Segments of a row that are switched apart, a bit each; segment 0 holds the lowest bits.
using SegmentMask = std::uint8_t;
inline constexpr unsigned max_segments = 8;
inline constexpr SegmentMask all_segments = 0xff;

/// The sleep-transistor controller, as its clients see it.
class RowPower : public virtual protocol::TimeKeeper {
 public:
  /// A client that votes; its votes start as on for every row. Before the first launch.
  virtual unsigned add_voter(const std::string& name) = 0;
  /// From now on the voter asks for `state` in those segments of the row. Returns the cycle from which the row can be
  /// accessed, if it now is or is becoming on in all segments that are not off, else `never`. A fall takes effect at
  /// once; a rise takes the wake latency of the state that it starts from, during which the row leaks as if on.
  /// Switching a segment off destroys what it held.
  virtual protocol::Cycle vote(unsigned voter, Row row, PowerState state, SegmentMask segments = all_segments) = 0;
  /// What the voter asks for in the row's first segment.
  virtual PowerState vote_of(unsigned voter, Row row) const = 0;
  /// The state a segment is in, or on its way to.
  virtual PowerState state(Row row, unsigned segment = 0) const = 0;
  /// The first cycle in which the row can be accessed; `never` while a segment of it sleeps or all are off.
  virtual protocol::Cycle ready(Row row) const = 0;
};

/// Told by the controller: the file that holds the cells.
class RowPowerListener {
 public:
  virtual ~RowPowerListener() = default;
  /// Bits `from` to `to` - 1 of the row have been switched off: their cells hold nothing any more.
  virtual void lost(Row row, unsigned from, unsigned to) = 0;
};

/// Sees what becomes of the rows: wear accounting.
class RowObserver {
 public:
  virtual ~RowObserver() = default;
  virtual void kernel_started(protocol::Cycle, std::uint32_t /*rows*/, unsigned /*warp_size*/) {}
  virtual void kernel_finished(protocol::Cycle) {}
  /// The row's cells hold `bits`, its whole contents, from `at` on. Those of lanes that are not in `lanes` are as they
  /// were; `bits` may be anything there.
  virtual void written(protocol::Cycle /*at*/, Row, const std::uint32_t* /*bits*/, protocol::LaneMask /*lanes*/) {}
  /// The segments are in this state from now on; cells of one that was off hold zeros until written.
  virtual void switched(protocol::Cycle /*at*/, Row, SegmentMask, PowerState) {}
};

/// Told by the register file of operands that come and go and of warps' rows.
class RowListener {
 public:
  virtual ~RowListener() = default;
  /// A source operand has left its row: it is in the collector from `done` on.
  virtual void was_read(const protocol::WarpAccess&, Row, protocol::Cycle /*done*/) {}
  /// A result is in its row from `done` on.
  virtual void was_written(const protocol::WarpAccess&, Row, protocol::Cycle /*done*/) {}
  /// A launch begins: `rows` of `warp_size` lanes, of no warp yet.
  virtual void rows_started(std::uint32_t /*rows*/, unsigned /*warp_size*/) {}
  /// After rows_started: the rows of all warps that the launch can have resident at once, in the order in which warps
  /// take them first. Resident warps never have more rows than these, though they may have others later. Not told
  /// where the file does not know how many warps there can be.
  virtual void rows_reserved(const std::vector<Row>&) {}
  /// A warp takes or leaves its slot, and with it these registers' rows.
  virtual void window_taken(protocol::WarpSlot, const RegisterWindow&, unsigned /*registers*/) {}
  virtual void window_left(protocol::WarpSlot, const RegisterWindow&, unsigned /*registers*/) {}
};

/// Stands between the ports and the rows of a register file, and keeps some registers in another form.
class RowCodec {
 public:
  virtual ~RowCodec() = default;
  struct Stored {
    bool row_written = true;    ///< `cells` changed
    unsigned extra_cycles = 0;  ///< that the write takes longer, behind the row's wake-up if it waits for that
  };
  /// A write of `access.lanes` of `values`; the codec brings the row's contents `cells` up to date, or keeps the
  /// register elsewhere. The file asks in the cycle in which the write reaches its bank, `done` being when it would be
  /// finished.
  virtual Stored write(const protocol::WarpAccess& access, Row row, const std::uint32_t* values, std::uint32_t* cells,
                       protocol::Cycle done) = 0;
  /// A read: all lanes of the register into `values`. False: they are the row's contents as they stand, which the file
  /// then reads itself.
  virtual bool read(const protocol::WarpAccess& access, Row row, const std::uint32_t* cells, std::uint32_t* values) = 0;
  /// Whether a read of the row needs its cells: then the row must be on.
  virtual bool needs_row(Row row) const = 0;
};

}  // namespace regatta::models
