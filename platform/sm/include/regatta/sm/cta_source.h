// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/trace/warp_stream.h>

#include <memory>
#include <systemc>

namespace regatta::sm {

/// Gives the CTAs of the running launch to SMs on request, in grid order.
///
/// Called by: an SM's CTA stage, last in a cycle. SMs that run on several threads call take(), and waiting() where its
/// exact value matters, in turn (support::ClockDomain::in_order()). `finished` is called once per CTA; when the last
/// CTA of the launch is finished the source ends the launch.
class CtaSource : public virtual sc_core::sc_interface {
 public:
  /// CTAs of the launch not yet handed out. Out of turn: at least as many as there are in the SM's cycle, and 0 only if
  /// there are none.
  virtual std::uint64_t waiting() const = 0;
  /// Whether all CTAs had been handed out before this SM's CTA stage was asked in `cycle`. Call it when all SMs are
  /// through with that cycle, and before the next launch.
  virtual bool none_waited(std::uint64_t cycle) const = 0;
  /// The next CTA; nullptr if none is left, or if there is none for this SM in this cycle although some are waiting:
  /// the SM then asks again in the next cycle.
  virtual std::shared_ptr<const trace::Cta> take() = 0;
  virtual void finished() = 0;
};

}  // namespace regatta::sm
