// SPDX-License-Identifier: Apache-2.0
//
// Which launches of a trace a run simulates, and where their CTAs are.
#pragma once

#include <regatta/trace/file.h>

#include <cstdint>
#include <vector>

namespace regatta::assembly {

class LaunchPlan {
 public:
  struct Step {
    std::uint32_t launch = 0;          ///< to simulate
    std::uint32_t skipped_before = 0;  ///< launches between the one simulated before (or the trace's beginning) and it
    std::size_t first_cta = 0;         ///< position in Reader::ctas()
    std::size_t stream_end = 0;        ///< position behind the CTAs of the launches that follow without a gap
  };

  /// `selected`: ascending; empty: all launches.
  LaunchPlan(const trace::Reader& trace, const std::vector<std::uint32_t>& selected);
  const std::vector<Step>& steps() const { return steps_; }

 private:
  std::vector<Step> steps_;
};

/// Position in Reader::ctas() of a launch's first CTA.
std::size_t first_cta_of(const trace::Reader& trace, std::size_t launch);

}  // namespace regatta::assembly
