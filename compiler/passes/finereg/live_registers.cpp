// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/live_registers.h>

#include <algorithm>

namespace regatta::passes {

trace::LiveRegisters live_registers_of(const trace::Kernel& kernel, analysis::FunctionAnalyses& analyses) {
  trace::LiveRegisters live(kernel.registers_per_thread, kernel.instructions.size());
  analysis::LivenessWalker walker(analyses.warp_liveness().running());
  for (std::uint32_t b = 0; b < kernel.blocks.size(); ++b) {
    for (walker.start(b); walker.more();) {
      const auto index = static_cast<std::uint32_t>(kernel.blocks[b].first + walker.index());
      walker.step();
      walker.live().for_each([&](std::uint32_t v) {
        if (v < live.registers) live.set(index, v);
      });
    }
  }
  return live;
}

void add_liveness_section(trace::Kernel& kernel, const trace::LiveRegisters& live) {
  kernel.annotations.push_back({trace::liveness_section, trace::liveness_section_version, trace::encode(live)});
}

LivenessSummary summarise(const trace::LiveRegisters& live) {
  LivenessSummary summary;
  std::uint64_t sum = 0;
  const auto instructions = static_cast<std::uint32_t>(live.instructions());
  for (std::uint32_t i = 0; i < instructions; ++i) {
    const std::uint64_t count = live.count(i);
    summary.max = std::max(summary.max, count);
    sum += count;
  }
  if (instructions != 0) summary.mean = static_cast<double>(sum) / instructions;
  return summary;
}

}  // namespace regatta::passes
