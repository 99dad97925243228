// SPDX-License-Identifier: Apache-2.0
#include <regatta/regless/capacity_shard.h>

#include <algorithm>
#include <string>

namespace regatta::models {

using protocol::DynamicInstruction;
using protocol::RegisterId;
using protocol::WarpSlot;

const char* to_string(CapacityShard::State state) {
  switch (state) {
    case CapacityShard::State::absent:
      return "absent";
    case CapacityShard::State::inactive:
      return "inactive";
    case CapacityShard::State::preloading:
      return "preloading";
    case CapacityShard::State::active:
      return "active";
    case CapacityShard::State::draining:
      return "draining";
  }
  return "?";
}

CapacityShard::CapacityShard(const sc_core::sc_module_name& name, const CapacityManagerConfig& config, unsigned shards,
                             const RegionTable& table, support::CycleEvent& room, support::ClockDomain& clock)
    : sc_module(name),
      staging("staging"),
      config_(config),
      by_shards_(shards),
      table_(table),
      room_event_(room),
      clock_(clock),
      client_(
          clock, [](void* shard) { static_cast<CapacityShard*>(shard)->tick(); }, this) {}

void CapacityShard::end_of_elaboration() {
  unit_ = staging[0];
  if (unit_->banks() != trace::region_banks) {
    throw support::ConfigError(std::string(name()) + ": a region's words count the lines of " +
                               std::to_string(trace::region_banks) + " banks, found a staging unit of " +
                               std::to_string(unit_->banks()));
  }
  unit_->connect(*this);
}

void CapacityShard::kernel_started(const protocol::KernelContext& context) {
  const std::string kernel = "kernel " + context.kernel->name + ": ";
  for (const Region& region : table_.regions()) {
    const unsigned most = *std::max_element(region.lines_of.begin(), region.lines_of.end());
    if (most <= unit_->lines_per_bank()) continue;
    const std::string option = "--region-bank-lines " + std::to_string(unit_->lines_per_bank());
    throw support::UnfitTrace(kernel + "the region at instruction " + std::to_string(region.first) + " needs " +
                                  std::to_string(most) + " lines of a bank, a bank of the staging unit has " +
                                  std::to_string(unit_->lines_per_bank()) +
                                  " (osu.entries / shards / banks): annotate it with " + option +
                                  ", or make osu.entries larger (a region of one instruction cannot be cut)",
                              option);
  }
  // A region's end is known by the next one's first word, while the last marks of the first are still needed.
  const unsigned words = std::max(2u, table_.longest_head());
  if (config_.metadata_words < words) {
    throw support::ConfigError(kernel + "a region can start when " + std::to_string(words) +
                               " of its words are there, capacity_manager.metadata_words is " +
                               std::to_string(config_.metadata_words) + ": expected " + std::to_string(words) +
                               " at least");
  }
  warps_.clear();
  stack_.clear();
  deferred_.clear();
  free_.fill(static_cast<std::uint16_t>(unit_->lines_per_bank()));
  reserved_lines_ = 0;
  accounted_ = now();
  waiting_ = Wait::none;
  blocked_warp_ = no_warp;
}

void CapacityShard::warp_started(WarpSlot slot) {
  account();
  if (warps_.size() <= local(slot)) warps_.resize(local(slot) + 1);
  Warp& w = of(slot);
  std::vector<StoredWord> words = std::move(w.words);
  words.resize(config_.metadata_words);
  w = Warp{};
  w.words = std::move(words);
  w.slot = slot;
  w.state = State::inactive;
  w.age = ++age_;
  w.rotation = static_cast<std::uint8_t>(unit_->bank_of(slot, RegisterId(0)));
  // A warp that never executed goes below all that have; the oldest such warp is on top of the others.
  w.stacked = true;
  stack_.insert(stack_.begin(), static_cast<std::uint8_t>(local(slot)));
  listener_->closed(slot, true);
}

void CapacityShard::warp_finished(WarpSlot slot) {
  Warp& w = of(slot);
  unstack(w);
  release_all(w);
  w.state = State::absent;
  if (!stack_.empty()) look_again();
}

unsigned CapacityShard::room(WarpSlot slot) const {
  const Warp& w = warps_[local(slot)];
  const unsigned room = config_.metadata_words - w.held;
  w.refused_words = w.refused_words || room == 0;
  return room;
}

void CapacityShard::decoded(WarpSlot slot, std::uint32_t inserted, std::uint64_t sequence) {
  Warp& w = of(slot);
  const trace::RegionWordPlace& word = table_.word(inserted);
  w.words[w.place(w.held)] = StoredWord{inserted, sequence};
  ++w.held;
  ++counters_.words;
  if (word.completes) {
    ++w.heads;
    if (w.stacked) look_again();
  }
  if (!word.starts || w.end != 0) return;
  if (w.state != State::active && w.state != State::preloading) return;
  w.end = sequence;
  if (w.last + 1 != sequence) return;
  ++late_ends_;
  end_region(w);
}

void CapacityShard::drop_word(Warp& w) {
  if (++w.head == w.words.size()) w.head = 0;
  --w.held;
  if (!w.refused_words) return;
  w.refused_words = false;
  room_event_.notify();
}

bool CapacityShard::may_issue(const DynamicInstruction& d) {
  const Warp& w = of(d.warp);
  return w.state == State::active && unit_->can_issue(d);
}

void CapacityShard::issued(const DynamicInstruction& d) {
  Warp& w = of(d.warp);
  const protocol::InstructionTraits& t = *d.traits;
  w.last = d.sequence;
  ++counters_.instructions;
  for (unsigned i = 0; i < t.write_count; ++i) {
    ++w.writing[bank_of(w, t.writes[i])];
  }
  w.writes += t.write_count;
  unit_->issued(d, table_.marks(t.index));
  // A word is dropped when all instructions that it marks have issued. The words of the last ones are dropped with the
  // region.
  while (w.held > 1 && w.word(1).sequence <= d.sequence) drop_word(w);
  if (protocol::waits_at_barrier(d)) w.at_barrier = true;
  if (t.is_control || t.is_barrier || w.end == d.sequence + 1) end_region(w);
}

void CapacityShard::end_region(Warp& w) {
  w.state = State::draining;
  listener_->closed(w.slot, true);
  unit_->region_ended(w.slot, w.region->erase);
  counters_.active_cycles += now() - w.since;
  w.since = now();
  while (w.held != 0 && w.word(0).sequence <= w.last) drop_word(w);
  w.region = nullptr;
  w.end = 0;
  shrink(w);
  if (w.writes == 0) drained(w);
}

/// Lines are reserved for what is still to be written.
void CapacityShard::shrink(Warp& w) {
  account();
  const BankCounts reserved = w.reserved;
  const BankCounts writing = w.writing;
  BankCounts needed{}, released{};
  for (unsigned b = 0; b < trace::region_banks; ++b) {
    needed[b] = std::min(reserved[b], writing[b]);
    released[b] = static_cast<std::uint8_t>(reserved[b] - needed[b]);
  }
  if (needed == reserved) return;
  w.reserved = needed;
  give_back(released);
  if (!stack_.empty()) look_again();
}

void CapacityShard::written_back(const DynamicInstruction& d) {
  const protocol::InstructionTraits& t = *d.traits;
  if (t.write_count == 0) return;
  Warp& w = of(d.warp);
  for (unsigned i = 0; i < t.write_count; ++i) {
    --w.writing[bank_of(w, t.writes[i])];
  }
  w.writes -= t.write_count;
  if (w.state != State::draining) return;
  shrink(w);
  if (w.writes == 0) drained(w);
}

void CapacityShard::drained(Warp& w) {
  counters_.drain_cycles += now() - w.since;
  release_all(w);
  w.state = State::inactive;
  if (!w.at_barrier) push(w);
}

void CapacityShard::release_all(Warp& w) {
  account();
  give_back(w.reserved);
  w.reserved = {};
}

void CapacityShard::give_back(BankCounts lines) {
  unsigned all = 0;
  for (unsigned b = 0; b < trace::region_banks; ++b) {
    free_[b] = static_cast<std::uint16_t>(free_[b] + lines[b]);
    all += lines[b];
  }
  reserved_lines_ -= all;
}

void CapacityShard::push(Warp& w) {
  account();
  w.stacked = true;
  stack_.push_back(static_cast<std::uint8_t>(local(w.slot)));
  look_again();
}

void CapacityShard::unstack(Warp& w) {
  if (!w.stacked) return;
  account();
  w.stacked = false;
  stack_.erase(std::find(stack_.begin(), stack_.end(), static_cast<std::uint8_t>(local(w.slot))));
  if (stack_.empty()) waiting_ = Wait::none;
}

void CapacityShard::barrier_opened(WarpSlot slot) {
  Warp& w = of(slot);
  w.at_barrier = false;
  if (w.state != State::inactive || w.stacked) return;  // it goes there when it has drained
  // Warps that are released in the same cycle are stacked with the oldest on top.
  if (released_at_ != now()) released_ = 0;
  released_at_ = now();
  push(w);
  for (std::size_t at = stack_.size() - 1; released_ != 0 && at + released_ + 1 > stack_.size() && at != 0; --at) {
    if (warps_[stack_[at - 1]].age >= warps_[stack_[at]].age) break;
    std::swap(stack_[at - 1], stack_[at]);
  }
  ++released_;
}

bool CapacityShard::fits(const Warp& w) const {
  const Region& region = table_.regions()[table_.word(w.word(0).inserted).region];
  const BankCounts lines = region.lines_by_rotation[w.rotation];
  unsigned short_of = 0;  // banks; all are looked at, which takes a host no branch
  for (unsigned b = 0; b < trace::region_banks; ++b) short_of += lines[b] > free_[b];
  return short_of == 0;
}

/// Accounts for the cycles since the stack or the reserved lines last changed.
void CapacityShard::account() {
  const std::uint64_t passed = now() - accounted_;
  if (passed == 0) return;
  wait_cycles_[static_cast<unsigned>(waiting_)] += passed;
  stacked_cycles_ += passed * stack_.size();
  line_cycles_ += passed * reserved_lines_;
  accounted_ = now();
}

void CapacityShard::tick() {
  const std::uint64_t cycle = now();
  account();
  waiting_ = stack_.empty() ? Wait::none : Wait::words;
  if (!deferred_.empty()) ask_deferred();

  // Only the topmost warp whose region is known is tried, unless it has waited so long that the next one may be tried
  // too.
  bool first = true;
  for (std::size_t at = stack_.size(); at-- > 0;) {
    Warp& w = warps_[stack_[at]];
    if (w.heads == 0) continue;
    if (fits(w)) {
      if (!first) ++fell_through_;
      if (first) blocked_warp_ = no_warp;
      waiting_ = Wait::none;
      activate(w);
      if (!stack_.empty()) look_again();
      return;
    }
    waiting_ = Wait::lines;
    if (!first || config_.fall_through == 0) return;
    if (blocked_warp_ != stack_[at]) {
      blocked_warp_ = stack_[at];
      blocked_since_ = cycle;
    }
    if (cycle - blocked_since_ < config_.fall_through) {
      client_.request(blocked_since_ + config_.fall_through);
      return;
    }
    first = false;
  }
}

void CapacityShard::activate(Warp& w) {
  unstack(w);
  const StoredWord start = w.word(0);
  const Region& region = table_.regions()[table_.word(start.inserted).region];
  w.state = State::preloading;
  w.since = now();
  w.region = &region;
  w.first = start.sequence;
  w.last = start.sequence - 1;
  --w.heads;
  w.reserved = region.lines_by_rotation[w.rotation];
  for (unsigned b = 0; b < trace::region_banks; ++b) free_[b] = static_cast<std::uint16_t>(free_[b] - w.reserved[b]);
  reserved_lines_ += region.lines;
  // What the head says is done with; the marks stay.
  for (unsigned i = 1; i < region.head_words; ++i) drop_word(w);
  find_end(w);
  ++counters_.executed;
  counters_.preloads += region.preloads.size();
  counters_.invalidations += region.invalidations.size();
  counters_.lines += region.lines;
  most_lines_ = std::max<std::uint64_t>(most_lines_, region.lines);
  counters_.lines_squared += std::uint64_t{region.lines} * region.lines;
  w.acknowledgements = static_cast<unsigned>(region.preloads.size() + region.invalidations.size());
  if (w.acknowledgements == 0) return open(w);
  // Requests that were deferred earlier have just been retried, so a bank that one of them waits for is full.
  const auto hand_over = [this](const Request& r) {
    if (ask(r)) return;
    deferred_.push_back(r);
    ++deferred_count_;
  };
  for (const Region::Preload& p : region.preloads) {
    hand_over({w.slot, p.reg, p.last ? Request::Kind::last_preload : Request::Kind::preload});
  }
  for (const RegisterId reg : region.invalidations) hand_over({w.slot, reg, Request::Kind::invalidate});
  if (!deferred_.empty()) look_again();
}

/// A bank's queue has one entry per line. This is enough for preloads, which have lines, but not for any number of
/// invalidations in addition.
bool CapacityShard::ask(const Request& request) {
  if (unit_->request_room(bank_of(of(request.warp), request.reg)) == 0) return false;
  if (request.kind == Request::Kind::invalidate) {
    unit_->invalidate(request.warp, request.reg);
  } else {
    unit_->preload(request.warp, request.reg, request.kind == Request::Kind::last_preload);
  }
  return true;
}

void CapacityShard::ask_deferred() {
  deferred_.erase(std::remove_if(deferred_.begin(), deferred_.end(), [this](const Request& r) { return ask(r); }),
                  deferred_.end());
  if (!deferred_.empty()) look_again();
}

/// The next region's first word may be there already.
void CapacityShard::find_end(Warp& w) {
  w.end = 0;
  for (unsigned i = 1; i < w.held; ++i) {
    if (!table_.word(w.word(i).inserted).starts) continue;
    w.end = w.word(i).sequence;
    return;
  }
}

void CapacityShard::open(Warp& w) {
  w.state = State::active;
  counters_.preload_cycles += now() - w.since;
  w.since = now();
  listener_->closed(w.slot, false);
}

void CapacityShard::unasked(const Warp& w) const {
  SC_REPORT_ERROR("regatta/capacity_manager",
                  (std::string(name()) + ": the staging unit acknowledged what warp " + std::to_string(w.slot.value()) +
                   " (" + to_string(w.state) + ") did not ask for")
                      .c_str());
}

void CapacityShard::acknowledged(Warp& w) {
  if (w.state != State::preloading || w.acknowledgements == 0) return unasked(w);
  if (--w.acknowledgements == 0) open(w);
}

void CapacityShard::preloaded(WarpSlot warp, RegisterId, PreloadSource source) {
  ++counters_.preloads_from[static_cast<unsigned>(source)];
  acknowledged(of(warp));
}

void CapacityShard::invalidated(WarpSlot warp, RegisterId) { acknowledged(of(warp)); }

void CapacityShard::lines_available(std::uint64_t at) {
  if (at > now()) {
    listener_->reconsider(protocol::Cycle(at));
  } else {
    room_event_.notify();  // the listener takes later cycles only
  }
}

std::string CapacityShard::describe_stuck() const {
  std::string text;
  for (const Warp& w : warps_) {
    if (w.state == State::absent) continue;
    text += std::string("  ") + name() + " warp " + std::to_string(w.slot.value()) + ": " + to_string(w.state);
    if (w.at_barrier) text += ", at a barrier";
    if (w.stacked) text += w.heads != 0 ? ", on the stack" : ", on the stack, its next region's words not decoded";
    if (w.state == State::preloading) text += ", " + std::to_string(w.acknowledgements) + " not acknowledged";
    if (w.writes != 0) text += ", " + std::to_string(w.writes) + " writes to come";
    if (w.region != nullptr) text += ", region at instruction " + std::to_string(w.region->first);
    text += "\n";
  }
  for (unsigned b = 0; b < trace::region_banks && !text.empty(); ++b) {
    text += (b == 0 ? std::string("  ") + name() + " unreserved lines by bank:" : "") + " " + std::to_string(free_[b]);
  }
  if (!text.empty()) text += "\n";
  return text;
}

std::vector<WarpSlot> CapacityShard::stack() const {
  std::vector<WarpSlot> slots;
  for (const std::uint8_t w : stack_) slots.push_back(warps_[w].slot);
  return slots;
}

}  // namespace regatta::models
