// SPDX-License-Identifier: Apache-2.0
//
// A clock domain: its period, its present cycle, and one SC_METHOD for all its parts. A part requests to run in a
// cycle. In each requested cycle, the requesting parts run in the order of their construction; the SystemC kernel does
// nothing in all other cycles. An activation costs a few nanoseconds instead of an event notification and a process
// switch, which makes hundreds of small parts affordable.
//
// Parts of one domain may call each other across sockets: a call takes effect at least a cycle later, so the order
// within a cycle does not matter. Processes outside the domain (a test bench, a Verilated twin) may request cycles too.
//
// A domain may have branches: domains of the same clock, each with parts that the other branches' parts never call. A
// branch runs several cycles in succession, and on a thread of its own if there are some (clock_windows.h).
#pragma once

#include <regatta/support/cycle_ring.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <systemc>
#include <vector>

namespace regatta::support {

class ClockWindows;
class CycleEvent;

class ClockDomain : public sc_core::sc_module {
 public:
  /// Outlives its parts, which are given it by their constructors. `period` is a whole number of SystemC time units,
  /// not 0.
  ClockDomain(const sc_core::sc_module_name& name, const sc_core::sc_time& period);
  /// A branch of `trunk`, which is no branch itself and outlives it.
  ClockDomain(const sc_core::sc_module_name& name, ClockDomain& trunk);
  ~ClockDomain() override;

  const sc_core::sc_time& period() const { return time(1); }
  /// SystemC's time at the beginning of cycle 0.
  const sc_core::sc_time& origin() const { return origin_; }
  /// Cycle 0 begins now. Its parts must not have asked for a cycle yet, nor been told of one.
  void restart();

  using Client = std::uint32_t;
  /// The client runs `work(object)`. Clients live until the end of the simulation or until remove().
  Client add(void (*work)(void*), void* object);
  void remove(Client client);
  /// Runs the client in cycle `at`, which must be later than the present one. Only the earliest request counts; it is
  /// consumed when the client runs.
  void request(Client client, std::uint64_t at) {
    if (at < clients_[client].next) schedule(client, at);
  }
  /// Takes the client's request back: unless others run in that cycle, nothing does, and time does not go on to it.
  void cancel(Client client);
  /// The cycle in which the client will run; no_cycle: it has not asked to.
  std::uint64_t next(Client client) const { return clients_[client].next; }
  /// The present cycle; a single load while a client runs.
  std::uint64_t now() const { return __builtin_expect(running_, 1) ? cycle_ : now_between(); }
  /// Whether this is the beginning of a cycle: always while a client runs.
  bool on_cycle() const { return __builtin_expect(running_, 1) || on_cycle_between(); }
  /// Whether this is the beginning of a cycle, and `delay` has no fraction of one.
  bool whole(const sc_core::sc_time& delay) const {
    const std::uint64_t value = delay.value();
    return on_cycle() && (value == 0 || value == period_ || value % period_ == 0);
  }
  /// Lets one activation run up to `cycles` cycles ahead of SystemC time (TLM-2.0 temporal decoupling with `cycles` as
  /// the quantum). It stops at the next event pending in the SystemC kernel, so other processes run on time, but code
  /// called meanwhile sees sc_time_stamp() behind now(). Only for a simulation whose parts all keep time by cycles. 1,
  /// the default: never ahead.
  void set_quantum(std::uint64_t cycles) { quantum_ = cycles; }
  /// Returns control to the SystemC kernel after the present cycle, and pauses the simulation then.
  void pause();
  /// For what the order of branches matters to (the CTA that an SM gets next): runs `work(object)` at once, or, called
  /// by a part of a branch, when this is the earliest cycle that any branch is in and all earlier branches are through
  /// with it, on the kernel's thread. The rest of the branch's cycle waits for it, so that the caller must have nothing
  /// left to do.
  void in_order(void (*work)(void*), void* object);
  /// Whether a client is running, in now().
  bool is_running() const { return running_; }
  /// Whether SystemC's kernel may be called from a part: not in windows of several cycles or on several threads, except
  /// between cycles.
  bool keeps_kernel_time() const;
  /// Tells the event's subscribers at the end of the present cycle.
  void tell_at_end(CycleEvent& event) { notified_.push_back(&event); }
  const std::vector<ClockDomain*>& branches() const { return branches_; }
  using Probe = std::uint32_t;
  /// `probe(c)` is called for every later cycle c = period, 2 x period, ... after everything up to the end of cycle c
  /// has run and before anything later. It causes no cycle to run: after an idle stretch, several calls follow each
  /// other before the next event. Probes of one cycle are called in the order in which they were added.
  Probe add_probe(std::uint64_t period, std::function<void(std::uint64_t)> probe);
  void remove_probe(Probe probe);
  /// Outside of a cycle, when the present one is complete: makes the probe calls that are due.
  void catch_up() { look(now() + 1); }
  /// `cycles` as time.
  const sc_core::sc_time& time(std::uint64_t cycles) const {
    return cycles < times_.size() ? times_[cycles] : long_time(cycles);
  }
  /// Whole cycles of a delay; most delays are zero or one cycle.
  std::uint64_t cycles(const sc_core::sc_time& delay) const {
    const std::uint64_t value = delay.value();
    return value == 0 ? 0 : value == period_ ? 1 : value / period_;
  }
  /// Cycles in which a client ran. Of a trunk with branches: those of whichever of them all ran most.
  std::uint64_t cycles_run() const;
  /// Runs of clients.
  std::uint64_t activations() const { return activations_; }

 private:
  friend class ClockWindows;
  void run();
  void run_cycle();
  /// Runs the cycles before `end`. A branch stops in one in which a part waits for its turn (in_order()).
  void run_before(std::uint64_t end);
  /// The work that waits for its turn.
  void take_turn();
  /// The cycle that the branch is in or will be in next, as far as is known.
  std::uint64_t position() const { return unfinished_ ? cycle_ : armed_; }
  /// The rest of a cycle in which a part has waited.
  void finish_cycle();
  void run_clients(std::size_t first, std::uint64_t bits);
  [[gnu::noinline]] void tell_events();
  /// now() while no client runs; out of line to keep the common case small.
  [[gnu::noinline, gnu::cold]] std::uint64_t now_between() const;
  [[gnu::noinline, gnu::cold]] bool on_cycle_between() const;
  /// The probe calls of all cycles before `end`.
  void look(std::uint64_t end);
  void find_next_probe();
  void arm();
  std::uint64_t next_due() const;
  void mark(std::uint64_t at, Client client) {
    due_[client / 64 * ring_size + occupied_.slot(at)] |= std::uint64_t{1} << (client % 64);
    occupied_.mark(at);
  }
  /// Out of line: callers are many, and small code stays in the host's caches.
  [[gnu::noinline]] void schedule(Client client, std::uint64_t at);
  [[gnu::noinline]] void request_far(Client client, std::uint64_t at);
  [[gnu::noinline]] void arm_at(std::uint64_t at);
  const sc_core::sc_time& long_time(std::uint64_t cycles) const;

  struct Entry {
    void (*work)(void*) = nullptr;
    void* object = nullptr;
    std::uint64_t next = no_cycle;  ///< the cycle it will run in
  };
  static constexpr std::size_t ring_size = 1024;  ///< cycles that the ring of due sets reaches ahead

  std::uint64_t period_;
  sc_core::sc_time origin_;
  std::vector<Entry> clients_;
  /// For each group of 64 clients, a word per slot of the ring, a bit per client. May hold obsolete requests.
  std::vector<std::uint64_t> due_;
  CycleRing<ring_size> occupied_;
  std::vector<Client> far_;  ///< clients whose request lies beyond the ring
  std::vector<sc_core::sc_time> times_;
  mutable sc_core::sc_time long_time_;
  std::uint64_t base_ = 0;          ///< the cycle that ran last
  std::uint64_t armed_ = no_cycle;  ///< the cycle of the next activation; 0 during one, which arms at its end
  std::uint64_t cycle_ = 0;         ///< the cycle that is running, or ran last
  std::uint64_t quantum_ = 1;
  bool running_ = false;
  bool yield_ = false;
  sc_core::sc_event event_;
  ClockDomain* trunk_ = nullptr;
  std::vector<ClockDomain*> branches_;
  ClockWindows* windows_ = nullptr;  ///< of a trunk that has branches
  bool pause_ = false;
  /// A part's work that waits for its turn, and the clients that have not run in its cycle.
  void (*waiting_work_)(void*) = nullptr;
  void* waiting_object_ = nullptr;
  bool in_turn_ = false;     ///< the work is being done
  bool unfinished_ = false;  ///< its cycle
  std::size_t rest_first_ = 0;
  std::uint64_t rest_bits_ = 0;
  std::vector<CycleEvent*> notified_;  ///< in this cycle, not yet told
  std::exception_ptr error_;           ///< thrown by a part of a branch
  struct PeriodicCall {
    std::uint64_t period = 0;
    std::uint64_t next = no_cycle;
    std::function<void(std::uint64_t)> call;
  };
  std::vector<PeriodicCall> probes_;
  std::uint64_t probe_next_ = no_cycle;  ///< the cycle to be probed next
  std::uint64_t cycles_run_ = 0;
  std::uint64_t activations_ = 0;
};

/// A part's handle; removes the client when the part is destroyed.
class CycleClient {
 public:
  CycleClient(ClockDomain& clock, void (*work)(void*), void* object)
      : clock_(clock), client_(clock.add(work, object)) {}
  ~CycleClient() { clock_.remove(client_); }
  CycleClient(const CycleClient&) = delete;
  CycleClient& operator=(const CycleClient&) = delete;
  void request(std::uint64_t at) { clock_.request(client_, at); }
  void cancel() { clock_.cancel(client_); }
  /// Whether it has asked for a cycle that has not come.
  bool is_due() const { return clock_.next(client_) != no_cycle; }
  /// In cycle `at`, but not before the one after `now`.
  void request(std::uint64_t now, std::uint64_t at) { clock_.request(client_, at <= now ? now + 1 : at); }

 private:
  ClockDomain& clock_;
  ClockDomain::Client client_;
};

}  // namespace regatta::support
