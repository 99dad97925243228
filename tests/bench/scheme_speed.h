// SPDX-License-Identifier: Apache-2.0
//
// How fast schemes are simulated: simulated cycles per second of host time, relative to the baseline on the same
// machine and trace. Kernels at full size on one SM, all operands checked. Rates are over the time of all rounds, which
// alternate between the schemes.
#pragma once

#include <string>
#include <vector>

namespace regatta::bench {

struct SchemeSpeed {
  std::string kernel;
  double baseline = 0;           ///< cycles per second
  std::vector<double> relative;  ///< of each scheme to the baseline's
};

/// Traces are made for 63 registers and with RegMutex's sets, so that every scheme can run them.
SchemeSpeed measure_schemes(const std::string& kernel, const std::string& machine,
                            const std::vector<std::string>& schemes, unsigned rounds);
/// A row per kernel, and the lowest of each scheme.
void print(const std::vector<SchemeSpeed>& all, const std::string& machine, const std::vector<std::string>& schemes);

}  // namespace regatta::bench
