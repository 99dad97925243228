// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/output_file.h>
#include <regatta/recorders/timeline_file.h>
#include <timeline.pb.h>

#include <algorithm>
#include <map>

namespace regatta::recorders {

using timeline::TracePacket;
using timeline::TrackEvent;

/// The packet that is being made, and the bytes of those that are. Messages keep their memory from packet to packet.
struct TimelineFile::Packet {
  explicit Packet(const std::string& path) : file(path), packet(*trace.add_packet()) {}

  /// An event on a track, with what all events have.
  TrackEvent& event(TrackEvent::Type type, Track track, std::uint64_t cycle) {
    packet.set_timestamp(cycle);
    TrackEvent& e = *packet.mutable_track_event();
    e.set_type(type);
    e.set_track_uuid(track);
    return e;
  }
  void write() {
    packet.set_trusted_packet_sequence_id(1);
    // A message with a packet appended is the message with one packet more.
    trace.AppendToString(&bytes);
    packet.Clear();
  }

  base::OutputFile file;
  timeline::Trace trace;
  TracePacket& packet;
  std::map<std::string, Name> interned;
  timeline::InternedData names;  ///< of these, those not yet written
  std::string bytes;
};

TimelineFile::TimelineFile(const std::string& path, Window cycles)
    : window_(cycles), packet_(std::make_unique<Packet>(path)) {
  packet_->packet.set_sequence_flags(TracePacket::SEQ_INCREMENTAL_STATE_CLEARED);
  packet_->write();
  // Writes early, so that a device that takes nothing is found before the run.
  write_buffer();
}

TimelineFile::~TimelineFile() = default;

TimelineFile::Track TimelineFile::add_process(const std::string& name, unsigned pid) {
  timeline::TrackDescriptor& d = *packet_->packet.mutable_track_descriptor();
  const Track track = next_track();
  d.set_uuid(track);
  d.set_child_ordering(timeline::TrackDescriptor::EXPLICIT);
  d.mutable_process()->set_pid(static_cast<std::int32_t>(pid));
  d.mutable_process()->set_process_name(name);
  packet_->write();
  return track;
}

TimelineFile::Track TimelineFile::add_track(Track parent, const std::string& name, unsigned rank) {
  timeline::TrackDescriptor& d = *packet_->packet.mutable_track_descriptor();
  const Track track = next_track();
  d.set_uuid(track);
  d.set_parent_uuid(parent);
  d.set_name(name);
  d.set_child_ordering(timeline::TrackDescriptor::EXPLICIT);
  d.set_sibling_order_rank(static_cast<std::int32_t>(rank));
  packet_->write();
  return track;
}

TimelineFile::Track TimelineFile::add_counter(Track parent, const std::string& name, const std::string& unit,
                                              unsigned rank) {
  timeline::TrackDescriptor& d = *packet_->packet.mutable_track_descriptor();
  const Track track = next_track();
  d.set_uuid(track);
  d.set_parent_uuid(parent);
  d.set_name(name);
  d.mutable_counter()->set_unit_name(unit);
  d.set_sibling_order_rank(static_cast<std::int32_t>(rank));
  packet_->write();
  return track;
}

TimelineFile::Name TimelineFile::intern(const std::string& text) {
  const auto [entry, added] = packet_->interned.try_emplace(text, packet_->interned.size() + 1);
  if (added) {
    timeline::EventName& name = *packet_->names.add_event_names();
    name.set_iid(entry->second);
    name.set_name(text);
  }
  return entry->second;
}

std::uint64_t TimelineFile::clip(std::uint64_t cycle) const {
  const std::uint64_t end = window_.last == UINT64_MAX ? window_.last : window_.last + 1;
  return std::min(std::max(cycle, window_.first), end);
}

void TimelineFile::begin(Track track, std::uint64_t cycle, const std::string& name, const Arguments& arguments) {
  TrackEvent& e = packet_->event(TrackEvent::TYPE_SLICE_BEGIN, track, clip(cycle));
  e.set_name(name);
  for (const auto& [key, value] : arguments) {
    timeline::DebugAnnotation& a = *e.add_debug_annotations();
    a.set_name(key);
    a.set_uint_value(value);
  }
  packet_->write();
}

void TimelineFile::begin(Track track, std::uint64_t cycle, Name name) {
  packet_->event(TrackEvent::TYPE_SLICE_BEGIN, track, clip(cycle)).set_name_iid(name);
  packet_->packet.set_sequence_flags(TracePacket::SEQ_NEEDS_INCREMENTAL_STATE);
  if (packet_->names.event_names_size() != 0) packet_->packet.mutable_interned_data()->Swap(&packet_->names);
  packet_->write();
}

void TimelineFile::end(Track track, std::uint64_t cycle) {
  packet_->event(TrackEvent::TYPE_SLICE_END, track, clip(cycle));
  packet_->write();
}

void TimelineFile::set(Track counter, std::uint64_t cycle, std::variant<std::int64_t, double> value) {
  TrackEvent& e = packet_->event(TrackEvent::TYPE_COUNTER, counter, clip(cycle));
  if (const auto* number = std::get_if<std::int64_t>(&value)) e.set_counter_value(*number);
  if (const auto* number = std::get_if<double>(&value)) e.set_double_counter_value(*number);
  packet_->write();
}

std::size_t TimelineFile::buffered() const { return packet_->bytes.size(); }

void TimelineFile::write_buffer() {
  packet_->file.write(packet_->bytes);
  packet_->bytes.clear();
}

void TimelineFile::finish() {
  write_buffer();
  packet_->file.commit();
}

TimelineFile::Track TimelineRow::track() {
  if (track_ == 0) track_ = file_->add_track(parent_, name_, rank_);
  return track_;
}

void TimelineRow::open(std::uint64_t cycle, std::string label, TimelineFile::Arguments arguments) {
  label_ = std::move(label);
  arguments_ = std::move(arguments);
  opened_ = cycle;
  open_ = true;
  begun_ = false;
}

void TimelineRow::begin_slice() {
  if (!open_ || begun_) return;
  file_->begin(track(), opened_, label_, arguments_);
  begun_ = true;
}

void TimelineRow::change(std::uint64_t cycle, TimelineFile::Name name) {
  if (state_ != 0 && cycle > since_ && file_->shows(since_, cycle)) {
    begin_slice();
    file_->begin(track(), since_, state_);
    file_->end(track(), cycle);
  }
  state_ = name;
  since_ = std::max(since_, cycle);
}

bool TimelineRow::close(std::uint64_t cycle) {
  change(cycle, 0);
  const bool shown = open_ && file_->shows(opened_, cycle);
  if (shown) {
    begin_slice();
    file_->end(track(), cycle);
  }
  open_ = false;
  return shown;
}

}  // namespace regatta::recorders
