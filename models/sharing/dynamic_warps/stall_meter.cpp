// SPDX-License-Identifier: Apache-2.0
#include <regatta/sharing/stall_meter.h>

#include <algorithm>

namespace regatta::models {

StallMeter::StallMeter(const sc_core::sc_module_name& name) : sc_module(name), stalls("stalls") { stalls.bind(*this); }

void StallMeter::cycles(protocol::Cycle from, std::uint64_t count, const std::vector<protocol::Stall>& stall) {
  rate_ = static_cast<unsigned>(std::count_if(stall.begin(), stall.end(), protocol::is_structural));
  counted_ += count * rate_;
  end_ = from.value() + count - 1;
}

std::uint64_t StallMeter::stalls_through(std::uint64_t cycle) const {
  // While an SM sleeps, its schedulers repeat their last reason.
  return cycle <= end_ ? counted_ : counted_ + (cycle - end_) * rate_;
}

}  // namespace regatta::models
