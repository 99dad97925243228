// SPDX-License-Identifier: Apache-2.0
//
// Every extension point, its baseline replaced by a trivial other implementation through the assembly only.
#include <regatta/test/clock.h>
#include "harness.h"

#include <map>

using namespace regatta;
using assembly::BuildContext;
using assembly::SmParts;
using protocol::Cycle;

namespace {

/// Storage without banks that answers every access by the full four-phase protocol: accepted, END_REQ a cycle later,
/// BEGIN_RESP three cycles after the request; one request at a time per socket.
class FourPhaseStorage : public sc_core::sc_module, public protocol::OperandStorage {
 public:
  FourPhaseStorage(const sc_core::sc_module_name& name, support::ClockDomain& clock)
      : sc_module(name),
        read_port_("read_port", *this, clock.period()),
        write_port_("write_port", *this, clock.period()) {}
  protocol::OperandTargetSocket& read_socket() override { return read_port_.socket; }
  protocol::OperandTargetSocket& write_socket() override { return write_port_.socket; }
  std::uint64_t capacity_registers() const override { return 4096; }
  void kernel_started(const protocol::KernelContext& context) override {
    bytes_ = context.warp_size * trace::bytes_per_lane;
    cells_.clear();
  }
  void warp_started(const protocol::WarpInfo&) override {}
  void warp_finished(const protocol::WarpInfo&) override {}
  unsigned transfers = 0;

 private:
  struct Port : sc_core::sc_module, tlm::tlm_fw_transport_if<> {
    Port(const sc_core::sc_module_name& name, FourPhaseStorage& s, sc_core::sc_time p)
        : sc_module(name), socket("socket"), storage(s), period(p), accept("accept"), respond("respond") {
      socket.bind(*this);
      SC_HAS_PROCESS(Port);
      SC_METHOD(on_accept);
      sensitive << accept;
      dont_initialize();
      SC_METHOD(on_respond);
      sensitive << respond;
      dont_initialize();
    }
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time&) override {
      if (phase != tlm::BEGIN_REQ) return tlm::TLM_COMPLETED;
      pending = &p;
      accept.notify(2 * period);
      return tlm::TLM_ACCEPTED;
    }
    void on_accept() {
      // Read at acceptance, answer later: another request may come in between.
      storage.transfer(*pending);
      answering.push_back(pending);
      tlm::tlm_phase phase = tlm::END_REQ;
      sc_core::sc_time delay = period;
      socket->nb_transport_bw(*pending, phase, delay);
      respond.notify(3 * period);
    }
    void on_respond() {
      for (tlm::tlm_generic_payload* p : std::exchange(answering, {})) {
        tlm::tlm_phase phase = tlm::BEGIN_RESP;
        sc_core::sc_time delay = period;
        socket->nb_transport_bw(*p, phase, delay);
      }
    }
    void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&) override {}
    bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
    unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
    protocol::OperandTargetSocket socket;
    FourPhaseStorage& storage;
    sc_core::sc_time period;
    sc_core::sc_event accept, respond;
    tlm::tlm_generic_payload* pending = nullptr;
    std::vector<tlm::tlm_generic_payload*> answering;
  };

  void transfer(tlm::tlm_generic_payload& p) {
    protocol::WarpAccess& a = protocol::warp_access(p);
    auto& cell = cells_[a.warp.value() * 256u + a.reg.value()];
    auto* data = reinterpret_cast<std::uint32_t*>(p.get_data_ptr());
    for (unsigned lane = 0; lane < bytes_ / 4; ++lane) {
      if (p.is_read()) {
        data[lane] = cell.lane[lane];
      } else if ((a.lanes >> lane) & 1) {
        cell.lane[lane] = data[lane];
      }
    }
    a.origin = {"map", 0};
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    ++transfers;
  }

  Port read_port_, write_port_;
  std::map<unsigned, trace::WarpValue> cells_;
  unsigned bytes_ = 128;
};

/// Lets an SM issue only every `interval` cycles.
class Throttle : public sc_core::sc_module, public protocol::IssueGate {
 public:
  Throttle(const sc_core::sc_module_name& name, support::ClockDomain& clock, unsigned interval)
      : sc_module(name), period_(clock.period()), interval_(interval), changed_("changed") {}
  bool may_issue(const protocol::DynamicInstruction&) override { return sc_core::sc_time_stamp() >= open_at_; }
  void issued(const protocol::DynamicInstruction&) override {
    open_at_ = sc_core::sc_time_stamp() + interval_ * period_;
    changed_.notify(interval_ * period_);
    ++issues;
  }
  void written_back(const protocol::DynamicInstruction&) override { ++written; }
  const sc_core::sc_event& changed() const override { return changed_; }
  std::uint64_t issues = 0, written = 0;

 private:
  sc_core::sc_time period_, open_at_;
  unsigned interval_;
  sc_core::sc_event changed_;
};

/// Waits a few cycles with every second arithmetic instruction, then bypasses it with the result it would compute.
class SlowOracle : public sc_core::sc_module, public protocol::ReusePoint {
 public:
  SlowOracle(const sc_core::sc_module_name& name, support::ClockDomain& clock, bool wrong)
      : sc_module(name), period_(clock.period()), wrong_(wrong), changed_("changed") {}
  Decision decide(protocol::DynamicInstruction& d) override {
    const bool eligible = d.info->destination_count == 1 && d.info->destination_predicate_count == 0 &&
                          !d.info->reads_memory && !d.info->writes_memory;
    if (!eligible || d.sequence % 2 != 0) return Decision::execute;
    auto [entry, fresh] = ready_.try_emplace(&d, sc_core::sc_time_stamp() + 4 * period_);
    if (fresh) changed_.notify(4 * period_);
    if (sc_core::sc_time_stamp() < entry->second) {
      changed_.notify(entry->second - sc_core::sc_time_stamp());
      ++waits;
      return Decision::wait;
    }
    ready_.erase(entry);
    ++bypasses;
    if (wrong_ && bypasses == 7) d.results[0].lane[5] ^= 1;
    return Decision::bypass;
  }
  const sc_core::sc_event& changed() const override { return changed_; }
  std::uint64_t waits = 0, bypasses = 0;

 private:
  sc_core::sc_time period_;
  bool wrong_;
  sc_core::sc_event changed_;
  std::map<const protocol::DynamicInstruction*, sc_core::sc_time> ready_;
};

/// Drops a write whose value the register already holds, and makes every tenth result wait a while.
class SilentWrites : public sc_core::sc_module, public protocol::WritebackPoint {
 public:
  SilentWrites(const sc_core::sc_module_name& name, support::ClockDomain& clock)
      : sc_module(name), period_(clock.period()), changed_("changed") {}
  Decision decide(protocol::DynamicInstruction& d, unsigned destination) override {
    if (++calls % 10 == 0) {
      changed_.notify(3 * period_);
      ++waits;
      return Decision::wait;
    }
    trace::WarpValue& held = held_[d.warp.value() * 256u + d.info->destinations[destination]];
    bool same = true;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (((d.active >> lane) & 1) == 0) continue;
      same = same && held.lane[lane] == d.results[destination].lane[lane];
      held.lane[lane] = d.results[destination].lane[lane];
    }
    if (same && known_[d.warp.value() * 256u + d.info->destinations[destination]]++ != 0) {
      ++drops;
      return Decision::drop;
    }
    return Decision::write;
  }
  void warp_started(const protocol::WarpInfo& warp) override {
    for (unsigned r = 0; r < 256; ++r) known_[warp.warp.value() * 256u + r] = 0;
  }
  const sc_core::sc_event& changed() const override { return changed_; }
  std::uint64_t calls = 0, waits = 0, drops = 0;

 private:
  sc_core::sc_time period_;
  sc_core::sc_event changed_;
  std::map<unsigned, trace::WarpValue> held_;
  std::map<unsigned, unsigned> known_;
};

/// Two CTAs resident, one of them active; when it stalls the other takes over.
class TakeTurns : public sc_core::sc_module, public protocol::Residency {
 public:
  explicit TakeTurns(const sc_core::sc_module_name& name) : sc_module(name), changed_("changed") {}
  protocol::ResourcePlan plan(const protocol::KernelContext& c, const protocol::SmLimits& l) override {
    return protocol::ResourcePlan::conventional(c, l, 2);
  }
  Action next(const View& view) override {
    const protocol::CtaStatus* active = nullptr;
    const protocol::CtaStatus* parked = nullptr;
    for (const protocol::CtaStatus& cta : *view.ctas) {
      if (cta.active) active = &cta;
      if (!cta.active && (parked == nullptr || cta.ready)) parked = &cta;
    }
    if (active == nullptr && view.ctas->size() < 2 && view.ctas_waiting != 0) return {Action::Kind::launch, {}};
    if (active == nullptr && parked != nullptr) return {Action::Kind::switch_in, parked->cta};
    if (active != nullptr && active->stalled && (parked != nullptr ? parked->ready : view.ctas_waiting != 0)) {
      ++switches;
      return {Action::Kind::switch_out, active->cta};
    }
    return {};
  }
  const sc_core::sc_event& changed() const override { return changed_; }
  std::uint64_t switches = 0;

 private:
  sc_core::sc_event changed_;
};

class YoungestFirst : public protocol::WarpScheduler {
 public:
  unsigned pick(protocol::WarpMask ready) override {
    unsigned best = static_cast<unsigned>(__builtin_ctzll(ready));
    for (unsigned w = 0; w < 64; ++w) {
      if (((ready >> w) & 1) && age_[w] > age_[best]) best = w;
    }
    ++picks;
    return best;
  }
  void issued(unsigned) override {}
  void warp_added(unsigned warp, const protocol::ScheduledWarp& added) override { age_[warp] = added.age; }
  void warp_removed(unsigned) override {}
  static std::uint64_t picks;

 private:
  std::uint64_t age_[64] = {};
};
std::uint64_t YoungestFirst::picks = 0;

class EventCounter : public protocol::Observer {
 public:
  std::vector<protocol::Event> interests() const override {
    std::vector<protocol::Event> all;
    for (unsigned e = 0; e < protocol::event_count; ++e) all.push_back(static_cast<protocol::Event>(e));
    return all;
  }
  void kernel_started(Cycle, const protocol::KernelContext&) override { ++kernels; }
  void kernel_finished(Cycle, const protocol::KernelContext&) override { ++kernels_finished; }
  void cta_launched(Cycle, const protocol::CtaInfo&) override { ++ctas; }
  void cta_finished(Cycle, const protocol::CtaInfo&) override { ++ctas_finished; }
  void warp_started(Cycle, const protocol::WarpInfo&) override { ++warps; }
  void warp_finished(Cycle, const protocol::WarpInfo&) override { ++warps_finished; }
  void issued(Cycle, const protocol::DynamicInstruction& d) override {
    REQUIRE(d.sequence == ++last_[d.warp.value()]);
    ++issues;
  }
  void operands_delivered(Cycle, const protocol::DynamicInstruction&) override { ++deliveries; }
  void register_written(Cycle, const protocol::DynamicInstruction&, unsigned, bool) override { ++writes; }
  void retired(Cycle, const protocol::DynamicInstruction& d) override {
    if (d.traits->is_exit) last_[d.warp.value()] = 0;
    ++retirements;
  }
  void cycles(Cycle, std::uint64_t count, const std::vector<protocol::Stall>& stall) override {
    total_cycles += count;
    scheduler_cycles += count * stall.size();
  }
  std::uint64_t kernels = 0, kernels_finished = 0, ctas = 0, ctas_finished = 0, warps = 0, warps_finished = 0;
  std::uint64_t issues = 0, deliveries = 0, writes = 0, retirements = 0, total_cycles = 0, scheduler_cycles = 0;

 private:
  std::map<unsigned, std::uint64_t> last_;
};

}  // namespace

TEST_CASE("extension point: operand storage by another storage with four-phase answers") {
  const std::string path = test::mixed_trace("point_storage", 4);
  FourPhaseStorage* storage = nullptr;
  const auto r = test::simulate_with(path, [&](const BuildContext& c) {
    SmParts parts = assembly::baseline_parts(c);
    auto own = std::make_unique<FourPhaseStorage>("four_phase", c.clock);
    storage = own.get();
    parts.storage = std::move(own);
    return parts;
  });
  test::require_clean(r);
  REQUIRE(r.operands_checked > 1000);
}

TEST_CASE("extension point: issue gate by a throttle") {
  Throttle* gate = nullptr;
  std::uint64_t issues = 0, written = 0;
  test::FunctionScheme scheme([&](const BuildContext& c) {
    SmParts parts = assembly::baseline_parts(c);
    auto own = std::make_unique<Throttle>("throttle", c.clock, 20);
    gate = own.get();
    parts.gates.push_back(std::move(own));
    return parts;
  });
  const trace::Reader reader(test::mixed_trace("point_gate", 3));
  assembly::Simulation simulation({}, scheme, {}, reader);
  const auto r = simulation.run();
  issues = gate->issues;
  written = gate->written;
  test::require_clean(r);
  REQUIRE(issues == r.warp_instructions);
  REQUIRE(written == r.warp_instructions);
  REQUIRE(r.cycles >= 20 * (r.warp_instructions - 1));
  REQUIRE(r.stall_cycles[static_cast<unsigned>(protocol::Stall::issue_gate)] > 0);
}

TEST_CASE("extension point: reuse point by one that waits and bypasses") {
  SlowOracle* reuse = nullptr;
  test::FunctionScheme scheme([&](const BuildContext& c) {
    SmParts parts = assembly::baseline_parts(c);
    auto own = std::make_unique<SlowOracle>("oracle", c.clock, false);
    reuse = own.get();
    parts.reuse_point = std::move(own);
    return parts;
  });
  const trace::Reader reader(test::mixed_trace("point_reuse"));
  assembly::Simulation simulation({}, scheme, {}, reader);
  const auto r = simulation.run();
  test::require_clean(r);
  REQUIRE(reuse->bypasses > 100);
  REQUIRE(reuse->waits >= reuse->bypasses);
}

TEST_CASE("a reuse point that supplies a wrong result is caught") {
  const auto r = test::simulate_with(test::mixed_trace("wrong_reuse"), [&](const BuildContext& c) {
    SmParts parts = assembly::baseline_parts(c);
    parts.reuse_point = std::make_unique<SlowOracle>("oracle", c.clock, true);
    return parts;
  });
  REQUIRE(r.ending == assembly::Ending::value_mismatch);
  REQUIRE(r.message.find("lanes 0x20: lane 5 expected") != std::string::npos);
  REQUIRE(r.message.find(" from reuse point sm0.oracle at cycle ") != std::string::npos);
}

TEST_CASE("extension point: write-back point by one that drops silent writes") {
  SilentWrites* point = nullptr;
  test::FunctionScheme scheme([&](const BuildContext& c) {
    SmParts parts = assembly::baseline_parts(c);
    auto own = std::make_unique<SilentWrites>("silent_writes", c.clock);
    point = own.get();
    parts.writeback_point = std::move(own);
    return parts;
  });
  const trace::Reader reader(test::mixed_trace("point_writeback"));
  assembly::Simulation simulation({}, scheme, {}, reader);
  test::require_clean(simulation.run());
  REQUIRE(point->waits > 0);
  REQUIRE(point->calls > 500);
}

TEST_CASE("extension point: residency by one that takes turns between two CTAs") {
  TakeTurns* residency = nullptr;
  test::FunctionScheme scheme([&](const BuildContext& c) {
    SmParts parts = assembly::baseline_parts(c);
    auto own = std::make_unique<TakeTurns>("take_turns");
    residency = own.get();
    parts.residency = std::move(own);
    return parts;
  });
  const trace::Reader reader(test::mixed_trace("point_residency"));
  assembly::Simulation simulation({}, scheme, {}, reader);
  test::require_clean(simulation.run());
  REQUIRE(residency->switches > 10);
}

TEST_CASE("extension point: warp scheduler by youngest first") {
  const auto r = test::simulate_with(test::mixed_trace("point_scheduler"), [&](const BuildContext& c) {
    SmParts parts = assembly::baseline_parts(c);
    parts.scheduler = [] { return std::make_unique<YoungestFirst>(); };
    return parts;
  });
  test::require_clean(r);
  REQUIRE(YoungestFirst::picks >= r.warp_instructions);
}

TEST_CASE("extension point: an observer sees every event once") {
  EventCounter* observer = nullptr;
  test::FunctionScheme scheme([&](const BuildContext& c) {
    SmParts parts = assembly::baseline_parts(c);
    auto own = std::make_unique<EventCounter>();
    observer = own.get();
    parts.observers.push_back(std::move(own));
    return parts;
  });
  const trace::Reader reader(test::mixed_trace("point_observer"));
  assembly::Simulation simulation({}, scheme, {}, reader);
  const auto r = simulation.run();
  test::require_clean(r);
  REQUIRE(observer->kernels == 1);
  REQUIRE(observer->kernels_finished == 1);
  REQUIRE(observer->ctas == 12);
  REQUIRE(observer->ctas_finished == 12);
  REQUIRE(observer->warps == 48);
  REQUIRE(observer->warps_finished == 48);
  REQUIRE(observer->issues == r.warp_instructions);
  REQUIRE(observer->retirements == r.warp_instructions);
  // Barriers and the exit have no operands to collect.
  REQUIRE(observer->deliveries == r.warp_instructions - 48 * 7);
  REQUIRE(observer->writes == 48 * (2 + 6 * 7));
  // Every scheduler and cycle has exactly one reason.
  std::uint64_t reasons = 0;
  for (std::uint64_t s : r.stall_cycles) reasons += s;
  REQUIRE(reasons == observer->scheduler_cycles);
  REQUIRE(reasons == 4 * r.cycles);
  REQUIRE(observer->scheduler_cycles == 4 * observer->total_cycles);
}
