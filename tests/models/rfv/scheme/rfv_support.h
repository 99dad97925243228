// SPDX-License-Identifier: Apache-2.0
//
// Programs made by hand, with the releases of straight-line code, and runs of them on small files.
#pragma once

#include <regatta/trace/rfv.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "harness.h"
#include "scheme_rfv.h"

namespace regatta::test {

/// The operands of the instructions, whose slots the flags are for.
inline void add_operands(trace::Kernel& kernel) {
  for (trace::StaticInstruction& i : kernel.instructions) {
    const auto add = [&i](unsigned reg) {
      trace::Operand o;
      o.value = reg;
      i.operands.push_back(o);
    };
    for (unsigned d = 0; d < i.destination_count; ++d) add(i.destinations[d]);
    i.operand_destinations = i.destination_count;
    for (unsigned r = 0; r < i.source_count; ++r) add(i.sources[r]);
  }
}

/// Flags the last read of every value of a kernel without branches, and writes section and words.
/// `at_block`: registers that are released where a block starts.
inline void add_releases(trace::Kernel& kernel, unsigned registers,
                         const std::vector<trace::RfvRegisters>& at_block = {}) {
  add_operands(kernel);
  kernel.registers_per_thread = static_cast<decltype(kernel.registers_per_thread)>(registers);
  if (kernel.blocks.empty()) {
    trace::BasicBlock block;
    block.first = 0;
    block.count = static_cast<std::uint32_t>(kernel.instructions.size());
    kernel.blocks.push_back(block);
  }
  const std::size_t count = kernel.instructions.size();
  trace::RfvReleases releases;
  releases.flags.assign(count, 0);
  releases.at_operand.assign(count, 0);
  releases.at_block = at_block;
  releases.at_block.resize(kernel.blocks.size());
  trace::RfvRegisters live = 0;
  for (std::size_t i = count; i-- > 0;) {
    const trace::StaticInstruction& instruction = kernel.instructions[i];
    const trace::RfvRegisters written = trace::written_by(instruction);
    const auto slots = trace::use_slots_of(instruction);
    for (unsigned s = 0; s < trace::use_slots; ++s) {
      if (!trace::is_source(slots[s])) continue;
      const trace::RfvRegisters of_slot = trace::registers_of(slots[s]);
      if ((of_slot & (live | written)) != 0) continue;
      releases.flags[i] = static_cast<std::uint8_t>(releases.flags[i] | 1u << s);
      releases.at_operand[i] |= of_slot;
    }
    live = (live & ~written) | trace::read_by(instruction);
  }
  trace::RfvSection section;
  section.at_start = live;
  trace::RfvRegisters owned = live;
  section.most = static_cast<unsigned>(__builtin_popcountll(owned));
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t b = 0; b < kernel.blocks.size(); ++b) {
      if (kernel.blocks[b].first == i) owned &= ~releases.at_block[b];
    }
    owned |= trace::written_by(kernel.instructions[i]);
    section.most = std::max(section.most, static_cast<unsigned>(__builtin_popcountll(owned)));
    owned &= ~releases.at_operand[i];
  }
  for (trace::InsertedInstruction& word : trace::rfv_words(kernel, releases, 900)) {
    kernel.inserted.push_back(std::move(word));
  }
  std::stable_sort(kernel.inserted.begin(), kernel.inserted.end(),
                   [](const auto& a, const auto& b) { return a.before < b.before; });
  kernel.annotations.push_back({trace::rfv_section, trace::rfv_section_version, trace::encode(section)});
}

/// Rounds of values that come and go, with loads and barriers in between: R0 to R3 are live throughout, and up to 12
/// more at the same time. 128 threads a CTA.
inline std::string rounds_trace(const std::string& name, unsigned ctas = 24) {
  using trace::MemorySpace;
  using trace::OpClass;
  TraceBuilder b;
  for (unsigned r = 0; r < 4; ++r) b.op(OpClass::constant_load, {r}, {});
  for (unsigned round = 0; round < 4; ++round) {
    for (unsigned r = 4; r < 16; ++r) b.op(OpClass::int_add, {r}, {r % 4, (r + 1) % 4});
    b.load(MemorySpace::global, 16, 0);
    for (unsigned r = 4; r < 14; r += 2) b.op(OpClass::fp32_mad, {17}, {r, r + 1, 16});
    b.store(MemorySpace::shared, 0, 17);
    b.barrier();
    b.op(OpClass::int_add, {2}, {14, 15});
    b.store(MemorySpace::global, 2, 3);
  }
  b.exit();
  add_releases(b.kernel(), 18);
  std::vector<std::uint64_t> addresses;
  for (unsigned lane = 0; lane < 32; ++lane) addresses.push_back(lane * 4);
  b.launch(ctas, 128, 2048);
  b.run_all(addresses);
  return b.write(name);
}

/// Nine registers of each of four warps, all of which are needed at a barrier.
inline constexpr unsigned rows_at_barrier = 4 * 9;
inline std::string barrier_trace(const std::string& name, unsigned ctas = 8) {
  using trace::OpClass;
  TraceBuilder b;
  b.op(OpClass::constant_load, {0}, {});
  for (unsigned r = 1; r < 9; ++r) b.op(OpClass::int_add, {r}, {0, r - 1});
  b.barrier();
  for (unsigned r = 1; r < 9; ++r) b.op(OpClass::int_add, {0}, {0, r});
  b.store(trace::MemorySpace::global, 0, 0);
  b.exit();
  add_releases(b.kernel(), 9);
  std::vector<std::uint64_t> addresses;
  for (unsigned lane = 0; lane < 32; ++lane) addresses.push_back(lane * 4);
  b.launch(ctas, 128);
  b.run_all(addresses);
  return b.write(name);
}

/// A load whose result nobody reads, which a block's start releases while it is in flight.
inline std::string dead_load_trace(const std::string& name) {
  using trace::OpClass;
  TraceBuilder b;
  b.op(OpClass::constant_load, {0}, {});
  b.load(trace::MemorySpace::global, 1, 0);
  const std::uint32_t second = b.op(OpClass::int_add, {2}, {0, 0});
  b.store(trace::MemorySpace::global, 0, 2);
  b.exit();
  trace::BasicBlock first, rest;
  first.count = second;
  first.successors = {1};
  rest.first = second;
  rest.count = static_cast<std::uint32_t>(b.kernel().instructions.size()) - second;
  b.kernel().blocks = {first, rest};
  add_releases(b.kernel(), 3, {0, 1u << 1});
  std::vector<std::uint64_t> addresses;
  for (unsigned lane = 0; lane < 32; ++lane) addresses.push_back(lane * 4);
  b.launch(4, 128);
  b.run_all(addresses);
  return b.write(name);
}

using RfvKnobs = std::vector<std::pair<std::string, std::string>>;

/// A gtx980 whose file has `rows` rows in four banks, all of which are built.
inline assembly::SimulationResult run_rfv(const std::string& path, assembly::Scheme& scheme, unsigned rows,
                                          const RfvKnobs& values = {}) {
  assembly::MachineConfig machine;
  support::OptionSet knobs;
  machine.declare(knobs);
  scheme.declare(knobs);
  assembly::load_machine(knobs, machine, "gtx980");
  knobs.set("register_file.registers", std::to_string(rows), "test", "test");
  knobs.set("register_file.banks", "4", "test", "test");
  knobs.set("rfv.share", "1", "test", "test");
  for (const auto& [knob, value] : values) knobs.set(knob, value, "test", "test");
  scheme.validate(machine);
  return simulate(path, scheme, machine);
}

inline double rfv_counter(const assembly::SimulationResult& r, const std::string& module, const std::string& name) {
  INFO(module << "." << name);
  REQUIRE(r.stats.contains(module));
  return r.stats.at(module).at(name).get<double>();
}

}  // namespace regatta::test
