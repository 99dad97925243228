// SPDX-License-Identifier: Apache-2.0
//
// Fetch and decode: every cycle each scheduler's front end fetches for one of its warps, in turn; the
// instructions arrive in the warp's buffer fetch_latency cycles later. Their values are taken from the trace when the
// issue stage tries them first, so that what waits in the buffers is small. Fetch stops behind a branch until it
// has issued (the trace holds the right path only, so there is no wrong path to squash). With an instruction cache a
// fetch stays within a line; each warp holds the line it fetched from last, so that only a change of line looks into
// the cache. With a constant cache an instruction is fetched when the constants it names are there.
//
// With a decode point, the inserted instructions of its scheme are in the stream: they have places in the code, and so
// shift what stands behind them; they take fetch slots; and they leave at decode, when the fetch arrives.
#pragma once

#include "core.h"
#include "holds.h"
#include "load_store_unit.h"
#include "read_only_cache.h"

namespace regatta::sm {

class FrontEnd {
 public:
  FrontEnd(Core& core, LoadStoreUnit& lsu);
  void connect(protocol::DecodePoint* point, std::vector<protocol::FetchListener*> listeners) {
    decode_point_ = point;
    listeners_ = std::move(listeners);
  }

  void kernel_started();
  /// A line came for one of the caches.
  void line_arrived(std::uint32_t tag);

  /// Last pipeline stage of a cycle: starts at most one fetch per scheduler.
  void cycle();
  /// A fetch arrived: its instructions may be tried from this cycle's issue stage on.
  void fetched(Warp& warp);
  /// Call whenever something changed that lets a warp fetch again, or stops it for good.
  void update(Warp& warp);
  void unblocked(Warp& warp);
  /// The decode point has room again: warps that it had none for may fetch.
  void more_room();
  /// Decodes the head of the warp's buffer, which is there and not decoded yet: lanes, values and addresses.
  DynamicInstruction& decode(Warp& warp);
  /// What keeps a warp whose next instruction has not arrived, but for a line of a cache.
  Hold holds(const Warp& warp) const;
  /// A warp left the scheduler (finished or switched out).
  void removed(Warp& warp);
  // Statistics.
  std::uint64_t fetches = 0;
  std::uint64_t instructions = 0;           ///< inserted ones among them
  std::uint64_t inserted_instructions = 0;  ///< handed to the decode point
  std::uint64_t line_waits = 0;             ///< fetches that waited for a line

 private:
  template <bool with_inserted>
  void fetch(Warp& warp);
  void find_inserted(const trace::Kernel& kernel);
  void hand_over(Warp& warp);
  /// The decode point still has the room that it had when the warp's words were fetched.
  void check_room(const Warp& warp) const;
  /// Place in the code of what the warp fetches next.
  template <bool with_inserted>
  std::uint32_t position(const Warp& warp) const {
    const std::uint32_t index = warp.path.peek_index();
    return with_inserted ? places_[index].position + warp.words_done : index;
  }
  bool wants(const Warp& warp) const;
  void wait(Warp& warp, ReadOnlyCache& cache, std::uint64_t line);
  std::uint64_t code_line(std::uint32_t position) const { return code_base_ + (position >> code_shift_); }

  /// A static instruction with the inserted ones in front of it.
  struct Place {
    std::uint32_t position = 0;  ///< in the code, of the first of them, in instructions
    std::uint32_t first = 0;     ///< the first inserted one, in inserted_
    std::uint32_t words = 0;     ///< inserted ones
  };

  static constexpr std::uint32_t constant_tag = 1u << 27;  // of what Work can carry
  static constexpr std::uint32_t no_constant = ~std::uint32_t{0};
  Core& core_;
  LoadStoreUnit& lsu_;
  protocol::DecodePoint* decode_point_ = nullptr;
  std::vector<protocol::FetchListener*> listeners_;
  ReadOnlyCache icache_, constants_;
  unsigned code_shift_ = 0;
  std::uint64_t code_base_ = 0, constant_base_ = 0;  ///< first line of the kernel's code and of the launch's constants
  std::vector<std::uint32_t> constant_of_;           ///< per static instruction, its line of constants
  std::vector<Place> places_;                        ///< per static instruction, with a decode point
  std::vector<std::uint32_t> inserted_;              ///< those of its scheme, indices into Kernel::inserted
  unsigned without_room_ = 0;                        ///< warps with decode_full
  std::vector<WarpMask> wanting_;                    ///< per scheduler, by local index
  std::vector<unsigned> next_;                       ///< per scheduler, round robin
  std::vector<std::array<WarpSlot, protocol::max_warps_per_scheduler>> slots_;
};

}  // namespace regatta::sm
