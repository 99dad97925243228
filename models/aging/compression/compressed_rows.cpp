// SPDX-License-Identifier: Apache-2.0
#include <regatta/aging/compressed_rows.h>
#include <regatta/support/energy.h>

namespace regatta::models::aging {

using protocol::LaneMask;
using protocol::RegisterId;
using protocol::WarpSlot;

CompressedRows::CompressedRows(const sc_core::sc_module_name& name, const FileCompression& config)
    : sc_module(name), power("power"), wake_at_issue_(config.wake == "issue"), loads_(config.loads) {}

void CompressedRows::rows_started(std::uint32_t rows, unsigned warp_size) {
  warp_size_ = warp_size;
  beats_ = warp_size / beat_lanes;
  all_lanes_ = trace::all_lanes(warp_size);
  asked_.assign(rows, all_segments);
  windows_.clear();
  moved_uncompressed_.clear();
  launch_started(rows);
}

void CompressedRows::window_taken(WarpSlot warp, const RegisterWindow& window, unsigned) {
  if (windows_.size() <= warp.value()) windows_.resize(warp.value() + 1u);
  windows_[warp.value()] = window;
}

void CompressedRows::window_left(WarpSlot, const RegisterWindow& window, unsigned registers) {
  // Other voters decide whether the rows stay on. A row that was off stays off until something is stored in it.
  for (unsigned r = 0; r < registers; ++r) forget(window.row(RegisterId(static_cast<std::uint8_t>(r))));
}

void CompressedRows::window_shared(WarpSlot, WarpSlot to, const RegisterWindow& window) { window_taken(to, window, 0); }

// A row that the owner has not written may have an entry of the other warp's register.
void CompressedRows::window_kept(WarpSlot, WarpSlot, const RegisterWindow& window, unsigned registers,
                                 const protocol::GeneralRegisters& held) {
  for (unsigned r = 0; r < registers; ++r) {
    const RegisterId reg(static_cast<std::uint8_t>(r));
    if (!protocol::contains(held, reg)) forget(window.row(reg));
  }
}

// Only of accesses that need the row: a register elsewhere was compressed when it was written.
bool CompressedRows::moves(const protocol::WarpAccess& access, Row row, bool) {
  note_form(access, compressed(row));
  return true;
}

void CompressedRows::note_form(const protocol::WarpAccess& access, bool is_compressed) {
  if (moved_uncompressed_.size() <= access.warp.value()) moved_uncompressed_.resize(access.warp.value() + 1u);
  protocol::GeneralRegisters& registers = moved_uncompressed_[access.warp.value()];
  is_compressed ? protocol::remove(registers, access.reg) : protocol::add(registers, access.reg);
}

bool CompressedRows::ask(Row row, SegmentMask on) {
  SegmentMask& was = asked_[row.value()];
  if (was == on) return false;
  const auto falls = static_cast<SegmentMask>(was & ~on);
  const auto rises = static_cast<SegmentMask>(on & ~was);
  was = on;
  if (falls != 0) power_->vote(voter_, row, PowerState::off, falls);
  if (rises == 0) return false;
  power_->vote(voter_, row, PowerState::on, rises);
  ++counters_.rows_woken;
  return true;
}

void CompressedRows::wake_at_issue(Row row) { ask(row, all_segments); }

void CompressedRows::merge(std::uint32_t* cells, const std::uint32_t* values, LaneMask lanes, unsigned warp_size) {
  if (lanes == trace::all_lanes(warp_size)) {
    trace::copy_value(cells, values, std::size_t{warp_size} * trace::bytes_per_lane);
    return;
  }
  for (LaneMask m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(m));
    cells[lane] = values[lane];
  }
}

void CompressedRows::register_energy(support::EnergyGroup& g) {
  g.costs_nothing(
      "the tables do not know the units; the group aging of the statistics has them, by the paper's numbers");
}

void CompressedRows::register_stats(support::StatGroup& g) {
  const Counters& c = counters_;
  g.counter("writes", c.writes, "warp registers", "written");
  g.counter("reads", c.reads, "warp registers", "read");
  g.counter("divergent_writes", c.divergent_writes, "warp registers", "written in part: not compressed");
  g.counter("moves", c.moves, "warp registers", "written by moves that decompress them");
  g.counter("rows_woken", c.rows_woken, "rows", "of which segments had to wake for a value that is stored in them");
  g.counter("slice_reads", c.slice_reads, "sub-wavefronts", "read from the cells");
  g.counter("slice_writes", c.slice_writes, "sub-wavefronts", "written to the cells");
  g.counter("cancelled_reads", c.cancelled_reads, "sub-wavefronts", "not read: the register is compressed");
  g.counter("cancelled_writes", c.cancelled_writes, "sub-wavefronts", "not written: the row is off and stays so");
  g.counter("compression_beats", c.compression_beats, "sub-wavefronts", "through a compression unit");
  g.counter("decompression_beats", c.decompression_beats, "sub-wavefronts", "through a decompression unit");
}

}  // namespace regatta::models::aging
