// SPDX-License-Identifier: Apache-2.0
//
// The samples of platform/protocol/docs, each in an SM of its own: it takes the baseline's place through the assembly
// alone, the program still computes what it did, and the sample did something.
#include <regatta/assembly/simulation.h>
#include <regatta/protocol/lookup_checker.h>
#include <regatta/protocol/lookup_delay.h>
#include <regatta/test/catch.h>
#include <regatta/test/trace_builder.h>
#include <regatta_samples.h>

#include <functional>

using namespace regatta;

namespace {

class SampleScheme : public assembly::Scheme {
 public:
  using Change = std::function<void(assembly::SmParts&, const assembly::BuildContext&)>;
  explicit SampleScheme(Change change) : change_(std::move(change)) {}
  std::string name() const override { return "sample"; }
  std::string help() const override { return "a sample of the documentation"; }
  assembly::SmParts build(const assembly::BuildContext& context) override {
    assembly::SmParts parts = assembly::baseline_parts(context);
    change_(parts, context);
    return parts;
  }

 private:
  Change change_;
};

/// Loads, constants, a value written twice, a divergent write; 20 CTAs of 4 warps.
std::string small_trace(const std::string& name) {
  using trace::OpClass;
  test::TraceBuilder b;
  b.op(OpClass::int_add, {0}, {});
  const std::uint32_t again = b.op(OpClass::int_add, {5}, {});
  b.load(trace::MemorySpace::global, 1, 0);
  b.load(trace::MemorySpace::global, 2, 0);
  const std::uint32_t some = b.op(OpClass::fp32_mad, {3}, {0, 1, 2});
  b.op(OpClass::fp32_mul, {4}, {3, 1});
  b.op(OpClass::int_add, {6}, {5, 4});
  b.store(trace::MemorySpace::global, 0, 6);
  const std::uint32_t last = b.exit();
  // Two words before an instruction that every warp comes to twice.
  for (unsigned n = 0; n < 2; ++n) {
    trace::InsertedInstruction hint;
    hint.before = some;
    hint.instruction.opcode = "hint";
    hint.instruction.scheme = "hints";
    b.kernel().inserted.push_back(hint);
  }
  b.launch(20, 128);
  std::vector<std::uint64_t> addresses;
  for (unsigned lane = 0; lane < 64; ++lane) addresses.push_back(0x10000 + lane * 4);
  for (unsigned cta = 0; cta < 20; ++cta) {
    b.begin_cta();
    for (unsigned warp = 0; warp < 4; ++warp) {
      b.begin_warp();
      for (std::uint32_t i = 0; i < last; ++i) b.execute(i, 0, addresses);
      for (std::uint32_t i = again; i < last; ++i) b.execute(i, i == some ? 0xff00ff : 0, addresses);
      b.execute(last);
      b.end_warp();
    }
    b.end_cta();
  }
  return b.write(name);
}

assembly::SimulationResult run(const std::string& name, const SampleScheme::Change& change) {
  const trace::Reader reader(small_trace(name));
  SampleScheme scheme(change);
  assembly::SimulationOptions options;
  options.check_protocol = true;
  assembly::Simulation simulation({}, scheme, options, reader);
  assembly::SimulationResult result = simulation.run();
  INFO(result.message);
  REQUIRE(result.ending == assembly::Ending::completed);
  REQUIRE(result.mismatches == 0);
  REQUIRE(result.operands_checked > 0);
  REQUIRE(result.warp_instructions == 20 * 4 * (9 + 7));
  return result;
}

std::uint64_t stat(const assembly::SimulationResult& r, const std::string& module, const std::string& name) {
  return r.stats.at(module).at(name).get<std::uint64_t>();
}

}  // namespace

TEST_CASE("sample: an ideal storage in place of the register file") {
  const auto r = run("sample_storage", [](assembly::SmParts& p, const assembly::BuildContext& c) {
    p.storage = std::make_unique<sample::IdealStorage>("ideal", c.clock.period());
  });
  REQUIRE(r.stats.count("sm0.register_file") == 0);
}

TEST_CASE("sample: a gate that limits loads in flight") {
  const auto r = run("sample_gate", [](assembly::SmParts& p, const assembly::BuildContext&) {
    p.gates.push_back(std::make_unique<sample::LoadLimit>("load_limit", 2));
  });
  REQUIRE(r.stall_cycles[static_cast<unsigned>(protocol::Stall::issue_gate)] > 0);
}

TEST_CASE("sample: a decode point that takes hints") {
  const auto r = run("sample_decode", [](assembly::SmParts& p, const assembly::BuildContext&) {
    auto hints = std::make_unique<sample::Hints>("hints", 3);
    p.decode_point = hints.get();
    p.gates.push_back(std::move(hints));
  });
  REQUIRE(stat(r, "sm0.pipeline", "inserted_instructions") == 20 * 4 * 2 * 2);
}

TEST_CASE("sample: a reuse point that knows constants") {
  const auto r = run("sample_reuse", [](assembly::SmParts& p, const assembly::BuildContext&) {
    p.reuse_point = std::make_unique<sample::ConstantReuse>("constant_reuse");
  });
  // The second time round, every warp's constant is known, so it takes no collector unit.
  REQUIRE(stat(r, "sm0.pipeline.collectors", "instructions") == 20 * 4 * (8 + 7 - 1));
}

TEST_CASE("sample: a write-back point that drops silent writes") {
  const auto r = run("sample_writeback", [](assembly::SmParts& p, const assembly::BuildContext&) {
    p.writeback_point = std::make_unique<sample::SilentWriteFilter>("silent_writes");
  });
  REQUIRE(stat(r, "sm0.pipeline.writeback", "dropped") >= 20 * 4);
}

TEST_CASE("sample: residency with a cap") {
  const auto r = run("sample_residency", [](assembly::SmParts& p, const assembly::BuildContext&) {
    p.residency = std::make_unique<sample::CappedResidency>("capped", 1);
  });
  REQUIRE(r.stats.at("sm0.pipeline").at("resident_ctas_mean").get<double>() <= 1.0);
}

TEST_CASE("sample: a scheduler that picks the youngest") {
  run("sample_scheduler", [](assembly::SmParts& p, const assembly::BuildContext&) {
    p.scheduler = [] { return std::make_unique<sample::YoungestFirst>(); };
  });
}

TEST_CASE("sample: an observer that counts issues") {
  sample::IssueProfile* profile = nullptr;
  std::uint64_t total = 0;
  const trace::Reader reader(small_trace("sample_observer"));
  SampleScheme scheme([&](assembly::SmParts& p, const assembly::BuildContext&) {
    auto observer = std::make_unique<sample::IssueProfile>();
    profile = observer.get();
    p.observers.push_back(std::move(observer));
  });
  assembly::SimulationOptions options;
  options.check_protocol = true;
  assembly::Simulation simulation({}, scheme, options, reader);
  const auto r = simulation.run();
  for (std::uint64_t n : profile->counts()) total += n;
  REQUIRE(total == r.warp_instructions);
  REQUIRE(profile->counts()[0] == 20 * 4);
}

TEST_CASE("sample: a block that answers lookups, alone and behind a delay") {
  sample::SeenTable table("table"), late_table("late_table");
  sample::Asker asker("asker"), late_asker("late_asker");
  const sc_core::sc_time period(1, sc_core::SC_NS);
  protocol::LookupDelay<std::uint64_t, bool> delay("delay", period, 7, 1);
  protocol::LookupChecker<std::uint64_t, bool> checker("checker", period), late_checker("late_checker", period);
  asker.lookups.bind(checker.in);
  checker.out.bind(table.lookups);
  late_asker.lookups.bind(late_checker.in);
  late_checker.out.bind(delay.in);
  delay.out.bind(late_table.lookups);
  sc_core::sc_start(period);
  REQUIRE(asker.ask(5));
  REQUIRE_FALSE(asker.ask(5));  // one port
  for (const std::uint64_t number : {6, 5, 6, 7}) {
    sc_core::sc_start(period);
    REQUIRE(asker.ask(number));
    REQUIRE(late_asker.ask(number));
  }
  REQUIRE(asker.repeats == 2);
  REQUIRE(late_asker.repeats <= 1);
  sc_core::sc_start(10 * period);
  REQUIRE(late_asker.repeats == 1);
  for (protocol::LookupRules* rules : {&checker.rules(), &late_checker.rules()}) {
    rules->finish(1);
    REQUIRE(rules->requests() >= 4);
    REQUIRE(rules->violations() == 0);
  }
}
