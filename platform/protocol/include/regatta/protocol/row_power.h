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

#include <regatta/protocol/extension_points.h>
#include <regatta/protocol/ids.h>
#include <regatta/protocol/payload.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regatta::protocol {

enum class PowerState : std::uint8_t { off, sleep, on };
inline constexpr unsigned power_state_count = 3;
const char* to_string(PowerState s);

/// A row of an SM's register file: one warp register.
using Row = Id<struct RowTag, std::uint32_t>;

/// Segments of a row that are switched apart, a bit each; segment 0 holds the lowest bits.
using SegmentMask = std::uint8_t;
inline constexpr unsigned max_segments = 8;
inline constexpr SegmentMask all_segments = 0xff;

/// Where a warp's registers lie: from `base` on, those from `split` on from `wrapped_base` instead (two base registers,
/// of which a comparator takes one: aging paper, section 5.2).
struct RegisterWindow {
  std::uint32_t base = 0;
  std::uint32_t wrapped_base = 0;  ///< modulo 2^32: base minus the window's size
  std::uint16_t split = 256;       ///< registers below it lie at `base`

  Row row(RegisterId reg) const { return Row(reg.value() + (reg.value() < split ? base : wrapped_base)); }
};

/// Which rows a warp gets. A plain policy: no time, no sockets. Windows of resident warps do not overlap, except those
/// of warps that share registers.
///
/// Called by: the register file, when a launch starts, when a warp takes its slot, when it leaves.
class WindowPolicy {
 public:
  virtual ~WindowPolicy() = default;
  virtual std::string name() const = 0;
  /// `rows` of the file, `registers` of a warp in this launch. The file is empty.
  virtual void kernel_started(std::uint32_t rows, unsigned registers) = 0;
  /// After kernel_started, before a window is assigned: what the warp of this slot would get if every slot from 0 to it
  /// took its window in turn; none where the file has no rows for it.
  virtual std::optional<RegisterWindow> first_window(WarpSlot warp) const = 0;
  virtual RegisterWindow assign(WarpSlot warp) = 0;
  /// Before assign(): the warps with which this one may have rows in common. A row has two warps at most.
  virtual std::vector<WarpSlot> shares_with(WarpSlot) const { return {}; }
  virtual void release(WarpSlot) {}
};

/// The sleep-transistor controller, as its clients see it.
class RowPower : public virtual TimeKeeper {
 public:
  /// A client that votes; its votes start as on for every row. Before the first launch.
  virtual unsigned add_voter(const std::string& name) = 0;
  /// From now on the voter asks for `state` in those segments of the row. Returns the cycle from which the row can be
  /// accessed, if it now is or is becoming on in all segments that are not off, else `never`. A fall takes effect at
  /// once; a rise takes the wake latency of the state that it starts from, during which the row leaks as if on.
  /// Switching a segment off destroys what it held.
  virtual Cycle vote(unsigned voter, Row row, PowerState state, SegmentMask segments = all_segments) = 0;
  /// What the voter asks for in the row's first segment.
  virtual PowerState vote_of(unsigned voter, Row row) const = 0;
  /// The state a segment is in, or on its way to.
  virtual PowerState state(Row row, unsigned segment = 0) const = 0;
  /// The first cycle in which the row can be accessed; `never` while a segment of it sleeps or all are off.
  virtual Cycle ready(Row row) const = 0;
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
  virtual void kernel_started(Cycle, std::uint32_t /*rows*/, unsigned /*warp_size*/) {}
  virtual void kernel_finished(Cycle) {}
  /// The row's cells hold `bits`, its whole contents, from `at` on. Those of lanes that are not in `lanes` are as they
  /// were; `bits` may be anything there.
  virtual void written(Cycle /*at*/, Row, const std::uint32_t* /*bits*/, LaneMask /*lanes*/) {}
  /// The segments are in this state from now on; cells of one that was off hold zeros until written.
  virtual void switched(Cycle /*at*/, Row, SegmentMask, PowerState) {}
};

/// Told by the register file of operands that come and go and of warps' rows.
class RowListener {
 public:
  virtual ~RowListener() = default;
  /// A source operand has left its row: it is in the collector from `done` on.
  virtual void was_read(const WarpAccess&, Row, Cycle /*done*/) {}
  /// A result is in its row from `done` on.
  virtual void was_written(const WarpAccess&, Row, Cycle /*done*/) {}
  /// A launch begins: `rows` of `warp_size` lanes, of no warp yet.
  virtual void rows_started(std::uint32_t /*rows*/, unsigned /*warp_size*/) {}
  /// After rows_started: the rows of all warps that the launch can have resident at once, in the order in which warps
  /// take them first. Resident warps never have more rows than these, though they may have others later. Not told
  /// where the file does not know how many warps there can be.
  virtual void rows_reserved(const std::vector<Row>&) {}
  /// A warp takes or leaves its slot, and with it these registers' rows.
  virtual void window_taken(WarpSlot, const RegisterWindow&, unsigned /*registers*/) {}
  virtual void window_left(WarpSlot, const RegisterWindow&, unsigned /*registers*/) {}
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
  virtual Stored write(const WarpAccess& access, Row row, const std::uint32_t* values, std::uint32_t* cells,
                       Cycle done) = 0;
  /// A read: all lanes of the register into `values`. False: they are the row's contents as they stand, which the file
  /// then reads itself.
  virtual bool read(const WarpAccess& access, Row row, const std::uint32_t* cells, std::uint32_t* values) = 0;
  /// Whether a read of the row needs its cells: then the row must be on.
  virtual bool needs_row(Row row) const = 0;
};

}  // namespace regatta::protocol
