// SPDX-License-Identifier: Apache-2.0
#include <regatta/regless/bank_twin.h>

namespace regatta::models {

namespace {

std::string tag_text(unsigned warp, unsigned reg) {
  return "warp " + std::to_string(warp) + " register " + std::to_string(reg);
}

}  // namespace

const char* name(BankList list) {
  static const char* const names[] = {"owned", "free", "clean", "dirty"};
  return names[static_cast<unsigned>(list)];
}

std::string describe(const BankOperation& o) {
  using Kind = BankOperation::Kind;
  const std::string line = " line " + std::to_string(o.line);
  switch (o.kind) {
    case Kind::look_up:
      return "look up " + tag_text(o.warp, o.reg);
    case Kind::allocate:
      return "allocate " + tag_text(o.warp, o.reg) +
             ", allowed:" + ((o.flags & BankOperation::may_free) != 0 ? " free" : "") +
             ((o.flags & BankOperation::may_clean) != 0 ? " clean" : "") +
             ((o.flags & BankOperation::may_dirty) != 0 ? " dirty" : "");
    case Kind::own:
      return "own" + line;
    case Kind::release:
      return "release" + line + ((o.flags & BankOperation::erase) != 0 ? ", erased" : "");
    case Kind::free:
      return "free" + line;
    case Kind::forget:
      return "forget" + line;
    case Kind::mark:
      return "mark" + line + ((o.flags & BankOperation::dirty) != 0 ? " dirty" : " not dirty") +
             ((o.flags & BankOperation::defined) != 0 ? ", defined" : ", not defined");
  }
  return "unknown operation " + std::to_string(static_cast<unsigned>(o.kind));
}

std::string describe(const BankResult& r) {
  std::string text = r.found ? "line " + std::to_string(r.line) : "no line";
  text += std::string(", ") + name(r.list);
  if (r.lost) text += ", lost " + tag_text(r.warp, r.reg);
  return text;
}

BankTwins& bank_twins() {
  static BankTwins twins("osu");
  return twins;
}

}  // namespace regatta::models
