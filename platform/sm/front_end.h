// SPDX-License-Identifier: Apache-2.0
//
// Fetch and decode: every cycle each scheduler's front end fetches for one of its warps, in turn; the
// instructions arrive in the warp's buffer fetch_latency cycles later. Their values are taken from the trace when the
// issue stage tries them first, so that what waits in the buffers is small. Fetch stops behind a branch until it
// has issued (the trace holds the right path only, so there is no wrong path to squash). With an instruction cache a
// fetch stays within a line; each warp holds the line it fetched from last, so that only a change of line looks into
// the cache. With a constant cache an instruction is fetched when the constants it names are there.
//
// Inserted instructions of the schemes of the decode point and the gates are in the stream: they have places in the
// code, and so shift what stands behind them, and they take fetch slots. Those for the decode point leave when the
// fetch arrives; those that issue have an entry in the buffer. An instruction on the edge to the next instruction
// stands in line, where branches jump past it; one on the edge to a branch's target stands behind the kernel's code.
// Lanes that cross an edge do so right behind the instruction that the edge leaves, before any lane goes on.
#pragma once

#include "core.h"
#include "holds.h"
#include "load_store_unit.h"
#include "read_only_cache.h"

namespace regatta::sm {

class FrontEnd : public sc_core::sc_module {
 public:
  /// The caches beside it.
  FrontEnd(const sc_core::sc_module_name& name, Core& core, LoadStoreUnit& lsu, ReadOnlyCache& icache,
           ReadOnlyCache& constants);
  /// `streams`: of the gates whose inserted instructions issue.
  void connect(protocol::DecodePoint* point, std::vector<protocol::FetchListener*> listeners,
               const std::vector<protocol::InsertedStream*>& streams);
  /// An instruction of a scheme, not of the program.
  static bool is_inserted(const DynamicInstruction& d) {
    return __builtin_expect(static_cast<int>(d.injected), 0) != 0 && !d.info->scheme.empty();
  }

  /// Sm::warm_code().
  void warm_code(const trace::Kernel& kernel, std::uint32_t kernel_index, const std::vector<bool>& executed,
                 const std::function<void(std::uint64_t, std::uint8_t)>& missed);
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
  /// Static index of the program's instruction that the warp issues next; the number of instructions at the end.
  std::uint32_t next_of_program(const Warp& warp) const;
  /// What keeps a warp whose next instruction has not arrived, but for a line of a cache.
  Hold holds(const Warp& warp) const;
  /// A warp left the scheduler (finished or switched out).
  void removed(Warp& warp);
  // Statistics.
  std::uint64_t fetches = 0;
  std::uint64_t instructions = 0;           ///< inserted ones among them
  std::uint64_t inserted_instructions = 0;  ///< handed to the decode point
  std::uint64_t held_insertions = 0;        ///< of these, those that it held already: not fetched
  std::uint64_t line_waits = 0;             ///< fetches that waited for a line

 private:
  /// An inserted instruction that is in the stream.
  struct Inserted {
    std::uint32_t index = 0;     ///< in Kernel::inserted
    std::uint32_t position = 0;  ///< in the code, in instructions
    bool issues = false;
    bool on_edge = false;
  };
  /// What a warp fetches next: an inserted instruction, or the program's next.
  struct Coming {
    std::uint32_t position = 0;  ///< in the code, in instructions
    std::uint32_t inserted = none;
    static constexpr std::uint32_t none = ~std::uint32_t{0};
  };

  template <bool with_inserted>
  Coming coming(Warp& warp) const;
  template <bool with_inserted>
  void fetch(Warp& warp);
  /// Takes inserted instruction `number` into the fetch under way; false if that ends the fetch or there is no
  /// room.
  bool fetch_inserted(Warp& warp, std::uint32_t number, bool first, unsigned& room);
  /// Takes the inserted instructions from `next` on that the decode point holds already, in code contiguous with
  /// position `last`; returns what comes behind them.
  Coming take_held(Warp& warp, Coming next, unsigned& room, std::uint32_t& last);
  /// The inserted instruction goes to the decode point when the fetch arrives.
  void queue_insertion(Warp& warp, std::uint32_t number);
  void find_inserted(const trace::Kernel& kernel);
  void find_edges(const trace::Kernel& kernel, std::vector<std::uint32_t> edges);
  bool in_stream(const trace::InsertedInstruction& inserted, const std::string& decoded) const;
  /// The inserted instruction that `traits` are of; its own lanes, those on the path or those that cross its edge.
  DynamicInstruction& decode_inserted(Warp& warp, const FetchedInstruction& fetched);
  /// The decoded instruction is the warp's next to issue.
  static DynamicInstruction& offer(Warp& warp, DynamicInstruction& d, std::uint64_t sequence, Cycle fetched);
  bool is_inserted(const InstructionTraits& traits) const {
    return &traits >= inserted_traits_.data() && &traits < inserted_traits_.data() + inserted_traits_.size();
  }
  LaneMask crossing(const Warp& warp, const trace::InsertedInstruction& inserted) const {
    return trace::lanes_to(warp.cursor.instruction(), warp.cursor.index(), inserted.before, warp.cursor.simt_mask(),
                           warp.cursor.active_mask());
  }
  void hand_over(Warp& warp);
  /// The decode point still has the room that it had when the warp's inserted instructions were fetched.
  void check_room(const Warp& warp) const;
  bool wants(const Warp& warp) const;
  void suspend(Warp& warp, ReadOnlyCache& cache, std::uint64_t line);
  /// A request to the L1 for a line of one of the caches, which may be shorter than the L1's.
  struct Fetch {
    std::uint64_t line_start = 0;
    std::uint8_t sectors = 0;
  };
  Fetch fetch_of(std::uint64_t address, const ReadOnlyCache& cache) const;
  void use_code_of(std::uint32_t kernel_index);
  std::uint64_t code_line(std::uint32_t position) const { return code_base_ + (position >> code_shift_); }

  /// A static instruction with the inserted ones on every way to it in front of it.
  struct Place {
    std::uint32_t position = 0;    ///< in the code, of the instruction, in instructions
    std::uint32_t first = 0;       ///< the first inserted one, in inserted_
    std::uint32_t insertions = 0;  ///< inserted ones
  };
  /// Inserted instructions on the edges that leave a static instruction.
  struct Edges {
    std::uint32_t first = 0;  ///< in on_edges_
    std::uint32_t count = 0;
  };

  static constexpr std::uint32_t constant_tag = 1u << 27;  // of what Work can carry
  static constexpr std::uint32_t no_constant = ~std::uint32_t{0};
  Core& core_;
  LoadStoreUnit& lsu_;
  protocol::DecodePoint* decode_point_ = nullptr;
  protocol::InsertionCache* insertion_cache_ = nullptr;  ///< the decode point's, if it has one
  std::vector<protocol::FetchListener*> listeners_;
  ReadOnlyCache &icache_, &constants_;
  unsigned code_shift_ = 0;
  std::uint64_t code_base_ = 0, constant_base_ = 0;  ///< first line of the kernel's code and of the launch's constants
  std::vector<std::uint32_t> constant_of_;           ///< per static instruction, its line of constants
  struct Stream {
    const protocol::InsertedStream* gate;
    std::string scheme;
  };
  std::vector<Stream> streams_;
  std::vector<std::string> schemes_;                ///< of these, whose inserted instructions issue in the launch
  bool with_inserted_ = false;                      ///< the stream may have inserted instructions
  std::vector<Place> places_;                       ///< per static instruction, with inserted ones
  std::vector<Inserted> inserted_;                  ///< those in the stream; those of one place side by side
  std::vector<Edges> edges_;                        ///< per static instruction; empty: none is on an edge
  std::vector<std::uint32_t> on_edges_;             ///< indices into inserted_
  bool in_code_ = true;                             ///< those of the decode point occupy code
  bool issues_inserted_ = false;                    ///< some of the inserted instructions issue
  std::vector<InstructionTraits> inserted_traits_;  ///< parallel to inserted_; empty: none issues
  unsigned without_room_ = 0;                       ///< warps with decode_full
  std::vector<WarpMask> wanting_;                   ///< per scheduler, by local index
  std::vector<unsigned> next_;                      ///< per scheduler, round robin
  std::vector<std::array<WarpSlot, protocol::max_warps_per_scheduler>> slots_;
};

}  // namespace regatta::sm
