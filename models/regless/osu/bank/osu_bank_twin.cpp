// SPDX-License-Identifier: Apache-2.0
// A bank's operations on tags and lists when it has a twin. The twin gets the operation with the result of the bank's
// own state, and returns the result that counts; the bank's state then follows that.
#include <regatta/regless/osu_bank.h>

namespace regatta::models {

using Kind = BankOperation::Kind;

namespace {

std::uint16_t line_of(const BankResult& result) { return result.found ? result.line : no_line; }

void put_line(BankResult& result, std::uint16_t line) {
  result.found = line != no_line;
  result.line = result.found ? line : std::uint16_t{0};
}

BankOperation about_tag(Kind kind, unsigned warp, unsigned reg) {
  BankOperation o;
  o.kind = kind;
  o.warp = static_cast<std::uint16_t>(warp);
  o.reg = static_cast<std::uint8_t>(reg);
  return o;
}

BankOperation about_line(Kind kind, std::uint16_t line, std::uint8_t flags) {
  BankOperation o;
  o.kind = kind;
  o.line = line;
  o.flags = flags;
  return o;
}

}  // namespace

BankResult OsuBank::ask(Kind kind, std::uint16_t line, std::uint8_t flags, const BankResult& of_model) const {
  return twin_->operate(about_line(kind, line, flags), of_model);
}

std::uint16_t OsuBank::twin_look_up(unsigned warp, unsigned reg, std::uint16_t line) const {
  if (warp >= warps_) return no_line;
  BankResult model;
  put_line(model, line);
  if (line != no_line) model.list = lines_[line].list;
  return line_of(twin_->operate(about_tag(Kind::look_up, warp, reg), model));
}

std::uint16_t OsuBank::twin_allocate(unsigned warp, unsigned reg, std::uint64_t now, bool may_dirty, std::uint16_t line,
                                     BankList& from) {
  BankOperation o = about_tag(Kind::allocate, warp, reg);
  if (is_available(BankList::free, now)) o.flags |= BankOperation::may_free;
  if (is_available(BankList::clean, now)) o.flags |= BankOperation::may_clean;
  if (may_dirty && is_available(BankList::dirty, now)) o.flags |= BankOperation::may_dirty;
  BankResult model;
  put_line(model, line);
  if (line != no_line) {
    const OsuLine& l = lines_[line];
    model.list = l.list;
    model.lost = l.list != BankList::free;
    model.warp = model.lost ? l.warp : std::uint16_t{0};
    model.reg = model.lost ? l.reg : std::uint8_t{0};
  }
  const BankResult result = twin_->operate(o, model);
  line = line_of(result);
  if (line == no_line) return no_line;
  OsuLine& l = lines_[line];
  from = result.list;
  if (l.list == BankList::owned || from == BankList::owned || result.lost == (from == BankList::free)) {
    twin_is_wrong(o, result, l.list);
  }
  if (result.lost) {
    if (result.warp >= warps_ || result.reg >= registers_) twin_is_wrong(o, result, l.list);
    if (l.list != BankList::free) untag(line);
    l.warp = result.warp;  // whose value leaves
    l.reg = result.reg;
  }
  return line;
}

void OsuBank::twin_own(std::uint16_t line) {
  BankResult model;
  model.list = lines_[line].list;
  ask(Kind::own, line, 0, model);
}

// `to` and the line that was last in it: of the model, then those that count.
void OsuBank::twin_release(std::uint16_t line, bool erase, BankList& to, std::uint16_t& last) {
  const std::uint8_t flags = erase ? BankOperation::erase : std::uint8_t{0};
  BankResult model;
  model.list = to;
  put_line(model, last);
  const BankResult result = ask(Kind::release, line, flags, model);
  last = line_of(result);
  if (result.list == BankList::owned) {
    return twin_is_wrong(about_line(Kind::release, line, flags), result, lines_[line].list);
  }
  to = result.list;
}

void OsuBank::twin_free(std::uint16_t line, std::uint16_t& last) {
  BankResult model;
  model.list = BankList::free;
  put_line(model, last);
  last = line_of(ask(Kind::free, line, 0, model));
}

void OsuBank::twin_forget(std::uint16_t line) {
  BankResult model;
  model.list = lines_[line].list;
  ask(Kind::forget, line, 0, model);
}

// The line's bits are set. `to`: the list where it goes, or where it is; `last`: the line that was last there.
void OsuBank::twin_mark(std::uint16_t line, BankList& to, std::uint16_t& last) {
  const OsuLine& l = lines_[line];
  BankResult model;
  model.list = to;
  if (to != l.list) put_line(model, last);
  const auto flags =
      static_cast<std::uint8_t>((l.is_dirty ? BankOperation::dirty : 0) | (l.is_defined ? BankOperation::defined : 0));
  const BankResult result = ask(Kind::mark, line, flags, model);
  const bool moves = (l.list == BankList::clean && result.list == BankList::dirty) ||
                     (l.list == BankList::dirty && result.list == BankList::clean);
  to = moves ? result.list : l.list;
  last = line_of(result);
}

void OsuBank::twin_is_wrong(const BankOperation& operation, const BankResult& result, BankList list) const {
  SC_REPORT_ERROR("regatta/osu_bank",
                  (std::string(name()) + ": the twin cannot be followed: " + models::describe(operation) + ": " +
                   models::describe(result) + "; the model's line is " + models::name(list))
                      .c_str());
}

}  // namespace regatta::models
