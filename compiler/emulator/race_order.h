// SPDX-License-Identifier: Apache-2.0
//
// Which accesses of a launch happened before which: logical time per warp, carried over by barriers, warp barriers,
// and by atomics and flags behind fences.
//
// A warp's time is the number of its memory instructions. What a warp knows of another warp of its CTA is the time up
// to which that warp's accesses lie before anything it does from now on; barriers exchange that knowledge. What a lane
// knows of the other lanes of its warp is kept per lane, since under independent thread scheduling only bar.warp.sync
// exchanges it. The order in which CTAs run counts only where one has acquired what another released: each has a
// RaceOrder, and all of a launch share the releases.
#pragma once

#include <regatta/emulator/races.h>
#include <regatta/ir/ir.h>
#include <regatta/trace/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace regatta::emulator {

/// Whose access it was and when. `lanes` of one memory instruction.
struct AccessTime {
  trace::LaneMask lanes = 0;
  std::uint32_t cta = 0;
  std::uint32_t time = 0;
  std::uint8_t warp = 0;
};

struct RaceReleases;

/// Behind the numbered barriers of a CTA: two for the barrier of its cluster, for phases of even and of odd numbers.
inline constexpr unsigned first_cluster_barrier = 16;

/// The order as one CTA sees it.
class RaceOrder {
 public:
  /// `releases` must outlive the order.
  RaceOrder(RaceRule rule, unsigned lanes, RaceReleases& releases) : rule_(rule), lanes_(lanes), releases_(releases) {}

  void begin_cta(std::uint32_t cta, unsigned warps);

  /// The time of a memory instruction that the lanes `together` reach as one.
  std::uint32_t access(unsigned warp, trace::LaneMask together, trace::LaneMask live);
  /// Lanes that were together go different ways.
  void split(unsigned warp, trace::LaneMask together, trace::LaneMask live);
  /// The lanes of `leaving`, a part of those that run `together`, leave the kernel. If others of the warp's `live`
  /// lanes wait elsewhere, in lockstep too nothing says which went first, so they never count as those that all have
  /// met.
  void exit(unsigned warp, trace::LaneMask together, trace::LaneMask leaving, trace::LaneMask live);
  /// bar.warp.sync by `members`.
  void meet(unsigned warp, trace::LaneMask members, trace::LaneMask live);

  /// A warp arrives at a CTA barrier; whoever leaves it later comes after.
  void arrive(unsigned warp, unsigned barrier);
  /// A warp that waited leaves the barrier. All who arrive do so before the first one leaves. The lanes of `absent`
  /// never come to it: what they do from now on lies after what they knew before, and not after the barrier.
  void leave(unsigned warp, unsigned barrier, trace::LaneMask absent);
  /// Whether the lane has not come to a barrier that others of its warp have passed.
  bool is_behind(unsigned warp, unsigned lane) const;
  /// The barrier has opened.
  void open(unsigned barrier) { barriers_[barrier] = {}; }

  /// fence.proxy.async of a warp: what the warp knows has happened is seen by bulk copies behind the fence.
  void proxy_fence(unsigned warp);
  /// Whether what happened at `earlier` in this CTA is seen by a bulk copy that the warp issues now.
  bool fenced_for_proxy(const AccessTime& earlier, unsigned warp) const;
  /// The copies of the CTA: a party of their own, behind the warps, whose times others learn of where they wait for a
  /// mbarrier.
  unsigned copies() const { return static_cast<unsigned>(warps_.size()) - 1; }
  /// A new time of a party.
  std::uint32_t tick(unsigned warp) { return ++warps_[warp].now; }
  void fence(unsigned warp, ir::MemoryScope scope);
  /// An atomic or a store that others may wait for. `at_once`: it has release semantics of its own.
  void release(unsigned warp, std::uint64_t location, ir::MemoryScope scope, bool at_once);
  /// An atomic or a load that may have seen what others released at `location`.
  void acquire(unsigned warp, std::uint64_t location);

  /// The lanes of `earlier` whose access happened before what this lane does now; its own is among them.
  trace::LaneMask before(const AccessTime& earlier, unsigned warp, unsigned lane) const;
  std::uint32_t cta() const { return cta_; }
  /// Whether nobody can tell `time` of this CTA's warp from its present.
  bool is_present(unsigned warp, std::uint32_t time) const { return time > warps_[warp].noted; }
  std::uint32_t now(unsigned warp) const { return warps_[warp].now; }

  /// Releases of one location up to `count`, by its place in RaceReleases::lists.
  struct Acquired {
    std::size_t location = 0;
    std::size_t count = 0;
  };
  /// What one party knows of the others of its CTA and of earlier CTAs.
  struct Knowledge {
    std::vector<std::uint32_t> warps;  ///< time per warp of the CTA
    std::vector<Acquired> acquired;
    void join(const Knowledge& other);
  };
  struct Release {
    std::uint32_t cta = 0;
    ir::MemoryScope scope = ir::MemoryScope::none;
    Knowledge known;
  };

 private:
  /// Lanes that have missed a barrier, and what they knew when the others passed it.
  struct Behind {
    trace::LaneMask lanes = 0;
    std::uint32_t all = 0;
    Knowledge known;
  };
  struct WarpOrder {
    std::uint32_t now = 0;
    std::uint32_t noted = 0;  ///< the last time that somebody else may have learnt
    std::uint32_t all = 0;    ///< up to here the warp's accesses lie before every lane
    Knowledge known;
    trace::LaneMask left_apart = 0;    ///< that have left the kernel while others waited elsewhere
    std::vector<Behind> behind;        ///< empty in most programs
    std::vector<std::uint32_t> lanes;  ///< [lane * lanes_ + other]: time of `other` known to `lane`
    Knowledge fenced;                  ///< as of the last fence
    ir::MemoryScope fence_scope = ir::MemoryScope::none;
    std::map<std::uint64_t, std::uint32_t> released;  ///< per location, the time last handed on there
  };

  bool acquired(const Knowledge& known, const AccessTime& earlier) const;
  void catch_up(WarpOrder& w, trace::LaneMask members);

  RaceRule rule_;
  unsigned lanes_;
  RaceReleases& releases_;
  std::uint32_t cta_ = 0;
  std::vector<WarpOrder> warps_;
  std::array<Knowledge, first_cluster_barrier + 2> barriers_;
  struct ProxyFence {
    unsigned warp = 0;
    Knowledge known;  ///< its own time among it
  };
  std::vector<ProxyFence> proxy_fences_;  ///< the latest ones, at most most_proxy_fences
};

/// What the CTAs of a launch have released.
struct RaceReleases {
  bool interleaved = false;                       ///< CTAs advance together
  std::map<std::uint64_t, std::size_t> location;  ///< into lists
  std::vector<std::vector<RaceOrder::Release>>
      lists;  ///< per location, in the order of time: unless interleaved, CTAs ascend
};

}  // namespace regatta::emulator
