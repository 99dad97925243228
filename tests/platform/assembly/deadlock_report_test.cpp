// SPDX-License-Identifier: Apache-2.0
//
// Blocks that hold something for ever: the report names the holder, what it holds for which warps, and since when.
#include <regatta/baseline/occupancy_residency.h>
#include <regatta/baseline/schedulers.h>
#include <regatta/sm/sm.h>
#include <regatta/support/energy.h>
#include <regatta/support/stats.h>

#include "wrong_parts.h"

using namespace regatta;
using assembly::SmParts;
using Catch::Matchers::Contains;
using protocol::DynamicInstruction;
using test::FunctionGate;
using test::HookedStorage;
using trace::OpClass;

namespace {

/// The message of a run that ends in a deadlock. Two CTAs of four warps are on the SM.
std::string stuck(const std::string& name, const std::function<void(SmParts&)>& change,
                  const assembly::MachineConfig& machine = {}) {
  const std::string message = test::outcome("stuck_" + name, change, false, machine);
  CHECK_THAT(message, Contains("deadlock: launch 0 (hand_made) stopped at cycle "));
  CHECK_THAT(message, Contains(", since cycle "));
  return message;
}

void use(SmParts& parts, std::unique_ptr<protocol::OperandStorage> storage) { parts.storage = std::move(storage); }

/// Takes every request and answers none.
tlm::tlm_sync_enum take(HookedStorage&, HookedStorage::Payload&, tlm::tlm_phase& phase, sc_core::sc_time&) {
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}
/// Does not even take them.
tlm::tlm_sync_enum hold_back(HookedStorage&, HookedStorage::Payload&, tlm::tlm_phase&, sc_core::sc_time&) {
  return tlm::TLM_ACCEPTED;
}

std::string stuck_storage(const std::string& name, HookedStorage::Hook read, HookedStorage::Hook write) {
  return stuck(name, [&](SmParts& parts) {
    parts.storage.reset();
    use(parts, std::make_unique<HookedStorage>("silent", std::move(read), std::move(write)));
  });
}

class StuckReuse : public sc_core::sc_module, public protocol::ReusePoint {
 public:
  StuckReuse(const sc_core::sc_module_name& name, Decision decision)
      : sc_module(name), decision_(decision), changed_("changed") {}
  Decision decide(DynamicInstruction&) override { return decision_; }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  Decision decision_;
  sc_core::sc_event changed_;
};

class StuckWriteback : public sc_core::sc_module, public protocol::WritebackPoint {
 public:
  StuckWriteback(const sc_core::sc_module_name& name, bool keeps)
      : sc_module(name), keeps_(keeps), changed_("changed") {}
  unsigned arrive(DynamicInstruction&) override { return keeps_ ? keep : 0; }
  Decision decide(DynamicInstruction&, unsigned) override { return Decision::wait; }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  bool keeps_;
  sc_core::sc_event changed_;
};

/// Launches nothing, or launches and switches out at once.
class StuckResidency : public sc_core::sc_module, public protocol::Residency {
 public:
  StuckResidency(const sc_core::sc_module_name& name, bool launches)
      : sc_module(name), launches_(launches), changed_("changed") {}
  protocol::ResourcePlan plan(const protocol::KernelContext& c, const protocol::SmLimits& l) override {
    return protocol::ResourcePlan::conventional(c, l, 1);
  }
  Action next(const View& view) override {
    if (!launches_) return {};
    if (view.ctas->empty()) return {Action::Kind::launch, {}};
    if (view.active_ctas != 0) return {Action::Kind::switch_out, view.ctas->front().cta};
    return {};
  }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  bool launches_;
  sc_core::sc_event changed_;
};

class NobodyTakesPart : public models::LooseRoundRobin {
 public:
  bool restricts() const override { return true; }
  Eligible eligible(protocol::WarpMask) override { return {}; }
};

}  // namespace

TEST_CASE("deadlock report: a gate that never opens") {
  const std::string said = stuck("gate", [](SmParts& parts) {
    parts.gates.push_back(std::make_unique<FunctionGate>(
        "shut", [](FunctionGate&, const DynamicInstruction& d) { return d.traits->index < 2; }));
  });
  CHECK_THAT(said, Contains("  sm0.pipeline: issue gate sm0.shut refuses them: 8 warps (0-7), since cycle "));
  CHECK_THAT(said, Contains("\n    warp 0 (CTA 0) PC 0x10 int_add, since cycle "));
  CHECK_THAT(said, Contains("\n    and 5 more\n"));
}

namespace {

/// Refuses all instructions from `first` on, and an energy counter of it goes back.
class Shrinking : public FunctionGate, public support::StatProvider {
 public:
  Shrinking(const sc_core::sc_module_name& name, unsigned first)
      : FunctionGate(name, [this, first](FunctionGate&, const DynamicInstruction& d) {
          reads_ = 0;
          return d.traits->index < first;
        }) {}
  void register_stats(support::StatGroup&) override {}
  void register_energy(support::EnergyGroup& g) override {
    g.event("register_structures", "register_file.read", reads_);
  }

 private:
  std::uint64_t reads_ = 10;
};

}  // namespace

TEST_CASE("deadlock report: comes before a broken rule of the energy, which is told of a run that is right otherwise") {
  const auto shrinking = [](unsigned first) {
    return [first](SmParts& parts) { parts.gates.push_back(std::make_unique<Shrinking>("shrinking", first)); };
  };
  CHECK_THAT(test::in_child([&] { return stuck("shrinking", shrinking(2)); }),
             Contains("issue gate sm0.shrinking refuses them: 8 warps (0-7)"));
  CHECK_THAT(test::outcome("not_stuck_shrinking", shrinking(1000)),
             Contains("regatta/energy: shrinking: the counter of 'register_file.read' went back during the launch, "
                      "from 10 to 0; expected it to grow"));
}

TEST_CASE("deadlock report: a gate that keeps one warp closed") {
  const std::string said = stuck("closed", [](SmParts& parts) {
    auto gate = std::make_unique<FunctionGate>("shut", [](FunctionGate&, const DynamicInstruction&) { return true; });
    gate->on_warp = [](FunctionGate& g, const protocol::WarpInfo& w) {
      if (w.warp.value() == 5) g.listener->closed(w.warp, true);
    };
    parts.gates.push_back(std::move(gate));
  });
  CHECK_THAT(said, Contains("issue gate sm0.shut keeps them closed: 1 warp (5), since cycle "));
  // Its neighbours wait for it at the barrier.
  CHECK_THAT(said, Contains("barriers at which others have not arrived: 3 warps (4, 6, 7), since cycle "));
  CHECK_THAT(said, Contains("waits at barrier 0, where 3 of 4 warps have arrived, not yet warps 5, since cycle "));
}

TEST_CASE("deadlock report: a storage that never answers reads") {
  const std::string said = stuck_storage("reads", take, nullptr);
  CHECK_THAT(said, Contains("sm0.pipeline: operand storage sm0.silent has not answered reads: 8 warps (0-7), since "));
  CHECK_THAT(said, Contains("waits for R2 of PC 0x18 int_add (R0, R1), since cycle "));
}

TEST_CASE("deadlock report: a storage that never takes a read") {
  const std::string said = stuck_storage("request", hold_back, nullptr);
  CHECK_THAT(said, Contains("operand storage sm0.silent has not accepted a read (no END_REQ), which holds the others "
                            "back: 8 warps (0-7), since cycle "));
}

TEST_CASE("deadlock report: a storage that never answers writes") {
  const std::string said = stuck_storage("writes", nullptr, take);
  CHECK_THAT(said, Contains("operand storage sm0.silent has not answered writes: 8 warps (0-7), since cycle "));
  CHECK_THAT(said, Contains("warp 0 (CTA 0) PC 0x10 int_add waits for R0 of PC 0x0 constant_load (R0), since cycle "));
}

TEST_CASE("deadlock report: a storage that never takes a write") {
  CHECK_THAT(stuck_storage("write_request", nullptr, hold_back),
             Contains("operand storage sm0.silent has not accepted a write (no END_REQ): 8 warps (0-7), since cycle "));
}

TEST_CASE("deadlock report: a reuse point that has all wait") {
  const std::string said = stuck("reuse_wait", [](SmParts& parts) {
    parts.reuse_point = std::make_unique<StuckReuse>("undecided", protocol::ReusePoint::Decision::wait);
  });
  CHECK_THAT(said, Contains("reuse point sm0.undecided has the instruction wait: 8 warps (0-7), since cycle "));
  CHECK_THAT(said, Contains("waits for R0 of PC 0x0 constant_load, since cycle "));
}

TEST_CASE("deadlock report: a reuse point that keeps all") {
  CHECK_THAT(stuck("reuse_keep",
                   [](SmParts& parts) {
                     parts.reuse_point = std::make_unique<StuckReuse>("miser", protocol::ReusePoint::Decision::keep);
                   }),
             Contains("reuse point sm0.miser keeps the instruction: 8 warps (0-7), since cycle "));
}

TEST_CASE("deadlock report: a write-back point that has a result wait") {
  const std::string said = stuck("writeback_wait", [](SmParts& parts) {
    parts.writeback_point = std::make_unique<StuckWriteback>("undecided", false);
  });
  CHECK_THAT(said, Contains("write-back point sm0.undecided has a result wait: 8 warps (0-7), since cycle "));
  CHECK_THAT(said, Contains("(R0 of warp 0 (CTA 0) PC 0x0 constant_load), since cycle "));
}

TEST_CASE("deadlock report: a write-back point that keeps its values") {
  assembly::MachineConfig machine;
  machine.sm.watchdog_cycles = 1000;
  CHECK_THAT(
      stuck(
          "writeback_keep",
          [](SmParts& parts) { parts.writeback_point = std::make_unique<StuckWriteback>("miser", true); }, machine),
      Contains("write-back point sm0.miser keeps the result: 8 warps (0-7), since cycle "));
}

TEST_CASE("deadlock report: a residency that launches nothing") {
  const std::string said = test::outcome("stuck_residency", [](SmParts& parts) {
    parts.residency.reset();
    parts.residency = std::make_unique<StuckResidency>("idler", false);
  });
  CHECK_THAT(said, Contains("sm0.pipeline: residency sm0.idler launches none of the 2 CTAs that wait: 0 of 1 are "
                            "resident, none active; asked last in cycle "));
}

TEST_CASE("deadlock report: a residency that leaves its CTAs inactive") {
  CHECK_THAT(stuck("inactive",
                   [](SmParts& parts) {
                     parts.residency.reset();
                     parts.residency = std::make_unique<StuckResidency>("idler", true);
                   }),
             Contains("residency sm0.idler keeps their CTAs inactive: 4 warps (0-3), since cycle "));
}

TEST_CASE("deadlock report: a scheduler that lets nobody take part") {
  CHECK_THAT(
      stuck("policy", [](SmParts& parts) { parts.scheduler = [] { return std::make_unique<NobodyTakesPart>(); }; }),
      Contains("sm0.pipeline: scheduler 1 (NobodyTakesPart) keeps them back: 2 warps (1, 5), since cycle "));
}

TEST_CASE("deadlock report: a barrier that never fills") {
  test::TraceBuilder b;
  b.op(OpClass::constant_load, {0}, {});
  b.barrier(3, 256);
  b.exit();
  b.launch(1, 128);
  b.run_all();
  const auto r = test::simulate_baseline(b.write("stuck_barrier"));
  REQUIRE(r.ending == assembly::Ending::deadlock);
  CHECK_THAT(r.message, Contains("barriers at which others have not arrived: 4 warps (0-3), since cycle "));
  CHECK_THAT(r.message, Contains("waits at barrier 3, where 128 of 256 threads have arrived, since cycle "));
}

namespace {

/// An SM alone, on a memory that takes every access and answers none.
struct SilentMemory : sc_core::sc_module {
  explicit SilentMemory(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
    socket.register_nb_transport_fw(this, &SilentMemory::take);
  }
  tlm::tlm_sync_enum take(tlm::tlm_generic_payload&, tlm::tlm_phase& phase, sc_core::sc_time&) {
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  tlm_utils::simple_target_socket<SilentMemory, 256> socket;
};

struct Ctas : sm::CtaSource {
  explicit Ctas(const trace::Reader& reader) : stream(reader.stream(0, reader.ctas().size())) {}
  std::uint64_t waiting() const override { return left; }
  bool none_waited(std::uint64_t) const override { return left == 0; }
  std::shared_ptr<const trace::Cta> take() override {
    --left;
    return stream->next();
  }
  void finished() override {}
  std::unique_ptr<trace::Reader::Stream> stream;
  std::uint64_t left = 2;
};

}  // namespace

TEST_CASE("deadlock report: a memory that never answers") {
  const trace::Reader reader(test::mixed_trace("stuck_memory", 2));
  assembly::MachineConfig machine;
  machine.l1.data_policy = "cache";
  models::RegisterFile storage("register_file", machine.register_file, test::clock(test::wrong_parts_period));
  models::OccupancyResidency residency("residency");
  memory::L1Cache l1("l1", machine.l1, test::clock(test::wrong_parts_period));
  SilentMemory memory("memory");
  Ctas ctas(reader);
  sm::Sm sm("sm", machine.sm, test::clock(test::wrong_parts_period), 0, [] { return models::make_scheduler("gto"); });
  sm.storage.bind(storage);
  sm.residency.bind(residency);
  sm.cta_source.bind(ctas);
  sm.operand_read_socket().bind(storage.read_socket());
  sm.operand_write_socket().bind(storage.write_socket());
  sm.memory_socket().bind(l1.upstream);
  l1.downstream.bind(memory.socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  CHECK(l1.held_work().empty());
  sm.start(reader.kernels().at(0), reader.launches().at(0), 0);
  sc_core::sc_start();
  REQUIRE_FALSE(sm.idle());
  const std::string said = sm.describe_stuck();
  CHECK_THAT(said, Contains("  sm: the memory behind sm.lsu has not answered: 8 warps (0-7), since cycle "));
  CHECK_THAT(said, Contains("warp 0 (CTA 0) PC 0x30 fp32_mul waits for R4 of PC 0x28 load (line 0x0), since cycle "));
  CHECK_THAT(l1.held_work(), Contains(" MSHRs in use: line 0x0 for "));
}
