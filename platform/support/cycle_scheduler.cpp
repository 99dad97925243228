// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/cycle_scheduler.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace regatta::support {

CycleScheduler& CycleScheduler::of(const sc_core::sc_time& period) {
  using Key = std::pair<sc_core::sc_simcontext*, std::uint64_t>;
  static std::map<Key, std::unique_ptr<CycleScheduler>>& all = *new std::map<Key, std::unique_ptr<CycleScheduler>>;
  std::unique_ptr<CycleScheduler>& scheduler = all[{sc_core::sc_get_curr_simcontext(), period.value()}];
  if (scheduler == nullptr) {
    const std::string name = sc_core::sc_gen_unique_name("cycle_scheduler");
    scheduler.reset(new CycleScheduler(name.c_str(), period));
  }
  return *scheduler;
}

CycleScheduler::CycleScheduler(const sc_core::sc_module_name& name, const sc_core::sc_time& period)
    : sc_module(name), period_(period.value()), due_(ring_size), event_("due") {
  for (std::uint64_t c = 0; c < ring_size; ++c) times_.push_back(sc_core::sc_time::from_value(c * period_));
  SC_HAS_PROCESS(CycleScheduler);
  SC_METHOD(run);
  sensitive << event_;
  dont_initialize();
}

const sc_core::sc_time& CycleScheduler::long_time(std::uint64_t cycles) const {
  long_time_ = sc_core::sc_time::from_value(cycles * period_);
  return long_time_;
}

CycleScheduler::Client CycleScheduler::add(void (*work)(void*), void* object) {
  clients_.push_back(Entry{work, object, no_cycle});
  due_.resize((clients_.size() + 63) / 64 * ring_size);
  return static_cast<Client>(clients_.size() - 1);
}

void CycleScheduler::remove(Client client) { clients_[client] = Entry{}; }

std::uint64_t CycleScheduler::now_between() const {
  return std::max<std::uint64_t>(cycle_, sc_core::sc_time_stamp().value() / period_);
}

void CycleScheduler::schedule(Client client, std::uint64_t at) {
  clients_[client].next = at;
  if (at - base_ >= ring_size) return request_far(client, at);
  mark(at, client);
  if (at < armed_) arm_at(at);
}

void CycleScheduler::request_far(Client client, std::uint64_t at) {
  far_.push_back(client);
  if (at < armed_) arm_at(at);
}

void CycleScheduler::arm_at(std::uint64_t at) {
  armed_ = at;
  event_.notify(sc_core::sc_time::from_value(at * period_) - sc_core::sc_time_stamp());
}

std::uint64_t CycleScheduler::next_due() const {
  std::uint64_t next = occupied_.next_after(base_);
  for (Client client : far_) next = std::min(next, clients_[client].next);
  return next;
}

void CycleScheduler::arm() {
  armed_ = next_due();
  if (armed_ != no_cycle) arm_at(armed_);
}

void CycleScheduler::run() {
  const std::uint64_t first = sc_core::sc_time_stamp().value() / period_;
  cycle_ = first;
  running_ = true;
  armed_ = 0;
  yield_ = false;
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

CycleScheduler::Probe CycleScheduler::add_probe(std::uint64_t period, std::function<void(std::uint64_t)> probe) {
  probes_.push_back(PeriodicCall{period, (now() / period + 1) * period, std::move(probe)});
  find_next_probe();
  return static_cast<Probe>(probes_.size() - 1);
}

void CycleScheduler::remove_probe(Probe probe) {
  probes_[probe] = PeriodicCall{};
  find_next_probe();
}

void CycleScheduler::find_next_probe() {
  probe_next_ = no_cycle;
  for (const PeriodicCall& p : probes_) probe_next_ = std::min(probe_next_, p.next);
}

void CycleScheduler::look(std::uint64_t end) {
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

void CycleScheduler::cancel(Client client) {
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
  event_.cancel();
  arm();
}

void CycleScheduler::run_cycle() {
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
  const std::size_t slot = occupied_.slot(cycle_);
  occupied_.clear(cycle_);
  ++cycles_run_;
  for (std::size_t first = 0; first < clients_.size(); first += 64) {
    std::uint64_t bits = std::exchange(due_[first / 64 * ring_size + slot], 0);
    for (; bits != 0; bits &= bits - 1) {
      const auto client = static_cast<Client>(first + static_cast<unsigned>(__builtin_ctzll(bits)));
      Entry& entry = clients_[client];
      if (entry.next != cycle_) continue;  // an earlier request has overtaken this one
      entry.next = no_cycle;
      ++activations_;
      entry.work(entry.object);
    }
  }
}

}  // namespace regatta::support
