// SPDX-License-Identifier: Apache-2.0
#include "perfetto_check.h"

#include <cstring>
#include <set>
#include <stdexcept>
#include <string_view>

namespace regatta::test {

namespace {

struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The fields of a protobuf message, by its encoding.
class Fields {
 public:
  Fields(std::string_view bytes, const char* message) : rest_(bytes), message_(message) {}
  /// Goes to the next field; false: there is none.
  bool next() {
    if (rest_.empty()) return false;
    const std::uint64_t tag = varint();
    number = static_cast<unsigned>(tag >> 3);
    type_ = static_cast<unsigned>(tag & 7);
    switch (type_) {
      case 0:
        value_ = varint();
        break;
      case 1:
        bytes_ = take(8);
        break;
      case 2:
        bytes_ = take(varint());
        break;
      default:
        fail("has wire type " + std::to_string(type_));
    }
    return true;
  }
  unsigned number = 0;
  std::uint64_t integer() const { return expect(0), value_; }
  std::string_view bytes() const { return expect(2), bytes_; }
  std::string text() const { return std::string(bytes()); }
  double real() const {
    expect(1);
    double d = 0;
    std::memcpy(&d, bytes_.data(), sizeof d);
    return d;
  }
  [[noreturn]] void unknown() const { fail("is not known"); }
  [[noreturn]] void fail(const std::string& what) const {
    throw Malformed(std::string(message_) + ": field " + std::to_string(number) + " " + what);
  }

 private:
  void expect(unsigned type) const {
    if (type_ != type) fail("has wire type " + std::to_string(type_) + ", expected " + std::to_string(type));
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(take(1)[0]);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return value;
    }
    throw Malformed(std::string(message_) + ": a number has more than 10 bytes");
  }
  std::string_view take(std::uint64_t count) {
    if (count > rest_.size()) throw Malformed(std::string(message_) + ": is cut off");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::string_view rest_;
  const char* message_;
  unsigned type_ = 0;
  std::uint64_t value_ = 0;
  std::string_view bytes_;
};

/// A TrackEvent.
struct Event {
  std::uint64_t type = 0, track = 0, name_number = 0;
  std::string name;
  bool has_value = false;
  double value = 0;
  std::map<std::string, std::uint64_t> arguments;
};

class Reader {
 public:
  explicit Reader(PerfettoFacts& facts) : facts_(facts) {}
  void packet(std::string_view bytes);
  void finish() const {
    for (const auto& [uuid, open] : open_) {
      if (!open.empty()) throw Malformed("'" + open.back().name + "' on '" + paths_.at(uuid) + "' does not end");
    }
  }

 private:
  void descriptor(std::string_view bytes);
  void names(std::string_view bytes);
  static Event event(std::string_view bytes);
  void apply(Event e, std::uint64_t time, bool may_use_names);

  PerfettoFacts& facts_;
  bool begun_ = false;
  std::map<std::uint64_t, std::string> names_;
  std::map<std::uint64_t, std::string> paths_;  ///< by uuid
  std::set<std::uint64_t> processes_;           ///< pids
  std::map<std::uint64_t, std::vector<PerfettoSlice>> open_;
  std::map<std::uint64_t, std::uint64_t> time_;  ///< of the last event of each track
};

void Reader::names(std::string_view bytes) {
  Fields f(bytes, "InternedData");
  while (f.next()) {
    if (f.number != 2) f.unknown();
    Fields n(f.bytes(), "EventName");
    std::uint64_t iid = 0;
    std::string name;
    while (n.next()) {
      if (n.number == 1) {
        iid = n.integer();
      } else if (n.number == 2) {
        name = n.text();
      } else {
        n.unknown();
      }
    }
    if (iid == 0 || name.empty() || !names_.emplace(iid, name).second) throw Malformed("name " + std::to_string(iid));
  }
}

void Reader::descriptor(std::string_view bytes) {
  std::uint64_t uuid = 0, pid = 0;
  std::string name;
  bool is_process = false;
  PerfettoTrack track;
  Fields f(bytes, "TrackDescriptor");
  while (f.next()) {
    switch (f.number) {
      case 1:
        uuid = f.integer();
        break;
      case 2:
        name = f.text();
        break;
      case 3: {
        is_process = true;
        Fields p(f.bytes(), "ProcessDescriptor");
        while (p.next()) {
          if (p.number == 1) {
            pid = p.integer();
          } else if (p.number == 6) {
            name = p.text();
          } else {
            p.unknown();
          }
        }
        break;
      }
      case 5:
        track.parent = f.integer();
        break;
      case 8: {
        track.is_counter = true;
        Fields c(f.bytes(), "CounterDescriptor");
        while (c.next()) {
          if (c.number != 6) c.unknown();
          track.unit = c.text();
        }
        break;
      }
      case 11:
        if (f.integer() > 3) f.fail("is no ordering");
        break;
      case 12:
        f.integer();
        break;
      default:
        f.unknown();
    }
  }
  if (uuid == 0 || name.empty()) throw Malformed("a track without number or name");
  if (is_process != (track.parent == 0)) throw Malformed("track '" + name + "' is no process and has no parent");
  if (is_process && (pid == 0 || !processes_.insert(pid).second)) throw Malformed("process '" + name + "' again");
  if (!is_process && paths_.count(track.parent) == 0) throw Malformed("the parent of '" + name + "' is not known");
  track.path = is_process ? name : paths_.at(track.parent) + "/" + name;
  if (!paths_.emplace(uuid, track.path).second) throw Malformed("track " + std::to_string(uuid) + " again");
  if (!facts_.tracks.emplace(track.path, track).second) throw Malformed("two tracks '" + track.path + "'");
}

Event Reader::event(std::string_view bytes) {
  Event e;
  Fields f(bytes, "TrackEvent");
  while (f.next()) {
    switch (f.number) {
      case 4: {
        Fields a(f.bytes(), "DebugAnnotation");
        std::string name;
        std::uint64_t value = 0;
        while (a.next()) {
          if (a.number == 10) {
            name = a.text();
          } else if (a.number == 3) {
            value = a.integer();
          } else {
            a.unknown();
          }
        }
        if (name.empty() || !e.arguments.emplace(name, value).second) throw Malformed("argument '" + name + "'");
        break;
      }
      case 9:
        e.type = f.integer();
        break;
      case 10:
        e.name_number = f.integer();
        break;
      case 11:
        e.track = f.integer();
        break;
      case 23:
        e.name = f.text();
        break;
      case 30:
        e.has_value = true;
        e.value = static_cast<double>(static_cast<std::int64_t>(f.integer()));
        break;
      case 44:
        e.has_value = true;
        e.value = f.real();
        break;
      default:
        f.unknown();
    }
  }
  return e;
}

void Reader::apply(Event e, std::uint64_t time, bool may_use_names) {
  const auto known = paths_.find(e.track);
  if (known == paths_.end()) throw Malformed("an event on a track that is not described");
  const PerfettoTrack& track = facts_.tracks.at(known->second);
  if (track.is_counter != (e.type == 4) || e.has_value != (e.type == 4)) {
    throw Malformed("'" + track.path + "' is a track of another kind");
  }
  if (time < time_[e.track]) throw Malformed("time goes back on '" + track.path + "'");
  time_[e.track] = time;
  if (e.name_number != 0) {
    if (!may_use_names || names_.count(e.name_number) == 0 || !e.name.empty()) {
      throw Malformed("name " + std::to_string(e.name_number) + " is not known here");
    }
    e.name = names_.at(e.name_number);
  }
  if (e.name.empty() != (e.type != 1)) throw Malformed("a name is missing, or where none should be");
  std::vector<PerfettoSlice>& open = open_[e.track];
  if (e.type == 1) {
    open.push_back({track.path, e.name, open.empty() ? "" : open.back().name, time, 0, e.arguments});
  } else if (e.type == 2) {
    if (open.empty()) throw Malformed("an end without a begin on '" + track.path + "'");
    open.back().to = time;
    facts_.slices.push_back(open.back());
    open.pop_back();
  } else if (e.type == 4) {
    facts_.counters[track.path].emplace_back(time, e.value);
  } else {
    throw Malformed("event type " + std::to_string(e.type));
  }
}

void Reader::packet(std::string_view bytes) {
  std::uint64_t time = 0, sequence = 0, flags = 0;
  bool has_time = false;
  std::string_view track, occurrence, interned;
  Fields f(bytes, "TracePacket");
  while (f.next()) {
    switch (f.number) {
      case 8:
        has_time = true;
        time = f.integer();
        break;
      case 10:
        sequence = f.integer();
        break;
      case 11:
        occurrence = f.bytes();
        break;
      case 12:
        interned = f.bytes();
        break;
      case 13:
        flags = f.integer();
        break;
      case 60:
        track = f.bytes();
        break;
      default:
        f.unknown();
    }
  }
  if (sequence != 1) throw Malformed("a packet of sequence " + std::to_string(sequence));
  if (!begun_ && flags != 1) throw Malformed("the sequence does not begin with its state cleared");
  if (begun_ && flags != 0 && flags != 2) throw Malformed("sequence flags " + std::to_string(flags));
  begun_ = true;
  if (!track.empty() && !occurrence.empty()) throw Malformed("a packet with two contents");
  if (!interned.empty()) names(interned);
  if (!track.empty()) descriptor(track);
  if (occurrence.empty()) return;
  if (!has_time) throw Malformed("an event without time");
  apply(event(occurrence), time, flags == 2);
}

bool begins_with(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

}  // namespace

PerfettoFacts check_perfetto(const std::string& bytes) {
  PerfettoFacts facts;
  try {
    Reader reader(facts);
    Fields f(bytes, "Trace");
    while (f.next()) {
      if (f.number != 1) f.unknown();
      ++facts.packets;
      reader.packet(f.bytes());
    }
    if (facts.packets == 0) throw Malformed("no packet");
    reader.finish();
  } catch (const Malformed& e) {
    facts.error = "packet " + std::to_string(facts.packets) + ": " + e.what();
  }
  return facts;
}

std::map<std::string, std::uint64_t> PerfettoFacts::lengths(const std::string& track) const {
  std::map<std::string, std::uint64_t> all;
  for (const PerfettoSlice& s : slices) {
    if (begins_with(s.track, track)) all[s.name] += s.length();
  }
  return all;
}

std::map<std::string, std::uint64_t> PerfettoFacts::numbers(const std::string& track) const {
  std::map<std::string, std::uint64_t> all;
  for (const PerfettoSlice& s : slices) {
    if (begins_with(s.track, track)) ++all[s.name];
  }
  return all;
}

std::uint64_t PerfettoFacts::outermost(const std::string& track) const {
  std::uint64_t n = 0;
  for (const PerfettoSlice& s : slices) n += begins_with(s.track, track) && s.within.empty() ? 1 : 0;
  return n;
}

double PerfettoFacts::sum(const std::string& counter) const {
  double all = 0;
  if (const auto found = counters.find(counter); found != counters.end()) {
    for (const auto& [time, value] : found->second) all += value;
  }
  return all;
}

double PerfettoFacts::integral(const std::string& counter) const {
  double all = 0;
  if (const auto found = counters.find(counter); found != counters.end()) {
    for (std::size_t i = 1; i < found->second.size(); ++i) {
      all += found->second[i - 1].second * double(found->second[i].first - found->second[i - 1].first);
    }
  }
  return all;
}

}  // namespace regatta::test
