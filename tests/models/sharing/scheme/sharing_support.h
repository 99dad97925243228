// SPDX-License-Identifier: Apache-2.0
//
// Register sharing on small machines, with something between its blocks if a test wants it, on programs made by hand.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness.h"
#include "scheme_register_sharing.h"

namespace regatta::test {

using Knobs = std::vector<std::pair<std::string, std::string>>;

/// A machine of the thesis whose register file has `rows`.
inline assembly::SimulationResult run_sharing(const std::string& path, assembly::Scheme& scheme, unsigned rows,
                                              const Knobs& values = {}, unsigned sms = 1) {
  assembly::MachineConfig machine;
  support::OptionSet knobs;
  machine.declare(knobs);
  scheme.declare(knobs);
  assembly::load_machine(knobs, machine, "fermi_sharing");
  knobs.set("register_file.registers", std::to_string(rows), "test", "test");
  knobs.set("shared.bytes", "49152", "test", "test");
  for (const auto& [knob, value] : values) knobs.set(knob, value, "test", "test");
  scheme.validate(machine);
  return simulate(path, scheme, machine, sms);
}

inline double counter(const assembly::SimulationResult& r, const std::string& module, const std::string& name) {
  INFO(module << "." << name);
  REQUIRE(r.stats.contains(module));
  return r.stats.at(module).at(name).get<double>();
}

/// CTAs of 128 threads and 20 registers: a part on R0 to R3, and one on all registers with loads, stores and barriers
/// in between.
inline std::string sharing_trace(const std::string& name, unsigned ctas = 30, unsigned launches = 1) {
  using trace::MemorySpace;
  using trace::OpClass;
  TraceBuilder b;
  b.op(OpClass::constant_load, {0}, {});
  b.op(OpClass::constant_load, {1}, {});
  for (unsigned i = 0; i < 3; ++i) {
    b.load(MemorySpace::global, 2, 0);
    b.op(OpClass::int_add, {3}, {2, 1});
    b.op(OpClass::int_add, {1}, {3, 0});
  }
  for (unsigned r = 4; r < 20; ++r) b.op(OpClass::int_add, {r}, {r % 4, 3});
  for (unsigned i = 0; i < 3; ++i) {
    b.load(MemorySpace::global, 5 + i, 0);
    for (unsigned r = 8; r < 20; ++r) b.op(OpClass::fp32_mad, {r}, {r, 5 + i, r % 3 == 0 ? 4 : r % 3});
    b.store(MemorySpace::shared, 0, 8 + i);
    b.barrier();
    b.load(MemorySpace::shared, 2, 1);
    b.op(OpClass::int_add, {12}, {2, 19});
    b.store(MemorySpace::global, 2, 12);
  }
  b.exit();
  std::vector<std::uint64_t> addresses;
  for (unsigned lane = 0; lane < 64; ++lane) addresses.push_back(lane * 4);
  for (unsigned l = 0; l < launches; ++l) {
    b.launch(ctas, 128, 2048);
    b.run_all(addresses);
  }
  return b.write(name);
}

/// Figure 2.8: two warps per CTA, of which one needs shared registers soon and one late; which of them differs between
/// the CTAs of a pair. Both meet at a barrier. 20 registers, R0 and R1 are used before the shared ones. Not `crossing`:
/// both warps of the first half of the CTAs are late.
inline std::string crossing_trace(const std::string& name, unsigned ctas, bool crossing = true) {
  using trace::OpClass;
  TraceBuilder b;
  b.op(OpClass::constant_load, {0}, {});
  b.op(OpClass::constant_load, {1}, {});
  b.set_predicate(0, {0});
  const std::uint32_t branch = b.branch(0);
  b.kernel().instructions[branch].guard.predicate = 0;
  const std::uint32_t early = b.op(OpClass::int_add, {10}, {0});
  const std::uint32_t skip = b.branch(0);
  const std::uint32_t late = b.op(OpClass::sfu, {1}, {1});
  for (unsigned i = 0; i < 40; ++i) b.op(OpClass::sfu, {1}, {1});
  b.op(OpClass::int_add, {11}, {1, 0});
  const std::uint32_t barrier = b.barrier();
  b.op(OpClass::int_add, {19}, {0, 1});
  b.store(trace::MemorySpace::global, 0, 19);
  const std::uint32_t end = b.exit();
  b.kernel().instructions[branch].branch_target = static_cast<std::int32_t>(late);
  b.kernel().instructions[skip].branch_target = static_cast<std::int32_t>(barrier);
  b.launch(ctas, 64);
  for (unsigned cta = 0; cta < ctas; ++cta) {
    b.begin_cta();
    for (unsigned warp = 0; warp < 2; ++warp) {
      b.begin_warp();
      const unsigned half = cta / (ctas / 2);
      const bool is_late = crossing ? (half + warp) % 2 == 0 : half == 0;
      for (std::uint32_t i = 0; i < branch; ++i) b.execute(i);
      b.execute(branch, is_late ? 0xffffffff : 0);
      for (std::uint32_t i = is_late ? late : early; i <= (is_late ? barrier - 1 : skip); ++i) b.execute(i);
      for (std::uint32_t i = barrier; i <= end; ++i) b.execute(i, 0, {0, 4, 8, 12});
      b.end_warp();
    }
    b.end_cta();
  }
  return b.write(name);
}

}  // namespace regatta::test
