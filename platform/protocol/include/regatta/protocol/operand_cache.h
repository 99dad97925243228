// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/ids.h>
#include <regatta/protocol/lifecycle.h>
#include <regatta/protocol/time_keeper.h>

namespace regatta::protocol {

/// One register operand of an instruction, as an operand cache sees it.
struct CachedOperand {
  unsigned sub_core = 0;
  WarpSlot warp;
  RegisterId reg;
  unsigned position = 0;  ///< among the source operands as written
  bool reuse = false;     ///< the compiler wants the register to stay for the next reader of this position
};

/// A small cache in front of the read ports of a register file, managed by the compiler (Huerta et al., MICRO 2025,
/// section 5.3.1).
///
/// Called by: an operand path that plans reads (ReadPlanner), in the order in which a sub-core allocates instructions.
/// Tags change when an instruction is allocated, values when its operands are there: fill() for each operand with
/// reuse, when the instruction is dispatched; value() for each hit, later than the fill() of the operand that it hits.
class OperandCache : public virtual TimeKeeper, public virtual LifecycleListener {
 public:
  /// Whether the operand is found: it needs no port then. Changes nothing.
  virtual bool holds(const CachedOperand& operand) const = 0;
  /// The operand is read, in the cache or elsewhere. Returns holds().
  virtual bool access(const CachedOperand& operand) = 0;
  /// The value that belongs to an operand that was found.
  virtual const WarpValue& value(const CachedOperand& operand) const = 0;
  /// The value of an operand that stays.
  virtual void fill(const CachedOperand& operand, const WarpValue& value) = 0;
};

}  // namespace regatta::protocol
