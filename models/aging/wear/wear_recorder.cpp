// SPDX-License-Identifier: Apache-2.0
#include <regatta/aging/wear_recorder.h>

#include <regatta/support/config.h>

#include "bit_sums.h"

#include <algorithm>

namespace regatta::models {

using protocol::Cycle;
using protocol::LaneMask;

WearRecorder::WearRecorder(std::function<Cycle()> now, unsigned slices, std::vector<unsigned> segments)
    : now_(std::move(now)), slices_(slices), segments_(std::move(segments)) {
  const std::size_t count = std::max<std::size_t>(1, segments_.size());
  present_ = static_cast<SegmentMask>((1u << count) - 1);
}

void WearRecorder::kernel_started(Cycle at, std::uint32_t rows, unsigned warp_size) {
  if (rows != rows_.size() || warp_size != lanes_) {
    if (!rows_.empty()) {
      throw support::ConfigError("wear: the launches of a trace have warps of " + std::to_string(lanes_) + " and " +
                                 std::to_string(warp_size) + " lanes, expected the same for all");
    }
    lanes_ = warp_size;
    rows_.resize(rows);
    log_.assign(std::size_t{rows} * (log_size + 1) * lanes_);
    planes_.assign(std::size_t{rows} * plane_count * lanes_);
    off_.assign(std::size_t{rows} * max_segments, 0);
    if (segments_.empty()) segments_ = {row_bits()};
    unsigned bit = 0;
    for (const unsigned end : segments_) {
      std::vector<std::uint32_t>& mask = masks_.emplace_back(lanes_, 0);
      for (; bit < end; ++bit) mask[bit / 32] |= 1u << (bit % 32);
    }
    kept_.assign((std::size_t{present_} + 1) * lanes_, ~0u);
    for (unsigned off = 0; off <= present_; ++off) {
      for (std::size_t segment = 0; segment < masks_.size(); ++segment) {
        if (((off >> segment) & 1) == 0) continue;
        for (unsigned w = 0; w < lanes_; ++w) kept_[std::size_t{off} * lanes_ + w] &= ~masks_[segment][w];
      }
    }
  }
  started_ = at.value();
  running_ = true;
  for (RowState& r : rows_) {
    r.since = started_;
    r.off_since = started_;
    r.off = 0;
    r.used = false;
  }
}

void WearRecorder::kernel_finished(Cycle at) {
  if (!running_) return;
  running_ = false;
  // A written value is in the row slightly later than the file reports it. All rows end at the latest such time.
  std::uint64_t end = at.value();
  for (const RowState& r : rows_) end = std::max(end, r.known());
  for (std::uint32_t row = 0; row < rows_.size(); ++row) {
    count_off(row, end);
    advance(row, end);
    flush(row);
  }
  full_ = none;
  cycles_ += end - started_;
  summarised_ = false;
}

void WearRecorder::window_taken(protocol::WarpSlot, const RegisterWindow& window, unsigned registers) {
  for (unsigned r = 0; r < registers; ++r) {
    const std::uint32_t row = window.row(protocol::RegisterId(static_cast<std::uint8_t>(r))).value();
    RowState& state = rows_[row];
    if (state.used) continue;
    const std::uint64_t at = std::max(now_().value(), state.known());
    count_off(row, at);
    state.since = at;
    state.used = true;
  }
}

void WearRecorder::written(Cycle at, Row row, const std::uint32_t* bits, LaneMask lanes) {
  const std::uint32_t index = row.value();
  RowState& r = rows_[index];
  advance(index, std::max(at.value(), r.known()));
  const std::uint32_t* const before = current(index);
  // A value that a logged interval refers to stays in its place.
  if (r.intervals != 0 && r.length[r.intervals - 1] >> place_shift == r.current) ++r.current;
  std::uint32_t* const cells = current(index);
  if (lanes == trace::all_lanes(lanes_)) {
    trace::copy_value(cells, bits, std::size_t{lanes_} * sizeof *bits);
  } else {
    const std::uint32_t* const keep = kept(r.lost);
    for (unsigned lane = 0; lane < lanes_; ++lane) {
      cells[lane] = ((lanes >> lane) & 1) != 0 ? bits[lane] : before[lane] & keep[lane];
    }
  }
  r.lost = r.off;
}

void WearRecorder::switched(Cycle at, Row row, SegmentMask segments, PowerState state) {
  RowState& r = rows_[row.value()];
  const auto which = static_cast<SegmentMask>(segments & present_);
  const auto off = static_cast<SegmentMask>(state == PowerState::off ? r.off | which : r.off & ~which);
  if (off == r.off) return;
  const std::uint64_t to = std::max(at.value(), r.known());
  count_off(row.value(), to);
  if ((off & ~r.lost) != 0) advance(row.value(), to);
  r.off = off;
  r.lost |= off;
}

void WearRecorder::count_off(std::uint32_t row, std::uint64_t to) {
  RowState& r = rows_[row];
  const std::uint64_t length = to - r.off_since;
  r.off_since = to;
  const SegmentMask off = r.used ? r.off : present_;
  if (off == 0 || length == 0) return;
  std::uint64_t* cycles = &off_[std::size_t{row} * max_segments];
  for (std::size_t s = 0; s < segments_.size(); ++s) cycles[s] += ((off >> s) & 1) * length;
}

void WearRecorder::advance(std::uint32_t row, std::uint64_t to) {
  if (full_ != none) {
    flush(full_);
    full_ = none;
  }
  RowState& r = rows_[row];
  if (to <= r.since) return;  // in the same cycle: what comes last counts
  const std::uint64_t length = to - r.since;
  r.since = to;
  if (!r.used || r.lost == present_) return;  // nothing that could wear, or zeros
  for (std::uint64_t left = length; left != 0;) {
    const std::uint64_t part = std::min<std::uint64_t>(left, longest_interval);
    left -= part;
    if (r.intervals == log_size) flush(row);
    r.length[r.intervals] = static_cast<std::uint32_t>(part) | static_cast<std::uint32_t>(r.current) << place_shift;
    r.zeros[r.intervals] = r.lost;
    ++r.intervals;
  }
  if (r.intervals == log_size) flush_soon(row);
}

void WearRecorder::flush_soon(std::uint32_t row) {
  full_ = row;
  std::uint32_t longest = 0;
  for (const std::uint32_t l : rows_[row].length) longest |= l & longest_interval;
  // Only planes that a sum of the log's lengths can reach; carries beyond them are rare.
  const unsigned planes = std::min(plane_count, 35u - static_cast<unsigned>(__builtin_clz(longest)));
  const char* const from = reinterpret_cast<const char*>(&planes_[std::size_t{row} * plane_count * lanes_]);
  constexpr std::size_t line = 64;
  for (std::size_t b = 0; b < planes * lanes_ * sizeof(std::uint32_t); b += line) __builtin_prefetch(from + b, 1);
}

void WearRecorder::flush(std::uint32_t row) {
  static_assert(log_size == BitSums::max_intervals && plane_count == BitSums::max_planes);
  RowState& r = rows_[row];
  if (r.intervals == 0) return;
  BitSums sums;
  std::uint64_t length = 0;
  const std::uint32_t* const entries = log(row);
  for (unsigned i = 0; i < r.intervals; ++i) {
    sums.held[i] = entries + std::size_t{r.length[i] >> place_shift} * lanes_;
    sums.kept[i] = kept(r.zeros[i]);
    const std::uint32_t cycles = r.length[i] & longest_interval;
    length += cycles;
    for (std::uint32_t m = cycles; m != 0; m &= m - 1) {
      const auto k = static_cast<unsigned>(__builtin_ctz(m));
      sums.of_plane[k][sums.count[k]++] = static_cast<std::uint8_t>(i);
      sums.planes_used = std::max(sums.planes_used, k + 1);
    }
  }
  if (length + r.added > ~std::uint32_t{0}) spill(row);
  r.added += static_cast<std::uint32_t>(length);
  sums.planes = &planes_[std::size_t{row} * plane_count * lanes_];
  sums.lanes = lanes_;
  sums.intervals = r.intervals;
  add_up(sums);
  // The row keeps its current value.
  if (r.current != 0) trace::copy_value(log(row), current(row), lanes_ * sizeof(std::uint32_t));
  r.intervals = 0;
  r.current = 0;
}

/// The planes might overflow: adds their counts to counters of 64 bits.
void WearRecorder::spill(std::uint32_t row) {
  const std::size_t bits = row_bits();
  if (wide_.empty()) wide_.assign(rows_.size() * bits, 0);
  std::uint64_t* wide = &wide_[row * bits];
  std::uint32_t* planes = &planes_[std::size_t{row} * plane_count * lanes_];
  for (unsigned k = 0; k < plane_count; ++k) {
    for (unsigned lane = 0; lane < lanes_; ++lane) {
      std::uint32_t& word = planes[std::size_t{k} * lanes_ + lane];
      for (std::uint32_t m = word; m != 0; m &= m - 1) {
        wide[lane * 32 + static_cast<unsigned>(__builtin_ctz(m))] += std::uint64_t{1} << k;
      }
      word = 0;
    }
  }
  rows_[row].added = 0;
}

std::vector<WearRecorder::Times> WearRecorder::times(std::uint32_t row) const {
  const std::size_t bits = row_bits();
  std::vector<Times> all(bits);
  if (!wide_.empty()) {
    for (std::size_t b = 0; b < bits; ++b) all[b].one = wide_[row * bits + b];
  }
  const std::uint32_t* planes = &planes_[std::size_t{row} * plane_count * lanes_];
  for (unsigned k = 0; k < plane_count && (rows_[row].added >> k) != 0; ++k) {
    for (unsigned lane = 0; lane < lanes_; ++lane) {
      const std::uint32_t word = planes[std::size_t{k} * lanes_ + lane];
      if (word == 0) continue;
      for (unsigned b = 0; b < 32; ++b) all[lane * 32 + b].one += std::uint64_t{(word >> b) & 1} << k;
    }
  }
  unsigned bit = 0;
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    const std::uint64_t off = off_[std::size_t{row} * max_segments + s];
    for (; bit < segments_[s]; ++bit) {
      all[bit].off = off;
      all[bit].zero = cycles_ - off - all[bit].one;
    }
  }
  return all;
}

}  // namespace regatta::models
