// SPDX-License-Identifier: Apache-2.0
//
// Rows of a register file, and which of them a warp gets.
#pragma once

#include <regatta/protocol/ids.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

namespace regatta::models {

/// A row of an SM's register file: one warp register.
using Row = protocol::Id<struct RowTag, std::uint32_t>;

/// Where a warp's registers lie: from `base` on, those from `split` on from `wrapped_base` instead (two base registers,
/// of which a comparator takes one: aging paper, section 5.2).
struct RegisterWindow {
  std::uint32_t base = 0;
  std::uint32_t wrapped_base = 0;  ///< modulo 2^32: base minus the window's size
  std::uint16_t split = 256;       ///< registers below it lie at `base`

  Row row(protocol::RegisterId reg) const { return Row(reg.value() + (reg.value() < split ? base : wrapped_base)); }
};

/// Which rows a warp gets: asked over a port, answered in the same cycle. Windows of resident warps do not overlap,
/// except those of warps that share registers.
///
/// Called by: the register file, when a launch starts, when a warp takes its slot, when it leaves.
class WindowPolicy : public virtual sc_core::sc_interface {
 public:
  virtual std::string name() const = 0;
  /// `rows` of the file, `registers` of a warp in this launch. The file is empty.
  virtual void kernel_started(std::uint32_t rows, unsigned registers) = 0;
  /// After kernel_started, before a window is assigned: what the warp of this slot would get if every slot from 0 to it
  /// took its window in turn; none where the file has no rows for it.
  virtual std::optional<RegisterWindow> first_window(protocol::WarpSlot warp) const = 0;
  virtual RegisterWindow assign(protocol::WarpSlot warp) = 0;
  /// Before assign(): the warps with which this one may have rows in common. A row has two warps at most.
  virtual std::vector<protocol::WarpSlot> shares_with(protocol::WarpSlot) const { return {}; }
  virtual void release(protocol::WarpSlot) {}
};

/// The file, as a block sees it that takes windows from resident warps and gives them others. The mapping has the
/// windows at the time of each call.
class WindowUser {
 public:
  virtual ~WindowUser() = default;
  /// The warp has come back to the file: a window is its alone.
  virtual void window_entered(protocol::WarpSlot) {}
  /// The warp `to` has come back, in the window of `from`, which leaves it later.
  virtual void window_shared(protocol::WarpSlot /*from*/, protocol::WarpSlot /*to*/) {}
  /// The warp leaves its window next, and stays resident.
  virtual void window_leaves(protocol::WarpSlot) {}
  /// All results that the file has accepted of `warps` warps from `first` on are in their rows.
  virtual bool stored_all(protocol::WarpSlot /*first*/, unsigned /*warps*/) const { return true; }
};

/// A window policy as a block. An SM asks it twice per warp; it has no ports to wait for.
class WindowUnit : public sc_core::sc_module {
 public:
  sc_core::sc_export<WindowPolicy> policy;

  WindowUnit(const sc_core::sc_module_name& name, std::unique_ptr<WindowPolicy> p)
      : sc_module(name), policy("policy"), owned_(std::move(p)) {
    policy.bind(*owned_);
  }
  WindowPolicy& get() { return *owned_; }

 private:
  std::unique_ptr<WindowPolicy> owned_;
};

}  // namespace regatta::models
