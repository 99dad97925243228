// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/cycle_scheduler.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>

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
    : sc_module(name), period_(period.value()), event_("due") {
  SC_HAS_PROCESS(CycleScheduler);
  SC_METHOD(run);
  sensitive << event_;
  dont_initialize();
}

CycleScheduler::Client CycleScheduler::add(void (*work)(void*), void* object) {
  clients_.push_back(Entry{work, object, no_cycle});
  return static_cast<Client>(clients_.size() - 1);
}

void CycleScheduler::remove(Client client) { clients_[client] = Entry{}; }

void CycleScheduler::request(Client client, std::uint64_t at) {
  Entry& entry = clients_[client];
  if (at >= entry.next) return;
  entry.next = at;
  calendar_.schedule(at, client);
  if (!running_ && at < armed_) {
    armed_ = at;
    event_.notify(sc_core::sc_time::from_value(at * period_) - sc_core::sc_time_stamp());
  }
}

void CycleScheduler::arm() {
  armed_ = calendar_.next();
  if (armed_ != no_cycle) event_.notify(sc_core::sc_time::from_value(armed_ * period_) - sc_core::sc_time_stamp());
}

void CycleScheduler::run() {
  const std::uint64_t cycle = now();
  running_ = true;
  due_.clear();
  calendar_.drain(cycle, [&](Client client) {
    // A request that an earlier one has overtaken is stale.
    if (clients_[client].next != cycle) return;
    clients_[client].next = no_cycle;
    due_.push_back(client);
  });
  std::sort(due_.begin(), due_.end());
  ++cycles_run_;
  activations_ += due_.size();
  for (Client client : due_) {
    const Entry entry = clients_[client];
    if (entry.work != nullptr) entry.work(entry.object);
  }
  running_ = false;
  arm();
}

}  // namespace regatta::support
