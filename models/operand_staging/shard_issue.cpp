// SPDX-License-Identifier: Apache-2.0
// Whether an instruction's destinations find lines, and when to ask again.
#include "shard.h"

#include <algorithm>
#include <array>

namespace regatta::models {

using protocol::RegisterId;

bool StagingShard::can_issue(const protocol::DynamicInstruction& d) const {
  const protocol::InstructionTraits& t = *d.traits;
  if (t.write_count == 0 || d.active == 0) return true;
  const unsigned w = local(d.warp);
  const std::uint64_t now = clock_.now();
  if (t.write_count != 1) return finds_lines(t, w, now);
  const unsigned r = t.writes[0].value();
  if (line_of(w, r) != no_line) return true;
  const unsigned bank = bank_of(w, r);
  unsigned room = buffer_room(now);
  return has_line(banks_[bank], room, now) || refuse(w, std::uint64_t{1} << bank, now);
}

bool StagingShard::finds_lines(const protocol::InstructionTraits& t, unsigned w, std::uint64_t now) const {
  unsigned room = buffer_room(now);
  std::uint64_t wanted = 0, listed = 0;  // banks
  bool enough = true;
  for (unsigned i = 0; i < t.write_count; ++i) {
    const unsigned r = t.writes[i].value();
    const std::uint16_t line = line_of(w, r);
    const unsigned bank = bank_of(w, r);
    const std::uint64_t bit = std::uint64_t{1} << bank;
    if (line != no_line) {
      if (lines_[line].state == State::clean || lines_[line].state == State::dirty) listed |= bit;
      continue;
    }
    if ((wanted & bit) != 0) return finds_lines_together(t, w, now);
    wanted |= bit;
    enough = has_line(banks_[bank], room, now) && enough;
  }
  if ((wanted & listed) != 0) return finds_lines_together(t, w, now);
  return enough || refuse(w, wanted, now);
}

/// The same for an instruction that needs several lines of a bank, or a line of a bank that lists the line of another
/// destination; that line counts as taken.
bool StagingShard::finds_lines_together(const protocol::InstructionTraits& t, unsigned w, std::uint64_t now) const {
  std::array<unsigned, 64> wanted{};
  std::uint64_t banks = 0;
  for (unsigned i = 0; i < t.write_count; ++i) {
    if (line_of(w, t.writes[i].value()) != no_line) continue;
    const unsigned bank = bank_of(w, t.writes[i].value());
    ++wanted[bank];
    banks |= std::uint64_t{1} << bank;
  }
  const auto is_destination = [&](const StagingLine& l) {
    const auto end = t.writes.begin() + t.write_count;
    return l.warp == w && std::find(t.writes.begin(), end, RegisterId(l.reg)) != end;
  };
  unsigned room = buffer_room(now);
  bool enough = true;
  for (std::uint64_t m = banks; m != 0; m &= m - 1) {
    const StagingBank& b = bank(m);
    unsigned missing = wanted[static_cast<unsigned>(__builtin_ctzll(m))];
    for (const LineList* list : {&b.free, &b.clean, &b.dirty}) {
      for (std::uint16_t l = list->first(); l != no_line && lines_[l].available_at <= now; l = lines_[l].next) {
        if (missing == 0 || (list != &b.free && is_destination(lines_[l]))) continue;
        if (list == &b.dirty && room == 0) break;
        room -= list == &b.dirty;
        --missing;
      }
    }
    enough = enough && missing == 0;
  }
  return enough || refuse(w, banks, now);
}

/// The warp's instruction must wait for lines of `banks`. Issue asks about it repeatedly, so the cycle until which it
/// must wait is kept as long as nothing becomes free.
bool StagingShard::refuse(unsigned w, std::uint64_t banks, std::uint64_t now) const {
  ++refusals_;
  refused_ = true;
  refused_last_ = now;
  std::uint64_t changes = places_freed_;
  for (std::uint64_t m = banks; m != 0; m &= m - 1) changes += bank(m).lines_listed;
  Refusal& last = last_refusal_[w];
  if (last.changes != changes || last.until <= now) {
    last = Refusal{changes, never};
    for (std::uint64_t m = banks; m != 0; m &= m - 1) last.until = std::min(last.until, next_line(bank(m), now));
  }
  if (last.until != never) tell(last.until);
  return false;
}

/// The next cycle in which more lines of the bank may be had than now, by what is known now.
std::uint64_t StagingShard::next_line(const StagingBank& bank, std::uint64_t now) const {
  std::uint64_t next = freed_at_ == now ? now + 1 : never;
  for (const LineList* list : {&bank.free, &bank.clean, &bank.dirty}) {
    std::uint16_t line = list->first();
    while (line != no_line && lines_[line].available_at <= now) line = lines_[line].next;
    if (line != no_line) next = std::min(next, lines_[line].available_at);
  }
  return next;
}

/// Tells the SM to ask about refused warps again in cycle `at`, or in the next cycle if `at` has passed. If a cycle
/// that was told before has passed without a refusal in it or after it, no warp is refused any more: otherwise the SM
/// asks in every cycle, or sleeps from one in which it asked.
void StagingShard::tell(std::uint64_t at) const {
  const std::uint64_t now = clock_.now();
  at = std::max(at, now + 1);
  if (told_at_ > now && told_at_ <= at) return;
  if (told_at_ <= now && refused_last_ < told_at_) {
    refused_ = false;
    return;
  }
  told_at_ = at;
  if (client_ != nullptr) client_->lines_available(at);
}

}  // namespace regatta::models
