// SPDX-License-Identifier: Apache-2.0
//
// Wear of a register file's cells: for how long every bit of every row held a zero, held a one, or was switched off
// (Valero et al., aging-aware register file, sections 2.2 and 6.1 to 6.3). Exact, in cycles.
#pragma once

#include <regatta/baseline/row_power.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iosfwd>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace regatta::models {

/// Work is done only when a row is written or switched, never per cycle. A row logs its contents for eight intervals.
/// The lengths of these intervals are then added to the counters of the bits that held a one, for all 32 bits of a word
/// together. The counters of a row lie in planes: plane k holds bit k of each counter. Full adders that work on words
/// propagate the carries from plane to plane.
///
/// In each launch, a row counts as off until a warp first owns it, whatever its power state (section 6.2:
/// registers that a kernel does not use are off for every technique). A sleeping row keeps its value and so wears.
/// Cells hold zeros before anything is written to them.
class WearRecorder : public RowObserver, public RowListener {
 public:
  /// Cycles of one bit.
  struct Times {
    std::uint64_t zero = 0, one = 0, off = 0;
    std::uint64_t total() const { return zero + one + off; }
  };
  /// Shares of the time.
  struct Duty {
    double zero = 0, one = 0, off = 0;
  };
  struct Summary {
    std::vector<Duty> longest_zero;  ///< per used slice: duty of the bit that is 0 longest
    std::vector<Duty> longest_one;
    Duty mean;  ///< over all bits of all rows
  };

  /// `now` returns the present cycle. `slices`: equal parts of the file. `segments`: the end bit of each separately
  /// switched segment of a row; empty: a row is switched as a whole.
  explicit WearRecorder(std::function<protocol::Cycle()> now, unsigned slices = 1, std::vector<unsigned> segments = {});

  void kernel_started(protocol::Cycle at, std::uint32_t rows, unsigned warp_size) override;
  void kernel_finished(protocol::Cycle at) override;
  void written(protocol::Cycle at, Row row, const std::uint32_t* bits, protocol::LaneMask lanes) override;
  void switched(protocol::Cycle at, Row row, SegmentMask segments, PowerState state) override;
  void window_taken(protocol::WarpSlot warp, const RegisterWindow& window, unsigned registers) override;

  /// The functions below cover the launches that have finished.
  std::uint64_t cycles() const { return cycles_; }
  std::uint32_t rows() const { return static_cast<std::uint32_t>(rows_.size()); }
  unsigned row_bits() const { return lanes_ * 32; }
  /// The times of all bits of a row.
  std::vector<Times> times(std::uint32_t row) const;
  /// Computed on the first call after a launch.
  const Summary& summary() const;
  /// Average share per bit position, over all rows (Figure 12).
  std::vector<Duty> by_bit() const;
  /// Per row: duty of the bit that is 0 longest, and of the bit that is 1 longest (Figures 14, 15, 17, 18).
  std::vector<std::pair<Duty, Duty>> by_row() const;

  static constexpr const char* rows_header = "sm,row,slice,zero_zero,zero_one,zero_off,one_zero,one_one,one_off";
  static constexpr const char* bits_header = "sm,bit,zero,one,off";
  /// Writes by_row(), one line per row with the columns of rows_header, as fractions of time.
  void write_rows(std::ostream& out, unsigned sm) const;
  /// A line per bit position: by_bit().
  void write_bits(std::ostream& out, unsigned sm) const;

 private:
  /// Zeros that take memory from when on they are written: rows that nobody uses, and high planes, never are.
  class ZeroedWords {
   public:
    void assign(std::size_t words) {
      words_.reset(static_cast<std::uint32_t*>(std::calloc(words, sizeof(std::uint32_t))));
      if (words_ == nullptr) throw std::bad_alloc();
    }
    std::uint32_t& operator[](std::size_t i) { return words_.get()[i]; }
    const std::uint32_t& operator[](std::size_t i) const { return words_.get()[i]; }

   private:
    struct Free {
      void operator()(std::uint32_t* words) const { std::free(words); }
    };
    std::unique_ptr<std::uint32_t, Free> words_;
  };

  static constexpr unsigned log_size = 8;      ///< intervals that a row keeps
  static constexpr unsigned plane_count = 32;  ///< bits of a counter

  /// Contents and off cycles have separate start cycles: switching a segment on changes no bit, because its cells hold
  /// zeros until they are written.
  struct alignas(64) RowState {
    std::uint64_t since = 0;              ///< start of the open interval
    std::uint64_t off_since = 0;          ///< off cycles are counted up to here
    std::uint32_t added = 0;              ///< cycles in the planes; upper bound of a counter
    std::uint8_t intervals : 4;           ///< closed, in the log
    std::uint8_t current : 4;             ///< log index of the present contents
    bool used = false;                    ///< a warp had it in this launch
    SegmentMask off = 0;                  ///< segments that are off
    SegmentMask lost = 0;                 ///< segments that were off at some time since the last write: zeros
    std::uint32_t length[log_size] = {};  ///< of the closed intervals; upper bits: log index of the contents
    SegmentMask zeros[log_size] = {};     ///< `lost` in the closed intervals

    RowState() : intervals(0), current(0) {}
    /// The row's next event is not earlier than this. Of several events in one cycle, the last counts.
    std::uint64_t known() const { return since > off_since ? since : off_since; }
  };
  static constexpr unsigned place_shift = 28;  ///< of RowState::length
  static constexpr std::uint32_t longest_interval = (std::uint32_t{1} << place_shift) - 1;

  /// What the row held in its closed intervals and holds, in order of writing.
  std::uint32_t* log(std::uint32_t row) { return &log_[std::size_t{row} * (log_size + 1) * lanes_]; }
  std::uint32_t* current(std::uint32_t row) { return log(row) + std::size_t{rows_[row].current} * lanes_; }
  const std::uint32_t* kept(SegmentMask off) const { return &kept_[std::size_t{off} * lanes_]; }
  /// The row's interval ends in `to`, and the next one begins.
  void advance(std::uint32_t row, std::uint64_t to);
  void count_off(std::uint32_t row, std::uint64_t to);
  /// A row whose log is full is flushed when the next interval of any row ends. Meanwhile its counters are prefetched
  /// into the host's cache.
  void flush_soon(std::uint32_t row);
  void flush(std::uint32_t row);
  void spill(std::uint32_t row);
  std::pair<std::uint64_t, std::uint64_t> extremes(std::uint32_t row, const std::vector<std::uint32_t>& mask,
                                                   std::uint64_t& sum) const;
  template <class F>
  void look_at(std::uint32_t row, Times& sum, F&& f) const;

  std::function<protocol::Cycle()> now_;
  unsigned slices_;
  std::vector<unsigned> segments_;
  std::vector<std::vector<std::uint32_t>> masks_;  ///< per segment: its bits of a row's words
  std::vector<std::uint32_t> kept_;                ///< per set of segments that are off: the other bits
  SegmentMask present_ = 1;                        ///< a bit per segment
  unsigned lanes_ = 0;
  std::uint64_t started_ = 0;  ///< the launch
  bool running_ = false;
  std::uint64_t cycles_ = 0;  ///< of finished launches
  std::vector<RowState> rows_;
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t full_ = none;        ///< the row that is added up next
  ZeroedWords log_;                  ///< per row: what it held in its closed intervals and holds, in order of writing
  ZeroedWords planes_;               ///< per row and plane: a word per lane
  std::vector<std::uint64_t> off_;   ///< per row and segment: cycles
  std::vector<std::uint64_t> wide_;  ///< per row and bit, once a counter might not fit its planes
  mutable Summary summary_;
  mutable bool summarised_ = false;
};

}  // namespace regatta::models
