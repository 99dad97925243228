// SPDX-License-Identifier: Apache-2.0
#include <regatta/cosim/direct_transactor.h>
#include <regatta/finereg/rmu_pins.h>
#include <regatta/finereg/rmu_rtl.h>

#include "rmu_rtl.h"

namespace regatta::models {

namespace {

[[noreturn]] void refuse_size(const std::string& what, unsigned found, const std::string& expected) {
  throw support::ConfigError("configuration: rmu.implementation is one in RTL, and " + what + std::to_string(found) +
                             "; expected " + expected);
}

void validate_rmu_shape(const RmuShape& shape) {
  constexpr RmuShape built = rmu_rtl_shape;
  if (shape.vectors != built.vectors) {
    refuse_size("rmu.vector_entries = ", shape.vectors, std::to_string(built.vectors) + ", as it is built for");
  }
  if (shape.entries > built.entries) {
    refuse_size("the entries of the pending file (finereg.pending_registers, or what um.bytes leaves) are ",
                shape.entries, "at most " + std::to_string(built.entries) + ", which its tags can number");
  }
  if (shape.ctas > built.ctas) refuse_size("CTA slots are ", shape.ctas, "at most " + std::to_string(built.ctas));
}

}  // namespace

RmuPinsFactory rmu_rtl() { return rmu_pins_of<::rmu_rtl>(); }

void add_rmu_twins(RmuTwins& twins, const RmuPinsFactory& pins, const std::string& prefix) {
  cosim::add_rtl_twins(
      twins, validate_rmu_shape, [pins](const RmuShape&) { return pins; }, 0, prefix);
}

void add_rmu_rtl() { add_rmu_twins(rmu_twins(), rmu_rtl()); }

}  // namespace regatta::models
