// SPDX-License-Identifier: Apache-2.0
//
// The TLM-2.0 side of a banked register file: sockets, timing, back-pressure. The deriving file supplies the contents
// of a row and the row of a register.
#pragma once

#include <regatta/baseline/bank_arbiter.h>
#include <regatta/baseline/bank_mapping.h>
#include <regatta/baseline/bank_ports.h>
#include <regatta/baseline/move_port.h>
#include <regatta/baseline/row_use.h>
#include <regatta/protocol/extension_points.h>
#include <regatta/protocol/payload.h>
#include <regatta/protocol/request_rules.h>
#include <regatta/support/calendar.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/energy.h>
#include <regatta/support/stats.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <systemc>
#include <utility>

namespace regatta::models {

/// An access that needs no bank (a register that has no row).
inline constexpr unsigned no_bank = ~0u;

/// Accesses to one bank are served in order of arrival, one per port and cycle, so the finishing time is known when a
/// request arrives, and most requests complete immediately (TLM_COMPLETED with the annotated delay). A write to a bank
/// whose write queue is full is answered TLM_ACCEPTED: END_REQ follows when the bank has room, and write-back is held
/// until then and no longer; BEGIN_RESP follows at the finishing time. Reads are bounded by the collectors' entries and
/// never held.
///
/// With a priority at a shared port, the finishing time depends on later requests: requests are accepted (END_REQ),
/// wait at their bank, which is arbitrated cycle by cycle, and are answered when served (BEGIN_RESP).
///
/// `File` derives from BankedFile<File>, makes it a friend, and supplies all of these, which are called directly. None
/// has a version here, so that a misspelt one does not compile:
///
///   std::uint64_t transfer(tlm::tlm_generic_payload&, protocol::WarpAccess&, unsigned bank, std::uint64_t done)
///     Moves the value of an access that the bank finishes in cycle `done`, in the order in which requests were
///     accepted; a read sets access.origin. Returns the cycle in which the access is done, `done` or later (a row that
///     has to wake up); the port is free for others meanwhile.
///
///   std::size_t row(const tlm::tlm_generic_payload&, const protocol::WarpAccess&) const
///     The row of an access that has a bank. Accesses to one row stay in order at an arbitrated bank. From the
///     register's mapping (WindowedFile).
///
///   unsigned bank(const tlm::tlm_generic_payload&, const protocol::WarpAccess&) const
///     The bank of the access, or no_bank (reads only), which still takes arbitration and latency. bank_of(), or the
///     file's own.
///
///   void debug_transfer(tlm::tlm_generic_payload&, protocol::WarpAccess&, unsigned bank)
///     Moves the value and nothing else. transfer_now(), if transfer() does no more.
///
///   static constexpr bool answers_late
///     Whether transfer() may return `later`. The file then calls complete() when it knows the cycle in which the
///     access is done. Not possible with a priority at a shared port, nor with switched rows.
///
/// It may hide kernel_started(), warp_started(), warp_finished(), capacity_registers(), register_stats() and
/// register_energy(), and then calls those here.
///
/// Rows that sleep transistors switch: `row_use` is bound. The file announces every access of a row, and is told when a
/// row is awake. The file's mapping tells which registers have a row (WindowedFile, or a block that renames).
template <class File>
class BankedFile : public sc_core::sc_module,
                   public protocol::OperandStorage,
                   public support::StatProvider,
                   protected tlm::tlm_fw_transport_if<> {
 public:
  BankedFile(const sc_core::sc_module_name& name, const RegisterFileConfig& config, support::ClockDomain& clock)
      : sc_module(name),
        reads("reads"),
        writes("writes"),
        move_reads("move_reads"),
        move_writes("move_writes"),
        row_use("row_use"),
        rules_(reads, writes),
        config_(config),
        clock_(clock),
        ports_(config),
        period_(clock.period().value()),
        mapping_(config),
        client_(
            clock, [](void* file) { static_cast<BankedFile*>(file)->run(); }, this) {
    config.validate();
    if (config.shared_port() && config.priority != "fcfs") {
      arbiter_ = std::make_unique<BankArbiter>(config.banks, config.write_queue, config.priority == "write");
    }
    is_unusual_ = arbiter_ != nullptr;
    reads.bind(*this);
    writes.bind(*this);
    move_reads.bind(moved_out_);
    move_writes.bind(moved_in_);
  }

  protocol::OperandTargetSocket reads;
  protocol::OperandTargetSocket writes;
  /// For an engine that moves the registers of whole CTAs; optional. One access at a time each way (the next BEGIN_REQ
  /// after the answer), served in a cycle in which its bank has nothing else to do, at the latest after
  /// `move_patience` cycles.
  protocol::OptionalOperandTargetSocket move_reads;
  protocol::OptionalOperandTargetSocket move_writes;
  static constexpr unsigned move_patience = 32;
  /// What switches the rows; without it they are always on.
  RowUsePort row_use;

  protocol::OperandTargetSocket& read_socket() override { return reads; }
  protocol::OperandTargetSocket& write_socket() override { return writes; }
  bool keeps_cycle_time() const override { return true; }
  std::uint64_t capacity_registers() const override { return config_.registers; }
  void kernel_started(const protocol::KernelContext& context) override {
    registers_per_warp_ = context.registers_per_warp;
    warp_size_ = context.warp_size;
    rules_.set_lanes(warp_size_);
    moved_out_.rules.set_lanes(warp_size_);
    moved_in_.rules.set_lanes(warp_size_);
    use_ = row_use.size() != 0 ? row_use.operator->() : nullptr;
    is_unusual_ = arbiter_ != nullptr || use_ != nullptr || plans_;
    if (use_ != nullptr) use_->rows_started(static_cast<std::uint32_t>(capacity_registers()), warp_size_);
  }
  void register_stats(support::StatGroup& group) override {
    ports_.register_stats(group);
    if (move_reads.size() == 0) return;
    group.counter("move_reads", moved_out_.accesses, "warp registers", "read to be moved out of the file");
    group.counter("move_writes", moved_in_.accesses, "warp registers", "written back into the file");
    group.counter("move_waits", move_waits_, "cycles", "that these waited for a bank");
  }

  /// Bank of a register, by register_file.mapping.
  unsigned bank_of(protocol::WarpSlot warp, protocol::RegisterId reg) const { return mapping_(warp, reg); }

  /// The result that waits for room at its bank; null if none does.
  const protocol::WarpAccess* held_write() const { return held_ == nullptr ? nullptr : &protocol::warp_access(*held_); }

 protected:
  /// Rows read and written for moves, as energy: `rows` of the table's event each.
  void register_move_energy(support::EnergyGroup& g, double rows, const support::ArrayGeometry& size) {
    if (move_reads.size() == 0) return;
    g.event("register_structures", "register_file.read", moved_out_.accesses, rows, size);
    g.event("register_structures", "register_file.write", moved_in_.accesses, rows, size);
  }
  /// transfer() does not know yet when the access is done.
  static constexpr std::uint64_t later = ~std::uint64_t{0};
  /// An access whose transfer() returned `later` is done in cycle `done`, this one or a later one.
  void complete(tlm::tlm_generic_payload& payload, std::uint64_t done) {
    const std::uint64_t now = clock_.now();
    const std::uint64_t at = std::max(now, done - config_.latency);
    answer_in(now, at, {&payload, payload.is_write()});
    if (at != now) client_.request(at);
  }
  /// debug_transfer() of a file whose transfer() only moves the value.
  void transfer_now(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access, unsigned bank) {
    static_cast<File&>(*this).transfer(payload, access, bank, clock_.now());
  }
  /// Whether sleep transistors switch the rows: then they account for the leakage.
  bool rows_switched() const { return row_use.size() != 0; }
  /// Copies the enabled bytes between a payload and the row that it reads or writes.
  static void copy_row(tlm::tlm_generic_payload& payload, std::uint32_t* lanes) {
    auto* cell = reinterpret_cast<unsigned char*>(lanes);
    unsigned char* data = payload.get_data_ptr();
    const std::size_t bytes = payload.get_data_length();
    if (payload.is_read()) {
      trace::copy_value(data, cell, bytes);
      return;
    }
    const unsigned char* enable = payload.get_byte_enable_ptr();
    if (enable == nullptr) {
      trace::copy_value(cell, data, bytes);
      return;
    }
    protocol::merge_enabled(cell, data, enable, bytes);
  }
  [[noreturn, gnu::noinline, gnu::cold]] void refuse(const protocol::WarpAccess& a) const {
    SC_REPORT_ERROR(
        "regatta/register_file",
        ("warp " + std::to_string(a.warp.value()) + " register R" + std::to_string(a.reg.value()) +
         " has no row: the warp is not resident, or the register lies beyond its " +
         std::to_string(registers_per_warp_) + " (the file has " + std::to_string(config_.registers) + " rows)")
            .c_str());
    throw std::logic_error("an error that SystemC reported was ignored");
  }

  protocol::OperandRequestRules rules_;
  const RegisterFileConfig config_;
  support::ClockDomain& clock_;
  BankPorts ports_;  ///< also for the file's own accesses, if no kind has priority (no arbiter)
  unsigned registers_per_warp_ = 0;
  unsigned warp_size_ = 32;
  RowUse* use_ = nullptr;  ///< null: rows are always on
  bool plans_ = false;     ///< reads come that the file has planned (ReadPlanner)

 private:
  using Payload = tlm::tlm_generic_payload;

  // Rare cases are out of line, so the common code, which runs several times per instruction, is short and contiguous:
  // whole pipelines compete for the host's instruction cache.

  File& file() { return static_cast<File&>(*this); }
  std::uint64_t arrival_cycle(const sc_core::sc_time& delay) const {
    const std::uint64_t now = clock_.now();
    return __builtin_expect(delay.value() == 0, 1) ? now : now + delay.value() / period_;
  }
  friend class MovePort<BankedFile>;
  /// An access for a move: its answer, unless the bank is taken now.
  tlm::tlm_sync_enum begin_move(MovePort<BankedFile>& port, Payload& payload, tlm::tlm_phase& phase,
                                sc_core::sc_time& delay) {
    if (port.rules.begin(payload, phase, delay, clock_) == nullptr) return tlm::TLM_COMPLETED;  // END_RESP
    const std::uint64_t arrival = arrival_cycle(delay);
    if (arbiter_ != nullptr) cannot_wait("a move at an arbitrated bank (register_file.priority)");
    if (!move_fits(payload, arrival)) {
      port.held = &payload;
      port.held_since = arrival;
      client_.request(clock_.now(), arrival + 1);
      return tlm::TLM_ACCEPTED;
    }
    const std::uint64_t done = serve_move(port, payload, arrival);
    if (File::answers_late && done == later) {
      phase = tlm::END_REQ;
      return tlm::TLM_UPDATED;
    }
    delay += clock_.time(done - arrival);
    return tlm::TLM_COMPLETED;
  }
  bool move_fits(Payload& payload, std::uint64_t arrival) {
    const unsigned bank = file().bank(payload, protocol::warp_access(payload));
    if (bank == no_bank) return true;
    return payload.is_write() ? ports_.write_free(bank) <= arrival
                              : ports_.read_free(bank) <= arrival + config_.arbitration;
  }
  std::uint64_t serve_move(MovePort<BankedFile>& port, Payload& payload, std::uint64_t arrival) {
    protocol::WarpAccess& access = protocol::warp_access(payload);
    const unsigned bank = file().bank(payload, access);
    const bool write = payload.is_write();
    ++port.accesses;
    const std::uint64_t earliest = write ? arrival : arrival + config_.arbitration;
    const std::uint64_t done = bank == no_bank ? earliest + config_.latency : ports_.schedule(write, bank, earliest);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return move_value(payload, access, bank, done);
  }
  [[gnu::noinline]] void retry_move(MovePort<BankedFile>& port, std::uint64_t now) {
    ++move_waits_;
    if (!move_fits(*port.held, now) && now - port.held_since < move_patience) return client_.request(now + 1);
    Payload& payload = *std::exchange(port.held, nullptr);
    const std::uint64_t done = serve_move(port, payload, now);
    if (File::answers_late && done == later) return;
    answer_in(now, std::max(now, done - config_.latency), {&payload, payload.is_write()});
  }
  /// transfer(), with what switched rows need.
  std::uint64_t move_value(Payload& payload, protocol::WarpAccess& access, unsigned bank, std::uint64_t done) {
    return use_ == nullptr ? file().transfer(payload, access, bank, done) : move_switched(payload, access, bank, done);
  }
  [[gnu::noinline]] std::uint64_t move_switched(Payload& payload, protocol::WarpAccess& access, unsigned bank,
                                                std::uint64_t done) {
    const bool write = payload.is_write();
    if (bank == no_bank) {
      const std::uint64_t at = file().transfer(payload, access, bank, done);
      if (!write) use_->was_read_elsewhere(access, at);
      return at;
    }
    const Row row(static_cast<std::uint32_t>(file().row(payload, access)));
    done = use_->reach(access, row, write, done);
    protocol::LaneMask lost = write ? 0 : use_->lost(row);  // transfer() of a last read may end the register's row
    const std::uint64_t at = file().transfer(payload, access, bank, done);
    auto* const lanes = reinterpret_cast<std::uint32_t*>(payload.get_data_ptr());
    for (; lost != 0; lost &= lost - 1) lanes[__builtin_ctzll(lost)] ^= ~0u;
    write ? use_->was_written(access, row, at) : use_->was_read(access, row, at);
    return at;
  }

  /// Serves an access that arrived in cycle `arrival`: the cycle in which it is done.
  [[gnu::always_inline]] std::uint64_t serve(Payload& payload, protocol::WarpAccess& access, unsigned bank,
                                             std::uint64_t arrival) {
    const std::uint64_t done = take_slot(payload, bank, arrival);
    return file().transfer(payload, access, bank, done);
  }
  /// The same where rows may be switched.
  [[gnu::noinline]] std::uint64_t serve_unusual(Payload& payload, protocol::WarpAccess& access, unsigned bank,
                                                std::uint64_t arrival) {
    const std::uint64_t done = take_slot(payload, bank, arrival);
    return move_value(payload, access, bank, done);
  }
  [[gnu::always_inline]] std::uint64_t take_slot(Payload& payload, unsigned bank, std::uint64_t arrival) {
    const bool write = payload.is_write();
    ports_.accessed(write);
    const std::uint64_t earliest = write ? arrival : arrival + config_.arbitration;
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return bank == no_bank ? earliest + config_.latency : ports_.schedule(write, bank, earliest);
  }

  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    protocol::WarpAccess* const request = rules_.begin(payload, phase, delay, clock_);
    if (request == nullptr) return tlm::TLM_COMPLETED;  // END_RESP
    protocol::WarpAccess& access = *request;
    const unsigned bank = file().bank(payload, access);
    const std::uint64_t arrival = arrival_cycle(delay);
    if (__builtin_expect(static_cast<int>(is_unusual_), 0) != 0) {
      return begin_unusual(payload, access, bank, phase, delay, arrival);
    }
    if (__builtin_expect(bank != no_bank, 1) && write_has_to_wait(payload, bank, arrival)) {
      return hold(payload, bank, arrival);
    }
    const std::uint64_t done = serve(payload, access, bank, arrival);
    if constexpr (File::answers_late) {
      if (__builtin_expect(static_cast<int>(done == later), 0) != 0) {
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
      }
    }
    delay += clock_.time(done - arrival);
    return tlm::TLM_COMPLETED;
  }
  [[gnu::always_inline]] bool write_has_to_wait(const Payload& payload, unsigned bank, std::uint64_t arrival) const {
    return payload.is_write() && __builtin_expect(ports_.write_free(bank) > arrival + config_.write_queue, 0) &&
           ports_.write_slot(bank, arrival) > arrival + config_.write_queue;
  }
  /// Banks are arbitrated, rows are switched, or reads are planned.
  [[gnu::noinline]] tlm::tlm_sync_enum begin_unusual(Payload& payload, protocol::WarpAccess& access, unsigned bank,
                                                     tlm::tlm_phase& phase, sc_core::sc_time& delay,
                                                     std::uint64_t arrival) {
    if (access.planned) {
      ports_.accessed(false);
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
      const std::uint64_t done = arrival + config_.latency;
      delay += clock_.time(move_value(payload, access, bank, done) - arrival);
      return tlm::TLM_COMPLETED;
    }
    if (bank != no_bank) {
      if (arbiter_ != nullptr) return wait_at_bank(payload, access, bank, phase, arrival);
      if (write_has_to_wait(payload, bank, arrival)) return hold(payload, bank, arrival);
    }
    const std::uint64_t done = serve_unusual(payload, access, bank, arrival);
    if (File::answers_late && done == later) {
      phase = tlm::END_REQ;
      return tlm::TLM_UPDATED;
    }
    delay += clock_.time(done - arrival);
    return tlm::TLM_COMPLETED;
  }
  [[noreturn, gnu::noinline, gnu::cold]] static void cannot_wait(const char* what) {
    SC_REPORT_ERROR("regatta/register_file", (std::string(what) + " cannot wait for a late answer").c_str());
    throw std::logic_error("an error that SystemC reported was ignored");
  }

  [[gnu::noinline, gnu::cold]] tlm::tlm_sync_enum hold(Payload& payload, unsigned bank, std::uint64_t arrival) {
    held_ = &payload;
    held_until_ = ports_.write_slot(bank, arrival) - config_.write_queue;
    ports_.held();
    client_.request(held_until_);
    return tlm::TLM_ACCEPTED;
  }

  /// Deferred work: answers that are due, arbitration, room for the waiting write.
  void run() {
    const std::uint64_t now = clock_.now();
    answers_.drain(now, [this](const Answer& a) { answer(a); });
    if (moved_out_.held != nullptr) retry_move(moved_out_, now);
    if (moved_in_.held != nullptr) retry_move(moved_in_, now);
    if (arbiter_ != nullptr) {
      arbitrate(now);
    } else if (held_ != nullptr) {
      held_until_ <= now ? take_held(now) : client_.request(held_until_);
    }
    if (answers_.next() != support::no_cycle) client_.request(answers_.next());
  }

  void take_held(std::uint64_t now) {
    Payload& payload = *std::exchange(held_, nullptr);
    protocol::WarpAccess& access = protocol::warp_access(payload);
    const std::uint64_t done = serve_unusual(payload, access, file().bank(payload, access), now);
    end_request(payload);
    if (File::answers_late && done == later) return;
    answer_in(now, done - config_.latency, {&payload, true});
  }

  void end_request(Payload& write) {
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    writes->nb_transport_bw(write, phase, delay);
  }

  /// A separate answer, if the request was not answered immediately. Each is sent ahead by the cycles of a bank access,
  /// whatever its row adds, so none begins before the end of another that was sent earlier.
  struct Answer {
    Payload* payload;
    bool write;
  };
  void answer(const Answer& a) {
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = clock_.time(config_.latency);
    if (__builtin_expect(static_cast<int>(protocol::warp_access(*a.payload).instruction == nullptr), 0) != 0 &&
        move_reads.size() != 0) {
      (a.write ? move_writes : move_reads)->nb_transport_bw(*a.payload, phase, delay);
      return;
    }
    (a.write ? writes : reads)->nb_transport_bw(*a.payload, phase, delay);
  }
  void answer_in(std::uint64_t now, std::uint64_t cycle, const Answer& a) {
    if (cycle == now) {
      answer(a);
    } else {
      answers_.schedule(cycle, a);
    }
  }

  [[gnu::noinline]] tlm::tlm_sync_enum wait_at_bank(Payload& payload, protocol::WarpAccess& access, unsigned bank,
                                                    tlm::tlm_phase& phase, std::uint64_t arrival) {
    const bool write = payload.is_write();
    if (write && !arbiter_->has_room(bank, arrival)) {
      held_ = &payload;
      held_until_ = arrival + 1;
      ports_.held();
      client_.request(held_until_);
      return tlm::TLM_ACCEPTED;
    }
    const std::uint64_t earliest = arrival + (write ? 1 : std::max(1u, config_.arbitration));
    enqueue(payload, access, bank, earliest);
    client_.request(earliest);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }

  /// The value moves now, as always in a banked file; the arbiter keeps accesses to one row in order.
  void enqueue(Payload& payload, protocol::WarpAccess& access, unsigned bank, std::uint64_t earliest) {
    const std::uint64_t done = earliest + config_.latency;
    const std::size_t row = file().row(payload, access);  // transfer() of a last read may end the register's row
    const std::uint64_t finished = move_value(payload, access, bank, done);
    if (File::answers_late && finished == later)
      cannot_wait("an access of an arbitrated bank (register_file.priority)");
    const std::uint64_t late = finished - done;
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    arbiter_->add(payload.is_write(), bank, {&payload, row, earliest, late});
  }

  void arbitrate(std::uint64_t now) {
    arbiter_->serve(now, [&](const BankArbiter::Request& r, bool write) {
      ports_.accessed(write);
      if (r.earliest != now) ports_.waited(write, now - r.earliest);
      answer_in(now, now + r.late, {r.payload, write});
    });
    if (held_ != nullptr && held_until_ <= now) {
      protocol::WarpAccess& access = protocol::warp_access(*held_);
      const unsigned bank = file().bank(*held_, access);
      if (arbiter_->has_room_now(bank)) {
        Payload& payload = *std::exchange(held_, nullptr);
        enqueue(payload, access, bank, now + 1);
        end_request(payload);
      }
    }
    if (!arbiter_->empty() || held_ != nullptr) client_.request(now + 1);
  }

  void b_transport(Payload& payload, sc_core::sc_time& delay) override {
    protocol::WarpAccess& access = rules_.whole(payload);
    const std::uint64_t arrival = arrival_cycle(delay);
    const std::uint64_t done = serve_unusual(payload, access, file().bank(payload, access), arrival);
    if (File::answers_late && done == later) cannot_wait("a blocking access");
    delay += clock_.time(done - arrival);
  }
  bool get_direct_mem_ptr(Payload&, tlm::tlm_dmi&) override { return false; }
  /// Debug transport moves the value and takes no time.
  unsigned transport_dbg(Payload& payload) override {
    protocol::WarpAccess& access = rules_.whole(payload);
    file().debug_transfer(payload, access, file().bank(payload, access));
    return payload.get_data_length();
  }

  std::uint64_t period_;
  MovePort<BankedFile> moved_out_{*this, move_reads}, moved_in_{*this, move_writes};
  std::uint64_t move_waits_ = 0;
  BankMapping mapping_;
  Payload* held_ = nullptr;               ///< the write that waits for room
  std::uint64_t held_until_ = 0;          ///< earliest admission; with an arbiter it may have to wait longer
  std::unique_ptr<BankArbiter> arbiter_;  ///< none: first come first served
  bool is_unusual_ = false;  ///< there is an arbiter, rows are switched, or reads planned: one test in the common path
  support::Calendar<Answer> answers_;  ///< answers waiting for their time
  support::CycleClient client_;
};

}  // namespace regatta::models
