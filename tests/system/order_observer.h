// SPDX-License-Identifier: Apache-2.0
//
// Compares the cycles in which instructions read and write, as regatta-sim --pipeline has them, with the order of the
// program: what an SM of sub-cores does with control bits, whatever the values are.
#pragma once

#include <regatta/trace/control.h>
#include <regatta/trace/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace regatta::test {

/// An instruction's cycles in a file of --pipeline.
struct Passage {
  std::uint32_t index = 0;
  std::uint64_t issued = 0, executed = 0, retired = 0;
  std::uint64_t written = 0;  ///< its results go to write-back; 0: it has none
};

/// Of each warp of the only CTA, in order of issue. `kanata`: the contents of the file.
std::map<unsigned, std::vector<Passage>> read_passages(const std::string& kanata);

/// Which reads and writes of a run came early, by the cycles of their instructions.
struct Order {
  bool early_operand = false;  ///< of fixed latency, one of such a result: it got an old value
  /// One that is early by the latency in the control bits and not by the machine's: the machine had the result sooner.
  bool sooner = false;
  std::string sooner_opcodes;    ///< whose results these were
  bool early_predicate = false;  ///< likewise
  bool may_be_early = false;     ///< others, whose cycle is known by a few
  bool any() const { return early_operand || early_predicate || may_be_early; }
};

/// Follows a warp in program order, lane by lane.
class OrderObserver {
 public:
  OrderObserver(const trace::Kernel& kernel, const trace::ControlSection& control)
      : kernel_(kernel), control_(control) {}

  void step(const Passage& p, trace::LaneMask active, Order& order);

 private:
  /// From the issue of an instruction of fixed latency to its unit: control, allocate, three reads, hand-over.
  static constexpr std::uint64_t stages = 6;
  static constexpr unsigned carry = trace::max_predicates;
  struct Written {
    bool fixed = true;
    std::uint64_t when = 0;     ///< the result is there
    std::uint64_t counted = 0;  ///< it would be, by the control bits
    std::uint32_t index = 0;    ///< of the instruction
  };
  struct Lane {
    std::array<Written, trace::max_general_registers> registers;
    std::array<Written, trace::max_predicates + 1> predicates;
  };
  const trace::Kernel& kernel_;
  const trace::ControlSection& control_;
  std::vector<Lane> lanes_{trace::max_lanes};
};

}  // namespace regatta::test
