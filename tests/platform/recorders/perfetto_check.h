// SPDX-License-Identifier: Apache-2.0
//
// A reader of traces in Perfetto's protobuf format, for the messages of timelines: slices, counters and their tracks.
// It knows the numbers of the fields from Perfetto's documentation, not from timeline.proto.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace regatta::test {

struct PerfettoTrack {
  std::uint64_t parent = 0;
  std::string path;  ///< names from the process on, "SM 0/schedulers/scheduler 1"
  bool is_counter = false;
  std::string unit;
};

struct PerfettoSlice {
  std::string track;  ///< path
  std::string name;
  std::string within;  ///< the slice that encloses it; empty: none
  std::uint64_t from = 0, to = 0;
  std::map<std::string, std::uint64_t> arguments;
  std::uint64_t length() const { return to - from; }
};

struct PerfettoFacts {
  std::string error;  ///< "packet 7: ...", empty when the file is sound
  std::uint64_t packets = 0;
  std::map<std::string, PerfettoTrack> tracks;                                    ///< by path
  std::vector<PerfettoSlice> slices;                                              ///< in the order in which they end
  std::map<std::string, std::vector<std::pair<std::uint64_t, double>>> counters;  ///< time and value, by path of track

  /// Of the slices on tracks whose path begins with `track`: their lengths, and their number, by name.
  std::map<std::string, std::uint64_t> lengths(const std::string& track) const;
  std::map<std::string, std::uint64_t> numbers(const std::string& track) const;
  /// Number of slices on tracks whose path begins with `track` that no other slice encloses.
  std::uint64_t outermost(const std::string& track) const;
  /// The values of a counter, added up; 0 if there is no such counter.
  double sum(const std::string& counter) const;
  /// The values of a counter times how long they hold; the last value holds for no time.
  double integral(const std::string& counter) const;
};

/// All packets are of one sequence, which begins with its state cleared, and have known fields only; tracks are
/// described once, before they are used, children after parents and with names that differ from their siblings'; events
/// are on tracks of their kind; begins and ends of a track match, in the order of time; names are known when they are
/// used; nothing is open at the end.
PerfettoFacts check_perfetto(const std::string& bytes);

}  // namespace regatta::test
