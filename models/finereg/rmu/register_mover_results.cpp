// SPDX-License-Identifier: Apache-2.0
// Results of loads whose CTA's registers are away or on their way.
#include <regatta/finereg/register_mover.h>

#include <string>

namespace regatta::models {

using protocol::DynamicInstruction;

protocol::WritebackPoint::Decision RegisterMover::wait(For what) {
  ++waits_;
  result_waits_ = true;
  port_wanted_ = port_wanted_ || what == For::port;
  wakeup_.request(clock_.now() + 1);  // which notifies changed()
  return Decision::wait;
}

protocol::WritebackPoint::Decision RegisterMover::steer(DynamicInstruction& d, unsigned destination, Where where) {
  if (where == Where::in_file) return Decision::write;
  const unsigned reg = d.traits->writes[destination].value();
  const std::uint16_t entry = entry_of(d.warp, reg);
  if (entry != no_entry) return merge(d, destination, entry);
  if (where == Where::entering && buffer_ && buffer_->warp == d.warp && buffer_->reg == reg) {
    if (write_held_) return wait(For::move);  // it goes to the file next
    for (unsigned lane = 0; lane < warp_size_; ++lane) {
      if ((d.active >> lane) & 1) restored_.lane[lane] = d.results[destination].lane[lane];
    }
    ++merged_;
    return Decision::drop;
  }
  if ((kept_[d.warp.value()] & bit(reg)) == 0) {
    ++dead_;
    return Decision::drop;
  }
  // Live, and in no entry: it is back in the register file, or has not left it.
  return where == Where::entering ? Decision::write : keep_early(d, destination);
}

protocol::WritebackPoint::Decision RegisterMover::merge(const DynamicInstruction& d, unsigned destination,
                                                        std::uint16_t entry) {
  if (!pending_->can_write()) return wait(For::port);
  if (has_twin(twin_)) check_tag(d.warp, d.traits->writes[destination].value(), entry);
  pending_->merge(entry, d.active, d.results[destination]);
  for (Early& e : early_) {
    if (e.moved == Moved{d.warp, d.traits->writes[destination].value()}) e.lanes |= d.active;
  }
  ++merged_;
  return Decision::drop;
}

// What a twin says of the entry that a result is merged into.
void RegisterMover::check_tag(WarpSlot warp, unsigned reg, std::uint16_t entry) const {
  const PendingTag& of_model = pending_->tag(entry);
  const PendingTag tag =
      twin_->operate(RmuOperation::peek(entry), RmuResult::of_entry(of_model.valid, 0, 0, of_model)).tag;
  if (tag.valid && tag.warp == warp.value() % warps_per_cta_ && tag.reg == reg) return;
  complain("a result of R" + std::to_string(reg) + " of warp " + std::to_string(warp.value() % warps_per_cta_) +
           " meets entry " + std::to_string(entry) + " of R" + std::to_string(tag.reg) + " of warp " +
           std::to_string(tag.warp) + (tag.valid ? "" : ", not valid") + "; expected its own");
}

// The register has not been read from the file yet. Its entry begins with the result; the other lanes follow.
protocol::WritebackPoint::Decision RegisterMover::keep_early(const DynamicInstruction& d, unsigned destination) {
  const Moved moved{d.warp, d.traits->writes[destination].value()};
  const bool has_its_own = moved == reading_ || moved == displaced_;
  if (free_->free() < reserved_entries() + (has_its_own ? 0 : 1)) return wait(For::move);
  if (!pending_->can_write()) return wait(For::port);
  append(moved.warp, moved.reg, d.results[destination]);
  early_.push_back(Early{moved, d.active});
  ++early_results_;
  return Decision::drop;
}

}  // namespace regatta::models
