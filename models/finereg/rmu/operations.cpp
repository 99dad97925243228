// SPDX-License-Identifier: Apache-2.0
#include <regatta/finereg/operations.h>

#include <cstdio>

namespace regatta::models {

namespace {

std::string hexadecimal(std::uint64_t set) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(set));
  return text;
}

}  // namespace

const char* name_of(RmuOperationKind kind) {
  using Kind = RmuOperationKind;
  switch (kind) {
    case Kind::lookup:
      return "lookup";
    case Kind::fill:
      return "fill";
    case Kind::clear:
      return "clear";
    case Kind::join:
      return "join";
    case Kind::load:
      return "load";
    case Kind::next:
      return "next";
    case Kind::remove:
      return "remove";
    case Kind::take:
      return "take";
    case Kind::give_back:
      return "give_back";
    case Kind::limit:
      return "limit";
    case Kind::begin:
      return "begin";
    case Kind::append:
      return "append";
    case Kind::close:
      return "close";
    case Kind::pointer:
      return "pointer";
    case Kind::walk:
      return "walk";
    case Kind::step:
      return "step";
    case Kind::end_walk:
      return "end_walk";
    case Kind::peek:
      return "peek";
    case Kind::drop:
      return "drop";
  }
  return "";
}

std::string describe(const RmuOperation& o) {
  using Kind = RmuOperationKind;
  const std::string name = name_of(o.kind), index = std::to_string(o.index);
  switch (o.kind) {
    case Kind::lookup:
      return name + " of PC " + index;
    case Kind::fill:
      return name + " PC " + index + " with " + hexadecimal(o.vector);
    case Kind::join:
      return name + " " + hexadecimal(o.set) + " and " + hexadecimal(o.vector);
    case Kind::load:
      return name + " " + hexadecimal(o.set);
    case Kind::remove:
      return name + " R" + std::to_string(o.reg);
    case Kind::give_back:
    case Kind::peek:
      return name + " entry " + index;
    case Kind::limit:
      return name + " " + index + " entries";
    case Kind::append:
      return name + " R" + std::to_string(o.reg) + " of warp " + std::to_string(o.warp) + " in entry " + index;
    case Kind::begin:
    case Kind::pointer:
    case Kind::walk:
    case Kind::drop:
      return name + " CTA slot " + index;
    case Kind::clear:
    case Kind::next:
    case Kind::take:
    case Kind::close:
    case Kind::step:
    case Kind::end_walk:
      return name;
  }
  return "";
}

std::string describe(const RmuResult& r) {
  std::string text = std::string(r.ok ? "ok" : "not ok") + ", entry " + std::to_string(r.entry) + ", count " +
                     std::to_string(r.count) + ", R" + std::to_string(r.reg) + ", vector " + hexadecimal(r.vector);
  if (r.tag.valid) {
    text += ", tag of R" + std::to_string(r.tag.reg) + " of warp " + std::to_string(r.tag.warp) + ", next " +
            std::to_string(r.tag.next) + (r.tag.end ? ", end" : "");
  }
  return text;
}

RmuTwins& rmu_twins() {
  static RmuTwins twins("rmu");
  return twins;
}

}  // namespace regatta::models
