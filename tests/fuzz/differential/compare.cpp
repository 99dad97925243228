// SPDX-License-Identifier: Apache-2.0
#include "compare.h"

#include <regatta/emulator/emulator.h>
#include <regatta/ptx/ptx.h>
#include <regatta/tool/compile.h>
#include <regatta/trace/types.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "oracle.h"

namespace regatta::test::differential {
namespace {

/// The buffer of results after a run.
std::vector<std::uint8_t> run(const ir::Module& module, const Variant& variant, std::size_t bytes, Totals* totals) {
  tool::CompileOptions options;
  options.allocation.max_registers = variant.max_registers;
  options.allocation.schedule = variant.schedule;
  options.allocation.narrow = variant.narrow;
  options.warp_size = variant.warp_size;
  const tool::CompiledKernel kernel = tool::compile(ir::Function(module.functions.at(0)), options);
  emulator::DeviceMemory memory(variant.narrow);
  const emulator::ModuleImage image(module, memory);
  const std::uint64_t out = memory.allocate("out", bytes, true);
  emulator::LaunchRequest request;
  request.grid = {ctas, 1, 1};
  request.block = block;
  request.parameters.resize(sizeof out);
  std::memcpy(request.parameters.data(), &out, sizeof out);
  emulator::EmulatorOptions emulation;
  emulation.warp_size = variant.warp_size;
  emulation.max_instructions = 1u << 20;
  if (variant.races) emulation.races = emulator::RaceRule::independent;
  emulator::Emulator emulator(*kernel.function, kernel.reconvergence, memory, image, emulation);
  const emulator::RunCounts counts = emulator.run(request);
  const std::vector<emulator::Race> races = emulator.races();
  if (!races.empty()) throw std::runtime_error(races.front().message);
  if (totals != nullptr) {
    totals->divergent_branches += counts.divergent_branches;
    totals->warp_instructions += counts.warp_instructions;
    if (variant.max_registers == 16 && variant.schedule && variant.warp_size == 32) {
      totals->spilled += kernel.function->spilled_registers != 0 ? 1 : 0;
    }
  }
  std::vector<std::uint8_t> result(bytes);
  memory.read(out, result.data(), bytes);
  return result;
}

/// What lies at a byte of a thread's results.
std::string place_name(const Program& program, unsigned at) {
  constexpr const char* spaces[] = {"global", "shared", "local"};
  if (at < 3 * slot_bytes)
    return std::string(spaces[at / slot_bytes]) + " slot byte " + std::to_string(at % slot_bytes);
  unsigned variable = (at - 3 * slot_bytes) / 8;
  for (unsigned c = 0; c < class_count; ++c) {
    if (variable < program.initial[c].size()) return "%" + std::string(1, classes[c]) + std::to_string(variable);
    variable -= static_cast<unsigned>(program.initial[c].size());
  }
  return "padding";
}

std::string difference(const Program& program, const std::vector<std::uint8_t>& got,
                       const std::vector<std::uint8_t>& expected) {
  const unsigned bytes = result_bytes(program);
  for (std::size_t i = 0; i < got.size(); i += 4) {
    if (std::memcmp(&got[i], &expected[i], 4) == 0) continue;
    std::uint32_t g = 0;
    std::uint32_t e = 0;
    std::memcpy(&g, &got[i], 4);
    std::memcpy(&e, &expected[i], 4);
    const std::size_t thread = i / bytes;
    char text[128];
    std::snprintf(text, sizeof text, "CTA %zu, thread %zu, word at byte %zu: got %08x, expected %08x",
                  thread / threads_per_cta, thread % threads_per_cta, i % bytes, g, e);
    return std::string(text) + " (" + place_name(program, static_cast<unsigned>(i % bytes)) + ")";
  }
  return "";
}

}  // namespace

std::string to_string(const Variant& v) {
  return std::to_string(v.max_registers) + " registers, " + (v.schedule ? "scheduled" : "in order") + ", " +
         std::to_string(v.warp_size) + " lanes" + (v.races ? ", looking for races" : "") +
         (v.narrow ? ", narrow addresses" : "");
}

const std::vector<Variant>& variants() {
  static const std::vector<Variant> all = [] {
    std::vector<Variant> list;
    for (const unsigned registers : {255u, 16u}) {
      for (const bool schedule : {true, false}) {
        for (const unsigned lanes : {32u, 64u}) list.push_back({registers, schedule, lanes, false, false});
      }
    }
    list.push_back({255, true, 32, true, false});
    list.push_back({255, true, 32, false, true});
    list.push_back({16, false, 64, false, true});
    return list;
  }();
  return all;
}

void count_modern(const std::string& ptx, std::map<std::string, std::uint64_t>& counts) {
  const std::pair<const char*, std::vector<std::string>> kinds[] = {
      {"mma of f16, bf16, tf32", {".f16.f16", ".bf16.bf16", ".tf32.tf32"}},
      {"mma of e4m3, e5m2", {".e4m3.", ".e5m2."}},
      {"mma of f64", {".f64.f64"}},
      {"mma of s8, u8", {".s8.", ".u8."}},
      {"mma of s4, u4", {".s4.", ".u4."}},
      {"mma of b1", {".popc"}},
  };
  std::map<std::string, bool> found;
  for (std::size_t at = 0; at < ptx.size();) {
    const std::size_t end = std::min(ptx.find('\n', at), ptx.size());
    const std::string line = ptx.substr(at, end - at);
    at = end + 1;
    const auto has = [&](const std::string& what) { return line.find(what) != std::string::npos; };
    if (has("  mma.sync.")) {
      const std::string form = line.substr(0, line.find('{'));
      for (const auto& [name, types] : kinds) {
        for (const std::string& type : types) found[name] = found[name] || form.find(type) != std::string::npos;
      }
    }
    for (const char* name : {"ldmatrix", "stmatrix", "movmatrix", "wmma.mma", "cp.async.ca", "cp.async.cg",
                             "cp.async.mbarrier.arrive", "cp.async.bulk.shared::cluster.global",
                             "cp.async.bulk.global.shared::cta", "mbarrier.try_wait", "mbarrier.test_wait"}) {
      if (has(name)) found[name] = true;
    }
  }
  for (const auto& [name, is_there] : found) counts[name] += is_there ? 1 : 0;
}

std::string compare(const Program& program, Totals* totals) { return compare(program, print(program), totals); }

std::string compare(const Program& program, const std::string& ptx, Totals* totals) {
  const std::vector<std::uint8_t> expected = expected_memory(program);
  try {
    const ir::Module module = ptx::parse_module(ptx, "random.ptx");
    if (totals != nullptr) ++totals->programs;
    for (const Variant& v : variants()) {
      try {
        const std::string text = difference(program, run(module, v, expected.size(), totals), expected);
        if (!text.empty()) return to_string(v) + ": " + text;
      } catch (const std::exception& e) {
        return to_string(v) + ": " + e.what();
      }
    }
  } catch (const trace::InputError& e) {
    return std::string("refused: ") + e.what();
  }
  return "";
}

}  // namespace regatta::test::differential
