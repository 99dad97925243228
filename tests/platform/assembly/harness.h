// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/assembly/simulation.h>
#include <regatta/test/catch.h>
#include <regatta/test/trace_builder.h>

#include <functional>
#include <string>
#include <utility>

namespace regatta::test {

/// A scheme given as a function: how an outside user replaces a part, and nothing but the assembly knows.
class FunctionScheme : public assembly::Scheme {
 public:
  using Build = std::function<assembly::SmParts(const assembly::BuildContext&)>;
  explicit FunctionScheme(Build build) : build_(std::move(build)) {}
  std::string name() const override { return "test"; }
  std::string help() const override { return "a test's own parts"; }
  assembly::SmParts build(const assembly::BuildContext& context) override { return build_(context); }

 private:
  Build build_;
};

/// A machine of the configuration files, or of a file, checked.
inline assembly::MachineConfig named_machine(const std::string& name) {
  assembly::MachineConfig machine;
  support::OptionSet options;
  machine.declare(options);
  assembly::load_machine(options, machine, name);
  machine.validate();
  return machine;
}

inline assembly::SimulationResult simulate(const std::string& path, assembly::Scheme& scheme,
                                           const assembly::MachineConfig& machine = {}, unsigned sms = 1,
                                           bool check_protocol = true, unsigned lookup_delay = 0) {
  const trace::Reader reader(path);
  assembly::SimulationOptions options;
  options.sms = sms;
  options.check_protocol = check_protocol;
  options.lookup_delay = lookup_delay;
  assembly::Simulation simulation(machine, scheme, options, reader);
  return simulation.run();
}

inline assembly::SimulationResult simulate_baseline(const std::string& path,
                                                    const assembly::MachineConfig& machine = {}, unsigned sms = 1) {
  assembly::SchemeRegistry registry = assembly::SchemeRegistry::with_baseline();
  return simulate(path, registry.get("baseline"), machine, sms);
}

inline assembly::SimulationResult simulate_with(const std::string& path, FunctionScheme::Build build,
                                                const assembly::MachineConfig& machine = {}) {
  FunctionScheme scheme(std::move(build));
  return simulate(path, scheme, machine);
}

inline void require_clean(const assembly::SimulationResult& r) {
  INFO(r.message);
  REQUIRE(r.ending == assembly::Ending::completed);
  REQUIRE(r.mismatches == 0);
  REQUIRE(r.operands_checked > 0);
}

/// A kernel with some of everything: arithmetic chains, loads, stores, a guard, barriers. `ctas` CTAs of 128 threads.
inline std::string mixed_trace(const std::string& name, std::uint64_t ctas = 12, unsigned warp_size = 32) {
  using trace::MemorySpace;
  using trace::OpClass;
  TraceBuilder b(warp_size);
  b.op(OpClass::constant_load, {0}, {});
  b.op(OpClass::constant_load, {1}, {});
  b.set_predicate(0, {0});
  for (unsigned i = 0; i < 6; ++i) {
    b.op(OpClass::int_add, {2}, {0, 1});
    b.op(OpClass::fp32_mad, {3}, {2, 1, 0});
    b.load(MemorySpace::global, 4, 2);
    b.op(OpClass::fp32_mul, {5}, {4, 3});
    b.store(MemorySpace::shared, 0, 5);
    b.barrier();
    b.load(MemorySpace::shared, 6, 1);
    b.op(OpClass::int_add, {0}, {6, 5});
    b.op(OpClass::sfu, {1}, {0});
    b.store(MemorySpace::global, 2, 1);
  }
  b.exit();
  b.launch(ctas, 128, 4096);
  std::vector<std::uint64_t> addresses;
  for (unsigned lane = 0; lane < 64; ++lane) addresses.push_back(lane * 4);
  b.run_all(addresses);
  return b.write(name);
}

}  // namespace regatta::test
