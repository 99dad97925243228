// SPDX-License-Identifier: Apache-2.0
#include <regatta/regless/compressor_pins.h>
#include <regatta/regless/compressor_rtl.h>

#include "expander_rtl1.h"
#include "expander_rtl2.h"
#include "expander_rtl3.h"
#include "matcher_rtl1.h"
#include "matcher_rtl2.h"
#include "matcher_rtl3.h"

namespace regatta::models {

MatcherPinsFactory matcher_rtl(unsigned latency) {
  return latency == 1   ? matcher_pins_of<matcher_rtl1>()
         : latency == 2 ? matcher_pins_of<matcher_rtl2>()
                        : matcher_pins_of<matcher_rtl3>();
}

ExpanderPinsFactory expander_rtl(unsigned latency) {
  return latency == 1   ? expander_pins_of<expander_rtl1>()
         : latency == 2 ? expander_pins_of<expander_rtl2>()
                        : expander_pins_of<expander_rtl3>();
}

void add_compressor_rtl() {
  compressor_implementations()["rtl"] = rtl_units(matcher_rtl, expander_rtl);
  compressor_implementations()["lockstep"] = lockstep_units(matcher_rtl, expander_rtl);
}

}  // namespace regatta::models
