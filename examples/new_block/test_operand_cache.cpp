// SPDX-License-Identifier: Apache-2.0
//
// The cache on its own test bench: a register file inside, reads and writes over the sockets, no SM.
#include <regatta/baseline/register_file.h>

#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_all.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

#include "operand_cache.h"

namespace protocol = regatta::protocol;
namespace support = regatta::support;
using sc_core::SC_NS;
using sc_core::sc_time;

namespace {

constexpr unsigned warp_size = 32;
constexpr protocol::LaneMask all = regatta::trace::all_lanes(warp_size);

struct Bench : sc_core::sc_module, tlm::tlm_bw_transport_if<> {
  Bench() : sc_module("bench"), reads("reads"), writes("writes") {
    regatta::models::RegisterFileConfig file;
    file.write_queue = 2;
    new_block::OperandCacheConfig config;
    config.entries = 4;
    auto inside = std::make_unique<regatta::models::RegisterFile>("register_file", file, clock);
    register_file = inside.get();
    cache = std::make_unique<new_block::OperandCache>("cache", config, std::move(inside), clock);
    reads.bind(*this);
    writes.bind(*this);
    reads.bind(cache->read_socket());
    writes.bind(cache->write_socket());
    protocol::KernelContext context;
    context.registers_per_warp = 16;
    cache->kernel_started(context);
    for (unsigned w = 0; w < 3; ++w) {
      protocol::WarpInfo warp;
      warp.warp = protocol::WarpSlot(static_cast<std::uint16_t>(w));
      cache->warp_started(warp);
    }
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  /// A transfer, which must complete at once unless it may be held. Returns its delay in cycles.
  std::uint64_t transfer(bool write, unsigned warp, unsigned reg, protocol::WarpValue& value,
                         protocol::LaneMask lanes = all, bool may_be_held = false) {
    payloads.push_back(std::make_unique<protocol::OperandPayload>());
    last = payloads.back().get();
    last->prepare(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND,
                  protocol::WarpSlot(static_cast<std::uint16_t>(warp)),
                  protocol::RegisterId(static_cast<std::uint8_t>(reg)), lanes, warp_size, value);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_time delay = sc_core::SC_ZERO_TIME;
    auto& socket = write ? writes : reads;
    const tlm::tlm_sync_enum answer = socket->nb_transport_fw(last->payload(), phase, delay);
    held = answer == tlm::TLM_ACCEPTED;
    if (!may_be_held) REQUIRE(answer == tlm::TLM_COMPLETED);
    if (!held) REQUIRE(last->payload().get_response_status() == tlm::TLM_OK_RESPONSE);
    return delay.value() / period.value();
  }
  void write(unsigned warp, unsigned reg, std::uint32_t value, protocol::LaneMask lanes = all) {
    protocol::WarpValue data;
    data.lane.fill(value);
    transfer(true, warp, reg, data, lanes);
  }
  protocol::WarpValue read(unsigned warp, unsigned reg) {
    protocol::WarpValue data;
    data.lane.fill(0xdeadbeef);
    read_delay = transfer(false, warp, reg, data);
    return data;
  }
  /// Lets every bank become idle.
  void settle() { sc_core::sc_start(period * 100); }
  std::uint64_t stat(const std::string& name) {
    support::StatGroup group;
    cache->register_stats(group);
    for (const support::Stat& s : group.stats()) {
      if (s.name == name) return *s.counter;
    }
    return ~std::uint64_t{0};
  }

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase& phase, sc_time&) override {
    if (phase == tlm::END_REQ) return tlm::TLM_ACCEPTED;
    ++answers;
    phase = tlm::END_RESP;
    return tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  const sc_time period{1, SC_NS};
  regatta::support::ClockDomain clock{"clock", period};
  protocol::OperandInitiatorSocket reads, writes;
  std::unique_ptr<new_block::OperandCache> cache;
  regatta::models::RegisterFile* register_file = nullptr;
  std::vector<std::unique_ptr<protocol::OperandPayload>> payloads;
  protocol::OperandPayload* last = nullptr;
  std::uint64_t read_delay = 0;
  unsigned answers = 0;
  bool held = false;
};

}  // namespace

TEST_CASE("a written register is read from the cache, another one from the register file") {
  Bench b;
  b.write(1, 5, 0x1111);
  b.settle();
  REQUIRE(b.read(1, 5).lane[31] == 0x1111);
  REQUIRE(b.read_delay == 1);
  REQUIRE(std::string(b.last->access().origin.place) == "operand cache entry");
  b.write(1, 9, 0x2222);  // entry 1 again: R5 is gone from the cache, not from the register file
  b.settle();
  REQUIRE(b.read(1, 5).lane[0] == 0x1111);
  REQUIRE(b.read_delay == 2);  // arbitration and bank
  REQUIRE(std::string(b.last->access().origin.place) == "bank");
  REQUIRE(b.read(1, 5).lane[0] == 0x1111);  // and back in the cache
  REQUIRE(b.read_delay == 1);
  REQUIRE(b.stat("hits") == 2);
  REQUIRE(b.stat("misses") == 1);
  REQUIRE(b.stat("updates") == 2);
}

namespace {
void write_some_lanes(bool cached) {
  Bench b;
  b.write(0, 3, 0xaaaa);
  if (!cached) b.write(0, 7, 0);
  b.settle();
  b.write(0, 3, 0xbbbb, 0x0000ff00);
  b.settle();
  for (unsigned again = 0; again < 2; ++again) {
    const protocol::WarpValue value = b.read(0, 3);
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      REQUIRE(value.lane[lane] == (lane >= 8 && lane < 16 ? 0xbbbbu : 0xaaaau));
    }
    b.settle();
  }
}
}  // namespace

// Two cases, not sections of one: a SystemC program elaborates once, and ctest runs each case in its own process.
TEST_CASE("a write of some lanes leaves the others alone when the register is in the cache") { write_some_lanes(true); }
TEST_CASE("a write of some lanes leaves the others alone when it is not") { write_some_lanes(false); }

TEST_CASE("warps do not see each other's registers, nor a warp those of the one before it in its slot") {
  Bench b;
  b.write(0, 2, 100);
  b.write(1, 2, 101);
  b.settle();
  REQUIRE(b.read(0, 2).lane[0] == 100);
  REQUIRE(b.read(1, 2).lane[0] == 101);
  protocol::WarpInfo warp;
  warp.warp = protocol::WarpSlot(1);
  b.cache->warp_finished(warp);
  b.cache->warp_started(warp);
  b.read(1, 2);
  REQUIRE(b.stat("misses") == 1);
}

TEST_CASE("a write that the register file holds back is right when it is done") {
  Bench b;
  b.write(0, 2, 7);
  protocol::WarpValue data;
  data.lane.fill(8);
  // One bank, more writes than its queue takes: (register + warp) picks the bank.
  for (unsigned i = 0; i < 20 && !b.held; ++i) b.transfer(true, 0, 2, data, all, true);
  REQUIRE(b.held);
  REQUIRE(b.read(0, 2).lane[0] == 8);
  b.settle();
  REQUIRE(b.answers == 1);
  REQUIRE(b.read(0, 2).lane[0] == 8);
}

int sc_main(int argc, char** argv) {
  sc_core::sc_report_handler::set_actions(sc_core::SC_ERROR, sc_core::SC_THROW);
  return Catch::Session().run(argc, argv);
}
