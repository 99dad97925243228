// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/baseline/windows.h>
#include <regatta/protocol/lifecycle.h>
#include <regatta/sharing/warp_room.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::models {

/// When the rows of a warp are free for another one.
enum class RowRelease : std::uint8_t {
  warp,  ///< the warp has ended
  cta,   ///< its CTA has ended
};

/// The table of warps: the rows of each. A warp takes the lowest free window of its slice when it starts, whichever
/// slot it has, so that more slots than windows may be in use.
class WarpTable final : public sc_core::sc_module,
                        public WindowPolicy,
                        public WarpRoom,
                        public protocol::LifecycleListener,
                        public support::StatProvider {
 public:
  sc_core::sc_export<WindowPolicy> windows;  ///< of a WindowedFile (other_windows)
  sc_core::sc_export<WarpRoom> room;

  /// `slices`: equal parts of the file (sm.sub_cores).
  WarpTable(const sc_core::sc_module_name& name, unsigned slices, RowRelease release, support::ClockDomain& clock);

  // Of the file.
  std::string name() const override { return "warp_table"; }
  void kernel_started(std::uint32_t rows, unsigned registers) override;
  std::optional<RegisterWindow> first_window(protocol::WarpSlot warp) const override;
  RegisterWindow assign(protocol::WarpSlot warp) override;
  void release(protocol::WarpSlot warp) override;

  // Of the SM.
  void kernel_started(const protocol::KernelContext& context) override { warps_per_cta_ = context.warps_per_cta; }
  void cta_finished(const protocol::CtaInfo& cta) override;

  unsigned slices() const override { return static_cast<unsigned>(slices_.size()); }
  unsigned slice_of(protocol::WarpSlot warp) const override { return warp.value() % slices(); }
  unsigned free_windows(unsigned slice) const override { return slices_[slice].free; }

  /// Rows of warps, times cycles, so far; and at most.
  std::uint64_t row_cycles() const { return row_cycles_ + (clock_.now() - since_) * rows_; }
  std::uint64_t most_rows() const { return most_rows_; }

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Slice {
    std::vector<bool> taken;  ///< by window
    unsigned free = 0;
  };
  RegisterWindow window(unsigned slice, std::uint32_t number) const;
  void give_back(protocol::WarpSlot warp);
  void account(std::uint64_t rows);
  [[noreturn, gnu::noinline, gnu::cold]] void complain(const std::string& what) const;

  support::ClockDomain& clock_;
  const RowRelease release_;
  std::vector<Slice> slices_;
  std::vector<std::uint32_t> window_of_;  ///< by warp slot
  std::uint32_t slice_rows_ = 0;
  unsigned registers_ = 1;
  unsigned warps_per_cta_ = 1;
  std::uint64_t rows_ = 0, most_rows_ = 0, row_cycles_ = 0, since_ = 0;
  std::uint64_t assigned_ = 0, released_ = 0;
};

/// Bits of the tables of one SM: for every warp slot the first row, in units of the allocation granularity, whether it
/// has rows and whether it waits; a flag for each of as many windows as there are warps at most; the partial CTA.
std::uint64_t warp_table_bits(unsigned ctas, unsigned warps, unsigned rows, unsigned granularity);

}  // namespace regatta::models
