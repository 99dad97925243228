// SPDX-License-Identifier: Apache-2.0
// A shard's operations on tags and lists when its banks have twins. Each gets the operation with the result of the
// shard's own state, and returns the result that counts; the shard's state then follows that.
#include "shard.h"

namespace regatta::models {

namespace {

using Kind = BankOperation::Kind;

BankList list_of(StagingLine::State state) {
  switch (state) {
    case StagingLine::State::free:
      return BankList::free;
    case StagingLine::State::clean:
      return BankList::clean;
    case StagingLine::State::dirty:
      return BankList::dirty;
    default:
      return BankList::owned;
  }
}

StagingLine::State state_of(BankList list) {
  switch (list) {
    case BankList::free:
      return StagingLine::State::free;
    case BankList::clean:
      return StagingLine::State::clean;
    case BankList::dirty:
      return StagingLine::State::dirty;
    default:
      return StagingLine::State::owned;
  }
}

}  // namespace

void StagingShard::connect_twin(unsigned bank, BankTwin& twin) {
  bank_twins_.resize(banks_.size());
  bank_twins_[bank] = &twin;
  twins_ = bank_twins_.data();
}

BankResult StagingShard::ask(unsigned bank, const BankOperation& operation, const BankResult& of_model) const {
  BankTwin* const twin = twins_[bank];
  return twin == nullptr ? of_model : twin->operate(operation, of_model);
}

// The operation about a line.
BankResult StagingShard::ask(Kind kind, std::uint16_t line, std::uint8_t flags, const BankResult& of_model) const {
  BankOperation o;
  o.kind = kind;
  o.line = in_bank(line);
  o.flags = flags;
  return ask(lines_[line].bank, o, of_model);
}

std::uint16_t StagingShard::in_bank(std::uint16_t line) const {
  return static_cast<std::uint16_t>(line - lines_[line].bank * lines_per_bank_);
}

std::uint16_t StagingShard::line_in(unsigned bank, const BankResult& result) const {
  return result.found ? static_cast<std::uint16_t>(bank * lines_per_bank_ + result.line) : no_line;
}

void StagingShard::put_line(BankResult& result, std::uint16_t line) const {
  result.found = line != no_line;
  result.line = result.found ? in_bank(line) : std::uint16_t{0};
}

std::uint16_t StagingShard::twin_look_up(unsigned warp, unsigned reg, std::uint16_t line) const {
  if (warp >= warps_) return no_line;
  BankOperation o;
  o.kind = Kind::look_up;
  o.warp = static_cast<std::uint16_t>(warp);
  o.reg = static_cast<std::uint8_t>(reg);
  BankResult model;
  put_line(model, line);
  if (line != no_line) model.list = list_of(lines_[line].state);
  const unsigned bank = bank_of(warp, reg);
  return line_in(bank, ask(bank, o, model));
}

std::uint16_t StagingShard::twin_allocate(unsigned bank, unsigned warp, unsigned reg, std::uint64_t now,
                                          std::uint16_t line, State& from) {
  const StagingBank& b = banks_[bank];
  BankOperation o;
  o.kind = Kind::allocate;
  o.warp = static_cast<std::uint16_t>(warp);
  o.reg = static_cast<std::uint8_t>(reg);
  if (is_available(b.free, now)) o.flags |= BankOperation::may_free;
  if (is_available(b.clean, now)) o.flags |= BankOperation::may_clean;
  if (is_available(b.dirty, now) && buffer_room(now) != 0) o.flags |= BankOperation::may_dirty;
  BankResult model;
  put_line(model, line);
  if (line != no_line) {
    const StagingLine& l = lines_[line];
    model.list = list_of(l.state);
    model.lost = l.state != State::free;
    model.warp = model.lost ? l.warp : std::uint16_t{0};
    model.reg = model.lost ? l.reg : std::uint8_t{0};
  }
  const BankResult result = ask(bank, o, model);
  line = line_in(bank, result);
  if (line == no_line) return no_line;
  StagingLine& l = lines_[line];
  from = state_of(result.list);
  if (list_of(l.state) == BankList::owned || from == State::owned || result.lost == (from == State::free)) {
    twin_is_wrong(o, result, l.state);
  }
  if (result.lost) {
    if (result.warp >= warps_ || result.reg >= registers_) twin_is_wrong(o, result, l.state);
    if (l.state != State::free) forget(line);
    l.warp = result.warp;  // whose value leaves
    l.reg = result.reg;
  }
  return line;
}

void StagingShard::twin_own(std::uint16_t line) {
  BankResult model;
  model.list = list_of(lines_[line].state);
  ask(Kind::own, line, 0, model);
}

// `list` and the line that was last in it: of the model, then those that count.
void StagingShard::twin_release(std::uint16_t line, bool erase, State& list, std::uint16_t& last) {
  const std::uint8_t flags = erase ? BankOperation::erase : std::uint8_t{0};
  BankResult model;
  model.list = list_of(list);
  put_line(model, last);
  const BankResult result = ask(Kind::release, line, flags, model);
  last = line_in(lines_[line].bank, result);
  if (result.list == BankList::owned) {
    BankOperation o;
    o.kind = Kind::release;
    o.line = in_bank(line);
    o.flags = flags;
    return twin_is_wrong(o, result, lines_[line].state);
  }
  list = state_of(result.list);
}

void StagingShard::twin_free(std::uint16_t line, std::uint16_t& last) {
  BankResult model;
  model.list = BankList::free;
  put_line(model, last);
  last = line_in(lines_[line].bank, ask(Kind::free, line, 0, model));
}

void StagingShard::twin_forget(std::uint16_t line) {
  BankResult model;
  model.list = list_of(lines_[line].state);
  ask(Kind::forget, line, 0, model);
}

// The line's bits are set. `moves`: whether it goes from the clean to the dirty list, where `last` was last.
void StagingShard::twin_mark(std::uint16_t line, bool& moves, std::uint16_t& last) {
  const StagingLine& l = lines_[line];
  BankResult model;
  model.list = moves ? BankList::dirty : list_of(l.state);
  if (moves) put_line(model, last);
  const auto flags =
      static_cast<std::uint8_t>((l.is_dirty ? BankOperation::dirty : 0) | (l.is_defined ? BankOperation::defined : 0));
  const BankResult result = ask(Kind::mark, line, flags, model);
  moves = l.state == State::clean && result.list == BankList::dirty;
  last = line_in(l.bank, result);
}

void StagingShard::twin_is_wrong(const BankOperation& operation, const BankResult& result, State state) const {
  complain("the twin of a bank cannot be followed: " + describe(operation) + ": " + describe(result) +
           "; the model's line is " + models::name(list_of(state)));
}

std::string StagingShard::describe_bank(unsigned bank) const {
  const StagingBank& b = banks_[bank];
  const auto line_text = [&](std::uint16_t line) {
    const StagingLine& l = lines_[line];
    std::string text = " " + std::to_string(in_bank(line));
    if (l.state == State::free || l.state == State::dropped) return text;
    text += " (w" + std::to_string(l.warp) + " r" + std::to_string(l.reg);
    return text + (l.is_dirty ? ", dirty" : "") + (l.is_defined ? ")" : ", undefined)");
  };
  std::string text = "before it";
  for (const auto& [list, title] : {std::pair{&b.free, "free"}, {&b.clean, "clean"}, {&b.dirty, "dirty"}}) {
    text += std::string("\n    ") + title + ", oldest first:";
    for (std::uint16_t l = list->first(); l != no_line; l = lines_[l].next) text += line_text(l);
  }
  text += "\n    owned:";
  for (unsigned i = 0; i < lines_per_bank_; ++i) {
    const auto line = static_cast<std::uint16_t>(bank * lines_per_bank_ + i);
    if (list_of(lines_[line].state) == BankList::owned) text += line_text(line);
  }
  return text;
}

}  // namespace regatta::models
