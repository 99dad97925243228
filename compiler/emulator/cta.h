// SPDX-License-Identifier: Apache-2.0
//
// Runs one CTA: its warps take turns, meet at barriers and share memory.
#pragma once

#include "decode.h"
#include "spin_watch.h"
#include "warp.h"

#include <regatta/emulator/emulator.h>
#include <regatta/emulator/program_fault.h>
#include <regatta/emulator/texture_table.h>
#include <regatta/ir/tensor_map.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace regatta::emulator {

/// Memory that a lane's address was resolved to.
struct Place {
  std::uint8_t* data = nullptr;
  std::uint8_t* written = nullptr;  ///< byte map, nullptr when everything is initialised
  bool is_global = false;
};

/// Reads that hit no buffer, and where in `found` those of an instruction are, by its position.
struct StrayLog {
  std::vector<StrayRead> found;
  std::map<std::uint32_t, std::size_t> index;
};

class AccessLog;
class RaceDetector;
class Mbarrier;
struct AsyncState;
struct PendingArrival;
struct PendingCopy;
struct BulkCopy;
struct TensorRows;
/// old op a (cas: b where old is a) of an integer atomic or reduction, in the width of op.type.
std::uint64_t combine_values(const Op& op, std::uint64_t old, std::uint64_t a, std::uint64_t b);
/// The reduction of `bytes` of elements of op.type in global memory with others.
void reduce_range(const Op& op, std::uint8_t* to, const std::uint8_t* from, std::uint32_t bytes);

/// What a lane does with memory.
enum class Use : std::uint8_t { read, write, atomic };

class CtaRunner {
 public:
  /// `grid_barrier`: its address, 0 where the launch is not cooperative. `races` may be nullptr; so may `strays`: reads
  /// that hit no buffer are errors.
  CtaRunner(Program& program, DeviceMemory& memory, const ModuleImage& image, const EmulatorOptions& options,
            const LaunchRequest& request, std::uint64_t grid_barrier, SpinWindow& window, RaceDetector* races,
            StrayLog* strays);
  ~CtaRunner();
  CtaRunner(const CtaRunner&) = delete;
  CtaRunner& operator=(const CtaRunner&) = delete;

  /// Whom to tell of accesses to global memory, from the next CTA on; nullptr: nobody.
  void set_log(AccessLog* log) { log_ = log; }

  /// Starts the CTA with this linear index; with `trace` the warps' columns take the memory of `storage`. Those of
  /// warps that become too long go to `segments` part by part; nullptr: they stay whole.
  void begin(std::uint64_t index, const trace::Kernel* trace, trace::Cta&& storage, TraceSink* segments);
  /// Gives every warp that is ready a turn. False if the CTA has ended.
  bool round();
  /// What is to be traced of the CTA that has ended.
  trace::Cta finish();

  bool left_stack_order() const { return left_stack_order_; }
  std::uint64_t index() const { return cta_index_; }
  SpinWatch::Outlook outlook() const { return spins_.outlook(warps_); }
  /// How the CTAs of the launch stand, for messages.
  struct Launched {
    std::uint64_t started = 0;   ///< CTAs, those that have ended included
    std::uint64_t resident = 1;  ///< at a time
    std::uint64_t stuck = 1;     ///< CTAs that go round
  };
  /// Reports that no warp of the resident CTAs, of which this is one that goes round, will ever end.
  [[noreturn]] void endless(const Launched& launched);

  const RunCounts& counts() const { return counts_; }

 private:
  // cta.cpp
  /// `independent`: Divergence::barriers.
  template <bool independent>
  void turn(Warp& w);
  /// Gives away what the trace has of the warp since the last segment.
  void end_segment(Warp& w, TraceSink& segments);
  void execute(Warp& w, const Op& op, trace::LaneMask active);
  void record(Warp& w, const Op& op, trace::LaneMask active);
  void begin_barrier(Warp& w, const Op& op, trace::LaneMask active);
  [[noreturn]] void barrier_under_divergence(const Warp& w, const Op& op, trace::LaneMask active, unsigned lane) const;
  bool release_barriers();
  void order_barrier(unsigned barrier, bool counted);
  // cta_clusters.cpp
  void cluster_barrier(Warp& w, const Op& op, trace::LaneMask active);
  bool release_cluster_barrier();
  void begin_budgets();
  void set_registers(Warp& w, const Op& op, trace::LaneMask active);
  /// Gives free registers to warps that wait for them.
  bool grant_registers();
  /// Refuses warps that have exited before their warp group was through with its setmaxnreg.
  void check_warp_groups() const;

  void meet_lanes(Warp& w, const Op& op, trace::LaneMask active);
  bool release_barrier(std::uint32_t number);
  void finish_barrier(Warp& w, std::uint32_t true_threads, std::uint32_t threads);
  [[noreturn]] void deadlock();
  /// "warps 1,2 wait at barrier 1 on line 8; 1 warp has exited", of the warps that do.
  std::string waiting_text() const;

  // lane_groups.cpp: Divergence::barriers
  /// Whether the top of the stack may execute `op`. If not, something else is on top.
  bool may_execute(Warp& w, const Op& op, trace::LaneMask active);
  /// Lanes that have to come to the instruction too before `active` executes it.
  trace::LaneMask awaited(const Warp& w, const Op& op, trace::LaneMask active) const;
  bool meet(Warp& w);
  bool meet_at_barrier(Warp& w);
  bool meet_for_exchange(Warp& w);
  struct HeldGroup;
  std::vector<HeldGroup> held_groups(Warp& w);
  void exchange(Warp& w, const std::vector<HeldGroup>& groups);
  /// Puts another group on top. `unless`: lanes whose groups do not count. False if there is none.
  bool bring_up_next(Warp& w, trace::LaneMask unless);
  [[noreturn]] void never_met(const Warp& w, const Op& op, trace::LaneMask active, trace::LaneMask missing) const;
  void note_poll(Warp& w, const Op& op);
  /// The warp is proved to go round. False if none of its lanes could do anything else.
  bool try_others(Warp& w);

  // endless.cpp
  std::string polled_text(const Warp& w, const SpinWatch::Poll& poll) const;
  std::string waiting_lanes_text(const Warp& w) const;
  void watch_read(const Warp& w, const Op& op);
  /// Whether the store puts other bytes where it goes.
  bool changes_memory(Warp& w, const Op& op);

  // memory_access.cpp
  void load(Warp& w, const Op& op);
  void store(Warp& w, const Op& op);
  /// With WarpRegs::addresses as they are.
  void load_from(Warp& w, const Op& op);
  void store_to(Warp& w, const Op& op);
  /// The addresses of the active lanes, WarpRegs::addresses.
  void find_addresses(Warp& w, const Op& op);
  void log_range(const Warp& w, const Op& op, const Allocation& a);
  bool whole_range(Warp& w, const Op& op, Place& place, std::uint64_t& base);
  Place resolve(Warp& w, const Op& op, unsigned lane, Use use);
  [[noreturn]] void bad_address(Warp& w, const Op& op, unsigned lane, const char* verb, const std::string& where);
  /// Where a load finds what lies at a global address that no buffer has, or has in part.
  Place stray_place(Warp& w, const Op& op, unsigned lane);
  void note_access(Warp& w, const Op& op);
  void record_addresses(Warp& w, const Op& op, trace::LaneMask active);
  /// The words that the store or atomic operation has left in shared memory.
  void record_stored(Warp& w, const Op& op, trace::LaneMask active);

  // matrix.cpp, matrix_access.cpp
  /// Refuses an instruction of a whole warp that not all lanes of the warp execute.
  void require_warp(const Warp& w, const Op& op, trace::LaneMask active) const;
  void matrix_product(Warp& w, const Op& op, trace::LaneMask active);
  void matrix_access(Warp& w, const Op& op, trace::LaneMask active);
  void group_product(Warp& w, const Op& op, trace::LaneMask active);
  /// An element of `bits` bits that wgmma reads from shared memory.
  std::uint32_t shared_element(const Warp& w, const Op& op, unsigned lane, std::uint64_t offset, unsigned bits) const;
  void matrix_move(Warp& w, const Op& op, trace::LaneMask active);
  /// Turns the addresses of rows, those of the first lanes, into the places of what each lane moves.
  void spread_rows(Warp& w, const Op& op);
  /// From the order in memory to that of fragments, or back: words and what of them is written.
  void rearrange(Warp& w, const Op& op, const std::uint32_t* registers, bool to_fragments);

  // texture_access.cpp, surface.cpp
  /// What handle a lane last had, so that lanes with the same one look it up once.
  struct TextureUse {
    bool known = false;
    TextureHandle handle = 0;
    const TextureView* view = nullptr;
    Allocation* memory = nullptr;
  };
  /// Looks up a lane's handle, and refuses one that the instruction cannot use.
  void look_up(Warp& w, const Op& op, unsigned lane, TextureUse& use);
  void texture(Warp& w, const Op& op);
  void texture_query(Warp& w, const Op& op);
  void surface(Warp& w, const Op& op);
  /// The address of a surface access, 0 if it touches nothing.
  std::uint64_t surface_address(Warp& w, const Op& op, unsigned lane, const TextureView& view);

  // print.cpp
  void print(Warp& w, const Op& op, trace::LaneMask active);
  [[noreturn]] void trap(Warp& w, const Op& op, trace::LaneMask active);
  std::uint64_t read_bytes(Warp& w, const Op& op, unsigned lane, std::uint64_t address, unsigned bytes);
  std::string read_string(Warp& w, const Op& op, unsigned lane, std::uint64_t address);

  // written.cpp
  void mark_written(Warp& w, const Op& op, trace::LaneMask active);
  /// Registers that have to be written in all active lanes, as those that make an address have.
  void check_reads(Warp& w, const Op& op, trace::LaneMask active);
  [[noreturn]] void unwritten_register(Warp& w, const Op& op, unsigned reg, trace::LaneMask lanes);
  /// A predicate that decides something: it has to be written in all active lanes.
  trace::LaneMask read_predicate(Warp& w, const Op& op, const PredicateSource& p, trace::LaneMask active);
  /// A predicate as an operand: its value, and the lanes in which it has one.
  struct Condition {
    trace::LaneMask value = 0, written = 0;
  };
  Condition condition(const Warp& w, const PredicateSource& p) const;
  static Condition combine(ir::BoolOp how, const Condition& a, const Condition& b);
  void write_predicate(Warp& w, const Op& op, unsigned number, const Condition& c, trace::LaneMask active);
  /// Active lanes in which not all registers that are read were written.
  trace::LaneMask missing_reads(const Warp& w, const Op& op, trace::LaneMask active) const;
  /// Destinations are written in the active lanes but those `missing`.
  void mark_computed(Warp& w, const Op& op, trace::LaneMask active, trace::LaneMask missing);
  Unwritten origin(const Warp& w, const Op& op, trace::LaneMask active, bool moves) const;
  std::string unwritten_text(const Unwritten& u) const;
  WrittenBytes written_bytes(const Warp& w, const LaneSource& s, unsigned word) const;
  /// What a move writes has been written where its source has, byte by byte. `first`: which lanes of a selection take
  /// the first source.
  void carry_written(Warp& w, const Op& op, trace::LaneMask active, const Condition& first = {0, ~trace::LaneMask{0}});
  void carry_moved(Warp& w, const Op& op, trace::LaneMask active, const Condition& first);
  /// Values of a store that are not written in all active lanes: those lanes.
  trace::LaneMask unwritten_values(const Warp& w, const Op& op, trace::LaneMask active) const;
  void store_part_written(Warp& w, const Op& op, trace::LaneMask missing);
  /// A lane has loaded bytes of which these were written.
  void note_part_loaded(Warp& w, const Op& op, unsigned lane, const std::uint8_t* written);
  void note_local_load(Warp& w, const Op& op);
  void note_local_store(const Warp& w, const Op& op);
  template <class Visit>
  void for_each_local(const Warp& w, const Op& op, const Visit& visit);

  // async_copies.cpp
  /// A range that an asynchronous operation accesses: global memory by address, shared memory by offset.
  struct AsyncAccess {
    trace::MemorySpace space;
    std::uint64_t address;
    std::uint64_t bytes;
    unsigned alignment;
    Use use;
    const char* what;  ///< for messages
  };
  /// Who sees that an operation is complete: a warp that waits for its own ones, or whoever waits for a mbarrier.
  struct AsyncWaiter {
    unsigned warp = 0;
    bool by_mbarrier = false;
  };
  /// A number of one of the trace's lists (trace::AsyncKind) for a lane, if the CTA is traced.
  void note_list(unsigned list, unsigned lane, std::uint64_t value) {
    if (trace_ == nullptr) return;
    texels_.resize(std::size_t{trace::max_async_lists} * trace::max_lanes);
    texels_[std::size_t{list} * trace::max_lanes + lane] = value;
    texel_count_ = std::max(texel_count_, list + 1);
  }
  std::uint64_t async_source(const Warp& w, const Op& op, unsigned number, unsigned lane) const;
  Place async_place(Warp& w, const Op& op, unsigned lane, const AsyncAccess& a);
  void asynchronous(Warp& w, const Op& op);
  void copy_async(Warp& w, const Op& op);
  /// Makes the copies of a warp's lanes in groups below `limit` with numbers below `before`.
  void finish_copies(unsigned warp, trace::LaneMask lanes, const std::array<std::uint32_t, trace::max_lanes>& limit,
                     std::uint64_t before, const AsyncWaiter& waiter);
  bool has_copies(unsigned warp, unsigned lane) const;
  // bulk_copies.cpp
  ir::TensorMap tensor_map(Warp& w, const Op& op, unsigned lane);
  void copy_bulk(Warp& w, const Op& op);
  void wait_bulk(Warp& w, const Op& op);
  void note_bulk_lists(const BulkCopy& copy, std::uint32_t shared, const TensorRows& rows);
  void read_bulk(BulkCopy& copy);
  /// `awaited`: else the CTA has ended.
  void write_bulk(BulkCopy& copy, bool awaited);
  /// Of a CTA that has ended, what it has not waited for.
  void finish_bulk();
  // async_races.cpp
  void order_fence(const Warp& w, const Op& op);
  void note_async_issue(Warp& w, const Op& op, const PendingCopy& copy);
  void note_async_end(const PendingCopy& copy, unsigned warp, trace::LaneMask lanes, const AsyncWaiter& waiter);
  void note_bulk_issue(Warp& w, const Op& op, const BulkCopy& copy);
  void note_bulk_read(const BulkCopy& copy);
  void note_bulk_end(const BulkCopy& copy);
  void note_bulk_unread(const BulkCopy& copy);
  // mbarrier_ops.cpp
  /// The offset in shared memory of a lane's mbarrier. It is one, unless `may_be_new`.
  std::uint32_t mbarrier_place(Warp& w, const Op& op, unsigned source, unsigned lane, bool may_be_new);
  Mbarrier mbarrier_at(std::uint32_t offset) const;
  void put_mbarrier(std::uint32_t offset, const Mbarrier& m);
  void mbarrier(Warp& w, const Op& op);
  std::uint64_t mbarrier_lane(Warp& w, const Op& op, unsigned lane);
  void note_update(const Op& op, unsigned lane, std::uint32_t at, std::uint32_t count);
  void arrive_later(Warp& w, const Op& op, unsigned lane);
  void begin_wait(Warp& w, const Op& op, trace::LaneMask active);
  /// The lanes of a warp's wait whose phases are complete.
  trace::LaneMask complete_phases(Warp& w, const Op& op, trace::LaneMask active);
  void finish_wait(Warp& w, trace::LaneMask complete);
  /// Nothing else can run: waits end without their phases. False if nobody waits.
  bool end_waits();
  /// Completes the oldest operation that the mbarrier waits for. False if there is none.
  bool advance_mbarrier(std::uint32_t offset);
  std::string mbarrier_text(std::uint32_t offset) const;

  // atomics.cpp, heap.cpp
  void atomic(Warp& w, const Op& op);
  void heap(Warp& w, const Op& op);

  // cross_lane.cpp
  void set(Warp& w, const Op& op);
  void logic(Warp& w, const Op& op, trace::LaneMask active);
  void pack(Warp& w, const Op& op);
  void unpack(Warp& w, const Op& op);
  void shuffle(Warp& w, const Op& op, trace::LaneMask active);
  void vote(Warp& w, const Op& op, trace::LaneMask active);
  void match(Warp& w, const Op& op, trace::LaneMask active);
  void redux(Warp& w, const Op& op, trace::LaneMask active);
  void elect(Warp& w, const Op& op, trace::LaneMask active);
  void active_mask(Warp& w, const Op& op, trace::LaneMask active);
  /// By lane, the lanes of its half that a .sync instruction names.
  using MemberMasks = std::array<std::uint32_t, trace::max_lanes>;
  /// Those of an instruction whose operand `value` they are; of one without that operand, all lanes. Refuses a mask
  /// that names a live lane elsewhere, because waiting for it is not what a SIMT stack can do, and, unless undefined
  /// values are zero, one that does not name its own lane, and members with different masks. The whole is read before a
  /// lane's destination, which may be the mask.
  MemberMasks member_masks(const Warp& w, const Op& op, std::size_t value, trace::LaneMask active) const;
  /// Which operand has the member mask; SIZE_MAX: none.
  static std::size_t member_operand(const Op& op);
  /// The operands of lanes that execute a .sync instruction in other groups than the one that executes it now.
  struct Exchange {
    trace::LaneMask lanes = 0;  ///< of all groups
    std::array<std::uint64_t, trace::max_lanes> value{};
    trace::LaneMask predicate = 0;
    WrittenBytes written{};
  };
  /// Lanes that take part in an instruction that `active` executes.
  trace::LaneMask taking_part(trace::LaneMask active) const { return exchange_ == nullptr ? active : exchange_->lanes; }
  /// Puts the values of the lanes of other groups into those of a shuffle.
  void take_foreign(trace::LaneMask active, std::uint32_t* value, WrittenBytes& known) const;
  /// The lanes of `simt` that the guard leaves.
  trace::LaneMask active_lanes(Warp& w, const Op& op, trace::LaneMask simt) {
    if (!op.guarded) return simt;
    if ((simt & ~w.predicate_written[op.guard]) != 0) {
      read_predicate(w, op, {static_cast<std::int16_t>(op.guard), false, false}, simt);
    }
    const trace::LaneMask p = w.predicates[op.guard];
    return simt & (op.guard_negated ? ~p : p);
  }
  void put(Warp& w, std::uint32_t destination, unsigned words, unsigned lane, std::uint64_t value) const;
  std::uint64_t get(const Warp& w, const LaneSource& s, unsigned lane, bool wide) const;

  [[noreturn]] void fail(const Warp& w, const Op& op, unsigned lane, const std::string& what,
                         FaultKind kind = FaultKind::other) const;
  bool local_may_be_meant(const Op& op) const {
    return f_.local_bytes != 0 && (op.space == trace::MemorySpace::local || op.space == trace::MemorySpace::generic);
  }
  std::uint32_t position(const Op& op) const { return static_cast<std::uint32_t>(&op - program_.ops.data()); }

  Program& program_;
  const ir::Function& f_;
  DeviceMemory& memory_;
  const EmulatorOptions& options_;
  const LaunchRequest& request_;
  const LaneHelpers& helpers_;
  RaceDetector* races_;
  StrayLog* strays_;
  AccessLog* log_ = nullptr;
  std::size_t last_hit_ = 0;  ///< DeviceMemory::find()
  /// Whether registers and shared memory know what was never written: not if all of them count as written from the
  /// start.
  const bool tracks_;
  RunCounts counts_;
  SpinWatch spins_;

  std::uint64_t grid_barrier_;
  std::array<std::uint32_t, 3> cta_{0, 0, 0};
  std::uint64_t cta_index_ = 0;
  const trace::Kernel* trace_ = nullptr;  ///< nullptr: the CTA is not traced
  TraceSink* segments_ = nullptr;
  trace::Cta out_;
  bool shared_values_ = false;  ///< the trace holds what is written to shared memory
  std::uint32_t threads_ = 0;
  bool in_segments_ = false;  ///< the trace of this CTA
  bool independent_;          ///< Divergence::barriers
  bool left_stack_order_ = false;
  const Exchange* exchange_ = nullptr;
  std::vector<std::unique_ptr<Warp>> warps_;
  /// Warps that came to a barrier by bar.arrive since it last opened, and the threads that they said it is for.
  struct Arrivals {
    std::uint32_t warps = 0;
    std::uint32_t arrived_threads = 0;
    std::uint32_t threads = 0;
  };
  std::array<Arrivals, 16> arrivals_{};
  std::uint64_t cluster_phase_ = 1;          ///< of the cluster's barrier, from 1
  std::uint32_t cluster_arrivals_ = 0;       ///< warps that have arrived there and not waited
  std::uint32_t waiting_for_registers_ = 0;  ///< warps
  std::uint32_t free_registers_ = 0;         ///< of the CTA's, times its warps: no warp has them
  /// A setmaxnreg of a warp group, and the warp that was the first to execute it.
  struct GroupBudget {
    std::uint32_t position = 0;
    std::uint32_t warp = 0;
  };
  std::vector<std::vector<GroupBudget>> group_budgets_;  ///< per warp group, in their order
  std::unique_ptr<AsyncState> async_;                    ///< made by the first asynchronous operation
  std::vector<std::uint8_t> shared_;
  std::vector<std::uint8_t> shared_written_;
  std::vector<std::uint8_t> local_;
  std::vector<trace::LaneMask> local_written_;  ///< per warp and byte of a frame, the lanes that have written it
  std::vector<std::uint8_t> constants_;
  std::vector<std::uint8_t> parameters_;
  /// What the last stray read has found.
  static constexpr std::size_t most_access_bytes = 64;
  std::array<std::uint8_t, most_access_bytes> stray_{}, stray_written_{};
  /// Texels of the last texture or surface access: `texel_count_` times the lanes' addresses.
  unsigned texel_count_ = 1;
  std::vector<std::uint64_t> texels_;
};

}  // namespace regatta::emulator
