// SPDX-License-Identifier: Apache-2.0
// Whether an instruction's destinations find lines, and when to ask again.
#include "shard.h"

#include <algorithm>
#include <array>

namespace regatta::models {

using protocol::RegisterId;

bool OsuShard::can_issue(const protocol::DynamicInstruction& d) const {
  const protocol::InstructionTraits& t = *d.traits;
  if (t.write_count == 0 || d.active == 0) return true;
  const unsigned w = local(d.warp);
  const std::uint64_t now = clock_.now();
  if (t.write_count != 1) return finds_lines(t, w, now);
  const unsigned r = t.writes[0].value();
  const ShardBank& b = home_of(w, r);
  if (b.module.look_up(w, r) != no_line) return true;
  unsigned room = buffer_room(now);
  return has_line(b, room, now) || refuse(w, std::uint64_t{1} << b.index, now);
}

bool OsuShard::finds_lines(const protocol::InstructionTraits& t, unsigned w, std::uint64_t now) const {
  unsigned room = buffer_room(now);
  std::uint64_t wanted = 0, listed = 0;  // banks
  bool enough = true;
  for (unsigned i = 0; i < t.write_count; ++i) {
    const unsigned r = t.writes[i].value();
    const ShardBank& b = home_of(w, r);
    const std::uint16_t line = b.module.look_up(w, r);
    const std::uint64_t bit = std::uint64_t{1} << b.index;
    if (line != no_line) {
      if (b.module.use(line).state == State::listed) listed |= bit;
      continue;
    }
    if ((wanted & bit) != 0) return finds_lines_together(t, w, now);
    wanted |= bit;
    enough = has_line(b, room, now) && enough;
  }
  if ((wanted & listed) != 0) return finds_lines_together(t, w, now);
  return enough || refuse(w, wanted, now);
}

/// The same for an instruction that needs several lines of a bank, or a line of a bank that lists the line of another
/// destination; that line counts as taken.
bool OsuShard::finds_lines_together(const protocol::InstructionTraits& t, unsigned w, std::uint64_t now) const {
  std::array<unsigned, 64> wanted{};
  std::uint64_t banks = 0;
  for (unsigned i = 0; i < t.write_count; ++i) {
    const ShardBank& b = home_of(w, t.writes[i].value());
    if (b.module.look_up(w, t.writes[i].value()) != no_line) continue;
    ++wanted[b.index];
    banks |= std::uint64_t{1} << b.index;
  }
  const auto is_destination = [&](const OsuLine& l) {
    const auto end = t.writes.begin() + t.write_count;
    return l.warp == w && std::find(t.writes.begin(), end, RegisterId(l.reg)) != end;
  };
  unsigned room = buffer_room(now);
  bool enough = true;
  for (std::uint64_t m = banks; m != 0; m &= m - 1) {
    const ShardBank& b = bank(m);
    unsigned missing = wanted[b.index];
    for (const BankList list : {BankList::free, BankList::clean, BankList::dirty}) {
      for (std::uint16_t line = 0; line < b.module.lines(); ++line) {
        const OsuLine& l = b.module.line(line);
        if (l.list != list || l.available_at > now) continue;
        if (missing == 0 || (list != BankList::free && is_destination(l))) continue;
        if (list == BankList::dirty && room == 0) break;
        if (list == BankList::dirty) --room;
        --missing;
      }
    }
    enough = enough && missing == 0;
  }
  return enough || refuse(w, banks, now);
}

/// The warp's instruction must wait for lines of `banks`. Issue asks about it repeatedly, so the cycle until which it
/// must wait is kept as long as nothing becomes free.
bool OsuShard::refuse(unsigned w, std::uint64_t banks, std::uint64_t now) const {
  ++refusals_;
  refused_ = true;
  refused_last_ = now;
  std::uint64_t changes = places_freed_;
  for (std::uint64_t m = banks; m != 0; m &= m - 1) changes += bank(m).module.lines_listed();
  Refusal& last = last_refusal_[w];
  if (last.banks != banks || last.changes != changes || last.until <= now) {
    last = Refusal{banks, changes, never};
    for (std::uint64_t m = banks; m != 0; m &= m - 1) last.until = std::min(last.until, next_line(bank(m), now));
  }
  if (last.until != never) tell(last.until);
  return false;
}

/// The next cycle in which more lines of the bank may be had than now, by what is known now.
std::uint64_t OsuShard::next_line(const ShardBank& b, std::uint64_t now) const {
  const std::uint64_t next = b.module.next_available(now);
  return freed_at_ == now ? std::min(next, now + 1) : next;
}

/// Tells the SM to ask about refused warps again in cycle `at`, or, if they may have lines already, in the next cycle.
/// If a cycle that was told before has passed without a refusal in it or after it, no warp is refused any more:
/// otherwise the SM asks in every cycle, or sleeps from one in which it asked.
void OsuShard::tell(std::uint64_t at) const {
  const std::uint64_t now = clock_.now();
  const bool at_once = at <= now;
  at = std::max(at, now + 1);
  if (!at_once && told_at_ > now && told_at_ <= at) return;
  if (told_at_ <= now && refused_last_ < told_at_) {
    refused_ = false;
    return;
  }
  told_at_ = at;
  if (client_ != nullptr) client_->lines_available(at_once ? now : at);
}

}  // namespace regatta::models
