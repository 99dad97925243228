// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/register_management/register_mover.h>

#include <regatta/support/energy.h>

#include <string>

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

void RegisterMover::register_energy(support::EnergyGroup& g) {
  g.event("cta_switching", "cta_switching.buffer", moved_out_);
  g.event("cta_switching", "cta_switching.buffer", moved_in_);
}

}  // namespace regatta::models
