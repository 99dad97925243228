// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/observer.h>

#include <cstdint>
#include <vector>

namespace regatta::recorders {

/// The number of distinct registers that an SM touches in a window of cycles: the capacity that a register store needs
/// to serve one window (RegLess, Sec 2.1 and Fig 2, with windows of 100 cycles).
///
/// A register is (warp slot, general register), 128 bytes at 32 lanes; the next warp in a slot uses the same registers.
/// A register is touched in the cycle in which its instruction has all operands, or in which a result is handed to the
/// storage. Results dropped by a write-back point and operands of bypassed instructions do not count. Windows are
/// contiguous from cycle 0; windows without an access count, and so does the last one, cut short by the end of the run.
class RegisterWorkingSet : public protocol::Observer {
 public:
  explicit RegisterWorkingSet(std::uint64_t window_cycles) : window_cycles_(window_cycles), end_(window_cycles) {}

  std::vector<protocol::Event> interests() const override;
  bool keeps_cycle_time() const override { return true; }
  void operands_delivered(protocol::Cycle now, const protocol::DynamicInstruction& d) override;
  void register_written(protocol::Cycle now, const protocol::DynamicInstruction& d, unsigned destination,
                        bool written) override;

  /// The run ended before cycle `now`. Call it once, last.
  void finish(std::uint64_t now);

  std::uint64_t windows() const { return windows_; }
  /// Registers touched in each window, summed over the windows.
  std::uint64_t registers() const { return sum_; }
  /// Registers of the window that touched most.
  std::uint64_t peak() const { return peak_; }

 private:
  void touch(protocol::WarpSlot warp, protocol::RegisterId r);
  void roll(std::uint64_t now) {
    if (now >= end_) close(now);
  }
  /// Closes the windows that ended by `now`.
  void close(std::uint64_t now);

  std::uint64_t window_cycles_;
  std::uint64_t end_;                ///< first cycle behind the present window
  std::uint64_t windows_ = 0;        ///< closed ones
  std::uint64_t here_ = 0;           ///< registers touched in the present one
  std::vector<std::uint64_t> seen_;  ///< by slot x 256 + register: `end_` of the last window that touched it
  std::uint64_t sum_ = 0;
  std::uint64_t peak_ = 0;
};

}  // namespace regatta::recorders
