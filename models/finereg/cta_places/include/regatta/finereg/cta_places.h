// SPDX-License-Identifier: Apache-2.0
//
// A register file divided into places of one CTA each, which resident CTAs take and leave: the active CTA register file
// of FineReg (MICRO 2018, section V-D), as a window policy for any banked file.
#pragma once

#include <regatta/baseline/fixed_windows.h>
#include <regatta/baseline/window_mapping.h>
#include <regatta/finereg/cta_registers.h>
#include <regatta/protocol/payload.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

namespace regatta::models {

/// Place p has the rows that the warps of CTA slot p have in a conventional file (FixedWindows). A CTA takes a place
/// when it is launched or comes back, the lowest free one.
class CtaPlaceWindows final : public sc_core::sc_module,
                              public WindowPolicy,
                              public CtaPlaces,
                              public protocol::LifecycleListener,
                              public support::StatProvider {
 public:
  sc_core::sc_export<WindowPolicy> windows;
  sc_core::sc_export<CtaPlaces> places;

  /// `slices`: equal parts of the file (sm.sub_cores).
  CtaPlaceWindows(const sc_core::sc_module_name& name, unsigned slices);
  /// The result that waits for room at a bank of the file, null if none does.
  using HeldWrite = std::function<const protocol::WarpAccess*()>;
  /// The mapping of the file whose windows these are; outlives the module. So does the file, if it wants to know which
  /// warps enter and leave.
  void connect(WindowMapping& mapping, HeldWrite held_write, WindowUser* file = nullptr) {
    mapping_ = &mapping;
    held_write_ = std::move(held_write);
    file_ = file;
  }

  // Of the file.
  std::string name() const override { return "cta_places"; }
  void kernel_started(std::uint32_t rows, unsigned registers) override;
  std::optional<RegisterWindow> first_window(protocol::WarpSlot warp) const override {
    return fixed_.first_window(warp);
  }
  RegisterWindow assign(protocol::WarpSlot warp) override;
  void release(protocol::WarpSlot warp) override;

  // Of the SM.
  void kernel_started(const protocol::KernelContext& context) override;

  // Of the blocks that move CTAs.
  unsigned free_places() const override { return free_; }
  bool has_place(protocol::CtaSlot cta) const override { return ctas_[cta.value()].place != nowhere; }
  bool settled(protocol::CtaSlot cta) const override {
    const protocol::WarpAccess* const held = held_write_();
    if (held != nullptr && held->warp.value() / warps_per_cta_ == cta.value()) return false;
    return file_ == nullptr || file_->stored_all(warp(cta, 0), warps_per_cta_);
  }
  void enter(protocol::CtaSlot cta) override;
  void enter_place_of(protocol::CtaSlot cta, protocol::CtaSlot leaving) override;
  void leave(protocol::CtaSlot cta) override;

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
  struct Cta {
    std::uint32_t place = nowhere;
    unsigned alive = 0;                         ///< warps
    std::optional<protocol::CtaSlot> entering;  ///< the CTA that shares the place until this one has left
    std::optional<protocol::CtaSlot> leaving;   ///< the other way round
  };

  protocol::WarpSlot warp(protocol::CtaSlot cta, unsigned i) const {
    return protocol::WarpSlot(static_cast<std::uint16_t>(cta.value() * warps_per_cta_ + i));
  }
  RegisterWindow window(std::uint32_t place, unsigned i) {
    return fixed_.assign(protocol::WarpSlot(static_cast<std::uint16_t>(place * warps_per_cta_ + i)));
  }
  std::uint32_t take_place();
  void map(protocol::CtaSlot cta);
  void tell_entered(const Cta& cta, protocol::WarpSlot warp, unsigned i);
  /// The CTA has its place no more.
  void vacate(protocol::CtaSlot cta);
  [[gnu::noinline]] void complain(const std::string& what) const;

  FixedWindows fixed_;
  WindowMapping* mapping_ = nullptr;
  HeldWrite held_write_;
  WindowUser* file_ = nullptr;
  unsigned slices_;
  unsigned warps_per_cta_ = 1;
  std::uint32_t rows_ = 0;
  unsigned registers_ = 1;
  std::vector<bool> taken_;  ///< by place
  unsigned free_ = 0;
  std::vector<Cta> ctas_;    ///< by slot
  std::vector<bool> alive_;  ///< by warp slot
  std::uint64_t entered_ = 0, left_ = 0;
};

}  // namespace regatta::models
