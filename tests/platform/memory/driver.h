// SPDX-License-Identifier: Apache-2.0
//
// A test's stand-in for an SM: sends requests in order, one per cycle at most, and notes when each was answered.
#pragma once

#include <regatta/memory/l1_cache.h>
#include <regatta/memory/memory_system.h>
#include <regatta/protocol/base_protocol_checker.h>
#include <regatta/protocol/payload.h>
#include <regatta/test/clock.h>

#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

namespace regatta::test {

using protocol::AccessClass;

inline sc_core::sc_time cycle_time() { return sc_core::sc_time(888, sc_core::SC_PS); }
inline std::uint64_t now_cycle() { return sc_core::sc_time_stamp().value() / cycle_time().value(); }

/// One request and what became of it. Times are cycles; `done` is the effective time of the answer.
struct Request {
  std::uint64_t cycle = 0;  ///< not before
  AccessClass access = AccessClass::data_load;
  std::uint64_t address = 0;
  std::uint8_t sectors = 0xf;
  unsigned char fill = 0;  ///< register writes: first byte of the line, the others follow from it
  std::uint64_t sent = 0, accepted = 0, done = 0;
  bool hit = false;  ///< answered with the return of BEGIN_REQ
  bool finished = false;
  bool bypass_l1 = false;
  bool last = false;  ///< register reads: nobody will read the line again
  protocol::Supplier supplier = protocol::Supplier::unknown;
  std::vector<unsigned char> bytes;  ///< register reads: what came
};

/// An L1 that caches data.
inline memory::L1Config caching() {
  memory::L1Config l1;
  l1.data_policy = "cache";
  l1.hit_latency = 35;
  return l1;
}

inline unsigned char byte_of(unsigned char fill, unsigned i) { return static_cast<unsigned char>(fill * 7 + i * 13); }

class Driver : public sc_core::sc_module, public tlm::tlm_bw_transport_if<> {
 public:
  protocol::MemoryInitiatorSocket socket{"socket"};
  unsigned response_delay = 0;  ///< cycles before END_RESP; 0: TLM_COMPLETED at once
  unsigned request_delay = 0;   ///< cycles ahead of time that requests are sent
  std::uint16_t sm = 0;

  Driver(const sc_core::sc_module_name& name, unsigned line_bytes = 128)
      : sc_module(name), line_bytes_(line_bytes), pool_(line_bytes) {
    socket.bind(*this);
    SC_HAS_PROCESS(Driver);
    SC_METHOD(send);
    sensitive << send_event_;
    SC_METHOD(end_response);
    sensitive << response_event_;
    dont_initialize();
  }
  std::size_t add(std::uint64_t cycle, AccessClass access, std::uint64_t address, std::uint8_t sectors = 0xf,
                  unsigned char fill = 0) {
    Request r;
    r.cycle = cycle;
    r.access = access;
    r.address = address;
    r.sectors = sectors;
    r.fill = fill;
    requests.push_back(r);
    return requests.size() - 1;
  }
  std::vector<Request> requests;
  std::size_t finished = 0;
  std::size_t outstanding() const { return pool_.outstanding(); }
  std::uint64_t latency(std::size_t i) const { return requests[i].done - requests[i].sent; }
  /// Called when a request is sent, before it is.
  std::function<void(Request&)> on_send;
  std::function<void(Request&)> on_done;

 private:
  void send() {
    const std::uint64_t now = now_cycle();
    if (waiting_ != nullptr || next_ == requests.size()) return;
    Request& r = requests[next_];
    const std::uint64_t at = std::max(r.cycle, free_at_);
    if (at > now) {
      send_event_.notify(cycle_time() * static_cast<double>(at - now));
      return;
    }
    const std::size_t index = next_++;
    if (on_send) on_send(r);
    const bool write = memory::is_store(r.access) || r.access == AccessClass::register_write;
    tlm::tlm_generic_payload* p = pool_.take(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, r.address);
    protocol::MemoryAccess& a = protocol::memory_access(*p);
    a.access = r.access;
    a.sm = sm;
    a.sectors = r.sectors;
    a.tag = static_cast<std::uint32_t>(index);
    for (unsigned i = 0; i < line_bytes_; ++i) p->get_data_ptr()[i] = write ? byte_of(r.fill, i) : 0xee;
    r.sent = now;
    a.last_read = r.last;
    a.bypass_l1 = r.bypass_l1;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = cycle_time() * request_delay;
    free_at_ = now + 1;
    waiting_ = p;
    const tlm::tlm_sync_enum sync = socket->nb_transport_fw(*p, phase, delay);
    if (sync == tlm::TLM_COMPLETED) {
      waiting_ = nullptr;
      requests[index].accepted = now;
      requests[index].hit = true;
      done(*p, now + delay.value() / cycle_time().value());
    } else if (sync == tlm::TLM_UPDATED) {
      waiting_ = nullptr;
      requests[index].accepted = now;
      free_at_ = now + delay.value() / cycle_time().value();
    } else if (waiting_ != nullptr) {
      return;  // END_REQ will start the next one
    }
    if (next_ < requests.size()) {
      send_event_.notify(cycle_time() * static_cast<double>(std::max(requests[next_].cycle, free_at_) - now));
    }
  }
  void done(tlm::tlm_generic_payload& p, std::uint64_t at) {
    Request& r = requests[protocol::memory_access(p).tag];
    if (r.finished) throw std::runtime_error("a request was answered twice");
    if (p.get_response_status() != tlm::TLM_OK_RESPONSE) throw std::runtime_error("a request failed");
    r.done = at;
    r.supplier = protocol::memory_access(p).supplier;
    r.finished = true;
    ++finished;
    if (r.access == AccessClass::register_read) r.bytes.assign(p.get_data_ptr(), p.get_data_ptr() + line_bytes_);
    if (on_done) on_done(r);
    p.release();
  }
  void end_response() {
    tlm::tlm_generic_payload& p = *answering_;
    answering_ = nullptr;
    tlm::tlm_phase phase = tlm::END_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    socket->nb_transport_fw(p, phase, delay);
    done(p, answered_at_);
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    const std::uint64_t at = now_cycle() + delay.value() / cycle_time().value();
    if (phase == tlm::END_REQ || waiting_ == &p) {
      requests[protocol::memory_access(p).tag].accepted = at;
      waiting_ = nullptr;
      free_at_ = at;
      send_event_.notify(delay);
    }
    if (phase == tlm::END_REQ) return tlm::TLM_ACCEPTED;
    if (response_delay == 0) {
      done(p, at);
      return tlm::TLM_COMPLETED;
    }
    answering_ = &p;
    answered_at_ = at;
    response_event_.notify(delay + cycle_time() * static_cast<double>(response_delay));
    return tlm::TLM_ACCEPTED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  unsigned line_bytes_;
  protocol::MemoryPayloadPool pool_;
  sc_core::sc_event send_event_, response_event_;
  std::size_t next_ = 0;
  std::uint64_t free_at_ = 0;
  tlm::tlm_generic_payload* waiting_ = nullptr;
  tlm::tlm_generic_payload* answering_ = nullptr;
  std::uint64_t answered_at_ = 0;
};

/// Drivers, L1s and a memory system with a checker on every socket between them.
class Bench {
 public:
  using Checker = protocol::BaseProtocolChecker<256>;
  Bench(memory::MemorySystemConfig config, memory::L1Config l1_config, bool inner_checkers = true,
        const std::string& prefix = "", bool drivers_first = false)
      : config_(config), prefix_(prefix) {
    sms = config.simulated_sms;
    if (drivers_first) make_drivers();
    if (inner_checkers) {
      config.check();
      interconnect = std::make_unique<memory::Interconnect>((prefix_ + "interconnect").c_str(), config, sms,
                                                            test::clock(cycle_time()));
      for (unsigned i = 0; i < config.l2.partitions; ++i) {
        l2.push_back(std::make_unique<memory::L2Partition>(name("l2", i).c_str(), config, test::clock(cycle_time())));
        dram.push_back(
            std::make_unique<memory::DramChannel>(name("dram", i).c_str(), config, test::clock(cycle_time())));
        connect(interconnect->downstream[i], l2[i]->upstream, name("check_l2", i));
        connect(l2[i]->downstream, dram[i]->upstream, name("check_dram", i));
      }
    } else {
      system = std::make_unique<memory::MemorySystem>((prefix_ + "memory").c_str(), config, test::clock(cycle_time()));
    }
    if (!drivers_first) make_drivers();
    for (unsigned i = 0; i < sms; ++i) {
      l1.push_back(std::make_unique<memory::L1Cache>(name("l1", i).c_str(), l1_config, test::clock(cycle_time())));
      connect(drivers[i]->socket, l1[i]->upstream, name("check_l1", i));
      connect(l1[i]->downstream, inner_checkers ? interconnect->upstream[i] : system->upstream()[i],
              name("check_interconnect", i));
    }
  }
  Driver& driver() { return *drivers[0]; }
  /// Runs until nothing is left to do; "" or what is wrong at the end.
  std::string run() {
    sc_core::sc_start();
    return left_over();
  }
  std::string left_over() {
    for (auto& d : drivers) {
      if (d->finished != d->requests.size()) {
        return std::to_string(d->requests.size() - d->finished) + " requests unanswered";
      }
      if (d->outstanding() != 0) return "payloads of the driver left";
    }
    for (auto& x : l1) {
      if (!x->idle() || x->outstanding() != 0) return "L1 not idle";
    }
    if (interconnect && !interconnect->idle()) return "interconnect not idle";
    for (auto& x : l2) {
      if (!x->idle() || x->outstanding() != 0) return "L2 not idle";
    }
    for (auto& x : dram) {
      if (!x->idle()) return "DRAM not idle";
    }
    if (system && (!system->idle() || system->outstanding() != 0)) return "memory system not idle";
    for (auto& c : checkers) {
      c->finish();
      if (c->rules().violations() != 0) return "protocol violated";
    }
    return "";
  }
  static std::uint64_t stat(support::StatProvider& p, const std::string& name) {
    support::StatGroup g("x");
    p.register_stats(g);
    for (const support::Stat& s : g.stats()) {
      if (s.name == name) return s.counter != nullptr ? *s.counter : static_cast<std::uint64_t>(s.value());
    }
    throw std::runtime_error("no statistic " + name);
  }
  const memory::MemorySystemConfig& config() const { return config_; }

  unsigned sms = 1;
  std::vector<std::unique_ptr<Driver>> drivers;
  std::vector<std::unique_ptr<memory::L1Cache>> l1;
  std::unique_ptr<memory::Interconnect> interconnect;
  std::unique_ptr<memory::MemorySystem> system;
  std::vector<std::unique_ptr<memory::L2Partition>> l2;
  std::vector<std::unique_ptr<memory::DramChannel>> dram;
  std::vector<std::unique_ptr<Checker>> checkers;

 private:
  void make_drivers() {
    for (unsigned i = 0; i < sms; ++i) {
      drivers.push_back(std::make_unique<Driver>(name("sm", i).c_str(), config_.l2.line_bytes));
      drivers[i]->sm = static_cast<std::uint16_t>(i);
    }
  }
  std::string name(const char* stem, unsigned i) const { return prefix_ + stem + "_" + std::to_string(i); }
  void connect(protocol::MemoryInitiatorSocket& from, protocol::MemoryTargetSocket& to, const std::string& name) {
    checkers.push_back(std::make_unique<Checker>(name.c_str()));
    from.bind(checkers.back()->in);
    checkers.back()->out.bind(to);
  }
  memory::MemorySystemConfig config_;
  std::string prefix_;
};

/// gtx980 with one SM.
inline memory::MemorySystemConfig gtx980() { return memory::MemorySystemConfig{}; }
/// The same with one access time for DRAM: for what is about the caches.
inline memory::MemorySystemConfig fixed_dram() {
  memory::MemorySystemConfig c;
  c.dram.scheduler = "fixed";
  return c;
}

}  // namespace regatta::test
