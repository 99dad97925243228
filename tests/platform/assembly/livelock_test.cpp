// SPDX-License-Identifier: Apache-2.0
//
// Runs in which cycles pass and somebody tries for ever, and no instruction issues or completes: reported like a
// deadlock, with who holds what.
#include <regatta/test/clock.h>
#include "wrong_parts.h"

#include <map>
#include <memory>
#include <set>
#include <utility>

using namespace regatta;
using assembly::SmParts;
using Catch::Matchers::Contains;
using protocol::DynamicInstruction;
using test::FunctionGate;
using test::HookedStorage;

namespace {

constexpr unsigned patience = 5000;

std::string livelock(const std::string& name, const std::function<void(SmParts&)>& change) {
  assembly::MachineConfig machine;
  machine.sm.watchdog_cycles = patience;
  const std::string message = test::outcome("livelock_" + name, change, false, machine);
  CHECK_THAT(message, Contains("deadlock: launch 0 (hand_made) stopped at cycle "));
  CHECK_THAT(message, Contains(": no instruction issued or completed and no memory access answered for 5000 cycles "
                               "(sm.watchdog)\n"));
  return message;
}

/// Takes reads, and tries in every cycle, in vain, to answer them.
class Retrying : public HookedStorage {
 public:
  explicit Retrying(const sc_core::sc_module_name& name)
      : HookedStorage(
            name,
            [](HookedStorage& s, Payload&, tlm::tlm_phase& phase, sc_core::sc_time&) {
              static_cast<Retrying&>(s).retry();
              phase = tlm::END_REQ;
              return tlm::TLM_UPDATED;
            },
            nullptr) {}

 private:
  void retry() {
    later(test::wrong_parts_period, [this] { retry(); });
  }
};

/// The same, on the clock domain's scheduler.
class ClockedRetrying : public HookedStorage {
 public:
  explicit ClockedRetrying(const sc_core::sc_module_name& name)
      : HookedStorage(
            name,
            [](HookedStorage& s, Payload&, tlm::tlm_phase& phase, sc_core::sc_time&) {
              static_cast<ClockedRetrying&>(s).retry();
              phase = tlm::END_REQ;
              return tlm::TLM_UPDATED;
            },
            nullptr),
        client_(
            test::machine_clock(), [](void* s) { static_cast<ClockedRetrying*>(s)->retry(); }, this) {}
  bool keeps_cycle_time() const override { return true; }

 private:
  void retry() { client_.request(test::machine_clock().now() + 1); }
  support::CycleClient client_;
};

/// Has all wait, and looks again in every cycle.
class RestlessReuse : public sc_core::sc_module, public protocol::ReusePoint {
 public:
  explicit RestlessReuse(const sc_core::sc_module_name& name) : sc_module(name), changed_("changed") {}
  Decision decide(DynamicInstruction&) override {
    changed_.notify(test::wrong_parts_period);
    return Decision::wait;
  }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  sc_core::sc_event changed_;
};

}  // namespace

TEST_CASE("livelock: a gate that pauses every warp again and again") {
  CHECK_THAT(livelock("pause",
                      [](SmParts& parts) {
                        parts.gates.push_back(
                            std::make_unique<FunctionGate>("dozy", [](FunctionGate& g, const DynamicInstruction& d) {
                              g.listener->pause(d.warp, g.now() + 7);
                              return false;
                            }));
                      }),
             Contains("issue gate sm0.dozy "));
}

TEST_CASE("livelock: a gate that puts a move before every instruction for ever") {
  CHECK_THAT(livelock("moves",
                      [](SmParts& parts) {
                        auto gate =
                            std::make_unique<FunctionGate>("mover", [](FunctionGate& g, const DynamicInstruction& d) {
                              // R2 is written at PC 0x18 and read by nothing before: the move can always go.
                              if (d.injected || d.traits->index < 3) return true;
                              g.injector->move(d.warp, protocol::RegisterId(0));
                              return false;
                            });
                        parts.gates.push_back(std::move(gate));
                      }),
             Contains("sm0.mover "));
}

TEST_CASE("livelock: a reuse point that has all wait and looks again in every cycle") {
  CHECK_THAT(livelock("reuse", [](SmParts& parts) { parts.reuse_point = std::make_unique<RestlessReuse>("restless"); }),
             Contains("reuse point sm0.restless has the instruction wait: 8 warps (0-7), since cycle "));
}

TEST_CASE("livelock: a storage that tries in a process of its own while the SM sleeps") {
  CHECK_THAT(livelock("process",
                      [](SmParts& parts) {
                        parts.storage.reset();
                        parts.storage = std::make_unique<Retrying>("trying");
                      }),
             Contains("operand storage sm0.trying has not answered reads: 8 warps (0-7), since cycle "));
}

TEST_CASE("livelock: a storage that tries on the clock while the SM sleeps") {
  CHECK_THAT(livelock("clocked",
                      [](SmParts& parts) {
                        parts.storage.reset();
                        parts.storage = std::make_unique<ClockedRetrying>("trying");
                      }),
             Contains("operand storage sm0.trying has not answered reads: 8 warps (0-7), since cycle "));
}

TEST_CASE("livelock: trying for long is none as long as something comes of it") {
  assembly::MachineConfig machine;
  machine.sm.watchdog_cycles = patience;
  // One instruction of the SM in 600 cycles, in all of which the gate is asked about others.
  const std::string said = test::outcome(
      "livelock_none",
      [](SmParts& parts) {
        // Within a cycle the answer stays what it was, as the contract asks.
        auto open_in = std::make_shared<std::uint64_t>(0);
        const auto answer = [open_in](FunctionGate& g, const DynamicInstruction&) {
          g.notify();
          const std::uint64_t now = g.now().value();
          if (now >= *open_in + 600) *open_in = now;
          return now == *open_in;
        };
        parts.gates.push_back(std::make_unique<FunctionGate>("slow", answer));
      },
      false, machine);
  CHECK(said.empty());
}

TEST_CASE("livelock: a sleep of any length is none") {
  assembly::MachineConfig machine;
  machine.sm.watchdog_cycles = patience;
  machine.memory.dram.latency = 50 * patience;
  CHECK(test::outcome(
            "livelock_sleep", [](SmParts&) {}, false, machine)
            .empty());
}

namespace {

/// Has the SM, or with `own` a process beside it, look again in every cycle in which a warp is resident.
class Nudge : public FunctionGate {
 public:
  Nudge(const sc_core::sc_module_name& name, bool own)
      : FunctionGate(name, [](FunctionGate&, const DynamicInstruction&) { return true; }),
        own_(own),
        client_(
            test::machine_clock(), [](void* g) { static_cast<Nudge*>(g)->nudge(); }, this) {
    on_warp = [this](FunctionGate&, const protocol::WarpInfo&) {
      if (resident_++ == 0) client_.request((now() + 1).value());
    };
  }
  void warp_finished(const protocol::WarpInfo&) override { --resident_; }

 private:
  void nudge() {
    if (resident_ == 0) return;
    if (!own_) listener->reconsider(now() + 1);
    client_.request((now() + 1).value());
  }
  bool own_;
  unsigned resident_ = 0;
  support::CycleClient client_;
};

/// Takes accesses at once, and answers them long after.
tlm::tlm_sync_enum slow(HookedStorage&, HookedStorage::Payload&, tlm::tlm_phase&, sc_core::sc_time& delay) {
  delay += 900 * test::wrong_parts_period;
  return tlm::TLM_COMPLETED;
}

/// Holds each result for a while.
class Hesitant : public sc_core::sc_module, public protocol::WritebackPoint {
 public:
  Hesitant(const sc_core::sc_module_name& name, unsigned cycles, bool for_ever)
      : sc_module(name), cycles_(cycles), for_ever_(for_ever), changed_("changed") {}
  unsigned arrive(DynamicInstruction& d) override {
    if (!for_ever_ && !seen_.insert({d.warp.value(), d.sequence}).second) return 0;
    return cycles_;
  }
  Decision decide(DynamicInstruction&, unsigned) override { return Decision::write; }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  unsigned cycles_;
  bool for_ever_;
  std::set<std::pair<unsigned, std::uint64_t>> seen_;
  sc_core::sc_event changed_;
};

}  // namespace

TEST_CASE("livelock: a slow machine is none, whoever is awake meanwhile") {
  using assembly::MachineConfig;
  struct Slow {
    const char* name;
    std::function<void(MachineConfig&)> machine;
    std::function<void(SmParts&)> parts;
  };
  // All waits are longer than the watchdog's cycles, and follow each other.
  const auto storage = [](SmParts& parts) {
    parts.storage.reset();
    parts.storage = std::make_unique<HookedStorage>("slow", slow, slow);
  };
  const std::vector<Slow> all{
      {"dram", [](MachineConfig& m) { m.memory.dram.latency = 3000; }, {}},
      {"bandwidth", [](MachineConfig& m) { m.memory.dram.bandwidth = 100; }, {}},
      {"pipeline",
       [](MachineConfig& m) {
         for (auto& t : m.sm.timing) t = {1000, 1000};
       },
       {}},
      {"fetch", [](MachineConfig& m) { m.sm.fetch_latency = m.sm.branch_latency = 900; }, {}},
      {"barrier", [](MachineConfig& m) { m.sm.barrier_latency = 900; }, {}},
      {"shared", [](MachineConfig& m) { m.sm.shared_latency = 900; }, {}},
      {"storage", {}, storage},
      {"results", {}, [](SmParts& p) { p.writeback_point = std::make_unique<Hesitant>("hesitant", 900, false); }},
      {"pauses",
       {},
       [](SmParts& p) {
         auto agreed = std::make_shared<std::map<unsigned, std::uint64_t>>();
         p.gates.push_back(
             std::make_unique<FunctionGate>("slow", [agreed](FunctionGate& g, const DynamicInstruction& d) {
               if (std::exchange((*agreed)[d.warp.value()], d.sequence + 1) == d.sequence + 1) return true;
               g.listener->pause(d.warp, g.now() + 900);
               return false;
             }));
       }},
  };
  for (const Slow& slow_one : all) {
    for (const bool own : {false, true}) {
      CAPTURE(slow_one.name, own);
      MachineConfig machine;
      if (slow_one.machine) slow_one.machine(machine);
      machine.sm.watchdog_cycles = 300;
      const std::string said = test::in_child([&] {
        return test::outcome(
            std::string("slow_") + slow_one.name,
            [&](SmParts& parts) {
              if (slow_one.parts) slow_one.parts(parts);
              parts.gates.push_back(std::make_unique<Nudge>("nudge", own));
            },
            false, machine);
      });
      CHECK(said == "");
    }
  }
}

TEST_CASE("livelock: a write-back point that hesitates again and again") {
  CHECK_THAT(livelock("hesitant",
                      [](SmParts& parts) {
                        parts.writeback_point = std::make_unique<Hesitant>("hesitant", 7, true);
                        parts.gates.push_back(std::make_unique<Nudge>("nudge", false));
                      }),
             Contains("deadlock: launch 0"));
}

TEST_CASE("livelock: a gate that refuses for ever while the memory is slow is found when the memory is done") {
  assembly::MachineConfig machine;
  machine.sm.watchdog_cycles = 300;
  machine.memory.dram.latency = 5000;
  const std::string said = test::outcome(
      "livelock_memory",
      [](SmParts& parts) {
        parts.gates.push_back(std::make_unique<FunctionGate>(
            "shut", [](FunctionGate&, const DynamicInstruction& d) { return d.traits->index < 6; }));
        parts.gates.push_back(std::make_unique<Nudge>("nudge", false));
      },
      false, machine);
  CHECK_THAT(said, Contains("answered for 300 cycles (sm.watchdog)\n"));
  CHECK_THAT(said, Contains("issue gate sm0.shut refuses them: 8 warps (0-7), since cycle "));
  CHECK_THAT(said, Contains("issue gate sm0.shut has notified nothing since it refused warp "));
}
