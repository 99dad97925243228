// SPDX-License-Identifier: Apache-2.0
//
// A mbarrier: 64 bits in shared memory that count arrivals and bytes, phase by phase (PTX ISA, mbarrier). PTX leaves
// the layout open. Ours:
//   bits 0 to 19   arrivals that the phase still waits for
//   bits 20 to 39  arrivals that each phase expects
//   bits 40 to 60  bytes that are expected minus bytes that have come, two's complement
//   bit 61         parity of the phase
//   bits 62, 63    01 in a mbarrier, which tells it from other contents of memory
// A state, as arrive returns it, is the whole word before the arrival.
#pragma once

#include <cstdint>
#include <string>

namespace regatta::emulator {

class Mbarrier {
 public:
  /// Arrivals of a phase, and bytes, at most.
  static constexpr std::uint32_t most_arrivals = (1u << 20) - 1;
  static constexpr std::int64_t most_bytes = (1 << 20) - 1;

  explicit Mbarrier(std::uint64_t word) : word_(word) {}
  /// In its first phase, of `arrivals` (1 to most_arrivals) each.
  static Mbarrier initial(std::uint32_t arrivals);

  std::uint64_t word() const { return word_; }
  bool is_valid() const { return word_ >> 62 == 1; }
  std::uint32_t pending() const { return static_cast<std::uint32_t>(word_ & most_arrivals); }
  std::uint32_t expected() const { return static_cast<std::uint32_t>(word_ >> 20 & most_arrivals); }
  std::int64_t bytes() const { return static_cast<std::int64_t>(word_ << 3) >> 43; }
  bool parity() const { return (word_ >> 61 & 1) != 0; }
  /// Whether the phase that `state` belongs to, this one or the one before, is complete.
  bool has_completed(const Mbarrier& state) const { return parity() != state.parity(); }

  // What goes wrong is returned as a sentence, and changes nothing; empty: nothing.
  /// `count` arrivals; with `drop`, later phases expect as many fewer. `may_complete`: else the end of the phase is
  /// wrong.
  std::string arrive(std::uint32_t count, bool drop, bool may_complete);
  /// One arrival more is pending in this phase.
  std::string add_pending();
  std::string expect(std::uint32_t bytes);
  std::string complete(std::uint32_t bytes);

  /// "phase 1, 2 of 32 arrivals and 512 bytes pending"
  std::string text() const;

 private:
  std::string put_bytes(std::int64_t bytes);
  void put(std::uint32_t pending, std::uint32_t expected, std::int64_t bytes, bool parity);
  /// Goes on to the next phase if this one waits for nothing.
  void settle();

  std::uint64_t word_;
};

}  // namespace regatta::emulator
