// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/sm_control.h>

#include "core.h"

namespace regatta::sm {

class FrontEnd;
class IssueStage;

/// What this SM offers to the policies of a scheme.
class Control : public protocol::SmControl {
 public:
  Control(Core& core, const FrontEnd& front_end, IssueStage& issue)
      : core_(core), front_end_(front_end), issue_(issue) {}
  void context(WarpSlot warp, protocol::WarpContext& context) override;
  std::uint64_t progress(CtaSlot cta) override;
  void classify(WarpSlot warp, unsigned priority_class) override;

 private:
  /// The resident warp of this slot.
  Warp& resident(WarpSlot warp);

  Core& core_;
  const FrontEnd& front_end_;
  IssueStage& issue_;
};

}  // namespace regatta::sm
