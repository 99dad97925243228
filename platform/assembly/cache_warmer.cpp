// SPDX-License-Identifier: Apache-2.0
#include "cache_warmer.h"

#include <regatta/support/interrupt.h>

#include "launch_plan.h"

namespace regatta::assembly {

bool CacheWarmer::warm(std::uint32_t first, std::uint32_t last, SkippedLaunches& done) {
  if (depth_ == 0) return true;
  const std::uint64_t wanted = depth_ * memory_.l2_bytes();
  std::uint64_t bytes = 0;
  std::uint32_t from = last;
  while (from > first && bytes < wanted) {
    if (support::interrupted()) return false;
    bytes += trace::signature_of(trace_, --from).lines * trace::LaunchSignature::line_bytes;
  }
  for (std::uint32_t i = first; i < from; ++i) {
    const trace::Launch& l = trace_.launches()[i];
    code_(l, std::vector<bool>(trace_.kernels()[l.kernel].instructions.size(), true));
  }
  for (; from < last; ++from) {
    if (!pass(from, done)) return false;
  }
  return true;
}

bool CacheWarmer::pass(std::uint32_t launch, SkippedLaunches& done) {
  const trace::Launch& l = trace_.launches()[launch];
  const trace::Kernel& kernel = trace_.kernels()[l.kernel];
  std::vector<bool> executed(kernel.instructions.size(), false);
  const auto stream = trace_.stream(first_cta_of(trace_, launch), l.cta_count);
  while (const std::shared_ptr<const trace::Cta> cta = stream->next()) {
    if (support::interrupted()) return false;
    for (const trace::WarpColumns& warp : cta->warps) {
      trace::WarpCursor cursor(kernel, warp);
      while (cursor.next()) {
        executed[cursor.index()] = true;
        const trace::StaticInstruction& instruction = cursor.instruction();
        if (!trace::has_addresses(instruction)) continue;
        touched_.take(cursor);
        using protocol::AccessClass;
        const AccessClass access = instruction.op_class == trace::OpClass::atomic ? AccessClass::atomic
                                   : instruction.reads_memory                     ? AccessClass::data_load
                                                                                  : AccessClass::data_store;
        for (const trace::TouchedLines::Line& line : touched_) memory_.warm(line.address, line.sectors, access);
        done.warmed_lines += touched_.count();
      }
      done.warmed_warp_instructions += warp.warp_instructions;
    }
  }
  code_(l, executed);
  done.warmed.push_back(launch);
  return true;
}

}  // namespace regatta::assembly
