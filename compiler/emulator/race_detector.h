// SPDX-License-Identifier: Apache-2.0
//
// Looks at every access to shared and global memory of a launch and reports pairs that nothing orders. README.md of
// this folder states what counts as a race.
#pragma once

#include "decode.h"
#include "race_order.h"
#include "race_shadow.h"

#include <regatta/emulator/device_memory.h>
#include <regatta/emulator/races.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace regatta::emulator {

/// One memory instruction of a warp, before it takes effect.
struct WarpMemoryAccess {
  const Op* op = nullptr;
  std::uint32_t position = 0;
  unsigned warp = 0;
  trace::LaneMask active = 0;
  trace::LaneMask together = 0;  ///< lanes that reach the instruction, those with a false guard included
  trace::LaneMask live = 0;
  const std::uint64_t* address = nullptr;               ///< per lane
  std::array<std::array<std::uint64_t, 64>, 4> values;  ///< stores: per element, per lane
};

class RaceDetector {
 public:
  /// All must outlive the detector.
  RaceDetector(const Program& program, DeviceMemory& memory, RaceRule rule);

  /// `together`: of that many CTAs that advance in turns.
  void begin_launch(const std::array<std::uint32_t, 3>& grid, const std::array<std::uint32_t, 3>& block,
                    std::size_t together);
  /// What follows is about the CTA in this place, from 0, of those that advance in turns.
  void select(std::size_t place) { cta_ = ctas_[place].get(); }
  /// In the place that is selected. `shared` is the CTA's memory, which stays where it is.
  void begin_cta(std::uint64_t cta, unsigned warps, const std::vector<std::uint8_t>& shared);
  void access(const WarpMemoryAccess& a);
  /// A range that an asynchronous copy of a thread reads or writes.
  struct CopyRange {
    bool shared = false;
    std::uint64_t address = 0;  ///< shared: offset
    std::uint64_t bytes = 0;
    bool writes = false;
  };
  /// The thread issues a copy: what happened before is ordered if the thread knows of it, and what happens from now on
  /// is not before somebody has waited. `other_proxy`: of bulk copies, which see writes to shared memory behind a
  /// fence.
  void begin_copy(const Op& op, std::uint32_t position, unsigned warp, unsigned lane, const CopyRange& range,
                  bool other_proxy);
  /// It is complete, at a time of the party `waiter`.
  void end_copy(std::uint32_t position, unsigned warp, unsigned lane, const CopyRange& range, unsigned waiter,
                std::uint32_t time);
  /// The CTA ends while a bulk copy may still read its shared memory.
  void unread_copy(const Op& op, std::uint32_t position, unsigned warp, unsigned lane);
  /// A warp arrives at the mbarrier at this offset, or has seen that a phase of it is complete.
  void release_mbarrier(unsigned warp, std::uint32_t offset);
  void acquire_mbarrier(unsigned warp, std::uint32_t offset);
  RaceOrder& order() { return cta_->order; }
  const RaceOrder& order() const { return cta_->order; }

  std::vector<Race> races() const;

  /// A read of memory not yet written, which a race may explain: it is an error if at the end there is none. The first
  /// message is kept.
  void postpone(std::string message) {
    if (postponed_.empty()) postponed_ = std::move(message);
  }
  /// Throws what was postponed if no race has been found.
  void finish_launch();

 private:
  /// What lies between the two threads of a race: decides what would order them.
  enum class Distance : std::uint8_t { instruction, warp, cta, grid };
  struct Word {
    bool shared = false;
    std::uint64_t address = 0;  ///< of the word; shared: offset
    std::uint8_t bytes = 0;
    const std::uint8_t* data = nullptr;
  };
  using Site = std::tuple<std::uint32_t, std::uint32_t, Kind>;  ///< file and line, or 0 and position; what it does
  struct Found {
    std::size_t number = 0;
    std::string message;
    std::uint64_t times = 0;
  };

  void lane_access(const WarpMemoryAccess& a, unsigned lane, RaceEntry now);
  void word_access(const WarpMemoryAccess& a, unsigned lane, const Word& word, RaceEntry now);
  bool same_value(const WarpMemoryAccess& a, unsigned lane, const Word& word, const RaceEntry& earlier,
                  trace::LaneMask others) const;
  /// `between_proxies`: they are ordered, but for a fence.
  void report(const WarpMemoryAccess& a, unsigned lane, const Word& word, const RaceEntry& now,
              const RaceEntry& earlier, unsigned other, bool between_proxies = false);
  /// Calls visit(word) for the words of a range.
  template <class Visit>
  void for_each_word(const CopyRange& range, const Visit& visit);
  Site site(std::uint32_t position) const;
  std::string location(const Word& word) const;

  const Program& program_;
  DeviceMemory& memory_;
  struct ResidentCta {
    ResidentCta(RaceRule rule, unsigned lanes, RaceReleases& releases) : order(rule, lanes, releases) {}
    RaceOrder order;
    const std::vector<std::uint8_t>* shared_bytes = nullptr;
    RaceShadow shared;
  };
  RaceRule rule_;
  RaceReleases releases_;
  std::vector<std::unique_ptr<ResidentCta>> ctas_;
  ResidentCta* cta_ = nullptr;
  std::array<std::uint32_t, 3> grid_{1, 1, 1}, block_{1, 1, 1};
  RaceShadow global_;
  /// By the two places in the program, source lines where they are known, and the distance.
  std::map<std::tuple<Site, Site, Distance>, Found> found_;
  std::string postponed_;
};

}  // namespace regatta::emulator
