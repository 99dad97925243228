// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/recorders/timeline_recorder.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/counter_increments.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regatta::recorders {

/// A whole run as a timeline for the Perfetto viewer: a process with the launches and the memory system's counters, and
/// one for each SM.
class Timeline {
 public:
  struct Options {
    Window cycles, ctas;
    unsigned clock_mhz = 1000;
  };
  Timeline(const std::string& path, const Options& options);

  /// The recorder of an SM with this clock; it and its listener() are to be registered there.
  TimelineRecorder& add_sm(const TimelineRecorder::Shape& shape, const support::ClockDomain& clock);
  /// The counters that samples are taken of; the groups must outlive the timeline.
  void watch(const std::vector<support::StatGroup>& groups) { counters_.emplace(groups); }
  /// A launch begins after cycle `now`.
  void launch(std::uint64_t now, std::uint32_t index, const trace::Kernel& kernel, const trace::Launch& launch);
  /// An interval of samples ends with cycle `cycle`, up to which everything is accounted for.
  void sample(std::uint64_t cycle);
  /// The run has ended in cycle `now`, up to which everything is accounted for.
  void finish(std::uint64_t now);
  /// True if no CTA was shown; after finish().
  bool empty() const;

 private:
  struct CounterTrack {
    TimelineFile::Track track = 0;  ///< once it has counted
    bool is_zero = true;            ///< as shown last
    std::uint64_t shown = 0;        ///< a maximum
  };
  TimelineFile::Track describe(const support::CounterIncrements::Counter& counter, unsigned rank);

  TimelineFile file_;
  Options options_;
  TimelineFile::Track run_, run_counters_;
  TimelineRow launches_;
  std::map<std::string, std::unique_ptr<TimelineRecorder>> sms_;  ///< by name, "sm0"
  std::optional<support::CounterIncrements> counters_;
  std::vector<CounterTrack> tracks_;                    ///< parallel to the counters
  std::map<std::string, TimelineFile::Track> modules_;  ///< group tracks, by path
  std::uint64_t sampled_ = 0;                           ///< first cycle of the present interval
};

}  // namespace regatta::recorders
