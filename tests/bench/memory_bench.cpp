// SPDX-License-Identifier: Apache-2.0
// Host time of a line through the memory system. A SystemC program elaborates once, so every machine measured is
// made before the first benchmark; those not in use have no event and cost nothing.
#include <regatta/memory/l1_cache.h>
#include <regatta/memory/memory_system.h>
#include <regatta/test/clock.h>

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

using namespace regatta;
using protocol::AccessClass;

namespace {

const sc_core::sc_time period(888, sc_core::SC_PS);

/// Sends `count` requests at consecutive lines, one every `gap` cycles, and drops the answers.
class Source : public sc_core::sc_module, public tlm::tlm_bw_transport_if<> {
 public:
  protocol::MemoryInitiatorSocket socket{"socket"};
  AccessClass access = AccessClass::data_load;
  std::uint64_t stride = 128, wrap = ~std::uint64_t{0}, gap = 1;

  explicit Source(const sc_core::sc_module_name& name) : sc_module(name), pool_(128) {
    socket.bind(*this);
    SC_HAS_PROCESS(Source);
    SC_METHOD(send);
    sensitive << event_;
    dont_initialize();
  }
  void start(std::uint64_t count) {
    left_ = count;
    event_.notify(period);
  }

 private:
  void send() {
    if (left_ == 0 || waiting_) return;
    --left_;
    const bool write = access == AccessClass::data_store || access == AccessClass::register_write;
    tlm::tlm_generic_payload* p = pool_.take(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, address_ % wrap);
    address_ += stride;
    protocol::memory_access(*p).access = access;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const tlm::tlm_sync_enum sync = socket->nb_transport_fw(*p, phase, delay);
    if (sync == tlm::TLM_COMPLETED) p->release();
    if (sync == tlm::TLM_ACCEPTED) {
      waiting_ = true;
    } else if (left_ != 0) {
      event_.notify(period * static_cast<double>(gap));
    }
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (phase == tlm::END_REQ) {
      waiting_ = false;
      event_.notify(delay);
      return tlm::TLM_ACCEPTED;
    }
    p.release();
    return tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  protocol::MemoryPayloadPool pool_;
  sc_core::sc_event event_;
  std::uint64_t left_ = 0, address_ = 0;
  bool waiting_ = false;
};

struct Machine {
  Machine(const std::string& name, const memory::MemorySystemConfig& config, const memory::L1Config& l1_config)
      : source((name + "_sm").c_str()),
        l1((name + "_l1").c_str(), l1_config, test::clock(period)),
        system((name + "_memory").c_str(), config, test::clock(period)) {
    source.socket.bind(l1.upstream);
    l1.downstream.bind(system.upstream()[0]);
  }
  Source source;
  memory::L1Cache l1;
  memory::MemorySystem system;
};

void measure(benchmark::State& state, Machine* machine) {
  constexpr std::uint64_t lines = 2000;
  const sc_core::sc_time start = sc_core::sc_time_stamp();
  for (auto _ : state) {
    machine->source.start(lines);
    sc_core::sc_start();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * lines));
  state.counters["time_per_line"] = benchmark::Counter(static_cast<double>(state.iterations() * lines),
                                                       benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["cycles_per_line"] =
      (sc_core::sc_time_stamp() - start) / period / static_cast<double>(state.iterations() * lines);
}

}  // namespace

int sc_main(int argc, char** argv) {
  memory::MemorySystemConfig config;
  memory::L1Config l1;
  std::vector<std::unique_ptr<Machine>> machines;
  const auto add = [&](const std::string& name) -> Source& {
    machines.push_back(std::make_unique<Machine>(name, config, l1));
    Machine* machine = machines.back().get();
    benchmark::RegisterBenchmark(name.c_str(), [machine](benchmark::State& s) { measure(s, machine); });
    return machine->source;
  };
  add("miss_to_dram_streaming");
  add("miss_to_dram_sparse").gap = 500;
  add("l2_hit_streaming").wrap = 64 * 128;
  add("store_streaming").access = AccessClass::data_store;
  {
    Source& s = add("register_write_evicting");
    s.access = AccessClass::register_write;
    s.wrap = 2048 * 128;
  }
  l1.data_policy = "cache";
  add("l1_hit").wrap = 64 * 128;
  add("cached_miss_streaming");

  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
