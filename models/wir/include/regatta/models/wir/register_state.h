// SPDX-License-Identifier: Apache-2.0
//
// State shared by the stages of warp instruction reuse: the rename tables, the two buffers, the counts of all
// references to physical registers, and the instructions in flight. Keeps every count; decides nothing.
#pragma once

#include <regatta/models/wir/ports.h>
#include <regatta/models/wir/register_allocator.h>
#include <regatta/models/wir/rename_table.h>
#include <regatta/models/wir/reuse_buffer.h>
#include <regatta/models/wir/static_code.h>
#include <regatta/models/wir/value_signature_buffer.h>
#include <regatta/models/wir/wir_config.h>
#include <regatta/protocol/observer.h>
#include <regatta/support/cycle_scheduler.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace regatta::models::wir {

/// The reason that keeps an instruction out of the reuse buffer: the first that applies (sampled with wir.repeats).
enum class ReuseBar : std::uint8_t {
  none,       ///< nothing: it looks up
  effect,     ///< a branch, barrier, store or another instruction without a result
  special,    ///< reads a special register
  predicate,  ///< reads or writes a predicate other than its guard
  wide,       ///< its result takes several registers
  kind,       ///< another instruction that is never reused
  divergent,  ///< a lane is switched off
  pinned,     ///< a source is pinned
  unwritten,  ///< a source was never written
  load,       ///< a load that the rules for loads, or the model, exclude
};
constexpr unsigned reuse_bars = static_cast<unsigned>(ReuseBar::load) + 1;

/// Positions of an instruction in the register allocation stage, in order.
enum class AllocationPhase : std::uint8_t {
  arriving,
  indexing,
  looking,
  verifying,
  written_elsewhere,
  entering,
  moving,
  done
};

/// A warp instruction from issue to retirement. The first cache line holds the fields that every stage uses.
struct alignas(64) InFlight {
  bool live = false;
  bool reusable = false;   ///< may look up and update the reuse buffer
  bool keeps = false;      ///< without pending-retry: holds its sources until its entry is created, at retirement
  bool claimed = false;    ///< with pending-retry: an entry was claimed for it
  bool divergent = false;  ///< a lane is switched off
  AllocationPhase phase = AllocationPhase::arriving;
  ReuseKind kind = ReuseKind::none;
  bool wide_immediate = false;  ///< StaticCode's
  protocol::Unit unit = protocol::Unit::none;
  std::uint8_t held = 0;         ///< a bit per source that has not been read yet
  std::uint8_t writes = 0;       ///< a bit per destination that goes to a bank
  std::uint8_t in_place = 0;     ///< a bit per destination that overwrites its present register
  std::uint8_t equal = 0;        ///< a bit per destination whose candidate has the value
  std::uint64_t renamed_at = 0;  ///< the earliest cycle of its lookup
  std::array<PhysicalRegister, trace::max_source_registers> sources;       ///< parallel to traits->reads
  std::array<PhysicalRegister, trace::max_destination_registers> targets;  ///< parallel to info->destinations
  std::array<PhysicalRegister, trace::max_destination_registers> candidates;
  std::uint64_t asked_at = 0;  ///< the cycle of the verify-read's request
  ReuseTag tag;
  std::uint32_t fold = 0;  ///< of the tag
  std::array<std::uint32_t, trace::max_destination_registers> hashes{};
  const protocol::DynamicInstruction* instruction = nullptr;  ///< whose this is, once it has sent a result
};

/// References to a physical register are those of rename entries, of the two buffers, and of instructions in flight: to
/// a source until it is read (a hold), to a candidate until it is verified, to a target until it is in the rename
/// table.
///
/// Progress is possible with as few registers as the warps have logical ones (README, "Why it cannot deadlock"): a
/// register is held by readers alone only after a younger instruction of a reader's warp remapped it. Such an
/// instruction may issue only while credits_left(), one credit per such register; the credit returns when the last
/// reader has read.
class RegisterState {
 public:
  RegisterState(const WirConfig& config, sc_core::sc_time period);

  WirConfig config;
  /// What the configuration's model has.
  struct Parts {
    bool loads, pending, verify_cache, signatures, capped, affine;
  };
  const Parts parts;
  RegisterAllocator allocator;
  RenameTables rename;
  ReuseBuffer reuse;
  ValueSignatureBuffer signatures;
  std::vector<StaticCode> code;  ///< of the running kernel, by static index

  /// Call it first in every call from outside, with the present cycle. It catches up with low-register mode: in each
  /// past cycle in which a buffer was not accessed, the buffer lost one of its entries, chosen at random.
  std::uint64_t begin() {
    now_ = clock_.now();
    if (was_low_ && evicted_until_ < now_) evict_idle();
    return now_;
  }
  /// The cycle of the last begin().
  std::uint64_t now() const { return now_; }
  void kernel_started(const protocol::KernelContext& context);
  void warp_started(const protocol::WarpInfo& warp);
  /// Releases the references of the warp's rename entries; with capped registers, the buffers release those beyond the
  /// new cap.
  void warp_finished(const protocol::WarpInfo& warp);

  InFlight& of(const protocol::DynamicInstruction& d) { return in_flight_[d.pool_index]; }
  /// A new record for an instruction that issues.
  InFlight& enter(const protocol::DynamicInstruction& d) {
    if (__builtin_expect(in_flight_.size() <= d.pool_index, 0)) in_flight_.resize(std::size_t{d.pool_index} + 64);
    InFlight& f = in_flight_[d.pool_index];
    f.live = true;
    f.reusable = f.keeps = f.claimed = f.divergent = false;
    f.phase = AllocationPhase::arriving;
    f.kind = ReuseKind::none;
    f.held = f.writes = f.in_place = f.equal = 0;
    f.renamed_at = 0;
    f.targets.fill(no_register);
    f.candidates.fill(no_register);
    return f;
  }
  void leave(InFlight& f) { f.live = false; }

  // References.
  void hold(PhysicalRegister reg) { allocator.hold(reg); }
  void unhold(PhysicalRegister reg) {
    // A single, rarely taken branch.
    if (unsigned{allocator.unhold(reg)} & ((promised_ | unsigned{refused_}) != 0)) no_holds(reg);
    give_up(reg);
  }
  void unhold_all(InFlight& f) {
    for (; f.held != 0; f.held &= static_cast<std::uint8_t>(f.held - 1)) {
      unhold(f.sources[static_cast<unsigned>(__builtin_ctz(f.held))]);
    }
  }
  void give_up(PhysicalRegister reg) {
    if (reg != no_register) allocator.release(reg, now_);
  }
  void give_up(const Dropped& dropped) {
    dropped.for_each([this](PhysicalRegister reg) { give_up(reg); });
  }

  // Issue of an instruction that overwrites a register that has not been read yet.
  bool is_held(PhysicalRegister reg) const { return allocator.holds(reg) != 0; }
  bool credits_left(unsigned wanted) const { return promised_ + wanted <= credits_; }
  void promise(PhysicalRegister reg) {
    ++promises_[reg.value()];
    ++promised_;
  }
  /// An instruction was refused: on_opened() is called when a register has no more holds.
  void refused() { refused_ = true; }
  std::function<void()> on_opened;
  unsigned credits() const { return credits_; }

  /// Low-register mode (section V-E): fewer registers are free than an instruction needs, at least one.
  bool low() {
    const bool is_low = is_low_in(now_);
    if (is_low != was_low_) switch_mode(is_low, now_);
    return is_low;
  }
  /// A buffer is accessed in this cycle. Retries of instructions that wait for a pending result do not count: the
  /// awaited result may itself be waiting for a register.
  void reuse_accessed() { reuse_accessed_ = now_; }
  void signatures_accessed() { signatures_accessed_ = now_; }
  /// The ports of the reuse buffer, which lookup and retirement share.
  Ports reuse_reads, reuse_writes;

  /// Drops all references of the buffers, at the end of a kernel.
  void clear_buffers();
  /// A message if the counts differ from the actual references; empty if they match.
  std::string recount() const;
  /// At the end of a kernel: a message if a register is still referenced.
  std::string leak();
  /// A warp instruction has retired: recounts at the configured interval. Reports a SystemC error.
  void retired() {
    if (config.recount_interval != 0 && ++retired_ % config.recount_interval == 0) check();
  }

  // Pending results.
  void send(const protocol::DynamicInstruction& d, unsigned destination, PhysicalRegister reg) {
    of(d).instruction = &d;
    writers_[reg.value()] = d.pool_index * trace::max_destination_registers + destination + 1;
  }
  void written(PhysicalRegister reg) { writers_[reg.value()] = 0; }
  bool on_its_way(PhysicalRegister reg) const { return writers_[reg.value()] != 0; }
  /// The value that is.
  const std::uint32_t* sent(PhysicalRegister reg) const {
    const std::uint32_t writer = writers_[reg.value()] - 1;
    return in_flight_[writer / trace::max_destination_registers]
        .instruction->results[writer % trace::max_destination_registers]
        .lane.data();
  }

  /// What is counted.
  struct Counters {
    std::uint64_t rename_reads = 0, rename_writes = 0;
    std::uint64_t reuse_reads = 0, reuse_writes = 0;
    std::uint64_t hashes = 0;
    std::uint64_t signature_reads = 0, signature_writes = 0;
    std::uint64_t signature_hits = 0, signature_misses = 0, false_positives = 0;
    std::uint64_t verify_hits = 0, verify_misses = 0, verify_fills = 0, verify_forwarded = 0;
    std::uint64_t allocations = 0, counts = 0;
    std::uint64_t dummy_movs = 0;
    std::uint64_t reused_arithmetic = 0, reused_load = 0, reused_pending = 0;
    std::uint64_t reused_registers = 0, racy_loads = 0;
    std::array<std::uint64_t, protocol::unit_count> executed{};  ///< by unit
    std::uint64_t instructions = 0, lookups = 0, wide_immediates = 0;
    std::uint64_t queued = 0, retries = 0, queue_full = 0;
    std::uint64_t starved = 0, in_place = 0, refused_issues = 0;
    std::uint64_t reuse_read_waits = 0, reuse_write_waits = 0;
    std::uint64_t signature_read_waits = 0, signature_write_waits = 0, allocator_waits = 0;
    std::uint64_t long_renames = 0;
    std::uint64_t low_evictions = 0, low_cycles = 0;
    std::uint64_t repeats_sampled = 0, repeats_found = 0, repeats_often = 0, repeats_loads = 0;
    std::array<std::uint64_t, reuse_bars> barred{}, barred_repeats{};  ///< by ReuseBar
    std::uint64_t barriers_max = 0;                                    ///< issued by a warp
  };
  Counters counters;
  std::uint64_t low_cycles() {
    begin();
    low();
    account_mode(now_);
    return counters.low_cycles;
  }
  /// Maximum excess over the limit at an allocation: 0, or the cap was exceeded.
  unsigned over_limit() const { return over_limit_; }
  /// Allocates `need` registers at once; false, without effect, if there are fewer.
  bool allocate(unsigned need, std::array<PhysicalRegister, trace::max_destination_registers>& regs) {
    if (need == 0) return true;
    if (allocator.available(now_) < need) return find_too_few(need);
    for (unsigned i = 0; i < need; ++i) regs[i] = allocator.take(now_);
    counters.allocations += need;
    if (need >= wanted_) wanted_ = 1;
    if (allocator.in_use() > allocator.limit())
      over_limit_ = std::max(over_limit_, allocator.in_use() - allocator.limit());
    low();
    return true;
  }
  /// An instruction whose request failed has continued with fewer registers.
  void satisfied() {
    wanted_ = 1;
    low();
  }

 private:
  void no_holds(PhysicalRegister reg) {
    std::uint32_t& promises = promises_[reg.value()];
    promised_ -= promises;
    promises = 0;
    if (__builtin_expect(refused_, 0)) reopen();
  }
  [[gnu::noinline]] void reopen();
  bool is_low_in(std::uint64_t cycle) { return allocator.available(cycle) < wanted_; }
  [[gnu::noinline]] void switch_mode(bool is_low, std::uint64_t at);
  void account_mode(std::uint64_t at);
  [[gnu::noinline]] void evict_idle();
  [[gnu::noinline]] void check();
  [[gnu::noinline]] bool find_too_few(unsigned need);

  support::CycleScheduler& clock_;
  std::uint64_t now_ = 0;
  std::vector<InFlight> in_flight_;
  std::vector<std::uint32_t> promises_;  ///< by register: the credits that it took
  std::vector<std::uint32_t> writers_;   ///< by register: whose result for it is on its way (a number of pool index and
                                         ///< destination), 0: nobody's
  std::uint32_t promised_ = 0, credits_ = 0;
  unsigned registers_per_warp_ = 1;
  unsigned warps_ = 0;  ///< resident
  bool refused_ = false;
  bool was_low_ = false;
  unsigned wanted_ = 1;  ///< registers that an instruction needs at once and could not have; 1 when none waits
  unsigned over_limit_ = 0;
  std::uint64_t mode_since_ = 0;
  std::uint64_t reuse_accessed_ = ~std::uint64_t{0}, signatures_accessed_ = ~std::uint64_t{0};
  std::uint64_t evicted_until_ = 0;  ///< the first cycle whose idle evictions are not done
  std::uint64_t random_ = 1;
  std::uint64_t retired_ = 0;
};

}  // namespace regatta::models::wir
