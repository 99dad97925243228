// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>

namespace regatta::protocol {

/// How a block at an extension point keeps time.
///
/// A block that takes time only from what it is handed (cycles, annotated delays) and from support::ClockDomain, and
/// whose changed() is a support::CycleEvent, answers true to keeps_cycle_time(). When all blocks and observers of a
/// simulation do, the SMs may run a quantum of cycles ahead of SystemC's own time, and on several threads, which is
/// faster. A block that reads sc_time_stamp(), or notifies other events, leaves the answer at false and finds SystemC's
/// time exact in every call.
class TimeKeeper : public virtual sc_core::sc_interface {
 public:
  virtual bool keeps_cycle_time() const { return false; }
};

}  // namespace regatta::protocol
