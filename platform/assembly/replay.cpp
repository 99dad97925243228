// SPDX-License-Identifier: Apache-2.0
//
// Functional replay: the warps of a CTA take turns, an instruction each, as they do on an SM; a warp that arrives at
// a barrier waits for the others. So the architectural state (registers, predicates, SIMT stacks) is at every
// moment one that the machine could be in, and the data path is the one a timing simulation starts from.
#include <regatta/assembly/simulation.h>
#include <regatta/support/interrupt.h>

#include <chrono>
#include <cstring>

namespace regatta::assembly {

namespace {

class CtaReplay {
 public:
  void run(const trace::Kernel& kernel, const trace::Cta& cta, SimulationResult& result) {
    kernel_ = &kernel;
    bytes_ = std::size_t{kernel.warp_size} * trace::bytes_per_lane;
    full_ = trace::all_lanes(kernel.warp_size);
    warps_.resize(cta.warps.size());
    running_.clear();
    for (std::size_t w = 0; w < cta.warps.size(); ++w) {
      Warp& warp = warps_[w];
      warp.cursor = trace::WarpCursor(kernel, cta.warps[w]);
      warp.registers.assign(kernel.registers_per_thread, trace::WarpValue{});
      warp.predicates.fill(0);
      warp.stack.clear();
      warp.barrier = no_barrier;
      running_.push_back(&warp);
    }
    while (!running_.empty()) {
      std::size_t waiting = 0;
      std::size_t kept = 0;
      for (Warp* warp : running_) {
        if (warp->barrier != no_barrier) {
          ++waiting;
        } else if (!step(*warp, result)) {
          continue;
        }
        running_[kept++] = warp;
      }
      running_.resize(kept);
      // Barriers open when everybody left waits: with several in use at once this is later than on the machine for
      // some, never too early.
      if (waiting == running_.size()) {
        for (Warp* warp : running_) warp->barrier = no_barrier;
      }
    }
  }

 private:
  static constexpr int no_barrier = -1;
  struct Warp {
    trace::WarpCursor cursor;
    std::vector<trace::WarpValue> registers;
    std::array<trace::LaneMask, trace::max_predicates> predicates{};
    std::vector<trace::StackEvent> stack;
    int barrier = no_barrier;
  };

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
    if (i.op_class == trace::OpClass::barrier) warp.barrier = i.barrier_id;
    ++result.warp_instructions;
    result.thread_instructions += static_cast<unsigned>(__builtin_popcountll(active));
    return true;
  }

  const trace::Kernel* kernel_ = nullptr;
  std::size_t bytes_ = 0;
  trace::LaneMask full_ = 0;
  std::vector<Warp> warps_;
  std::vector<Warp*> running_;
  std::vector<trace::StackEvent> events_;
  trace::WarpValue value_;
  std::uint64_t addresses_[trace::max_lanes];
};

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
  CtaReplay cta_replay;
  const auto stream = trace.stream(0, trace.ctas().size());
  while (const auto cta = stream->next()) {
    cta_replay.run(trace.kernels()[trace.launches()[cta->launch].kernel], *cta, result);
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
