// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/row_power.h>

namespace regatta::models {

/// The conventional window: warp slot w has the rows from w x registers on, for as long as the launch lasts.
class FixedWindows : public protocol::WindowPolicy {
 public:
  std::string name() const override { return "fixed"; }
  void kernel_started(std::uint32_t rows, unsigned registers) override;
  protocol::RegisterWindow assign(protocol::WarpSlot warp) override;

 private:
  std::uint32_t rows_ = 0;
  unsigned registers_ = 0;
};

}  // namespace regatta::models
