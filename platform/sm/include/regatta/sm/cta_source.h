// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/trace/warp_stream.h>

#include <memory>
#include <systemc>

namespace regatta::sm {

/// Hands out the CTAs of the running launch to SMs that ask, in grid order.
///
/// Called by: an SM's CTA stage, last in a cycle. `finished` is called once per CTA; when the last CTA of the
/// launch is finished the source ends the launch.
class CtaSource : public virtual sc_core::sc_interface {
 public:
  /// CTAs of the launch not yet handed out.
  virtual std::uint64_t waiting() const = 0;
  /// The next CTA; nullptr when none is left, or while some are waiting, when there is none for this SM in this cycle:
  /// it asks again in the next one.
  virtual std::shared_ptr<const trace::Cta> take() = 0;
  virtual void finished() = 0;
};

}  // namespace regatta::sm
