// SPDX-License-Identifier: Apache-2.0
#include "pending.h"

namespace regatta::passes {

Hazards::Hazards(const trace::Kernel& kernel) : kernel_(kernel), order_(kernel) {
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    access_.push_back(access_of(kernel.instructions[i]));
    const bool fixed = trace::has_fixed_latency(kernel.instructions[i]);
    place_of_.push_back(fixed ? -1 : static_cast<std::int32_t>(variable_.size()));
    if (!fixed) variable_.push_back(i);
  }
  writers_.assign(warp_resources, analysis::BitSet(variable_.size()));
  readers_ = writers_;
  for (std::uint32_t v = 0; v < variable_.size(); ++v) {
    const WarpAccess& a = access_[variable_[v]];
    for (unsigned r = 0; r < warp_resources; ++r) {
      if (a.written.test(r)) writers_[r].set(v);
      if (a.registers_read.test(r)) readers_[r].set(v);
    }
  }
}

Pending Hazards::needed(std::uint32_t index, const Pending& pending) const {
  Pending needed(variable_.size());
  if (variable_.empty()) return needed;
  const WarpAccess& a = access_[index];
  const ResourceSet touched = a.touched();
  for (unsigned r = 0; r < warp_resources; ++r) {
    if (touched.test(r)) needed.writes.merge(writers_[r]);
    if (a.written.test(r)) needed.reads.merge(readers_[r]);
  }
  needed.writes.intersect(pending.writes);
  needed.reads.intersect(pending.reads);
  // The result's counter says that the sources are read, too.
  needed.reads.subtract(needed.writes);
  return needed;
}

void Hazards::issue(std::uint32_t index, Pending& pending) const {
  const std::int32_t place = place_of_[index];
  if (place < 0) return;
  const trace::StaticInstruction& i = kernel_.instructions[index];
  if (trace::has_result(i)) pending.writes.set(static_cast<std::size_t>(place));
  if (i.source_count != 0) pending.reads.set(static_cast<std::size_t>(place));
}

}  // namespace regatta::passes
