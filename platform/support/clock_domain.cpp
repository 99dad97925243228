// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/clock_domain.h>
#include <regatta/support/clock_windows.h>
#include <regatta/support/cycle_event.h>

#include <algorithm>
#include <string>
#include <utility>

namespace regatta::support {

ClockDomain::ClockDomain(const sc_core::sc_module_name& name, const sc_core::sc_time& period)
    : sc_module(name), period_(period.value()), due_(ring_size), event_("due") {
  if (period_ == 0) SC_REPORT_ERROR("regatta/clock", "a clock's period must not be zero");
  for (std::uint64_t c = 0; c < ring_size; ++c) times_.push_back(sc_core::sc_time::from_value(c * period_));
  SC_HAS_PROCESS(ClockDomain);
  SC_METHOD(run);
  sensitive << event_;
  dont_initialize();
}

ClockDomain::ClockDomain(const sc_core::sc_module_name& name, ClockDomain& trunk)
    : sc_module(name), period_(trunk.period_), origin_(trunk.origin_), due_(ring_size), event_("due"), trunk_(&trunk) {
  times_ = trunk.times_;
  trunk.branches_.push_back(this);
}

ClockDomain::~ClockDomain() {
  if (trunk_ == nullptr) return;
  auto& all = trunk_->branches_;
  all.erase(std::remove(all.begin(), all.end(), this), all.end());
}

std::uint64_t ClockDomain::cycles_run() const {
  std::uint64_t most = cycles_run_;
  for (const ClockDomain* branch : branches_) most = std::max(most, branch->cycles_run_);
  return most;
}

void ClockDomain::restart() {
  if (armed_ != no_cycle)
    SC_REPORT_ERROR("regatta/clock", (std::string(name()) + ": restarted while parts are due").c_str());
  origin_ = sc_core::sc_time_stamp();
  base_ = cycle_ = 0;
  for (ClockDomain* branch : branches_) {
    branch->origin_ = origin_;
    branch->base_ = branch->cycle_ = 0;
  }
  for (PeriodicCall& p : probes_) {
    if (p.period != 0) p.next = p.period;
  }
  find_next_probe();
}

const sc_core::sc_time& ClockDomain::long_time(std::uint64_t cycles) const {
  long_time_ = sc_core::sc_time::from_value(cycles * period_);
  return long_time_;
}

ClockDomain::Client ClockDomain::add(void (*work)(void*), void* object) {
  clients_.push_back(Entry{work, object, no_cycle});
  due_.resize((clients_.size() + 63) / 64 * ring_size);
  return static_cast<Client>(clients_.size() - 1);
}

void ClockDomain::remove(Client client) { clients_[client] = Entry{}; }

std::uint64_t ClockDomain::now_between() const {
  return std::max<std::uint64_t>(cycle_, (sc_core::sc_time_stamp() - origin_).value() / period_);
}

bool ClockDomain::on_cycle_between() const { return (sc_core::sc_time_stamp() - origin_).value() % period_ == 0; }

void ClockDomain::schedule(Client client, std::uint64_t at) {
  clients_[client].next = at;
  if (at - base_ >= ring_size) return request_far(client, at);
  mark(at, client);
  if (at < armed_) arm_at(at);
}

void ClockDomain::request_far(Client client, std::uint64_t at) {
  far_.push_back(client);
  if (at < armed_) arm_at(at);
}

void ClockDomain::arm_at(std::uint64_t at) {
  armed_ = at;
  if (trunk_ != nullptr) {
    if (at < trunk_->armed_) trunk_->arm_at(at);
    return;
  }
  event_.notify(origin_ + sc_core::sc_time::from_value(at * period_) - sc_core::sc_time_stamp());
}

std::uint64_t ClockDomain::next_due() const {
  std::uint64_t next = occupied_.next_after(base_);
  for (Client client : far_) next = std::min(next, clients_[client].next);
  return next;
}

void ClockDomain::arm() {
  armed_ = next_due();
  for (const ClockDomain* branch : branches_) armed_ = std::min(armed_, branch->armed_);
  if (armed_ != no_cycle) arm_at(armed_);
}

void ClockDomain::run() {
  const std::uint64_t first = (sc_core::sc_time_stamp() - origin_).value() / period_;
  cycle_ = first;
  running_ = true;
  armed_ = 0;
  yield_ = false;
  if (windows_ != nullptr) {
    running_ = false;
    windows_->run(first);
    arm();
    return;
  }
  run_cycle();
  while (quantum_ > 1 && !yield_) {
    const std::uint64_t next = next_due();
    if (next >= first + quantum_) break;
    // Mostly nothing is pending in the kernel, which costs less to learn than when it would be due.
    if (sc_core::sc_pending_activity(simcontext()) &&
        (next - first) * period_ >= sc_core::sc_time_to_pending_activity().value()) {
      break;
    }
    cycle_ = next;
    run_cycle();
  }
  running_ = false;
  arm();
}

bool ClockDomain::keeps_kernel_time() const {
  return trunk_ == nullptr || !running_ || trunk_->windows_ == nullptr || trunk_->windows_->by_cycles();
}

void ClockDomain::pause() {
  yield_ = true;
  // That of a branch may run on another thread: the trunk does it.
  if (trunk_ != nullptr && running_) {
    pause_ = true;
  } else {
    if (trunk_ != nullptr) trunk_->yield_ = true;
    sc_core::sc_pause();
  }
}

void ClockDomain::in_order(void (*work)(void*), void* object) {
  if (trunk_ == nullptr || !running_ || in_turn_) return work(object);
  waiting_work_ = work;
  waiting_object_ = object;
}

void ClockDomain::run_before(std::uint64_t end) {
  running_ = true;
  // A trunk's is 0 all the time, and its branches look at it from their threads.
  if (trunk_ != nullptr) armed_ = 0;
  if (unfinished_) finish_cycle();
  while (waiting_work_ == nullptr && !yield_) {
    const std::uint64_t next = next_due();
    if (next >= end) break;
    cycle_ = next;
    run_cycle();
  }
  running_ = false;
  if (trunk_ != nullptr) armed_ = next_due();  // a trunk arms when its windows are over
}

void ClockDomain::take_turn() {
  void (*const work)(void*) = std::exchange(waiting_work_, nullptr);
  running_ = in_turn_ = true;
  work(waiting_object_);
  running_ = in_turn_ = false;
}

void ClockDomain::finish_cycle() {
  unfinished_ = false;
  run_clients(rest_first_, rest_bits_);
}

ClockDomain::Probe ClockDomain::add_probe(std::uint64_t period, std::function<void(std::uint64_t)> probe) {
  if (trunk_ != nullptr) return trunk_->add_probe(period, std::move(probe));
  probes_.push_back(PeriodicCall{period, (now() / period + 1) * period, std::move(probe)});
  find_next_probe();
  return static_cast<Probe>(probes_.size() - 1);
}

void ClockDomain::remove_probe(Probe probe) {
  if (trunk_ != nullptr) return trunk_->remove_probe(probe);
  probes_[probe] = PeriodicCall{};
  find_next_probe();
}

void ClockDomain::find_next_probe() {
  probe_next_ = no_cycle;
  for (const PeriodicCall& p : probes_) probe_next_ = std::min(probe_next_, p.next);
}

void ClockDomain::look(std::uint64_t end) {
  while (probe_next_ < end) {
    const std::uint64_t at = probe_next_;
    for (PeriodicCall& p : probes_) {
      if (p.next != at) continue;
      p.next += p.period;
      p.call(at);
    }
    find_next_probe();
  }
}

void ClockDomain::cancel(Client client) {
  const std::uint64_t at = std::exchange(clients_[client].next, no_cycle);
  if (at == no_cycle) return;
  far_.erase(std::remove(far_.begin(), far_.end(), client), far_.end());
  if (at - base_ < ring_size) {
    const std::size_t slot = occupied_.slot(at);
    due_[client / 64 * ring_size + slot] &= ~(std::uint64_t{1} << (client % 64));
    bool empty = true;
    for (std::size_t first = 0; first < clients_.size(); first += 64) {
      empty = empty && due_[first / 64 * ring_size + slot] == 0;
    }
    if (empty) occupied_.clear(at);
  }
  if (at != armed_) return;
  ClockDomain& trunk = trunk_ != nullptr ? *trunk_ : *this;
  const bool is_next = at == trunk.armed_;
  armed_ = next_due();
  if (!is_next) return;
  trunk.event_.cancel();
  trunk.arm();
}

void ClockDomain::run_cycle() {
  if (probe_next_ < cycle_) look(cycle_);
  base_ = cycle_;
  if (!far_.empty()) {
    far_.erase(std::remove_if(far_.begin(), far_.end(),
                              [&](Client client) {
                                const std::uint64_t at = clients_[client].next;
                                if (at != no_cycle && at - base_ >= ring_size) return false;
                                if (at != no_cycle) mark(at, client);
                                return true;
                              }),
               far_.end());
  }
  occupied_.clear(cycle_);
  ++cycles_run_;
  run_clients(0, std::exchange(due_[occupied_.slot(cycle_)], 0));
}

void ClockDomain::run_clients(std::size_t first, std::uint64_t bits) {
  const std::size_t slot = occupied_.slot(cycle_);
  for (;;) {
    for (; bits != 0; bits &= bits - 1) {
      const auto client = static_cast<Client>(first + static_cast<unsigned>(__builtin_ctzll(bits)));
      Entry& entry = clients_[client];
      if (entry.next != cycle_) continue;  // an earlier request has overtaken this one
      entry.next = no_cycle;
      ++activations_;
      entry.work(entry.object);
      if (__builtin_expect(waiting_work_ != nullptr, 0)) {
        rest_first_ = first;
        rest_bits_ = bits & (bits - 1);
        unfinished_ = true;
        return;
      }
    }
    first += 64;
    if (first >= clients_.size()) break;
    bits = std::exchange(due_[first / 64 * ring_size + slot], 0);
  }
  if (__builtin_expect(static_cast<int>(!notified_.empty()), 0) != 0) tell_events();
}

void ClockDomain::tell_events() {
  constexpr std::size_t most = 1000000;
  // Whoever is told may notify other events.
  for (std::size_t i = 0; i < notified_.size(); ++i) {
    if (i == most) {
      SC_REPORT_ERROR("regatta/clock",
                      (std::string(name()) + ": events of cycle " + std::to_string(cycle_) +
                       " notify each other without end; expected that no cycle has more than " + std::to_string(most))
                          .c_str());
    }
    notified_[i]->tell();
  }
  notified_.clear();
}

}  // namespace regatta::support
