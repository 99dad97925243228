// SPDX-License-Identifier: Apache-2.0
// What is done with a request.
#include <regatta/regless/compressor.h>

#include <algorithm>
#include <cstring>

namespace regatta::models {

using protocol::AccessClass;
using protocol::LookupReply;
using protocol::Supplier;

void CompressorConfig::declare(support::OptionSet& o) {
  o.add("compressor.enabled", enabled, "compress register values on their way to the L1");
  o.add("compressor.lines", lines, "lines",
        "lines of compressed registers in each compressor (RegLess Table 1: 16; it also says 48 per SM, which would be "
        "12)",
        1, 4096);
  o.add("compressor.lookup_latency", lookup_latency, "cycles", "latency of the bit vector (RegLess section 5.3: 1)", 1,
        1000);
  o.add("compressor.expand_latency", expand_latency, "cycles",
        "additional latency of a compressed register (RegLess section 5.3: 2)", 1, 1000);
  o.add("compressor.match_latency", match_latency, "cycles",
        "latency of pattern matching for a value on its way to the L1", 1, 1000);
  o.add("compressor.queue", queue, "requests", "requests that a compressor holds", 1, 4096);
  o.add("compressor.fetches", fetches, "lines", "lines that a compressor can fetch from the L1 at a time", 1, 4096);
  units.declare(o, "compressor", "matcher and expander");
  o.add("compressor.refuse_answers", refuse_answers, "of 1000 cycles",
        "at random, those in which answers of RTL are not taken, to test that it keeps them", 0, 999);
}

void CompressorConfig::validate(const RegisterSpace& space) const {
  if (space.line_bytes != compressed_line_bytes) {
    throw support::ConfigError("configuration: compressor.enabled = true and l1.line_bytes = " +
                               std::to_string(space.line_bytes) + ": expected 128, a warp register of 32 lanes");
  }
}

Compressor::Compressor(const sc_core::sc_module_name& name, const CompressorConfig& config, const RegisterSpace& space,
                       unsigned shard, support::ClockDomain& clock)
    : sc_module(name),
      upstream("upstream"),
      downstream("downstream"),
      matcher("matcher", *this),
      expander("expander", *this),
      rules_(upstream, space.line_bytes),
      answer_rules_(downstream),
      config_(config),
      space_(space),
      clock_(clock),
      map_(space),
      first_line_(map_.compressed_line(shard)),
      shard_warps_(space.warps_per_shard()),
      out_places_(std::size_t{config.queue} + 2),
      lines_(config.lines),
      pool_(space.line_bytes),
      wakeup_(
          clock, [](void* c) { static_cast<Compressor*>(c)->work(); }, this) {
  config.validate(space);
  const std::size_t registers = std::size_t{RegisterMap::registers} * shard_warps_;
  bits_.resize(registers);
  in_line_.resize(registers / line_slots + 1);
  inside_at_.resize(in_line_.size(), no_line);
  upstream.bind(*this);
  downstream.bind(*this);
}

void Compressor::warp_started(protocol::WarpSlot warp) {
  const std::uint32_t first = map_.shard_order(map_.index(warp, protocol::RegisterId(0)));
  for (std::uint32_t reg = first; reg <= highest_; reg += shard_warps_) set_bit(reg, false);
}

bool Compressor::is_compressed(protocol::WarpSlot warp, protocol::RegisterId reg) const {
  return bit(map_.shard_order(map_.index(warp, reg)));
}

void Compressor::set_bit(std::uint32_t reg, bool value) {
  if (bits_[reg] == value) return;
  if (value) highest_ = std::max(highest_, reg);
  bits_[reg] = value;
  std::uint8_t& count = in_line_[line_number(reg)];
  count = static_cast<std::uint8_t>(value ? count + 1 : count - 1);
}

// Returns whether an operation for the same register waits for the line; this one must not overtake it.
bool Compressor::waits_behind(Line& line, const Operation& operation) const {
  return line.state == Line::State::fetching && std::any_of(line.waiting.begin(), line.waiting.end(),
                                                            [&](const Operation& o) { return o.reg == operation.reg; });
}

// The least recently used line that nobody waits for. A dirty one is written back, unless all its registers have died
// meanwhile. There is room on the way out.
Compressor::Line* Compressor::make_place(std::uint64_t now) {
  Line* oldest = nullptr;
  for (Line& l : lines_) {
    if (l.state == Line::State::empty) return &l;
    if (l.state == Line::State::fetching || l.pins != 0) continue;
    if (oldest == nullptr || l.used < oldest->used) oldest = &l;
  }
  if (oldest == nullptr) return nullptr;
  if (oldest->dirty && in_line_[oldest->number] == 0) {
    ++dropped_;
  } else if (oldest->dirty) {
    const auto [out, access] = pool_.take_with_access(tlm::TLM_WRITE_COMMAND, address_of(oldest->number));
    access->access = AccessClass::register_write;
    access->sm = static_cast<std::uint16_t>(space_.sm);
    std::memcpy(out->get_data_ptr(), oldest->bytes.data(), compressed_line_bytes);
    out_.push(Timed{out, now + 1});
    ++written_back_;
  }
  oldest->state = Line::State::empty;
  inside_at_[oldest->number] = no_line;
  oldest->dirty = false;
  return oldest;
}

// If it returns yes, `line` is the operation's line, present and valid.
Compressor::Done Compressor::need_line(Operation& operation, std::uint64_t now, bool empty_will_do, Line*& line) {
  const std::uint32_t number = line_number(operation.reg);
  line = find(number);
  if (line != nullptr && line->state == Line::State::valid) {
    line->used = ++uses_;
    return Done::yes;
  }
  if (line != nullptr) return Done::waits_for_line;
  if (!has_out_room()) return Done::no_way_out;
  if (!empty_will_do && fetching_ == config_.fetches) return Done::no_fetch;
  line = make_place(now);
  if (line == nullptr) return Done::no_place;
  inside_at_[number] = static_cast<std::uint16_t>(line - lines_.data());
  line->number = number;
  line->used = ++uses_;
  if (empty_will_do) {
    line->bytes.fill(0);
    line->state = Line::State::valid;
    ++started_empty_;
    return Done::yes;
  }
  line->state = Line::State::fetching;
  const auto [fetch, access] = pool_.take_with_access(tlm::TLM_READ_COMMAND, address_of(number));
  access->access = AccessClass::register_read;
  access->sm = static_cast<std::uint16_t>(space_.sm);
  out_.push(Timed{fetch, now + 1});
  ++fetching_;
  ++fetched_;
  return Done::waits_for_line;
}

Compressor::Done Compressor::perform(Operation& operation, std::uint64_t now) {
  if (fetching_ != 0) {
    Line* line = find(line_number(operation.reg));
    if (line != nullptr && waits_behind(*line, operation)) {
      wait_for(*line, operation);
      return Done::waits_for_line;
    }
  }
  const Done done = operation.access == AccessClass::register_read    ? perform_read(operation, now)
                    : operation.access == AccessClass::register_write ? perform_write(operation, now)
                                                                      : perform_invalidate(operation, now);
  if (done == Done::waits_for_line) wait_for(*find(line_number(operation.reg)), operation);
  return done;
}

Compressor::Done Compressor::perform_read(Operation& operation, std::uint64_t now) {
  Payload& payload = *operation.payload;
  if (!bit(operation.reg)) {
    if (!has_out_room()) return Done::no_way_out;
    ++lookups_;
    out_.push(Timed{&payload, now + config_.lookup_latency});
    return Done::yes;
  }
  Line* line = nullptr;
  const Done done = need_line(operation, now, false, line);
  if (done != Done::yes) return done;
  const unsigned slot = operation.reg % line_slots;
  CompressedValue value;
  value.pattern = state_of(line->bytes.data(), slot);
  std::memcpy(value.slot.data(), slot_of(line->bytes.data(), slot), slot_bytes);
  Answer answer{&payload, now + config_.lookup_latency + config_.expand_latency, next_tag_, false};
  switch (expander.requests->look_up(value, next_tag_, *reinterpret_cast<WarpValue*>(payload.get_data_ptr()))) {
    case LookupReply::busy:
      return Done::next_cycle;
    case LookupReply::later:
      answer.expanding = true;
      break;
    case LookupReply::answered:
      break;
  }
  ++next_tag_;
  ++lookups_;
  ++(operation.supplier == Supplier::compressor ? hits_ : misses_);
  ++expanded_;
  if (operation.extension->last_read) set_bit(operation.reg, false);
  operation.extension->supplier = operation.supplier;
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  answers_.push(answer);
  return Done::yes;
}

Compressor::Done Compressor::perform_write(Operation& operation, std::uint64_t now) {
  const Pattern pattern = operation.value.pattern;
  if (pattern == Pattern::none) {
    if (!has_out_room()) return Done::no_way_out;
    set_bit(operation.reg, false);
    // The model answers at once, and its latency is counted here. A late answer has taken the time, or some of it.
    const std::uint64_t matched =
        operation.late ? std::max(now, operation.asked + config_.match_latency) + 1 : now + config_.match_latency;
    out_.push(Timed{operation.payload, matched});
  } else {
    Line* line = nullptr;
    const std::uint64_t begun = started_empty_;
    const Done done = need_line(operation, now, in_line_[line_number(operation.reg)] == 0, line);
    if (done != Done::yes) return done;
    // A line that was begun for this write was neither found nor waited for.
    if (started_empty_ == begun) ++(operation.supplier == Supplier::compressor ? hits_ : misses_);
    const unsigned slot = operation.reg % line_slots;
    std::memcpy(slot_of(line->bytes.data(), slot), operation.value.slot.data(), slot_bytes);
    set_state(line->bytes.data(), slot, pattern);
    line->dirty = true;
    ++slot_writes_;
    set_bit(operation.reg, true);
    operation.payload->release();
  }
  ++lookups_;
  ++matches_;
  ++matched_[static_cast<unsigned>(pattern)];
  return Done::yes;
}

Compressor::Done Compressor::perform_invalidate(Operation& operation, std::uint64_t now) {
  if (bit(operation.reg)) {
    set_bit(operation.reg, false);
    operation.payload->release();
    ++cleared_;
  } else {
    if (!has_out_room()) return Done::no_way_out;
    out_.push(Timed{operation.payload, now + config_.lookup_latency});
  }
  ++lookups_;
  return Done::yes;
}

std::string Compressor::check() const {
  std::vector<unsigned> counts(in_line_.size());
  for (std::size_t i = 0; i < bits_.size(); ++i) counts[i / line_slots] += bits_[i];
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != in_line_[i]) return "line " + std::to_string(i) + ": compressed registers are miscounted";
  }
  for (const std::uint16_t at : inside_at_) {
    if (at != no_line && lines_[at].state == Line::State::empty) return "a line is found that is empty";
  }
  unsigned fetching = 0;
  for (const Line& l : lines_) {
    fetching += l.state == Line::State::fetching;
    if (l.state != Line::State::fetching && !l.waiting.empty()) return "operations wait for a line that is not fetched";
    if (l.state == Line::State::fetching && l.waiting.empty()) return "a line is fetched for nobody";
    if (l.state == Line::State::fetching && l.dirty) return "a line that is fetched is dirty";
    if (l.state == Line::State::empty) continue;
    const std::uint16_t at = inside_at_[l.number];
    if (at == no_line || &lines_[at] != &l) return "a line is there twice, or not found";
  }
  if (fetching != fetching_) return "fetches are miscounted";
  if (inside_ > config_.queue) return "more operations than the queue holds";
  return "";
}

bool Compressor::idle() const {
  return inside_ == 0 && held_ == nullptr && out_.empty() && unanswered_ == nullptr && fills_.empty() &&
         answers_.empty() && passing_.empty() && answering_ == nullptr && fetching_ == 0 && pool_.outstanding() == 0;
}

void Compressor::register_stats(support::StatGroup& g) {
  for (unsigned p = 1; p < pattern_count; ++p) {
    const std::string name = to_string(static_cast<Pattern>(p));
    g.counter("matched_" + name, matched_[p], "warp registers", "written with a value of the pattern " + name);
  }
  g.counter("incompressible", matched_[0], "warp registers", "written with a value of no pattern: sent to the L1");
  g.counter("lookups", lookups_, "requests", "reads, writes and invalidations performed");
  g.counter("hits", hits_, "requests", "for compressed registers that found their line inside");
  g.counter("misses", misses_, "requests", "for compressed registers that waited for their line");
  g.counter("expanded", expanded_, "warp registers", "read from a line of compressed registers");
  g.counter("cleared", cleared_, "warp registers", "invalidations of compressed registers, which end here");
  g.counter("lines_fetched", fetched_, "lines", "asked of the L1");
  g.counter("lines_begun", started_empty_, "lines", "begun empty, as no register of theirs was compressed");
  g.counter("lines_written_back", written_back_, "lines", "written to the L1 to make room");
  g.counter("lines_dropped", dropped_, "lines", "dirty ones that gave way unwritten, as all their registers had died");
  g.counter("lines_filled", filled_, "lines", "that came from the L1");
  g.counter("slot_writes", slot_writes_, "warp registers", "written to a line of compressed registers");
  g.counter("blocked", blocked_count_, "requests", "that waited for a line to give way, a fetch or the way to the L1");
  g.counter("held_requests", held_count_, "requests", "that found the queue full");
  g.counter("line_wait_cycles", line_cycles_, "cycles", "that requests waited for a line from the L1, summed");
  g.counter("place_wait_cycles", place_cycles_, "cycles", "in which the next request waited for a line to give way");
  g.counter("fetch_wait_cycles", fetch_cycles_, "cycles",
            "in which the next request waited, as all fetches were in use");
  g.counter("way_wait_cycles", way_cycles_, "cycles", "in which the next request waited for the way to the L1");
}

}  // namespace regatta::models
