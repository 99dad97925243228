// SPDX-License-Identifier: Apache-2.0
#include <regatta/emulator/emulator.h>
#include <regatta/ptx/ptx.h>
#include <regatta/tool/compile.h>

#include <algorithm>
#include <cstring>

#include "outcome.h"
#include "probes.h"

namespace regatta::test {
namespace {

const std::string file = "fuzz.ptx";
constexpr std::uint64_t buffer_bytes = 4096;
constexpr std::uint64_t small_scalar = 3;
constexpr std::array<std::uint32_t, 3> block{40, 1, 1};  // the second warp is not full

/// Encodes the streams and forgets them.
struct Discard : emulator::TraceSink {
  bool wants(std::uint64_t) const override { return true; }
  void take(trace::Cta&&) override {}
};

std::uint64_t memory_of(const ir::Module& module, const ir::Function& f) {
  std::uint64_t bytes = std::uint64_t{f.local_bytes} * block[0] + f.static_shared_bytes;
  for (const ir::ModuleVariable& v : module.variables) bytes += v.bytes;
  return bytes;
}

/// One CTA, with the race detector under the smaller register limit; a parameter of eight bytes is a buffer, any other
/// a small number.
void run(const tool::CompiledKernel& kernel, const ir::Module& module, const PtxLimits& limits, bool races) {
  const ir::Function& f = *kernel.function;
  emulator::DeviceMemory memory;
  const emulator::ModuleImage image(module, memory);
  emulator::LaunchRequest request;
  request.block = block;
  for (const ir::Parameter& p : f.parameters) {
    request.parameters.resize(std::max<std::size_t>(request.parameters.size(), std::size_t{p.offset} + p.bytes));
    const std::uint64_t value = p.bytes == 8 ? memory.allocate(p.name, buffer_bytes, true) : small_scalar;
    std::memcpy(request.parameters.data() + p.offset, &value, std::min<std::size_t>(p.bytes, sizeof value));
  }
  emulator::EmulatorOptions options;
  options.max_instructions = limits.instructions;
  if (races) options.races = emulator::RaceRule::independent;
  emulator::Emulator emulator(f, kernel.reconvergence, memory, image, options);
  const trace::Kernel traced = ir::to_trace(f, kernel.reconvergence, options.warp_size);
  Discard sink;
  emulator.run(request, &traced, &sink);
}

void probe_entry(const ir::Function& function, const ir::Module& module, const PtxLimits& limits, PtxOutcome& result) {
  for (const unsigned registers : {255u, 16u}) {
    tool::CompileOptions options;
    options.allocation.max_registers = registers;
    tool::CompiledKernel kernel;
    const Outcome compiled = outcome_of(file, [&] {
      kernel = tool::compile(ir::Function(function), options);
      tool::listing_of(kernel);
    });
    if (!compiled.accepted) return;
    ++result.compiled;
    if (memory_of(module, *kernel.function) > limits.memory) continue;
    const Outcome ran = outcome_of(file, [&] { run(kernel, module, limits, registers == 16); });
    ++(ran.accepted ? result.finished : result.diagnosed);
  }
}

}  // namespace

PtxOutcome probe_ptx(const std::string& text, const PtxLimits& limits) {
  PtxOutcome result;
  ptx::ModuleResult parsed;
  result.parse = outcome_of(file, [&] { parsed = ptx::parse_entries(text, file); });
  ir::Module module;
  module.file = parsed.file;
  module.variables = std::move(parsed.variables);
  result.entries = parsed.entries.size();
  for (std::size_t i = 0; i < std::min(parsed.entries.size(), limits.entries); ++i) {
    const ptx::EntryResult& entry = parsed.entries[i];
    if (entry.accepted) {
      probe_entry(entry.function, module, limits, result);
    } else {
      check_message(entry.message, file);
    }
  }
  return result;
}

}  // namespace regatta::test
