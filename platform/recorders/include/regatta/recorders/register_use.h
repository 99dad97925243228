// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/observer.h>

#include <cstdint>
#include <vector>

namespace regatta::recorders {

/// The share of the allocated registers that the instructions of a window name (FineReg, Sec III-B and Fig 5, with
/// windows of 1,000 instructions).
///
/// A window is a number of warp instructions that an SM issues; windows are contiguous. A register is that of a warp
/// (128 bytes at 32 lanes), named by an instruction when the instruction issues. The allocated registers of a window
/// are those of all warps that were resident at some time within it, rounded as they are allocated. Instructions that
/// a scheme inserted with nothing fetched for them do not count. A window that the end of the run cuts short counts
/// only if it is the only one.
class RegisterUse : public protocol::Observer {
 public:
  explicit RegisterUse(std::uint64_t window_instructions) : window_(window_instructions) {}

  std::vector<protocol::Event> interests() const override;
  bool keeps_cycle_time() const override { return true; }
  void kernel_started(protocol::Cycle now, const protocol::KernelContext& context) override;
  void warp_started(protocol::Cycle now, const protocol::WarpInfo& warp) override;
  void warp_finished(protocol::Cycle now, const protocol::WarpInfo& warp) override;
  void issued(protocol::Cycle now, const protocol::DynamicInstruction& d) override;

  /// The run is over. Call it once, last.
  void finish();

  std::uint64_t windows() const { return windows_; }
  /// Shares of the windows: their sum, the lowest and the highest.
  double sum() const { return sum_; }
  double lowest() const { return lowest_; }
  double highest() const { return highest_; }

 private:
  void touch(protocol::WarpSlot warp, protocol::RegisterId r);
  void close();

  std::uint64_t window_;
  std::uint64_t instructions_ = 0;   ///< of the present window
  std::uint64_t number_ = 1;         ///< of the present window, from 1
  std::uint64_t registers_ = 1;      ///< of a warp of this launch
  std::uint64_t resident_ = 0;       ///< registers of the warps that are resident
  std::uint64_t allocated_ = 0;      ///< registers of the warps that were resident within the window
  std::uint64_t touched_ = 0;        ///< registers named within the window
  std::vector<std::uint64_t> seen_;  ///< by slot x 256 + register: the last window in which the slot's warp named it
  std::uint64_t windows_ = 0;
  double sum_ = 0, lowest_ = 0, highest_ = 0;
};

}  // namespace regatta::recorders
