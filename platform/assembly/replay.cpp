// SPDX-License-Identifier: Apache-2.0
//
// Functional replay: a simulation without the timing model. As many CTAs are resident as the machine holds, and their
// warps take turns, one instruction each; a warp that arrives at a barrier waits for its CTA. Decoding and the
// architectural registers (the value checker's) are those of the simulation, so the machine could be in every state
// that is reached.
#include <regatta/assembly/simulation.h>
#include <regatta/baseline/occupancy_residency.h>
#include <regatta/sm/decode.h>
#include <regatta/support/interrupt.h>

#include <algorithm>
#include <chrono>

namespace regatta::assembly {

namespace {

class FunctionalSm {
 public:
  FunctionalSm(const protocol::KernelContext& context, unsigned resident_ctas)
      : context_(context),
        warps_per_cta_(context.warps_per_cta),
        registers_([](const checker::Mismatch&) {}),
        ctas_(resident_ctas),
        warps_(std::size_t{resident_ctas} * context.warps_per_cta) {
    registers_.kernel_started(protocol::Cycle(0), context);
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
      warp.cursor = trace::WarpCursor(*context_.kernel, cta.trace->warps[i]);
      warp.slot = protocol::WarpSlot(static_cast<std::uint16_t>(slot * warps_per_cta_ + i));
      protocol::WarpInfo info;
      info.warp = warp.slot;
      info.cta_index = cta.trace->index;
      info.warp_in_cta = i;
      registers_.warp_started(protocol::Cycle(0), info);
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
    protocol::WarpSlot slot;
    std::array<trace::LaneMask, trace::max_predicates> predicates{};
    std::vector<trace::StackEvent> stack;
    std::uint32_t cta = 0;
    bool at_barrier = false;
  };

  /// Barriers open when every running warp of the CTA waits. If several barriers are in use at once, or one is for some
  /// of the warps only, this is later than on the machine, but never too early.
  void open_barrier(std::uint32_t slot) {
    Cta& cta = ctas_[slot];
    if (cta.waiting != cta.running) return;
    cta.waiting = 0;
    for (unsigned i = 0; i < warps_per_cta_; ++i) warps_[slot * std::size_t{warps_per_cta_} + i].at_barrier = false;
  }

  bool step(Warp& warp, SimulationResult& result) {
    trace::WarpCursor& cursor = warp.cursor;
    if (!cursor.next()) return false;
    sm::decode(cursor, (*context_.traits)[cursor.index()], instruction_);
    instruction_.warp = warp.slot;
    registers_.issued(protocol::Cycle(0), instruction_);
    const trace::StaticInstruction& i = *instruction_.info;
    const trace::LaneMask active = instruction_.active;
    for (unsigned d = 0; d < i.destination_predicate_count; ++d) {
      trace::LaneMask& p = warp.predicates[i.destination_predicates[d]];
      p = (p & ~active) | instruction_.predicate_results[d];
    }
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
    if (i.op_class == trace::OpClass::barrier && active != 0 && i.barrier_half != trace::BarrierHalf::arrive) {
      warp.at_barrier = true;
      ++ctas_[warp.cta].waiting;
      open_barrier(warp.cta);
    }
    return true;
  }

  const protocol::KernelContext& context_;
  unsigned warps_per_cta_;
  checker::ValueChecker registers_;
  protocol::DynamicInstruction instruction_;
  std::vector<Cta> ctas_;
  std::vector<Warp> warps_;
  std::vector<std::uint32_t> free_;
  std::vector<Warp*> running_;
  std::vector<trace::StackEvent> events_;
};

unsigned resident_ctas(const MachineConfig& machine, const trace::Kernel& kernel, const trace::Launch& launch) {
  const unsigned registers = machine.sm.allocated_registers(trace::registers_at_launch(kernel));
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
    r.index = static_cast<std::uint32_t>(result.launches.size());
    r.warp_instructions = result.warp_instructions;
    r.thread_instructions = result.thread_instructions;
    const std::vector<protocol::InstructionTraits> traits = sm::make_traits(kernel, machine.sm);
    protocol::KernelContext context;
    context.kernel = &kernel;
    context.launch = &launch;
    context.traits = &traits;
    context.warp_size = kernel.warp_size;
    context.warps_per_cta = launch.warps_per_cta(kernel.warp_size);
    FunctionalSm sm(context, resident_ctas(machine, kernel, launch));
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
