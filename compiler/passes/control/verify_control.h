// SPDX-License-Identifier: Apache-2.0
//
// The static verifier of control bits. It follows each instruction's effects along all ways of a warp, instruction by
// instruction, where the pass computes sets block by block.
#pragma once

#include <regatta/trace/control.h>

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::passes {

class ControlVerifier {
 public:
  ControlVerifier(const trace::Kernel& kernel, const trace::ControlSection& control);

  /// The first fault: "instruction 3 (fma.rn.f32) reads R4 of instruction 2 (add.f32) after 3 cycles, expected 4".
  /// Empty: there is none.
  std::string find_fault();

  /// Per instruction, those that the warp may come to next.
  const std::vector<std::vector<std::uint32_t>>& next() const { return next_; }

 private:
  void link();
  void link_waiting_lanes(std::uint32_t branch, std::uint32_t join);

  void follow_fixed(std::uint32_t producer);
  void check_cycles(std::uint32_t producer, std::uint32_t index, unsigned cycles);
  void follow_variable(std::uint32_t producer);
  void check_counted(std::uint32_t producer, std::uint32_t index, bool write_pending, bool read_pending);
  void follow_reuse(std::uint32_t index);
  void follow_entry(std::uint32_t index, unsigned position, unsigned reg);
  void count(unsigned counter);

  std::string at(std::uint32_t index) const;
  void fault(const std::string& text) {
    if (fault_.empty()) fault_ = text;
  }

  const trace::Kernel& kernel_;
  const trace::ControlSection& control_;
  std::vector<std::vector<std::uint32_t>> next_;
  std::string fault_;
};

}  // namespace regatta::passes
