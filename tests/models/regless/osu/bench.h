// SPDX-License-Identifier: Apache-2.0
//
// Staging units by themselves, with memory below and a driver that calls from between cycles.
#pragma once

#include <regatta/protocol/base_protocol_checker.h>
#include <regatta/regless/osu.h>
#include <regatta/regless/register_map.h>
#include <regatta/test/catch.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <regatta/test/clock.h>
#include <regatta/test/line_memory.h>

namespace regatta::test {

using models::LastUse;
using models::PreloadSource;
using models::UseMarks;
using protocol::LaneMask;
using protocol::RegisterId;
using protocol::WarpSlot;
using protocol::WarpValue;

inline WarpSlot warp_slot(unsigned w) { return WarpSlot(static_cast<std::uint16_t>(w)); }
inline RegisterId register_id(unsigned r) { return RegisterId(static_cast<std::uint8_t>(r)); }
inline WarpValue pattern(std::uint32_t seed) {
  WarpValue v{};
  for (unsigned i = 0; i < v.lane.size(); ++i) v.lane[i] = seed * 2654435761u + i * i * 40503u;
  return v;
}

/// What the shards told.
class Client : public models::StagingClient {
 public:
  struct Told {
    char what;  ///< p: preloaded, i: invalidated
    unsigned warp, reg;
    PreloadSource source;
    std::uint64_t cycle;
  };
  std::vector<Told> told;
  unsigned available = 0;
  std::uint64_t available_at = 0;
  std::function<std::uint64_t()> now;
  std::function<void(const Told&)> on_told;

  void preloaded(WarpSlot warp, RegisterId reg, PreloadSource source) override {
    tell({'p', warp.value(), reg.value(), source, now()});
  }
  void invalidated(WarpSlot warp, RegisterId reg) override {
    tell({'i', warp.value(), reg.value(), PreloadSource::staged, now()});
  }
  void lines_available(std::uint64_t at) override {
    ++available;
    available_at = at;
  }

 private:
  void tell(const Told& t) {
    told.push_back(t);
    if (on_told) on_told(t);
  }
};

/// An instruction with the registers it reads and writes.
struct Instruction {
  protocol::InstructionTraits traits;
  trace::StaticInstruction info;
  protocol::DynamicInstruction dynamic;
  UseMarks marks;

  Instruction(unsigned warp, const std::vector<unsigned>& reads, const std::vector<unsigned>& writes,
              LaneMask active = trace::all_lanes(32)) {
    for (unsigned r : reads) traits.reads[traits.read_count++] = register_id(r);
    for (unsigned w : writes) traits.writes[traits.write_count++] = register_id(w);
    dynamic.traits = &traits;
    dynamic.info = &info;
    dynamic.warp = warp_slot(warp);
    dynamic.active = active;
  }
  Instruction(const Instruction&) = delete;
  Instruction& operator=(const Instruction&) = delete;
};

/// The initiator of operand transfers.
class Driver : public sc_core::sc_module, tlm::tlm_bw_transport_if<> {
 public:
  protocol::OperandInitiatorSocket reads{"reads"}, writes{"writes"};
  unsigned held_answers = 0;  ///< writes that were held and have been answered
  bool holding = false;       ///< a write is held

  explicit Driver(const sc_core::sc_module_name& name) : sc_module(name) {
    reads.bind(*this);
    writes.bind(*this);
  }

 private:
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase& phase, sc_core::sc_time&) override {
    ++held_answers;
    holding = false;
    phase = tlm::END_RESP;
    return tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

/// The units' knobs, and their place.
struct Sizes : models::OsuConfig, models::RegisterSpace {
  unsigned lines_per_bank() const { return OsuConfig::lines_per_bank(*this); }
};

class Bench {
 public:
  explicit Bench(const Sizes& c = one_shard(4), unsigned registers = 32, unsigned seed = 1)
      : config(c), period(1, sc_core::SC_NS), unit("osu", config, config, test::clock(period)), driver("driver") {
    driver.reads.bind(unit.reads);
    driver.writes.bind(unit.writes);
    client.now = [this] { return now(); };
    for (unsigned s = 0; s < config.shards; ++s) {
      memories.push_back(
          std::make_unique<LineMemory>(("memory" + std::to_string(s)).c_str(), test::clock(period), seed + s));
      checkers.push_back(
          std::make_unique<protocol::BaseProtocolChecker<256>>(("check_memory" + std::to_string(s)).c_str()));
      unit.memory(s).bind(checkers[s]->in);
      checkers[s]->out.bind(memories[s]->socket);
      unit.shard(s).connect(client);
    }
    protocol::KernelContext context;
    context.registers_per_warp = registers;
    context.warp_size = 32;
    unit.kernel_started(context);
    for (unsigned w = 0; w < config.warps; ++w) unit.warp_started(info(w));
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  /// 8 banks of `lines` lines, one shard.
  static Sizes one_shard(unsigned lines) {
    Sizes c;
    c.shards = 1;
    c.warps = 8;
    c.entries = 8 * lines;
    return c;
  }
  static protocol::WarpInfo info(unsigned w) {
    protocol::WarpInfo i;
    i.warp = warp_slot(w);
    return i;
  }
  models::StagingUnit& shard(unsigned s = 0) { return unit.shard(s); }
  models::StagingUnit& shard_of(unsigned warp) { return unit.shard(warp % config.shards); }
  LineMemory& memory() { return *memories[0]; }

  std::uint64_t now() const { return test::clock(period).now(); }
  void wait(std::uint64_t cycles = 1) {
    for (; cycles != 0; --cycles) {
      sc_core::sc_start(period);
      const std::string wrong = unit.check();
      if (!wrong.empty()) FAIL(wrong);
    }
  }
  /// Delay of the answer in cycles; ~0 when it was held.
  std::uint64_t read(unsigned warp, unsigned reg, WarpValue& value, protocol::Origin* origin = nullptr) {
    return transfer(driver.reads, tlm::TLM_READ_COMMAND, warp, reg, trace::all_lanes(32), value, origin);
  }
  std::uint64_t write(unsigned warp, unsigned reg, const WarpValue& value, LaneMask lanes = trace::all_lanes(32)) {
    values_.push_back(value);
    return transfer(driver.writes, tlm::TLM_WRITE_COMMAND, warp, reg, lanes, values_.back(), nullptr);
  }
  /// Issues an instruction without operands of interest that writes `reg`, and writes it at once.
  void define(unsigned warp, unsigned reg, const WarpValue& value, LastUse mark = LastUse::none,
              LaneMask lanes = trace::all_lanes(32)) {
    Instruction i(warp, {}, {reg}, lanes);
    i.marks.writes[0] = mark;
    REQUIRE(shard_of(warp).can_issue(i.dynamic));
    shard_of(warp).issued(i.dynamic, i.marks);
    write(warp, reg, value, lanes);
  }
  /// Ends the warp's region.
  void end(unsigned warp, const std::vector<unsigned>& erase = {}) {
    protocol::GeneralRegisters e{};
    for (unsigned r : erase) e[r >> 6] |= std::uint64_t{1} << (r & 63);
    shard_of(warp).region_ended(warp_slot(warp), e);
  }
  void preload(unsigned warp, unsigned reg, bool last = false) {
    shard_of(warp).preload(warp_slot(warp), register_id(reg), last);
  }
  void invalidate(unsigned warp, unsigned reg) { shard_of(warp).invalidate(warp_slot(warp), register_id(reg)); }
  std::uint64_t statistic(const std::string& name, unsigned s = 0) {
    support::StatGroup group;
    dynamic_cast<support::StatProvider&>(unit.shard(s)).register_stats(group);
    for (const auto& x : group.stats()) {
      if (x.name == name) return *x.counter;
    }
    FAIL("no statistic " << name);
    return 0;
  }
  /// A statistic of a bank.
  std::uint64_t bank_statistic(unsigned bank, const std::string& name) {
    auto* b = sc_core::sc_find_object(("osu.shard0.bank" + std::to_string(bank)).c_str());
    support::StatGroup group;
    dynamic_cast<support::StatProvider&>(*b).register_stats(group);
    for (const auto& x : group.stats()) {
      if (x.name == name) return *x.counter;
    }
    FAIL("no statistic " << name);
    return 0;
  }
  /// Nothing is left, and all has gone by the rules.
  void finish() {
    for (unsigned i = 0; i < 2000 && !unit.idle(); ++i) wait();
    CHECK(unit.idle());
    for (auto& c : checkers) {
      c->finish();
      CHECK(c->rules().violations() == 0);
    }
    for (auto& m : memories) CHECK(m->fault == "");
  }

  Sizes config;
  const sc_core::sc_time period;
  models::Osu unit;
  Driver driver;
  std::vector<std::unique_ptr<LineMemory>> memories;
  std::vector<std::unique_ptr<protocol::BaseProtocolChecker<256>>> checkers;
  Client client;

 private:
  std::uint64_t transfer(protocol::OperandInitiatorSocket& socket, tlm::tlm_command command, unsigned warp,
                         unsigned reg, LaneMask lanes, WarpValue& value, protocol::Origin* origin) {
    payloads_.push_back(std::make_unique<protocol::OperandPayload>());
    protocol::OperandPayload& p = *payloads_.back();
    p.prepare(command, warp_slot(warp), register_id(reg), lanes, 32, value);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    if (socket->nb_transport_fw(p.payload(), phase, delay) == tlm::TLM_ACCEPTED) {
      driver.holding = true;
      return ~std::uint64_t{0};
    }
    if (origin != nullptr) *origin = p.access().origin;
    const std::uint64_t cycles = delay.value() / period.value();
    payloads_.pop_back();
    if (command == tlm::TLM_WRITE_COMMAND) values_.pop_back();
    return cycles;
  }
  std::vector<std::unique_ptr<protocol::OperandPayload>> payloads_;
  std::deque<WarpValue> values_;
};

inline bool same(const WarpValue& a, const WarpValue& b, unsigned lanes = 32) {
  return std::equal(a.lane.begin(), a.lane.begin() + lanes, b.lane.begin());
}

}  // namespace regatta::test
