// SPDX-License-Identifier: Apache-2.0
#include "stalls.h"

#include <algorithm>
#include <array>

namespace regatta::passes {

namespace {

using trace::ControlBits;

/// Per resource: cycles until a variable instruction finds it, which is one more than until a fixed one does. The most
/// of all paths.
using CyclesLeft = std::array<std::uint8_t, warp_resources>;

void age(CyclesLeft& left, unsigned cycles) {
  for (std::uint8_t& l : left) l = static_cast<std::uint8_t>(l > cycles ? l - cycles : 0);
}

class StallPlacement {
 public:
  StallPlacement(const Hazards& hazards, const std::vector<std::uint8_t>& latency, std::vector<ControlBits>& bits)
      : hazards_(hazards), latency_(latency), bits_(bits), out_(hazards.kernel().blocks.size(), CyclesLeft{}) {}

  void run(unsigned control_stall) {
    start(control_stall);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t b = 0; b < out_.size(); ++b) changed = pass(b) || changed;
    }
    for (ControlBits& b : bits_) b.yield = b.stall > trace::max_stall_without_yield;
  }

 private:
  std::uint32_t first(std::uint32_t block) const { return hazards_.kernel().blocks[block].first; }
  std::uint32_t last(std::uint32_t block) const { return first(block) + hazards_.kernel().blocks[block].count - 1; }

  void start(unsigned control_stall) {
    const trace::Kernel& kernel = hazards_.kernel();
    for (std::uint32_t b = 0; b < kernel.blocks.size(); ++b) {
      for (std::uint32_t i = first(b); i <= last(b); ++i) {
        const trace::OpClass c = kernel.instructions[i].op_class;
        const bool leaves = c == trace::OpClass::branch || c == trace::OpClass::exit;
        bits_[i].stall = static_cast<std::uint8_t>(leaves ? control_stall : 1);
        if (i != last(b)) let_see(i, i + 1);
      }
      for (const std::uint32_t n : hazards_.order().next[b]) let_see(last(b), first(n));
    }
  }

  /// The next instruction must see the counter that it waits for.
  void let_see(std::uint32_t index, std::uint32_t next) {
    unsigned raised = 0;
    for (const unsigned c : {unsigned{bits_[index].write_counter}, unsigned{bits_[index].read_counter}})
      if (c != trace::no_counter) raised |= 1u << c;
    if ((raised & bits_[next].wait_mask) != 0)
      bits_[index].stall = std::max<std::uint8_t>(bits_[index].stall, trace::counter_raise_delay);
  }

  /// Whether a stall or the state at the block's end changed.
  bool pass(std::uint32_t b) {
    bool changed = false;
    CyclesLeft left{};
    for (const std::uint32_t p : hazards_.order().previous[b]) {
      if (const unsigned more = missing(first(b), out_[p]); more != 0) {
        stall(last(p), more, out_[p]);
        changed = true;
      }
      for (unsigned r = 0; r < warp_resources; ++r) left[r] = std::max(left[r], out_[p][r]);
    }
    for (std::uint32_t i = first(b); i <= last(b); ++i) {
      if (i != first(b)) {
        if (const unsigned more = missing(i, left); more != 0) {
          stall(i - 1, more, left);
          changed = true;
        }
      }
      if (latency_[i] != 0) {
        const ResourceSet& written = hazards_.access(i).written;
        for (unsigned r = 0; r < warp_resources; ++r)
          if (written.test(r)) left[r] = std::max<std::uint8_t>(left[r], static_cast<std::uint8_t>(latency_[i] + 1));
      }
      age(left, bits_[i].issue_distance());
    }
    if (left == out_[b]) return changed;
    out_[b] = left;
    return true;
  }

  void stall(std::uint32_t index, unsigned cycles, CyclesLeft& left) {
    bits_[index].stall = static_cast<std::uint8_t>(bits_[index].stall + cycles);
    age(left, cycles);
  }

  /// Cycles that instruction `index` would issue too early.
  unsigned missing(std::uint32_t index, const CyclesLeft& left) const {
    const WarpAccess& a = hazards_.access(index);
    const bool fixed = latency_[index] != 0;
    unsigned most = 0;
    const auto need = [&](unsigned r, unsigned allowed) {
      if (left[r] > allowed) most = std::max(most, left[r] - allowed);
    };
    for (unsigned r = 0; r < warp_resources; ++r) {
      if (left[r] == 0) continue;
      if (a.registers_read.test(r)) need(r, fixed ? 1 : 0);
      if (a.read_at_issue.test(r)) need(r, 1);
      // The later write must come later: L - L' + 1 cycles apart. When a variable one writes is not known.
      if (a.written.test(r)) need(r, fixed ? latency_[index] : 1);
    }
    return most;
  }

  const Hazards& hazards_;
  const std::vector<std::uint8_t>& latency_;
  std::vector<ControlBits>& bits_;
  std::vector<CyclesLeft> out_;  ///< per block: when the next instruction can issue
};

}  // namespace

void place_stalls(const Hazards& hazards, const std::vector<std::uint8_t>& latency, unsigned control_stall,
                  std::vector<ControlBits>& bits) {
  StallPlacement(hazards, latency, bits).run(control_stall);
}

}  // namespace regatta::passes
