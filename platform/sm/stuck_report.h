// SPDX-License-Identifier: Apache-2.0
//
// The report of a deadlock: who holds what for whom since when, one paragraph per holder.
#pragma once

#include "holds.h"
#include "sm_impl.h"

#include <string>

namespace regatta::sm {

class StuckReport {
 public:
  explicit StuckReport(const Sm::Impl& sm) : sm_(sm) {}
  /// Lines that end in a newline; empty when there is nothing to wait for.
  std::string text() const;

 private:
  /// What keeps a resident warp from going on; `detail` says what it waits for.
  Hold of(const Warp& warp) const;
  Hold of_ready(const Warp& warp) const;
  /// Its next instruction waits for a result.
  Hold of_dependent(const Warp& warp) const;
  /// What keeps an instruction in flight.
  Hold of(const DynamicInstruction& d) const;

  const Sm::Impl& sm_;
};

}  // namespace regatta::sm
