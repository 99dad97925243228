// SPDX-License-Identifier: Apache-2.0
#include <regatta/finereg/register_mover.h>

#include <regatta/support/energy.h>

#include <string>
#include <vector>

namespace regatta::models {

void RegisterMover::register_stats(support::StatGroup& g) {
  g.counter("moves", moves_, "moves", "of the registers of a CTA or two");
  g.counter("move_cycles", move_cycles_, "cycles", "from the beginning of a move to its end");
  g.counter("moved_out", moved_out_, "warp registers", "read from the register file into the pending file");
  g.counter("moved_in", moved_in_, "warp registers", "read from the pending file into the register file");
  g.counter("merged_results", merged_, "warp registers", "results of loads that went to the pending file");
  g.counter("early_results", early_results_, "warp registers",
            "of which the register was still to be read from the register file");
  g.counter("dead_results", dead_, "warp registers", "results of loads that nobody will read, dropped");
  g.counter("waiting_results", waits_, "attempts", "to write such a result when the pending file's port was taken");
}

std::string RegisterMover::describe_stuck() const {
  if (!moving_) return "";
  std::string text = "  " + std::string(name()) + ": moves registers since cycle " + std::to_string(begun_) + ":";
  if (out_) {
    text += " CTA slot " + std::to_string(out_->value()) + " out, " + std::to_string(left_count_) + " left" +
            (displaced_
                 ? ", next R" + std::to_string(displaced_->reg) + " of warp " + std::to_string(displaced_->warp.value())
                 : "") +
            (reading_ ? ", R" + std::to_string(reading_->reg) + " waits for its bank" : "") + (in_ ? ";" : "");
  }
  if (in_) {
    text += " CTA slot " + std::to_string(in_->value()) + " in, " + std::to_string(to_restore_) + " to come" +
            (buffer_ ? ", R" + std::to_string(buffer_->reg) + " of warp " + std::to_string(buffer_->warp.value()) +
                           " waits to be written"
                     : "");
  }
  return text + "; " + std::to_string(free_->free()) + " entries of the pending file are free\n";
}

std::string RegisterMover::describe_chains() const {
  std::string text = describe_stuck();
  for (std::size_t cta = 0; cta < whereabouts_.size(); ++cta) {
    const PendingChain chain = pointers_->get(CtaSlot(static_cast<std::uint16_t>(cta)));
    if (chain.count == 0) continue;
    text += "  chain of CTA slot " + std::to_string(cta) + ": " + std::to_string(chain.count) +
            " registers from entry " + std::to_string(chain.first) + " on\n";
  }
  return text;
}

std::string RegisterMover::check() const {
  if (moving_) return "";
  std::vector<int> owners(pending_->entries(), 0);
  for (std::size_t cta = 0; cta < whereabouts_.size(); ++cta) {
    const CtaSlot slot(static_cast<std::uint16_t>(cta));
    const PendingChain chain = pointers_->get(slot);
    std::uint16_t entry = chain.first;
    for (unsigned k = 0; k < chain.count; ++k) {
      if (entry >= owners.size()) return "a chain leaves the file";
      const PendingTag& tag = pending_->tag(entry);
      if (++owners[entry] != 1) return "entry " + std::to_string(entry) + " is in two chains";
      if (!tag.valid) return "entry " + std::to_string(entry) + " of a chain is not valid";
      if (!free_->taken(entry)) return "entry " + std::to_string(entry) + " of a chain is free";
      if (entry_of(warp_of(slot, tag.warp), tag.reg) != entry)
        return "a register is in another entry than it should be";
      if (tag.end != (k + 1 == chain.count)) return "a chain ends at the wrong entry";
      entry = tag.next;
    }
  }
  for (unsigned e = 0; e < in_use_; ++e) {
    if (owners[e] == 0 && free_->taken(e)) return "entry " + std::to_string(e) + " is taken and in no chain";
  }
  return "";
}

void RegisterMover::register_energy(support::EnergyGroup& g) {
  g.event("cta_switching", "cta_switching.buffer", moved_out_);
  g.event("cta_switching", "cta_switching.buffer", moved_in_);
}

}  // namespace regatta::models
