// SPDX-License-Identifier: Apache-2.0
//
// Interfaces of a register file whose rows are switched by sleep transistors. A row holds one warp register. It is on,
// asleep (it keeps its value and cannot be accessed) or off (its value is lost), as a whole or in segments of its
// bits. The file holds the rows and ports, and a sleep-transistor controller holds the power states. Clients (a gate
// that follows the compiler's power states, a compressor, the switching of unused rows) vote on the states. A row is in
// the lowest state for which any client votes, so clients compose.
//
// Sources: Jatala, thesis, chapter 4 (GREENER); Valero et al., aging-aware register file (RC, RAR), section 5.
#pragma once

#include <regatta/baseline/windows.h>
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

/// Segments of a row that are switched separately, one bit each; segment 0 holds the lowest bits.
using SegmentMask = std::uint8_t;
inline constexpr unsigned max_segments = 8;
inline constexpr SegmentMask all_segments = 0xff;

/// The sleep-transistor controller, as its clients see it.
class RowPower : public virtual protocol::TimeKeeper {
 public:
  /// Adds a client that votes, before the first launch. Its initial vote is on for every row.
  virtual unsigned add_voter(const std::string& name) = 0;
  /// The voter votes for `state` in these segments of the row. Returns ready(row) after this vote. Switching down is
  /// immediate. Switching up takes the wake latency of the previous state, during which the row leaks as if on.
  /// Switching a segment off destroys its contents.
  virtual protocol::Cycle vote(unsigned voter, Row row, PowerState state, SegmentMask segments = all_segments) = 0;
  /// The voter's vote for the row's first segment.
  virtual PowerState vote_of(unsigned voter, Row row) const = 0;
  /// The state a segment is in, or on its way to.
  virtual PowerState state(Row row, unsigned segment = 0) const = 0;
  /// The first cycle in which the row can be accessed; `never` while a segment of it sleeps or all are off.
  virtual protocol::Cycle ready(Row row) const = 0;
};

/// The power states of registers, for a client that follows registers and not rows.
class RegisterVotes : public virtual sc_core::sc_interface {
 public:
  /// The register votes for `state` of whatever row it has. A row is in the highest state for which one of its
  /// registers votes. Returns the first cycle in which the row can be accessed, the present one if there is none.
  virtual protocol::Cycle vote(protocol::WarpSlot warp, protocol::RegisterId reg, PowerState state) = 0;
};

/// What the files count whose rows are switched.
class RowAccounts {
 public:
  virtual ~RowAccounts() = default;
  /// Reads and writes of registers, those of registers kept elsewhere included.
  virtual std::uint64_t accesses() const = 0;
  /// Rows that have a register of a resident warp, summed over the cycles until now.
  virtual double allocated_row_cycles() const = 0;
};

/// Implemented by the file that holds the cells; called by the controller.
class RowCells : public virtual sc_core::sc_interface {
 public:
  /// Bits `from` to `to` - 1 of the row have been switched off: their cells hold nothing any more.
  virtual void lost(Row row, unsigned from, unsigned to) = 0;
};

/// Observes the contents and power states of rows, for wear accounting. A row is a number; which bank it is in follows
/// from the register that it holds (BankMapping): a listener hears of that with each access (RowListener).
class RowObserver {
 public:
  virtual ~RowObserver() = default;
  virtual void kernel_started(protocol::Cycle, std::uint32_t /*rows*/, unsigned /*warp_size*/) {}
  virtual void kernel_finished(protocol::Cycle) {}
  /// `bits` is an array of the whole row. From cycle `at` on, the cells of the lanes in `lanes` hold it. Other lanes
  /// are unchanged, and their part of `bits` is undefined.
  virtual void written(protocol::Cycle /*at*/, Row, const std::uint32_t* /*bits*/, protocol::LaneMask /*lanes*/) {}
  /// The segments are in this state from now on; cells of one that was off hold zeros until written.
  virtual void switched(protocol::Cycle /*at*/, Row, SegmentMask, PowerState) {}
};

/// Notified by the register file of operand reads and writes, and of the rows of warps. Listeners are told in the order
/// in which they were added. One that switches rows when a launch begins or ends causes RowObserver::switched() before
/// those behind it are told: who is to know of the launch first stands in front of it.
class RowListener {
 public:
  virtual ~RowListener() = default;
  /// A source operand has left its row: it is in the collector from `done` on.
  virtual void was_read(const protocol::WarpAccess&, Row, protocol::Cycle /*done*/) {}
  /// A result is in its row from `done` on.
  virtual void was_written(const protocol::WarpAccess&, Row, protocol::Cycle /*done*/) {}
  /// A launch begins. The file has `rows` rows of `warp_size` lanes; no warp owns any of them yet.
  virtual void rows_started(std::uint32_t /*rows*/, unsigned /*warp_size*/) {}
  /// After rows_started: the rows of all warps that the launch can have resident at once, in the order in which warps
  /// first take them. Resident warps never have more rows than these, but may have other rows later. Not called if
  /// the file does not know how many warps can be resident.
  virtual void rows_reserved(const std::vector<Row>&) {}
  /// A warp takes these registers' rows: it takes its slot, or comes back to the file. It leaves them: it leaves its
  /// slot, or its registers have moved out of the file.
  virtual void window_taken(protocol::WarpSlot, const RegisterWindow&, unsigned /*registers*/) {}
  virtual void window_left(protocol::WarpSlot, const RegisterWindow&, unsigned /*registers*/) {}
  /// `to` takes the rows of `from` while the registers of one move in and those of the other move out: until one of
  /// them has left, a row holds a register of either.
  virtual void window_shared(protocol::WarpSlot /*from*/, protocol::WarpSlot /*to*/, const RegisterWindow&) {}
  /// Of two warps that share rows, `left` has left, and the rows are `owner`'s alone. The registers `held` of the owner
  /// may be in their rows; the other rows hold nothing that is read before it is written.
  virtual void window_kept(protocol::WarpSlot /*owner*/, protocol::WarpSlot /*left*/, const RegisterWindow&,
                           unsigned /*registers*/, const protocol::GeneralRegisters& /*held*/) {}
  /// A move of registers into the file or out of it accesses the row next, which has to be on if the register holds a
  /// value. Returns false if it does not: then the row may stay off or asleep, and the access has no effect.
  virtual bool moves(const protocol::WarpAccess&, Row, bool /*into_file*/) { return true; }
};

/// Told when an access that a codec could not finish may be tried again.
class RowCodecClient {
 public:
  virtual ~RowCodecClient() = default;
  /// Of the access: RowCodec::write() or read() returned `later` for it.
  virtual void codec_ready(const protocol::WarpAccess& access) = 0;
};

/// Stands between the ports and the rows of a register file, and keeps some registers in another form.
class RowCodec {
 public:
  virtual ~RowCodec() = default;
  struct Stored {
    bool row_written = true;    ///< `cells` changed
    unsigned extra_cycles = 0;  ///< added to the write, after any wake-up of the row
    bool later = false;         ///< not stored yet: called again after RowCodecClient::codec_ready()
  };
  enum class Read : std::uint8_t {
    row,        ///< the row holds the register unencoded, and the file reads it itself
    elsewhere,  ///< `values` are filled in
    later,      ///< called again after RowCodecClient::codec_ready()
  };
  /// The file whose accesses may have to wait; a codec that always answers at once has no use for it.
  virtual void set_client(RowCodecClient&) {}
  /// Writes the lanes `access.lanes` of `values`: the codec updates the row's contents `cells`, or stores the register
  /// elsewhere. The file calls this in the cycle in which the write reaches its bank. Without extra cycles it finishes
  /// in cycle `done`.
  virtual Stored write(const protocol::WarpAccess& access, Row row, const std::uint32_t* values, std::uint32_t* cells,
                       protocol::Cycle done) = 0;
  /// Reads all lanes of the register into `values`.
  virtual Read read(const protocol::WarpAccess& access, Row row, const std::uint32_t* cells, std::uint32_t* values) = 0;
  /// Whether a read of the row needs its cells: then the row must be on.
  virtual bool needs_row(Row row) const = 0;
};

}  // namespace regatta::models
