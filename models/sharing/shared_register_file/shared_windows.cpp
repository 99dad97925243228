// SPDX-License-Identifier: Apache-2.0
#include <regatta/sharing/shared_windows.h>

#include <stdexcept>

namespace regatta::models {

using protocol::CtaSlot;
using protocol::WarpSlot;

void SharedWindows::kernel_started(std::uint32_t rows, unsigned registers) {
  fixed_.kernel_started(rows, registers);
  slice_rows_ = rows / slices_;
  registers_ = registers;
  private_ = boundary_->private_registers();
  pairs_begin_ = pairs_->plan().unshared() * warps_per_cta_ / slices_ * registers;
}

std::optional<PairMember> SharedWindows::member_of(WarpSlot warp) const {
  return pairs_->member(CtaSlot(static_cast<CtaSlot::rep>(warp.value() / warps_per_cta_)));
}

std::optional<WarpSlot> SharedWindows::partner(WarpSlot warp) const {
  const std::optional<PairMember> member = member_of(warp);
  if (!member) return std::nullopt;
  const unsigned cta = pairs_->slot(member->partner()).value();
  return WarpSlot(static_cast<WarpSlot::rep>(cta * warps_per_cta_ + warp.value() % warps_per_cta_));
}

std::vector<WarpSlot> SharedWindows::shares_with(WarpSlot warp) const {
  const std::optional<WarpSlot> other = partner(warp);
  return other ? std::vector<WarpSlot>{*other} : std::vector<WarpSlot>{};
}

RegisterWindow SharedWindows::window(WarpSlot warp, PairMember member) const {
  // The warps of a CTA are distributed evenly over the slices, so both warps of a pair are in the same one.
  const std::uint32_t slice = warp.value() % slices_;
  const std::uint32_t pair = (member.pair * warps_per_cta_ + warp.value() % warps_per_cta_) / slices_;
  const std::uint32_t first = slice * slice_rows_ + pairs_begin_ + pair * (registers_ + private_);
  // A register from `private_` on lies behind the own registers of both warps.
  return RegisterWindow{first + member.side * private_, first + private_, static_cast<std::uint16_t>(private_)};
}

std::uint32_t SharedWindows::last_row(WarpSlot warp, PairMember member) const {
  const std::uint32_t pair = (member.pair * warps_per_cta_ + warp.value() % warps_per_cta_) / slices_;
  return pairs_begin_ + (pair + 1) * (registers_ + private_);
}

std::optional<RegisterWindow> SharedWindows::first_window(WarpSlot warp) const {
  const std::optional<PairMember> member = member_of(warp);
  if (!member) return fixed_.first_window(warp);
  if (last_row(warp, *member) > slice_rows_) return std::nullopt;
  return window(warp, *member);
}

RegisterWindow SharedWindows::assign(WarpSlot warp) {
  const std::optional<PairMember> member = member_of(warp);
  if (!member) return fixed_.assign(warp);
  if (last_row(warp, *member) > slice_rows_) {
    throw std::logic_error("register window of warp slot " + std::to_string(warp.value()) +
                           " ends beyond the last of the " + std::to_string(slice_rows_) + " rows of its slice");
  }
  return window(warp, *member);
}

}  // namespace regatta::models
