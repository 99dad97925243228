// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/verify.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "barrier_check.h"
#include "flow_check.h"
#include "result_check.h"

namespace regatta::trace {
namespace {

/// Walks one warp; returns what is wrong with it as a whole, "" if nothing.
class WarpCheck {
 public:
  WarpCheck(const Kernel& kernel, const Launch& launch, VerifyDepth depth, ResultCheck& results)
      : kernel_(kernel), launch_(launch), program_(depth == VerifyDepth::program), results_(results) {}

  std::string check(const WarpColumns& columns, BarrierCheck& barriers) {
    WarpCursor cursor(kernel_, columns);
    FlowCheck flow(cursor);
    if (program_) {
      results_.begin_warp(kernel_);
      barriers.begin_warp(columns);
    }
    std::uint64_t instructions = 0;
    std::uint64_t threads = 0;
    unsigned budget = kernel_.launch_registers;
    while (cursor.next()) {
      const StaticInstruction& instruction = cursor.instruction();
      ++instructions;
      threads += static_cast<unsigned>(__builtin_popcountll(cursor.active_mask()));
      if (instruction.guard.predicate >= 0 && (cursor.guard_mask() & ~cursor.simt_mask()) != 0) {
        return "instruction " + std::to_string(instructions) + ": the guard mask has lanes outside the SIMT mask";
      }
      if (has_addresses(instruction)) {
        cursor.addresses(address_);
        if (program_) check_shared(cursor);
        for (unsigned words = cursor.stored_words(); words != 0; --words) cursor.stored(value_);
      }
      if (program_) {
        if (kernel_.launch_registers != 0) follow_budget(cursor, budget);
        results_.decode(cursor);
        barriers.arrived(cursor);
        flow.step();
        continue;
      }
      for (unsigned d = 0; d < instruction.destination_count; ++d) cursor.result(value_);
      for (unsigned d = 0; d < instruction.destination_predicate_count; ++d) cursor.predicate();
      events_.clear();
      cursor.stack_events(events_);
    }
    if (const char* column = cursor.leftover()) {
      return std::string("column ") + column + " has entries that no instruction uses";
    }
    if (instructions != columns.warp_instructions || threads != columns.thread_instructions) {
      return "has " + std::to_string(instructions) + " warp and " + std::to_string(threads) +
             " thread instructions, its counts say " + std::to_string(columns.warp_instructions) + " and " +
             std::to_string(columns.thread_instructions);
    }
    if (program_) flow.finish();
    return {};
  }

 private:
  void check_shared(const WarpCursor& cursor) const {
    const StaticInstruction& i = cursor.instruction();
    const std::uint64_t bytes = launch_.shared_bytes_per_cta;
    for (LaneMask m = shared_lanes(i, cursor.active_mask(), address_); m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctzll(m));
      const std::uint64_t offset = base::window_number(address_[lane]) == base::window_number(shared_window)
                                       ? address_[lane] & base::window_offset_mask
                                       : address_[lane];
      if (offset <= bytes && bytes - offset >= i.access_bytes) continue;
      cursor.path().malformed(i.opcode + " accesses " + std::to_string(i.access_bytes) + " bytes of shared memory at " +
                              std::to_string(offset) + " in lane " + std::to_string(lane) + ", the CTA has " +
                              std::to_string(bytes));
    }
  }

  /// `budget`: the registers that a thread of the warp has, before the instruction and behind it.
  static void follow_budget(const WarpCursor& cursor, unsigned& budget) {
    const StaticInstruction& i = cursor.instruction();
    if (cursor.active_mask() == 0) return;
    unsigned most = 0;
    for (unsigned s = 0; s < i.source_count; ++s) most = std::max<unsigned>(most, i.sources[s] + 1u);
    for (unsigned d = 0; d < i.destination_count; ++d) most = std::max<unsigned>(most, i.destinations[d] + 1u);
    if (most > budget) {
      cursor.path().malformed(i.opcode + " names R" + std::to_string(most - 1) + " where a thread has " +
                              std::to_string(budget) + " registers");
    }
    if (i.register_budget != 0) budget = i.register_budget;
  }

  const Kernel& kernel_;
  const Launch& launch_;
  const bool program_;
  ResultCheck& results_;
  std::vector<StackEvent> events_;
  WarpValue value_;
  std::uint64_t address_[max_lanes];
};

}  // namespace

void verify_kernels(const Reader& reader) {
  for (std::size_t k = 0; k < reader.kernels().size(); ++k) {
    try {
      for (const auto& format : reader.sections().formats()) format->verify(reader.kernels()[k]);
    } catch (const std::invalid_argument& e) {
      throw InputError(reader.path() + ": kernel " + std::to_string(k) + ": " + e.what());
    }
  }
}

Verified verify(const Reader& reader, VerifyDepth depth, const std::function<void(std::size_t)>& done) {
  verify_kernels(reader);
  Verified verified;
  ResultCheck results;
  std::uint32_t launch_before = ~std::uint32_t{0};
  const auto stream = reader.stream(0, reader.ctas().size());
  for (std::size_t position = 0; const auto cta = stream->next(); ++position) {
    const Launch& launch = reader.launches()[cta->launch];
    const Kernel& kernel = reader.kernels()[launch.kernel];
    const auto in_launch = [&] {
      return reader.path() + ": byte " + std::to_string(reader.ctas()[position].offset) + ": launch " +
             std::to_string(cta->launch);
    };
    if (cta->launch != launch_before) results.begin_launch();
    launch_before = cta->launch;
    WarpCheck check(kernel, launch, depth, results);
    BarrierCheck barriers(kernel);
    for (const WarpColumns& warp : cta->warps) {
      std::string wrong;
      try {
        wrong = check.check(warp, barriers);
      } catch (const InputError& e) {
        // A segment that cannot be read: it is named already.
        if (std::string(e.what()).rfind(reader.path() + ": ", 0) == 0) throw;
        throw InputError(in_launch() + ": " + e.what());
      }
      if (!wrong.empty()) {
        throw InputError(in_launch() + ", CTA " + std::to_string(cta->index) + ", warp " + std::to_string(warp.warp) +
                         ": " + wrong);
      }
      ++verified.warps;
      verified.warp_instructions += warp.warp_instructions;
      verified.thread_instructions += warp.thread_instructions;
    }
    if (const std::string wrong = barriers.never_complete(); !wrong.empty()) {
      throw InputError(in_launch() + ": kernel " + kernel.name + ", CTA " + std::to_string(cta->index) + ", " + wrong +
                       "; the trace is malformed");
    }
    if (done) done(position + 1);
  }
  return verified;
}

}  // namespace regatta::trace
