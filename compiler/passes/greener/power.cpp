// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/power.h>

#include <regatta/analysis/next_access.h>

#include <algorithm>
#include <bitset>

namespace regatta::passes {

void check(const PowerOptions& options) {
  if (options.threshold < 1 || options.threshold > trace::power_bound)
    throw trace::InputError("error: --power-threshold is " + std::to_string(options.threshold) + ", expected 1 to " +
                            std::to_string(trace::power_bound));
}

trace::PowerStates plan_power_states(const trace::Kernel& kernel, analysis::FunctionAnalyses& analyses,
                                     const PowerOptions& options) {
  check(options);
  const ir::Function& f = analyses.function();
  const analysis::NextAccess next(f, analyses.cfg(), trace::power_bound);
  const analysis::WarpLiveness& liveness = analyses.warp_liveness();
  analysis::LivenessWalker walker(liveness.running());
  trace::PowerStates states;
  states.threshold = options.threshold;
  states.next.resize(kernel.instructions.size());
  for (std::uint32_t b = 0; b < kernel.blocks.size(); ++b) {
    const analysis::BitSet& waiting = liveness.waiting(b);
    std::vector<std::uint8_t> distances = next.out(b);
    for (walker.start(b); walker.more(); walker.step()) {
      const std::size_t index = kernel.blocks[b].first + walker.index();
      const trace::StaticInstruction& i = kernel.instructions[index];
      const auto add = [&](std::uint8_t r) {
        const std::uint8_t distance = distances[r] == analysis::NextAccess::beyond ? 0 : distances[r];
        states.next[index].push_back({distance, walker.live().test(r) || waiting.test(r)});
      };
      std::for_each_n(i.destinations.begin(), i.destination_count, add);
      std::for_each_n(i.sources.begin(), i.source_count, add);
      next.step(f.blocks[b].instructions[walker.index()], distances);
    }
  }
  return states;
}

void add_power_section(trace::Kernel& kernel, const trace::PowerStates& states) {
  kernel.annotations.push_back({trace::power_section, trace::power_section_version, trace::encode(states)});
}

PowerSummary summarise(const trace::Kernel& kernel, const trace::PowerStates& states) {
  PowerSummary summary;
  for (std::size_t index = 0; index < kernel.instructions.size(); ++index) {
    const trace::StaticInstruction& i = kernel.instructions[index];
    const trace::PowerFields fields = trace::power_fields_of(i);
    const std::uint8_t bits = trace::power_bits(i, states.next[index], states.threshold);
    std::bitset<256> accessed;
    for (unsigned d = 0; d < i.destination_count; ++d) accessed.set(i.destinations[d]);
    for (unsigned s = 0; s < i.source_count; ++s) accessed.set(i.sources[s]);
    for (unsigned field = 0; field < trace::power_fields; ++field) {
      if (fields[field] < 0) continue;
      accessed.reset(static_cast<std::size_t>(fields[field]));
      switch (trace::power_field(bits, field)) {
        case trace::RegisterPower::on:
          ++summary.on;
          break;
        case trace::RegisterPower::sleep:
          ++summary.sleep;
          break;
        case trace::RegisterPower::off:
          ++summary.off;
          break;
      }
    }
    summary.without_field += accessed.count();
  }
  return summary;
}

}  // namespace regatta::passes
