// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/recorders/window.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace regatta::recorders {

/// A trace in Perfetto's protobuf format (timeline.proto), shared by the recorders of a run. Cycle n is the nanosecond
/// from n to n + 1. Events outside the window of cycles are dropped, or cut at its ends. Packets are kept in memory
/// until flush(): the other calls cannot fail, so they may come from anywhere in the platform. On each track, events
/// are written in the order of time.
class TimelineFile {
 public:
  /// A track's number; 0: none.
  using Track = std::uint64_t;
  /// A name that is written once and then referred to by number; 0: none.
  using Name = std::uint64_t;
  /// Shown when a slice is selected.
  using Arguments = std::vector<std::pair<const char*, std::uint64_t>>;

  TimelineFile(const std::string& path, Window cycles);
  ~TimelineFile();
  TimelineFile(const TimelineFile&) = delete;
  TimelineFile& operator=(const TimelineFile&) = delete;

  /// Tracks are described when they are made, parents first. `rank` orders the tracks of a parent.
  Track add_process(const std::string& name, unsigned pid);
  Track add_track(Track parent, const std::string& name, unsigned rank);
  Track add_counter(Track parent, const std::string& name, const std::string& unit, unsigned rank);
  Name intern(const std::string& text);

  /// True if something of cycles `from` to `to` (excluded) lies in the window; if both are the same, whether `from`
  /// does.
  bool shows(std::uint64_t from, std::uint64_t to) const {
    return from <= window_.last && (to > window_.first || from >= window_.first);
  }
  /// These four are for what is shown; cycles beyond an end of the window become that end.
  void begin(Track track, std::uint64_t cycle, const std::string& name, const Arguments& arguments = {});
  void begin(Track track, std::uint64_t cycle, Name name);
  void end(Track track, std::uint64_t cycle);
  /// The counter has the value from `cycle` on.
  void set(Track counter, std::uint64_t cycle, std::variant<std::int64_t, double> value);

  /// Writes to the file if enough has come together. Throws base::InputError if that fails.
  void flush() {
    if (buffered() >= buffer_bytes) write_buffer();
  }
  /// Writes the rest, and gives the file its final name.
  void finish();

 private:
  static constexpr std::size_t buffer_bytes = 64 << 10;
  struct Packet;
  std::size_t buffered() const;
  void write_buffer();
  /// In the window, or at its ends.
  std::uint64_t clip(std::uint64_t cycle) const;
  Track next_track() { return ++tracks_; }

  Window window_;
  Track tracks_ = 0;
  std::unique_ptr<Packet> packet_;
};

/// A track that is described when its first slice is written. It shows one slice at a time, if wanted, and a state
/// that changes: as slices below that slice, or alone. A slice is written when it ends.
class TimelineRow {
 public:
  /// `parent` is described already.
  TimelineRow(TimelineFile& file, TimelineFile::Track parent, std::string name, unsigned rank)
      : file_(&file), parent_(parent), name_(std::move(name)), rank_(rank) {}

  TimelineFile::Track track();
  /// The slice begins; the row has none. There is no state.
  void open(std::uint64_t cycle, std::string label, TimelineFile::Arguments arguments = {});
  bool is_open() const { return open_; }
  /// From `cycle` on; 0: none. A state that lasts no cycle is not shown.
  void state(std::uint64_t cycle, TimelineFile::Name name) {
    if (name != state_) change(cycle, name);
  }
  /// The state ends, and the slice if there is one. True if there was a slice that the window shows.
  bool close(std::uint64_t cycle);

 private:
  void change(std::uint64_t cycle, TimelineFile::Name name);
  void begin_slice();

  TimelineFile* file_;
  TimelineFile::Track parent_;
  std::string name_;
  unsigned rank_;
  TimelineFile::Track track_ = 0;
  std::string label_;
  TimelineFile::Arguments arguments_;
  std::uint64_t opened_ = 0, since_ = 0;
  TimelineFile::Name state_ = 0;
  bool open_ = false, begun_ = false;
};

}  // namespace regatta::recorders
