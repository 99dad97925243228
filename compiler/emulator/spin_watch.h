// SPDX-License-Identifier: Apache-2.0
//
// Proves that the resident CTAs run for ever. A warp that comes back to the same place, lanes and registers while
// memory has not changed does the same again, unless another warp changes memory; once all warps that can run are in
// that state, in all resident CTAs, none will. Where CTAs run one after another, one CTA is resident.
//
// Registers that decide nothing on the way round (a counter of turns, a clock that is only looked at) may differ.
// Watching costs time, so it is done in windows: the last eighth of every doubling of the turns begins one.
#pragma once

#include "decode.h"
#include "warp.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace regatta::emulator {

/// When the CTAs that advance together are watched, and whether memory has changed.
class SpinWindow {
 public:
  /// Counts turns from 0.
  void restart() {
    watching_ = false;
    round_ = 0;
  }
  /// Every warp that is ready has a turn now.
  void begin_round();
  bool watching() const { return watching_; }
  std::uint64_t number() const { return number_; }  ///< of the window, from 1
  std::uint64_t epoch() const { return epoch_; }
  void changed() { ++epoch_; }

 private:
  bool watching_ = false;
  std::uint64_t round_ = 0, window_end_ = 0, number_ = 0;
  std::uint64_t epoch_ = 1;
};

/// Watches the warps of one CTA.
class SpinWatch {
 public:
  /// Both must outlive the watch.
  SpinWatch(const Program& program, SpinWindow& window) : program_(program), window_(window) {}

  void begin_cta(std::size_t warps);
  /// After that of the window.
  void begin_round();
  /// Whether the functions below have to be told what happens.
  bool watching() const { return watching_; }

  void executed(unsigned warp, std::uint32_t position) { seen_[warp].executed[position] = true; }
  /// Memory holds other bytes than before, or a warp has got a value that depends on when it came.
  void changed() { window_.changed(); }
  /// The warp reads memory by this instruction, lane `lane` at `address`.
  void reads(unsigned warp, const Op& op, std::uint32_t position, unsigned lane, std::uint64_t address);
  void reaches_barrier(unsigned warp) { seen_[warp].passes_barrier = true; }
  void end_turn(const Warp& w);

  /// After a round: whether a warp may yet do something new; whether one goes round for ever; or neither, where all
  /// wait for each other.
  enum class Outlook : std::uint8_t { open, waits, endless };
  Outlook outlook(const std::vector<std::unique_ptr<Warp>>& warps) const;
  /// The warp does something else now.
  void forget(unsigned warp) { seen_[warp].snapshot_epoch = seen_[warp].stuck_epoch = 0; }
  std::uint64_t epoch() const { return window_.epoch(); }
  bool is_stuck(unsigned warp) const { return seen_[warp].stuck_epoch == window_.epoch(); }

  /// The read that the warp most likely waits for: a strong one before a weak one, then the latest.
  struct Poll {
    bool found = false;
    bool strong = false;
    std::uint32_t position = 0;
    unsigned lane = 0;
    std::uint64_t address = 0;
  };
  const Poll& poll(unsigned warp) const { return seen_[warp].poll; }

 private:
  struct Seen {
    WarpSnapshot snapshot;
    std::uint64_t snapshot_epoch = 0;
    std::uint64_t stuck_epoch = 0;
    std::uint64_t turns = 0, limit = 1;  ///< since the snapshot; after which a new one is taken (Brent's algorithm)
    bool passes_barrier = false;         ///< since the snapshot
    std::vector<bool> executed;          ///< positions, since the snapshot
    Poll poll;                           ///< since the snapshot
  };
  void take(Seen& s, const Warp& w);
  bool find_deciding(const Seen& s, RegisterSet& deciding) const;

  const Program& program_;
  SpinWindow& window_;
  bool watching_ = false;
  std::uint64_t window_number_ = 0;
  std::vector<Seen> seen_;
};

}  // namespace regatta::emulator
