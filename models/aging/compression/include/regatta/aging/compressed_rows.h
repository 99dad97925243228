// SPDX-License-Identifier: Apache-2.0
//
// What register compression and Warped-Compression have in common: which row a warp's register is, what the row's
// segments are asked to be, how a write waits for a row that wakes, what is counted.
#pragma once

#include <regatta/aging/compression_config.h>
#include <regatta/aging/delta_code.h>
#include <regatta/baseline/row_power.h>
#include <regatta/support/stats.h>

#include <array>
#include <cstdint>
#include <systemc>
#include <vector>

namespace regatta::models::aging {

/// One for a register file. Counts accesses of the slices by sub-wavefront, as the paper's energies are.
class CompressedRows : public sc_core::sc_module, public RowCodec, public RowListener, public support::StatProvider {
 public:
  struct Counters {
    std::uint64_t writes = 0;  ///< warp registers
    std::uint64_t reads = 0;
    std::uint64_t divergent_writes = 0;  ///< of the writes, not of all lanes
    std::uint64_t moves = 0;             ///< of the writes, by moves that decompress
    std::uint64_t rows_woken = 0;        ///< writes for which segments that were off had to wake
    std::uint64_t slice_reads = 0;       ///< sub-wavefronts
    std::uint64_t slice_writes = 0;
    std::uint64_t cancelled_reads = 0;  ///< sub-wavefronts of the slice that were not read: the register is compressed
    std::uint64_t cancelled_writes = 0;
    std::uint64_t compression_beats = 0;    ///< sub-wavefronts that went through a compression unit
    std::uint64_t decompression_beats = 0;  ///< and through a decompression unit
  };

  sc_core::sc_port<RowPower> power;  ///< the controller of the rows, on whose segments it votes

  CompressedRows(const sc_core::sc_module_name& name, const FileCompression& config);

  /// Whether a warp's register is kept compressed: a divergent write needs it decompressed.
  virtual bool compressed(Row row) const = 0;
  Row row(protocol::WarpSlot warp, protocol::RegisterId reg) const { return windows_[warp.value()].row(reg); }
  /// Where the rows' states are to be told to, if anywhere.
  virtual RowObserver* row_observer() { return nullptr; }
  /// compression.wake = issue: an instruction that writes the row has issued.
  void wake_at_issue(Row row);
  bool wakes_at_issue() const { return wake_at_issue_; }
  protocol::LaneMask all_lanes() const { return all_lanes_; }

  const Counters& counters() const { return counters_; }

  void rows_started(std::uint32_t rows, unsigned warp_size) override;
  void window_taken(protocol::WarpSlot warp, const RegisterWindow& window, unsigned registers) override;
  void window_left(protocol::WarpSlot warp, const RegisterWindow& window, unsigned registers) override;
  void window_shared(protocol::WarpSlot from, protocol::WarpSlot to, const RegisterWindow& window) override;
  void window_kept(protocol::WarpSlot owner, protocol::WarpSlot left, const RegisterWindow& window, unsigned registers,
                   const protocol::GeneralRegisters& held) override;
  bool moves(const protocol::WarpAccess& access, Row row, bool into_file) override;
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 protected:
  static constexpr unsigned beat_lanes = 16;
  /// The register belongs to nobody any more, or to somebody else: forget what it was.
  virtual void forget(Row row) = 0;
  virtual void launch_started(std::uint32_t rows) = 0;

  /// Asks for these segments on and the others off. True: some have to wake, which the file waits for.
  bool ask(Row row, SegmentMask on);
  SegmentMask asked(Row row) const { return asked_[row.value()]; }
  /// The lanes of an access change; the rest stays.
  static void merge(std::uint32_t* cells, const std::uint32_t* values, protocol::LaneMask lanes, unsigned warp_size);
  unsigned beats() const { return beats_; }
  unsigned warp_size() const { return warp_size_; }
  /// Whether a result may be compressed at all: all lanes, not a move that decompresses, not from where no unit is. A
  /// register that comes back into the file (no instruction) is compressed only if it was when it left: of another,
  /// lanes may never have been written, and compressing these would have the next divergent write decompress them.
  bool passes_unit(const protocol::WarpAccess& access) const {
    const protocol::DynamicInstruction* d = access.instruction;
    if (access.lanes != all_lanes_) return false;
    return d == nullptr ? !moved_uncompressed(access) : !d->injected && (loads_ || !d->traits->is_memory);
  }
  /// The register is compressed now.
  void was_compressed(const protocol::WarpAccess& access) {
    if (__builtin_expect(static_cast<int>(!moved_uncompressed_.empty()), 0) != 0) note_form(access, true);
  }

  Counters counters_;

 private:
  void end_of_elaboration() override {
    power_ = power.operator->();
    voter_ = power_->add_voter("compression");
  }
  bool moved_uncompressed(const protocol::WarpAccess& access) const {
    return access.warp.value() < moved_uncompressed_.size() &&
           protocol::contains(moved_uncompressed_[access.warp.value()], access.reg);
  }
  [[gnu::noinline]] void note_form(const protocol::WarpAccess& access, bool is_compressed);

  RowPower* power_ = nullptr;
  unsigned voter_ = 0;
  bool wake_at_issue_;
  bool loads_;
  unsigned warp_size_ = 32;
  unsigned beats_ = 2;
  protocol::LaneMask all_lanes_ = 0;
  std::vector<SegmentMask> asked_;       ///< by row: segments wanted on
  std::vector<RegisterWindow> windows_;  ///< by warp slot
  /// By warp slot: registers that have moved uncompressed, and were not compressed since. A bit per warp register.
  std::vector<protocol::GeneralRegisters> moved_uncompressed_;
};

}  // namespace regatta::models::aging
