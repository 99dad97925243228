// SPDX-License-Identifier: Apache-2.0
#include <regatta/assembly/simulation.h>
#include <regatta/support/interrupt.h>

#include <chrono>
#include <cstring>

namespace regatta::assembly {

namespace {

/// One warp's architectural state: general registers and predicates.
struct Architecture {
  std::vector<trace::WarpValue> registers = std::vector<trace::WarpValue>(trace::max_general_registers);
  std::array<trace::LaneMask, trace::max_predicates> predicates{};
};

void replay_warp(const trace::Kernel& kernel, const trace::WarpColumns& columns, Architecture& state,
                 SimulationResult& result) {
  const std::size_t bytes = std::size_t{kernel.warp_size} * trace::bytes_per_lane;
  const trace::LaneMask full = trace::all_lanes(kernel.warp_size);
  trace::WarpValue value;
  std::uint64_t addresses[trace::max_lanes];
  trace::WarpCursor cursor(kernel, columns);
  while (cursor.next()) {
    const trace::StaticInstruction& i = cursor.instruction();
    const trace::LaneMask active = cursor.active_mask();
    for (unsigned d = 0; d < i.destination_count; ++d) {
      cursor.result(value);
      trace::WarpValue& r = state.registers[i.destinations[d]];
      if (active == full) {
        std::memcpy(&r, &value, bytes);
      } else {
        for (trace::LaneMask m = active; m != 0; m &= m - 1) {
          const auto lane = static_cast<unsigned>(__builtin_ctzll(m));
          r.lane[lane] = value.lane[lane];
        }
      }
    }
    for (unsigned d = 0; d < i.destination_predicate_count; ++d) {
      trace::LaneMask& p = state.predicates[i.destination_predicates[d]];
      p = (p & ~active) | cursor.predicate();
    }
    if (trace::has_addresses(i)) cursor.addresses(addresses);
    ++result.warp_instructions;
    result.thread_instructions += static_cast<unsigned>(__builtin_popcountll(active));
  }
}

}  // namespace

SimulationResult replay(const trace::Reader& trace, const std::function<void(std::uint64_t)>& progress) {
  SimulationResult result;
  const auto begin = std::chrono::steady_clock::now();
  for (const trace::Launch& launch : trace.launches()) {
    LaunchResult r;
    r.kernel = trace.kernels()[launch.kernel].name;
    r.ctas = launch.cta_count;
    r.warp_instructions = launch.warp_instructions;
    r.thread_instructions = launch.thread_instructions;
    result.launches.push_back(r);
  }
  Architecture state;
  const auto stream = trace.stream(0, trace.ctas().size());
  while (const auto cta = stream->next()) {
    const trace::Kernel& kernel = trace.kernels()[trace.launches()[cta->launch].kernel];
    for (const trace::WarpColumns& warp : cta->warps) replay_warp(kernel, warp, state, result);
    if (progress) progress(result.warp_instructions);
    if (support::interrupted()) {
      result.ending = Ending::interrupted;
      result.message = "interrupted: the figures are partial";
      break;
    }
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace regatta::assembly
