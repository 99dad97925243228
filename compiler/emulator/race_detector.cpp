// SPDX-License-Identifier: Apache-2.0
#include "race_detector.h"

#include "diagnostics.h"
#include "memory_space.h"

#include <regatta/base/tool.h>

#include <algorithm>
#include <new>

namespace regatta::emulator {

using ir::MemoryOrder;
using ir::MemoryScope;
using trace::LaneMask;
using trace::MemorySpace;

namespace {

/// Reads and atomics of earlier CTAs kept per word: where nothing orders CTAs, any one of them shows the race.
constexpr unsigned max_foreign = 8;

bool races_with(const RaceEntry& earlier, const RaceEntry& now) {
  if (!earlier.writes && !now.writes) return false;
  if (earlier.strength + now.strength < 3) return true;
  return earlier.when.cta != now.when.cta && (earlier.cta_scope || now.cta_scope);
}

/// Whether every later access that races with `earlier` also races with `now`.
bool stands_for(const RaceEntry& now, const RaceEntry& earlier) {
  return (now.writes || !earlier.writes) && now.strength <= earlier.strength && (now.cta_scope || !earlier.cta_scope);
}

bool plain_write(const RaceEntry& e) { return e.writes && e.strength < 2; }

const char* past_verb(const Op& op) {
  if (op.kind == Kind::asynchronous) return "the asynchronous copy";
  return op.only_loads() ? "the read" : op.kind == Kind::atomic ? "the atomic" : "the write";
}

std::uint64_t sync_key(bool shared, std::uint64_t address) { return address | (std::uint64_t{shared} << 63); }

}  // namespace

RaceDetector::RaceDetector(const Program& program, DeviceMemory& memory, RaceRule rule)
    : program_(program), memory_(memory), rule_(rule) {}

void RaceDetector::begin_launch(const std::array<std::uint32_t, 3>& grid, const std::array<std::uint32_t, 3>& block,
                                std::size_t together) {
  grid_ = grid;
  block_ = block;
  releases_ = {};
  releases_.interleaved = together > 1;
  ctas_.clear();
  while (ctas_.size() < together) ctas_.push_back(std::make_unique<ResidentCta>(rule_, program_.lanes, releases_));
  select(0);
  global_.clear();
}

void RaceDetector::begin_cta(std::uint64_t cta, unsigned warps, const std::vector<std::uint8_t>& shared) {
  cta_->shared_bytes = &shared;
  order().begin_cta(static_cast<std::uint32_t>(cta), warps);
  cta_->shared.clear();
}

void RaceDetector::access(const WarpMemoryAccess& a) {
  const Op& op = *a.op;
  const ir::Modifiers& mod = op.instruction->mod;
  RaceEntry now;
  now.when.cta = order().cta();
  now.when.warp = static_cast<std::uint8_t>(a.warp);
  now.when.time = order().access(a.warp, a.together, a.live);
  now.op = a.position;
  now.writes = !op.only_loads();
  now.cta_scope = mod.scope == MemoryScope::cta;
  now.strength = op.kind == Kind::atomic || mod.order >= MemoryOrder::relaxed ? 2 : mod.order != MemoryOrder::weak;
  try {
    const base::ExpectAllocationFailure expect;
    for (LaneMask rest = a.active; rest != 0; rest &= rest - 1) {
      lane_access(a, static_cast<unsigned>(__builtin_ctzll(rest)), now);
    }
  } catch (const std::bad_alloc&) {
    throw base::OutOfMemory("--check-races of kernel '" + program_.function->name +
                            "' remembers more accesses than fit");
  }
}

void RaceDetector::release_mbarrier(unsigned warp, std::uint32_t offset) {
  order().release(warp, sync_key(true, offset), MemoryScope::cta, true);
}

void RaceDetector::acquire_mbarrier(unsigned warp, std::uint32_t offset) {
  order().acquire(warp, sync_key(true, offset));
}

void RaceDetector::lane_access(const WarpMemoryAccess& a, unsigned lane, RaceEntry now) {
  const Op& op = *a.op;
  const std::uint64_t address = a.address[lane];
  const MemorySpace space = space_of(op, address);
  if (space != MemorySpace::shared && space != MemorySpace::global) return;
  const unsigned size = unsigned{op.element_bytes} * op.vector;
  Word word;
  word.shared = space == MemorySpace::shared;
  const std::uint64_t at = offset_in(op, space, address);
  const std::uint8_t* data = nullptr;
  // What lies outside is reported when the access takes effect.
  if (at % size != 0) return;
  if (word.shared) {
    if (at >= cta_->shared_bytes->size() || size > cta_->shared_bytes->size() - at) return;
    data = cta_->shared_bytes->data() + at;
  } else {
    const Allocation* hit = memory_.find(at);
    if (hit == nullptr || size > hit->end() - at) return;
    data = hit->data.data() + (at - hit->base);
    if (now.strength == 1) now.strength = 2;  // a flag between CTAs
  }
  now.when.lanes = LaneMask{1} << lane;
  const ir::Modifiers& mod = op.instruction->mod;
  if (now.strength != 0 && (op.kind == Kind::load || op.kind == Kind::atomic)) {
    order().acquire(a.warp, sync_key(word.shared, at));
  }
  for (std::uint64_t byte = 0; byte < size;) {
    const std::uint64_t in_word = (at + byte) % 4;
    const std::uint64_t count = std::min<std::uint64_t>(4 - in_word, size - byte);
    word.address = at + byte - in_word;
    word.bytes = static_cast<std::uint8_t>(((1u << count) - 1) << in_word);
    word.data = data + byte;
    word_access(a, lane, word, now);
    byte += count;
  }
  if (now.strength != 0 && now.writes) {
    order().release(a.warp, sync_key(word.shared, at), mod.scope,
                    mod.order == MemoryOrder::release || mod.order == MemoryOrder::acq_rel);
  }
}

void RaceDetector::word_access(const WarpMemoryAccess& a, unsigned lane, const Word& word, RaceEntry now) {
  WordHistory& history = (word.shared ? cta_->shared : global_).at(word.address / 4);
  now.bytes = word.bytes;
  bool merged = false;
  unsigned foreign = 0;
  history.filter([&](RaceEntry& e) {
    if ((e.bytes & now.bytes) == 0) return true;
    const LaneMask unordered =
        e.when.time == unfinished ? e.when.lanes : e.when.lanes & ~order().before(e.when, a.warp, lane);
    if (unordered != 0 && races_with(e, now) && !same_value(a, lane, word, e, unordered)) {
      report(a, lane, word, now, e, static_cast<unsigned>(__builtin_ctzll(unordered)));
    }
    // Equal accesses without synchronisation between them are merged into one with more lanes.
    if (e.when.cta == now.when.cta && e.when.warp == now.when.warp && e.bytes == now.bytes && e.op == now.op &&
        (e.when.time == now.when.time || (!plain_write(now) && order().is_present(a.warp, e.when.time)))) {
      e.when.time = now.when.time;
      e.when.lanes |= now.when.lanes;
      merged = true;
      return true;
    }
    if ((e.bytes & ~now.bytes) != 0) return true;
    // A write has been compared with all earlier accesses; later accesses are compared with the write.
    if (plain_write(now)) return false;
    if (e.when.cta != now.when.cta && !plain_write(e) && ++foreign > max_foreign) return false;
    if (!stands_for(now, e)) return true;
    e.when.lanes = unordered;
    return unordered != 0;
  });
  if (!merged) history.add(now);
}

bool RaceDetector::same_value(const WarpMemoryAccess& a, unsigned lane, const Word& word, const RaceEntry& earlier,
                              LaneMask others) const {
  const Op& op = *a.op;
  if (op.kind != Kind::store || !earlier.writes || program_.ops[earlier.op].kind != Kind::store) return false;
  const auto stored = [&](unsigned of, std::uint64_t from, std::uint8_t* bytes, unsigned count) {
    // Bytes from `from` on of what a lane stores.
    for (unsigned i = 0; i < count; ++i) {
      const std::uint64_t at = from + i - offset_in(op, space_of(op, a.address[of]), a.address[of]);
      if (at >= std::uint64_t{op.element_bytes} * op.vector) return false;
      bytes[i] = static_cast<std::uint8_t>(a.values[at / op.element_bytes][of] >> (8 * (at % op.element_bytes)));
    }
    return true;
  };
  std::uint8_t mine[4] = {}, theirs[4] = {};
  const auto first = static_cast<unsigned>(__builtin_ctz(word.bytes));
  const auto count = static_cast<unsigned>(__builtin_popcount(word.bytes));
  if (!stored(lane, word.address + first, mine, count)) return false;
  if (earlier.when.cta == order().cta() && earlier.when.warp == a.warp && earlier.op == a.position &&
      (others & ~a.active) == 0 && earlier.when.time == order().now(a.warp)) {
    // Lanes of this very instruction, which has not taken effect.
    for (LaneMask rest = others; rest != 0; rest &= rest - 1) {
      const auto other = static_cast<unsigned>(__builtin_ctzll(rest));
      if (!stored(other, word.address + first, theirs, count) || !std::equal(mine, mine + count, theirs)) return false;
    }
    return true;
  }
  // Nothing has written those bytes since; a later write would have replaced `earlier` in the history.
  const unsigned overlap = earlier.bytes & word.bytes;
  for (unsigned i = 0; i < count; ++i) {
    if (((overlap >> (first + i)) & 1u) != 0 && word.data[i] != mine[i]) return false;
  }
  return true;
}

std::string RaceDetector::location(const Word& word) const {
  const std::uint64_t at = word.address + static_cast<unsigned>(__builtin_ctz(word.bytes));
  if (!word.shared) return "global address " + hex_text(at) + ", " + memory_.describe(at);
  std::string text = "shared offset " + std::to_string(at);
  const ir::SharedVariable* owner = nullptr;
  for (const ir::SharedVariable& v : program_.function->shared_variables) {
    if (at >= v.offset && (v.bytes == 0 || at - v.offset < v.bytes)) owner = &v;
  }
  if (owner == nullptr) return text;
  return text + ", " + std::to_string(at - owner->offset) + " bytes into '" + owner->name + "'";
}

RaceDetector::Site RaceDetector::site(std::uint32_t position) const {
  const Op& op = program_.ops[position];
  const ir::Location& where = op.instruction->where;
  if (where.source_line == 0) return {0, position, op.kind};
  return {where.source_file + 1, where.source_line, op.kind};
}

void RaceDetector::finish_launch() {
  if (!postponed_.empty() && found_.empty()) throw trace::InputError(postponed_);
}

void RaceDetector::report(const WarpMemoryAccess& a, unsigned lane, const Word& word, const RaceEntry& now,
                          const RaceEntry& earlier, unsigned other, bool between_proxies) {
  Distance distance = Distance::warp;
  if (earlier.when.cta != now.when.cta) {
    distance = Distance::grid;
  } else if (earlier.when.warp != now.when.warp) {
    distance = Distance::cta;
  } else if (earlier.when.time == now.when.time) {
    distance = Distance::instruction;
  }
  const auto [place, added] = found_.try_emplace(
      {std::min(site(earlier.op), site(now.op)), std::max(site(earlier.op), site(now.op)), distance});
  Found& found = place->second;
  ++found.times;
  if (!added) return;
  found.number = found_.size();

  const ir::Function& f = *program_.function;
  const Op& first = program_.ops[earlier.op];
  const Op& second = *a.op;
  const auto thread_of = [&](unsigned warp, unsigned of) { return unflatten(warp * program_.lanes + of, block_); };
  const auto count = __builtin_popcount(word.bytes & earlier.bytes);
  std::string text = "data race on " + std::to_string(count) + (count == 1 ? " byte" : " bytes") + " at " +
                     location(word) + ": " + (past_verb(second) + 4) + " here and " + past_verb(first);
  // Copies that a mbarrier has completed are nobody's any more.
  const bool is_thread = distance == Distance::grid || earlier.when.warp != order().copies();
  if (is_thread) text += " by thread " + triple_text(thread_of(earlier.when.warp, other));
  if (distance == Distance::grid) text += " of CTA " + triple_text(unflatten(earlier.when.cta, grid_));
  text += " on line " + std::to_string(first.instruction->where.line) + source_text(f, *first.instruction);
  const bool missed = distance != Distance::grid && order().is_behind(a.warp, lane);
  const bool narrow = earlier.strength + now.strength >= 3;
  const auto thread = thread_of(a.warp, lane);
  const auto finish = [&] {
    found.message = message_at(f, *second.instruction, unflatten(now.when.cta, grid_), &thread, text);
  };
  if (between_proxies) {
    text += " are ordered, but a bulk copy need not see it; expected fence.proxy.async between them";
    return finish();
  }
  if (earlier.when.time == unfinished) {
    const bool bulk = first.op != ir::Opcode::cp_async;
    text += " are not ordered, for nobody has waited for the copy; expected ";
    text +=
        bulk ? "a wait for its mbarrier, or cp.async.bulk.wait_group," : "cp.async.wait_group, or an arrival of it,";
    text += " between them";
    return finish();
  }
  switch (distance) {
    case Distance::instruction:
      text += " are one instruction that writes different values; expected an atomic, or one lane per address";
      break;
    case Distance::warp:
      text += " are not ordered";
      if (missed) text += ", for this thread leaves the kernel without the barrier that others of its warp passed";
      text += "; expected bar.warp.sync (__syncwarp) or bar.sync (__syncthreads) between them, or atomics";
      break;
    case Distance::cta:
      text += " are not ordered";
      // Other threads of the warp passed a barrier before this thread's turn came, as on a machine without a program
      // counter per lane. On a machine with one, this thread would have exited first.
      if (missed) text += ", for this thread leaves the kernel without the barrier that others of its warp passed";
      text += "; expected bar.sync (__syncthreads) between them, or atomics";
      break;
    case Distance::grid:
      text += narrow
                  ? " have a scope of one CTA; expected .gpu scope"
                  : " are not ordered, for CTAs run in any order; expected atomics, another launch, or a flag behind "
                    "a fence (__threadfence)";
      break;
  }
  finish();
}

template <class Visit>
void RaceDetector::for_each_word(const CopyRange& range, const Visit& visit) {
  for (std::uint64_t byte = 0; byte < range.bytes;) {
    const std::uint64_t in_word = (range.address + byte) % 4;
    const std::uint64_t count = std::min(4 - in_word, range.bytes - byte);
    Word word;
    word.shared = range.shared;
    word.address = range.address + byte - in_word;
    word.bytes = static_cast<std::uint8_t>(((1u << count) - 1) << in_word);
    visit(word);
    byte += count;
  }
}

void RaceDetector::begin_copy(const Op& op, std::uint32_t position, unsigned warp, unsigned lane,
                              const CopyRange& range, bool other_proxy) {
  WarpMemoryAccess a{};
  a.op = &op;
  a.position = position;
  a.warp = warp;
  RaceEntry now;
  now.when = {LaneMask{1} << lane, order().cta(), unfinished, static_cast<std::uint8_t>(warp)};
  now.op = position;
  now.writes = range.writes;
  for_each_word(range, [&](const Word& word) {
    now.bytes = word.bytes;
    WordHistory& history = (word.shared ? cta_->shared : global_).at(word.address / 4);
    bool merged = false;
    history.filter([&](RaceEntry& e) {
      if ((e.bytes & now.bytes) == 0) return true;
      const bool is_open = e.when.time == unfinished;
      const LaneMask unordered = is_open ? e.when.lanes : e.when.lanes & ~order().before(e.when, warp, lane);
      if (unordered != 0 && races_with(e, now)) {
        report(a, lane, word, now, e, static_cast<unsigned>(__builtin_ctzll(unordered)));
      } else if (other_proxy && word.shared && e.writes && !is_open && e.when.warp != order().copies() &&
                 program_.ops[e.op].op < ir::Opcode::bulk_copy && !order().fenced_for_proxy(e.when, warp)) {
        report(a, lane, word, now, e, static_cast<unsigned>(__builtin_ctzll(e.when.lanes)), true);
      }
      if (is_open && e.op == position && e.when.warp == warp && e.when.cta == now.when.cta && e.bytes == now.bytes &&
          e.writes == now.writes) {
        e.when.lanes |= now.when.lanes;
        merged = true;
        return true;
      }
      // Later accesses are compared with the copy where it replaces all bytes of a write.
      return (e.bytes & ~now.bytes) != 0 || !now.writes;
    });
    if (!merged) history.add(now);
  });
}

void RaceDetector::end_copy(std::uint32_t position, unsigned warp, unsigned lane, const CopyRange& range,
                            unsigned waiter, std::uint32_t time) {
  const LaneMask bit = LaneMask{1} << lane;
  const AccessTime when{bit, order().cta(), time, static_cast<std::uint8_t>(waiter)};
  for_each_word(range, [&](const Word& word) {
    WordHistory& history = (word.shared ? cta_->shared : global_).at(word.address / 4);
    RaceEntry done;
    bool found = false, merged = false;
    history.filter([&](RaceEntry& e) {
      const bool same = e.op == position && e.bytes == word.bytes && e.writes == range.writes && e.when.cta == when.cta;
      if (same && e.when.time == unfinished && e.when.warp == warp && (e.when.lanes & bit) != 0) {
        done = e;
        found = true;
        e.when.lanes &= ~bit;
        return e.when.lanes != 0;
      }
      return true;
    });
    if (!found) return;
    done.when = when;
    history.filter([&](RaceEntry& e) {
      if (e.op == position && e.bytes == done.bytes && e.writes == done.writes && e.when.cta == when.cta &&
          e.when.warp == when.warp && e.when.time == time) {
        e.when.lanes |= bit;
        merged = true;
      }
      return true;
    });
    if (!merged) history.add(done);
  });
}

void RaceDetector::unread_copy(const Op& op, std::uint32_t position, unsigned warp, unsigned lane) {
  const auto [place, added] = found_.try_emplace({site(position), site(position), Distance::cta});
  ++place->second.times;
  if (!added) return;
  place->second.number = found_.size();
  const auto thread = unflatten(warp * program_.lanes + lane, block_);
  place->second.message = message_at(*program_.function, *op.instruction, unflatten(order().cta(), grid_), &thread,
                                     "the CTA ends while this bulk copy may still read its shared memory; expected "
                                     "cp.async.bulk.wait_group.read");
}

std::vector<Race> RaceDetector::races() const {
  std::vector<Race> races(found_.size());
  for (const auto& [key, found] : found_) {
    Race& r = races[found.number - 1];
    r.message = found.message;
    r.times = found.times;
  }
  return races;
}

}  // namespace regatta::emulator
