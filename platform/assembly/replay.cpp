// SPDX-License-Identifier: Apache-2.0
//
// Functional replay: what a simulation does with a trace, less the time. As many CTAs are resident as the machine
// holds, and their warps take turns, an instruction each; a warp that arrives at a barrier waits for its CTA. So the
// architectural state (registers, predicates, SIMT stacks of all resident warps) is at every moment one that the
// machine could be in.
#include <regatta/assembly/simulation.h>
#include <regatta/models/residency/occupancy.h>
#include <regatta/support/interrupt.h>

#include <algorithm>
#include <chrono>
#include <cstring>

namespace regatta::assembly {

namespace {

class FunctionalSm {
 public:
  FunctionalSm(const trace::Kernel& kernel, unsigned resident_ctas, unsigned warps_per_cta)
      : kernel_(kernel),
        bytes_(std::size_t{kernel.warp_size} * trace::bytes_per_lane),
        full_(trace::all_lanes(kernel.warp_size)),
        warps_per_cta_(warps_per_cta),
        ctas_(resident_ctas),
        warps_(std::size_t{resident_ctas} * warps_per_cta) {
    for (std::uint32_t slot = resident_ctas; slot-- > 0;) free_.push_back(slot);
  }

  bool full() const { return free_.empty(); }
  bool empty() const { return running_.empty(); }

  void launch(std::shared_ptr<const trace::Cta> trace) {
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    Cta& cta = ctas_[slot];
    cta.trace = std::move(trace);
    cta.running = warps_per_cta_;
    cta.waiting = 0;
    for (unsigned i = 0; i < warps_per_cta_; ++i) {
      Warp& warp = warps_[slot * std::size_t{warps_per_cta_} + i];
      warp.cursor = trace::WarpCursor(kernel_, cta.trace->warps[i]);
      warp.registers.assign(kernel_.registers_per_thread, trace::WarpValue{});
      warp.predicates.fill(0);
      warp.stack.clear();
      warp.at_barrier = false;
      warp.cta = slot;
      running_.push_back(&warp);
    }
  }

  /// Every running warp takes one step.
  void turn(SimulationResult& result) {
    std::size_t kept = 0;
    for (Warp* warp : running_) {
      if (warp->at_barrier || step(*warp, result)) {
        running_[kept++] = warp;
      } else {
        Cta& cta = ctas_[warp->cta];
        --cta.running;
        open_barrier(warp->cta);
        if (cta.running != 0) continue;
        cta.trace.reset();
        free_.push_back(warp->cta);
      }
    }
    running_.resize(kept);
  }

 private:
  struct Cta {
    std::shared_ptr<const trace::Cta> trace;
    unsigned running = 0;  ///< warps with instructions left
    unsigned waiting = 0;  ///< of these, at a barrier
  };
  struct Warp {
    trace::WarpCursor cursor;
    std::vector<trace::WarpValue> registers;
    std::array<trace::LaneMask, trace::max_predicates> predicates{};
    std::vector<trace::StackEvent> stack;
    std::uint32_t cta = 0;
    bool at_barrier = false;
  };

  /// Barriers open when every running warp of the CTA waits. Where several are in use at once, or one is for a part of
  /// the warps, that is later than on the machine, never too early.
  void open_barrier(std::uint32_t slot) {
    Cta& cta = ctas_[slot];
    if (cta.waiting != cta.running) return;
    cta.waiting = 0;
    for (unsigned i = 0; i < warps_per_cta_; ++i) warps_[slot * std::size_t{warps_per_cta_} + i].at_barrier = false;
  }

  bool step(Warp& warp, SimulationResult& result) {
    trace::WarpCursor& cursor = warp.cursor;
    if (!cursor.next()) return false;
    const trace::StaticInstruction& i = cursor.instruction();
    const trace::LaneMask active = cursor.active_mask();
    for (unsigned d = 0; d < i.destination_count; ++d) {
      cursor.result(value_);
      trace::WarpValue& r = warp.registers[i.destinations[d]];
      if (active == full_) {
        std::memcpy(&r, &value_, bytes_);
      } else {
        for (trace::LaneMask m = active; m != 0; m &= m - 1) {
          const auto lane = static_cast<unsigned>(__builtin_ctzll(m));
          r.lane[lane] = value_.lane[lane];
        }
      }
    }
    for (unsigned d = 0; d < i.destination_predicate_count; ++d) {
      trace::LaneMask& p = warp.predicates[i.destination_predicates[d]];
      p = (p & ~active) | cursor.predicate();
    }
    if (trace::has_addresses(i)) cursor.addresses(addresses_);
    events_.clear();
    if (cursor.stack_events(events_) != 0) {
      for (const trace::StackEvent& e : events_) {
        if (e.push) {
          warp.stack.push_back(e);
        } else if (!warp.stack.empty()) {
          warp.stack.pop_back();
        }
      }
    }
    ++result.warp_instructions;
    result.thread_instructions += static_cast<unsigned>(__builtin_popcountll(active));
    if (i.op_class == trace::OpClass::barrier) {
      warp.at_barrier = true;
      ++ctas_[warp.cta].waiting;
      open_barrier(warp.cta);
    }
    return true;
  }

  const trace::Kernel& kernel_;
  std::size_t bytes_;
  trace::LaneMask full_;
  unsigned warps_per_cta_;
  std::vector<Cta> ctas_;
  std::vector<Warp> warps_;
  std::vector<std::uint32_t> free_;
  std::vector<Warp*> running_;
  std::vector<trace::StackEvent> events_;
  trace::WarpValue value_;
  std::uint64_t addresses_[trace::max_lanes];
};

unsigned resident_ctas(const MachineConfig& machine, const trace::Kernel& kernel, const trace::Launch& launch) {
  const unsigned granularity = machine.sm.register_granularity;
  const unsigned registers = (std::max(1u, kernel.registers_per_thread) + granularity - 1) / granularity * granularity;
  const models::Occupancy o =
      models::occupancy(machine.sm.limits(kernel.warp_size, machine.register_file.registers),
                        launch.warps_per_cta(kernel.warp_size), registers, launch.shared_bytes_per_cta);
  return std::max(1u, o.ctas());
}

}  // namespace

SimulationResult replay(const trace::Reader& trace, const MachineConfig& machine,
                        const std::function<void(std::uint64_t)>& progress) {
  SimulationResult result;
  const auto begin = std::chrono::steady_clock::now();
  const auto stream = trace.stream(0, trace.ctas().size());
  for (const trace::Launch& launch : trace.launches()) {
    const trace::Kernel& kernel = trace.kernels()[launch.kernel];
    LaunchResult r;
    r.kernel = kernel.name;
    r.warp_instructions = result.warp_instructions;
    r.thread_instructions = result.thread_instructions;
    FunctionalSm sm(kernel, resident_ctas(machine, kernel, launch), launch.warps_per_cta(kernel.warp_size));
    while (r.ctas < launch.cta_count || !sm.empty()) {
      while (!sm.full() && r.ctas < launch.cta_count) {
        sm.launch(stream->next());
        ++r.ctas;
        if (progress) progress(result.warp_instructions);
      }
      sm.turn(result);
      if (support::interrupted()) break;
    }
    r.warp_instructions = result.warp_instructions - r.warp_instructions;
    r.thread_instructions = result.thread_instructions - r.thread_instructions;
    result.launches.push_back(r);
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
