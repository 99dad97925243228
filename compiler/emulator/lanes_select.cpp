// SPDX-License-Identifier: Apache-2.0
//
// Which build of the lane functions this processor runs.
#include "lanes.h"

namespace regatta::emulator {
namespace {

bool has_avx2() {
#if defined(REGATTA_LANES_AVX2)
  static const bool yes = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return yes;
#else
  return false;
#endif
}

using Select = LaneFunction (*)(const LaneKey&, unsigned);

LaneFunction first_of(const LaneKey& key, unsigned lanes, Select a, Select b, Select c, Select d) {
  for (const Select select : {a, b, c, d}) {
    if (LaneFunction f = select(key, lanes)) return f;
  }
  return nullptr;
}

}  // namespace

LaneFunction select_lane_function(const LaneKey& key, unsigned lanes) {
  if (key.approximations == Approximations::h100) {
    if (LaneFunction f = select_approximate(key, lanes)) return f;
  }
  const bool floating = ir::is_float(key.type);
#if defined(REGATTA_LANES_AVX2)
  if (has_avx2()) {
    return first_of(key, lanes, avx2::select_packed, avx2::select_convert, avx2::select_bits,
                    floating ? avx2::select_float : avx2::select_integer);
  }
#endif
  (void)has_avx2;
  return first_of(key, lanes, baseline::select_packed, baseline::select_convert, baseline::select_bits,
                  floating ? baseline::select_float : baseline::select_integer);
}

const LaneHelpers& lane_helpers(unsigned lanes) {
#if defined(REGATTA_LANES_AVX2)
  if (has_avx2()) return avx2::helpers(lanes);
#endif
  return baseline::helpers(lanes);
}

}  // namespace regatta::emulator
