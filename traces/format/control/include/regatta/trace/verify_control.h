// SPDX-License-Identifier: Apache-2.0
//
// The static verifier of control bits. It knows the contract (control.h) alone, and follows each instruction's effects
// along all paths of a warp, instruction by instruction, where the compiler's pass computes sets block by block.
#pragma once

#include <regatta/trace/control.h>

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::trace {

class ControlVerifier {
 public:
  ControlVerifier(const Kernel& kernel, const ControlSection& control);

  /// The first fault: "instruction 3 (fma.rn.f32) reads R4 of instruction 2 (add.f32) after 3 cycles, expected 4".
  /// Empty: there is none.
  std::string find_fault();

  /// Per instruction, those that the warp may come to next.
  const std::vector<std::vector<std::uint32_t>>& next() const { return next_; }

 private:
  static constexpr unsigned path_states = 8;

  void link();
  void link_waiting_lanes(std::uint32_t branch, std::uint32_t join);

  void follow_fixed(std::uint32_t producer);
  void check_cycles(std::uint32_t producer, std::uint32_t index, unsigned cycles);
  void follow_variable(std::uint32_t producer);
  void check_counted(std::uint32_t producer, std::uint32_t index, bool write_pending, bool read_pending);
  void follow_reuse(std::uint32_t index);
  void follow_entry(std::uint32_t index, unsigned position, unsigned reg);
  void count(unsigned counter);

  /// Forgets what has been marked.
  void begin_marks() { ++marks_now_; }
  /// Whether an instruction has not been reached in this state before; `state` is below path_states.
  bool mark(std::uint32_t index, unsigned state);

  std::string at(std::uint32_t index) const;
  void fault(const std::string& text) {
    if (fault_.empty()) fault_ = text;
  }

  const Kernel& kernel_;
  const ControlSection& control_;
  std::vector<std::vector<std::uint32_t>> next_;
  std::vector<std::uint64_t> marks_;  ///< when last marked, per instruction and state
  std::uint64_t marks_now_ = 0;
  std::string fault_;
};

/// Throws std::invalid_argument, naming instruction, register and producer, with the cycles found and needed, for bits
/// with which an instruction may not find its operands, or may overwrite what another one still has to read or write.
void verify_control(const Kernel& kernel, const ControlSection& control);

}  // namespace regatta::trace
