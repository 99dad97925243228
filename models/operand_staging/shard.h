// SPDX-License-Identifier: Apache-2.0
//
// One shard of the operand staging units: the registers of one warp scheduler's warps.
#pragma once

#include <regatta/models/operand_staging/operand_staging.h>
#include <regatta/models/staging/register_map.h>
#include <regatta/protocol/warp_registers.h>
#include <regatta/support/small_divisor.h>

#include "bank.h"

#include <array>

namespace regatta::models {

class StagingShard final : public sc_core::sc_module,
                           public StagingUnit,
                           public support::StatProvider,
                           tlm::tlm_bw_transport_if<> {
 public:
  /// `shard`: which of config.shards.
  StagingShard(const sc_core::sc_module_name& name, unsigned shard, const OperandStagingConfig& config,
               sc_core::sc_time clock_period);

  protocol::MemoryInitiatorSocket memory;

  // StagingUnit
  bool keeps_cycle_time() const override { return true; }
  unsigned banks() const override { return config_.banks; }
  unsigned lines_per_bank() const override { return lines_per_bank_; }
  unsigned bank_of(protocol::WarpSlot warp, protocol::RegisterId reg) const override {
    return bank_of(local(warp), reg.value());
  }
  void connect(StagingClient& client) override { client_ = &client; }
  unsigned request_room(unsigned bank) const override {
    return static_cast<unsigned>(lines_per_bank_ - banks_[bank].requests.size());
  }
  void preload(protocol::WarpSlot warp, protocol::RegisterId reg, bool last) override;
  void invalidate(protocol::WarpSlot warp, protocol::RegisterId reg) override;
  bool can_issue(const protocol::DynamicInstruction& instruction) const override;
  void issued(const protocol::DynamicInstruction& instruction, const UseMarks& marks) override;
  void region_ended(protocol::WarpSlot warp, const protocol::GeneralRegisters& erase) override;

  // For the socket side.
  // `warp` is the number of the access's warp in the shard; a request arrives after `delay`, to which what it takes is
  // added.
  /// Reads a register into the payload.
  void read(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access, unsigned warp, sc_core::sc_time& delay);
  /// Writes a register, unless its bank has more than `most` cycles of work before it. Whether it did.
  bool write(tlm::tlm_generic_payload& payload, const protocol::WarpAccess& access, unsigned warp,
             sc_core::sc_time& delay, std::uint64_t most);
  /// Cycles of work before a write.
  std::uint64_t backlog(const protocol::WarpAccess& access, unsigned warp, const sc_core::sc_time& delay) {
    const std::uint64_t now = clock_.now();
    return banks_[bank_of(warp, access.reg.value())].ports.backlog(SlotPorts::data, now, now + cycles(delay));
  }

  void connect_below(BackingStore& below) { below_ = &below; }
  void connect_twin(unsigned bank, BankTwin& twin);
  /// Tags and lists of a bank, for the report of a difference.
  std::string describe_bank(unsigned bank) const;
  void kernel_started(unsigned registers_per_warp);
  void warp_started(protocol::WarpSlot warp);
  void warp_finished(protocol::WarpSlot warp);
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;
  std::string check() const;
  bool idle() const;

 private:
  using State = StagingLine::State;
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  using Request = StagingBank::Request;

  /// A line on its way to memory.
  struct Buffered {
    enum class State : std::uint8_t { free, in_line, read_out, sent };
    State state = State::free;
    std::uint16_t warp = 0;
    std::uint8_t reg = 0;
    std::uint16_t line = no_line;  ///< in_line: where the value still is
    tlm::tlm_generic_payload* payload = nullptr;
  };
  static constexpr std::uint8_t no_place = 0xff;
  /// What waits to leave; a write-back has a place in the buffer.
  struct Outgoing {
    tlm::tlm_generic_payload* payload = nullptr;
    std::uint8_t place = no_place;
  };

  unsigned local(protocol::WarpSlot warp) const { return by_shards_.quotient(warp.value()); }
  protocol::WarpSlot global(unsigned warp) const {
    return protocol::WarpSlot(static_cast<std::uint16_t>(warp * config_.shards + shard_));
  }
  unsigned bank_of(unsigned warp, unsigned reg) const {
    return bank_mask_ != 0 ? (warp + reg) & bank_mask_ : (warp + reg) % config_.banks;
  }
  std::uint16_t line_of(unsigned warp, unsigned reg) const {
    const std::uint16_t line = line_by_table(warp, reg);
    return __builtin_expect(twins_ == nullptr, 1) ? line : twin_look_up(warp, reg, line);
  }
  std::uint16_t line_by_table(unsigned warp, unsigned reg) const {
    return reg < registers_ && warp < warps_ ? table_[warp * registers_ + reg] : no_line;
  }

  // Lines (shard.cpp).
  bool is_available(const LineList& list, std::uint64_t now) const {
    return !list.empty() && lines_[list.first()].available_at <= now;
  }
  /// Whether a line of the bank could be taken; a dirty one takes a place of `room` in the write-back buffer.
  bool has_line(const StagingBank& bank, unsigned& room, std::uint64_t now) const {
    if (is_available(bank.free, now) || is_available(bank.clean, now)) return true;
    if (room == 0 || !is_available(bank.dirty, now)) return false;
    --room;
    return true;
  }
  std::uint16_t allocate(unsigned bank, unsigned warp, unsigned reg, std::uint64_t now);
  void claim(std::uint16_t line);
  void own(std::uint16_t line);
  void to_list(std::uint16_t line, State list, std::uint64_t at, std::uint16_t last);
  std::uint16_t last_of(std::uint16_t line, State list) { return banks_[lines_[line].bank].list(list).last(); }
  void unlist(std::uint16_t line);
  void forget(std::uint16_t line);
  void release(std::uint16_t line, LastUse fate, std::uint64_t at);
  void settle(std::uint16_t line, std::uint64_t at) {
    const StagingLine& l = lines_[line];
    if (l.fate != LastUse::none && l.reads == 0 && l.writes == 0 && l.state == State::owned) {
      release(line, l.fate, at);
    }
  }
  void drop(std::uint16_t line, std::uint64_t at);
  /// The line goes to the free list: which is the last there.
  std::uint16_t last_free(std::uint16_t line) {
    std::uint16_t last = last_of(line, State::free);
    if (__builtin_expect(twins_ != nullptr, 0)) twin_free(line, last);
    return last;
  }
  /// The bits of a line that stays where it is were set.
  void marked(std::uint16_t line) {
    bool moves = false;
    std::uint16_t last = no_line;
    if (__builtin_expect(twins_ != nullptr, 0)) twin_mark(line, moves, last);
  }
  [[gnu::noinline, gnu::cold]] void poison(void* to) const;
  [[gnu::noinline, gnu::cold]] void complain(const std::string& what) const;
  [[gnu::noinline, gnu::cold]] void too_many_requests(unsigned bank) const;
  [[gnu::noinline, gnu::cold]] void failed(const tlm::tlm_generic_payload& payload) const;
  void merge(std::uint16_t line, const tlm::tlm_generic_payload& payload);
  void came_free() {
    if (stalled_ != 0) try_stalled();
  }
  [[gnu::noinline]] void try_stalled();

  // Operations on the state that twins have (shard_twin.cpp). Called only if there are twins.
  BankResult ask(unsigned bank, const BankOperation& operation, const BankResult& of_model) const;
  BankResult ask(BankOperation::Kind kind, std::uint16_t line, std::uint8_t flags, const BankResult& of_model) const;
  std::uint16_t in_bank(std::uint16_t line) const;
  std::uint16_t line_in(unsigned bank, const BankResult& result) const;
  void put_line(BankResult& result, std::uint16_t line) const;
  [[gnu::noinline, gnu::cold]] std::uint16_t twin_look_up(unsigned warp, unsigned reg, std::uint16_t line) const;
  [[gnu::noinline, gnu::cold]] std::uint16_t twin_allocate(unsigned bank, unsigned warp, unsigned reg,
                                                           std::uint64_t now, std::uint16_t line, State& from);
  [[gnu::noinline, gnu::cold]] void twin_own(std::uint16_t line);
  [[gnu::noinline, gnu::cold]] void twin_release(std::uint16_t line, bool erase, State& list, std::uint16_t& last);
  [[gnu::noinline, gnu::cold]] void twin_free(std::uint16_t line, std::uint16_t& last);
  [[gnu::noinline, gnu::cold]] void twin_forget(std::uint16_t line);
  [[gnu::noinline, gnu::cold]] void twin_mark(std::uint16_t line, bool& moves, std::uint16_t& last);
  [[gnu::noinline, gnu::cold]] void twin_is_wrong(const BankOperation& operation, const BankResult& result,
                                                  State state) const;

  // Whether destinations find lines (shard_issue.cpp).
  [[gnu::noinline]] bool finds_lines(const protocol::InstructionTraits& traits, unsigned warp, std::uint64_t now) const;
  [[gnu::noinline, gnu::cold]] bool finds_lines_together(const protocol::InstructionTraits& traits, unsigned warp,
                                                         std::uint64_t now) const;
  [[gnu::noinline]] bool refuse(unsigned warp, std::uint64_t banks, std::uint64_t now) const;
  /// The first of `banks`, a bit each.
  const StagingBank& bank(std::uint64_t banks) const { return banks_[static_cast<unsigned>(__builtin_ctzll(banks))]; }
  std::uint64_t next_line(const StagingBank& bank, std::uint64_t now) const;
  [[gnu::noinline]] void tell(std::uint64_t at) const;

  // What uses left-over cycles, and the way to memory (shard_flow.cpp).
  void request(protocol::WarpSlot warp, protocol::RegisterId reg, Request::Kind kind);
  void work();
  enum class Served : std::uint8_t { done, next_cycle, stalled };
  Served serve_request(unsigned bank, std::uint64_t now);
  Served serve_invalidate(const Request& r, std::uint64_t now);
  Served serve_preload(unsigned index, const Request& r, std::uint64_t now);
  bool fill_from_buffer(unsigned index, unsigned warp, unsigned reg, unsigned place, std::uint64_t now);
  void send_invalidation(unsigned warp, unsigned reg, std::uint64_t now);
  void serve_fill(StagingBank& bank, std::uint64_t now);
  void to_buffer(std::uint16_t line, std::uint64_t now);
  void read_out(std::uint16_t line);
  int find_buffered(unsigned warp, unsigned reg) const;
  void free_place(unsigned place);
  bool cancel(unsigned place);
  /// Places that may be taken: what comes free in a cycle may be in the next one, so that the order of those who act in
  /// a cycle makes no difference.
  unsigned buffer_room(std::uint64_t now) const {
    return static_cast<unsigned>(buffer_.size()) - buffered_ - (freed_at_ == now ? freed_ : 0);
  }
  bool has_request_room() const { return requests_out_ < config_.request_queue; }
  void push_request(tlm::tlm_generic_payload* payload, std::uint64_t now);
  protocol::MemoryPayloadPool::Taken message(unsigned warp, unsigned reg, protocol::AccessClass access);
  void send(std::uint64_t now);
  void taken(std::uint64_t now, std::uint64_t at);
  void answered(tlm::tlm_generic_payload& payload, std::uint64_t when);
  bool is_stalled(unsigned bank) const { return (stalled_ >> bank & 1) != 0; }
  void activate(unsigned bank) { active_ |= std::uint64_t{1} << bank; }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  std::uint64_t cycles(const sc_core::sc_time& delay) const { return clock_.cycles(delay); }

  const OperandStagingConfig config_;
  unsigned shard_;
  support::CycleScheduler& clock_;
  support::SmallDivisor by_shards_;
  unsigned bank_mask_;  ///< 0: the banks are no power of two
  unsigned lines_per_bank_;
  unsigned registers_ = 0;  ///< per warp
  unsigned warps_;          ///< of this shard
  std::size_t bytes_;       ///< of a warp register
  std::vector<StagingBank> banks_;
  std::vector<std::unique_ptr<StagingBankModule>> bank_modules_;
  std::vector<StagingLine> lines_;    ///< bank after bank
  protocol::WarpRegisters values_;    ///< parallel to lines_
  std::vector<std::uint16_t> table_;  ///< line of a register: stands for the associative tag match of its bank
  BankTwin* const* twins_ = nullptr;  ///< by bank; null: there are none
  std::vector<protocol::GeneralRegisters> owned_;   ///< per warp: registers whose lines are owned
  std::vector<protocol::GeneralRegisters> backed_;  ///< per warp: registers that memory has a copy of, current or not
  /// Why a warp was refused last, for whom nothing has changed while `changes` is the same: until when.
  struct Refusal {
    std::uint64_t changes = 0, until = 0;
  };
  mutable std::vector<Refusal> last_refusal_;  ///< per warp
  RegisterMap map_;
  std::vector<BankTwin*> bank_twins_;
  StagingClient* client_ = nullptr;
  BackingStore* below_ = nullptr;

  std::vector<Buffered> buffer_;
  unsigned buffered_ = 0;           ///< places in use
  std::uint64_t places_freed_ = 0;  ///< ever
  unsigned freed_ = 0;              ///< of these, in cycle freed_at_
  std::uint64_t freed_at_ = 0;
  FixedQueue<Outgoing> outgoing_;  ///< in the order in which they arose, which is what keeps a register's in order
  unsigned requests_out_ = 0;      ///< of these, not write-backs
  protocol::MemoryPayloadPool pool_;
  tlm::tlm_generic_payload* waiting_ = nullptr;  ///< sent, not taken
  Outgoing sent_;                                ///< the last one that was sent
  std::uint64_t next_send_ = 0;
  std::uint64_t active_ = 0;  ///< banks with something to do, a bit each
  std::uint64_t stalled_ =
      0;  ///< of these, those whose first request waits for a line, the buffer or the way to memory
  std::uint64_t look_again_ = never;  ///< when a line can be taken that a stalled request waits for
  mutable bool refused_ = false;      ///< can_issue() said no, and it is not known to be said no more
  mutable std::uint64_t refused_last_ = 0;
  mutable std::uint64_t told_at_ = 0;  ///< the cycle that lines_available() named last
  support::CycleClient wakeup_;

  std::uint64_t evictions_ = 0, clean_dropped_ = 0, erased_ = 0, from_free_ = 0, preloads_ = 0, undefined_preloads_ = 0;
  std::uint64_t buffer_hits_ = 0, invalidations_ = 0, reads_sent_ = 0, writes_sent_ = 0, invalidations_sent_ = 0;
  std::uint64_t stalled_requests_ = 0, buffer_full_ = 0, buffer_max_ = 0, not_staged_ = 0, lost_writes_ = 0,
                writes_cancelled_ = 0;
  mutable std::uint64_t refusals_ = 0;
  std::array<std::uint64_t, preload_source_count> sources_{};
};

}  // namespace regatta::models
