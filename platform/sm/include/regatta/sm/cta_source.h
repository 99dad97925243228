// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/trace/warp_stream.h>

#include <memory>
#include <systemc>

namespace regatta::sm {

/// Gives the CTAs of the running launch to SMs on request, in grid order.
///
/// Called by: an SM's CTA stage, last in a cycle. `finished` is called once per CTA; when the last CTA of the
/// launch is finished the source ends the launch.
class CtaSource : public virtual sc_core::sc_interface {
 public:
  /// CTAs of the launch not yet handed out.
  virtual std::uint64_t waiting() const = 0;
  /// The next CTA; nullptr if none is left, or if there is none for this SM in this cycle although some are waiting:
  /// the SM then asks again in the next cycle.
  virtual std::shared_ptr<const trace::Cta> take() = 0;
  virtual void finished() = 0;
};

}  // namespace regatta::sm
