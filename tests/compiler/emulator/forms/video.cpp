// SPDX-License-Identifier: Apache-2.0
//
// Video instructions, as the pseudocode of the PTX ISA has them: parts of operands are taken out and extended, the
// result is clamped, then accumulated, or merged into the third operand.
#include "forms.h"

#include <algorithm>

namespace regatta::test::forms {
namespace {

/// An operation on numbers that are as wide as they need be.
struct VideoOperation {
  const char* name;
  s64 (*apply)(s64, s64);
};
constexpr VideoOperation video_operations[] = {
    {"vadd", [](s64 a, s64 b) { return a + b; }},
    {"vsub", [](s64 a, s64 b) { return a - b; }},
    {"vabsdiff", [](s64 a, s64 b) { return a > b ? a - b : b - a; }},
    {"vmin", [](s64 a, s64 b) { return std::min(a, b); }},
    {"vmax", [](s64 a, s64 b) { return std::max(a, b); }},
    {"vavrg", [](s64 a, s64 b) { return (a + b + (a + b >= 0 ? 1 : 0)) >> 1; }}};
constexpr VideoOperation video_compares[] = {
    {"eq", [](s64 a, s64 b) { return s64{a == b}; }}, {"ne", [](s64 a, s64 b) { return s64{a != b}; }},
    {"lt", [](s64 a, s64 b) { return s64{a < b}; }},  {"le", [](s64 a, s64 b) { return s64{a <= b}; }},
    {"gt", [](s64 a, s64 b) { return s64{a > b}; }},  {"ge", [](s64 a, s64 b) { return s64{a >= b}; }}};

/// The number in `bits` bits of v at `position`.
s64 taken(u64 v, unsigned position, unsigned bits, bool is_signed) {
  const u64 mask = (u64{1} << bits) - 1, raw = v >> position & mask;
  return is_signed && (raw >> (bits - 1) & 1u) != 0 ? static_cast<s64>(raw | ~mask) : static_cast<s64>(raw);
}
s64 video_clamped(s64 v, unsigned bits, bool is_signed) {
  const s64 low = is_signed ? -(s64{1} << (bits - 1)) : 0;
  const s64 high = is_signed ? (s64{1} << (bits - 1)) - 1 : (s64{1} << bits) - 1;
  return std::clamp(v, low, high);
}
const char* type_name(bool is_signed) { return is_signed ? ".s32" : ".u32"; }

/// Lanes of 8 or 16 bits.
struct Simd {
  VideoOperation operation;
  unsigned lanes = 4;
  bool d = false, a = false, b = false;  ///< signed
  bool sat = false, add = false;
  std::string mask, a_lanes, b_lanes;  ///< digits, the lowest last; empty: as they are
  bool is_set = false;

  std::string form() const {
    const std::string name = (is_set ? std::string("vset") : operation.name) + std::to_string(lanes);
    const std::string types = (is_set ? "" : type_name(d)) + std::string(type_name(a)) + type_name(b);
    return name + types + (is_set ? std::string(".") + operation.name : "") + (sat ? ".sat" : "") + (add ? ".add" : "");
  }
  std::string body() const {
    const auto with = [&](const std::string& reg, const std::string& digits) {
      return digits.empty() ? reg : reg + (lanes == 4 ? ".b" : ".h") + digits;
    };
    return form() + " " + with("%r9", mask) + ", " + with("%ra", a_lanes) + ", " + with("%rb", b_lanes) + ", %rc;";
  }
  static unsigned digit(const std::string& digits, unsigned lane) {
    return static_cast<unsigned>(digits[digits.size() - 1 - lane] - '0');
  }
  u64 value(u64 x, u64 y, u64 c) const {
    const unsigned bits = 32 / lanes;
    const u64 both = (x & 0xffffffffu) | y << 32, one = (u64{1} << bits) - 1;
    u64 result = c & 0xffffffffu;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const bool wanted = mask.empty() || mask.find(static_cast<char>('0' + lane)) != std::string::npos;
      if (!wanted) continue;
      const unsigned from_a = a_lanes.empty() ? lane : digit(a_lanes, lane);
      const unsigned from_b = b_lanes.empty() ? lanes + lane : digit(b_lanes, lane);
      s64 t = operation.apply(taken(both, from_a * bits, bits, a), taken(both, from_b * bits, bits, b));
      if (sat) t = video_clamped(t, bits, d);
      if (add) {
        result += static_cast<u64>(t);
      } else {
        result = (result & ~(one << (lane * bits))) | (static_cast<u64>(t) & one) << (lane * bits);
      }
    }
    return result & 0xffffffffu;
  }
};

void add_row(Rows& rows, const Simd& v) {
  rows.push_back(
      {v.form(), 'r', v.body(), Values::integers, each([v](u64 a, u64 b, u64 c) { return v.value(a, b, c); })});
}

void simd_rows(Rows& rows) {
  for (const unsigned lanes : {2u, 4u}) {
    const std::string mask = lanes == 4 ? "20" : "1", mixed_a = lanes == 4 ? "7052" : "21",
                      mixed_b = lanes == 4 ? "1364" : "03";
    for (const VideoOperation& o : video_operations) {
      for (unsigned types = 0; types < 8; ++types) {
        Simd v{o, lanes, (types & 1u) != 0, (types & 2u) != 0, (types & 4u) != 0, false, false, "", "", "", false};
        add_row(rows, v);
        v.sat = true;
        add_row(rows, v);
        v.sat = false;
        v.add = true;
        add_row(rows, v);
      }
      Simd v{o, lanes, true, true, false, true, false, mask, mixed_a, mixed_b, false};
      add_row(rows, v);
      v.sat = false;
      v.add = true;
      add_row(rows, v);
    }
    for (const VideoOperation& o : video_compares) {
      Simd v{o, lanes, false, true, false, false, false, "", "", "", true};
      add_row(rows, v);
      v.add = true;
      v.a = false;
      v.mask = mask;
      add_row(rows, v);
    }
  }
}

/// Whole registers, or a byte or half of them.
struct Scalar {
  std::string name, after;  ///< what stands behind the types
  s64 (*apply)(s64, s64);
  bool d = false, a = false, b = false;  ///< signed
  bool sat = false;
  std::string secondary;               ///< add, min, max
  std::string d_part, a_part, b_part;  ///< ".b1"
  bool is_set = false;

  std::string form() const {
    return name + (is_set ? "" : type_name(d)) + type_name(a) + type_name(b) + (sat ? ".sat" : "") + after +
           (secondary.empty() ? "" : "." + secondary);
  }
  std::string body() const {
    const bool three = !secondary.empty() || !d_part.empty();
    return form() + " %r9" + d_part + ", %ra" + a_part + ", %rb" + b_part + (three ? ", %rc;" : ";");
  }
  static unsigned bits_of(const std::string& part) { return part.empty() ? 32 : part[1] == 'b' ? 8 : 16; }
  static s64 part_of(u64 v, const std::string& part, bool is_signed) {
    const unsigned bits = bits_of(part);
    return taken(v, part.empty() ? 0 : bits * static_cast<unsigned>(part[2] - '0'), bits, is_signed);
  }
  u64 value(u64 x, u64 y, u64 c) const {
    s64 t = apply(part_of(x, a_part, a), part_of(y, b_part, b));
    const unsigned bits = bits_of(d_part);
    if (sat) t = video_clamped(t, bits, d);
    const s64 third = taken(c, 0, 32, d);
    if (secondary == "add") t += third;
    if (secondary == "min") t = std::min(t, third);
    if (secondary == "max") t = std::max(t, third);
    if (d_part.empty()) return static_cast<u64>(t) & 0xffffffffu;
    const unsigned position = bits * static_cast<unsigned>(d_part[2] - '0');
    const u64 mask = ((u64{1} << bits) - 1) << position;
    return (c & ~mask & 0xffffffffu) | (static_cast<u64>(t) << position & mask);
  }
};

void add_row(Rows& rows, const Scalar& v) {
  rows.push_back(
      {v.form(), 'r', v.body(), Values::integers, each([v](u64 a, u64 b, u64 c) { return v.value(a, b, c); })});
}

void scalar_rows(Rows& rows) {
  struct Named {
    std::string name, after;
    s64 (*apply)(s64, s64);
    bool shifts, is_set;
  };
  std::vector<Named> all;
  for (const VideoOperation& o : video_operations)
    if (o.name != std::string("vavrg")) all.push_back({o.name, "", o.apply, false, false});
  all.push_back(
      {"vshl", ".wrap", [](s64 a, s64 b) { return static_cast<s64>(static_cast<u64>(a) << (b & 31)); }, true, false});
  // A left shift by 32 of 32 bits is beyond what a saturation can tell from a negative number here.
  all.push_back({"vshr", ".clamp", [](s64 a, s64 b) { return a >> std::min<s64>(b, 32); }, true, false});
  all.push_back({"vshr", ".wrap", [](s64 a, s64 b) { return a >> (b & 31); }, true, false});
  for (const VideoOperation& o : video_compares)
    all.push_back({"vset", std::string(".") + o.name, o.apply, false, true});
  for (const Named& n : all)
    for (unsigned types = 0; types < 8; ++types) {
      Scalar v{n.name, n.after, n.apply, (types & 1u) != 0, (types & 2u) != 0, (types & 4u) != 0, false, "",
               "",     "",      "",      n.is_set};
      if (n.shifts && v.b) continue;
      if (n.is_set && v.d) continue;
      add_row(rows, v);
      for (const char* secondary : {"add", "min", "max"}) {
        v.secondary = secondary;
        add_row(rows, v);
      }
      v.secondary = "";
      v.sat = !n.is_set;
      add_row(rows, v);
      v.a_part = ".b2";
      v.b_part = ".h1";
      v.secondary = "min";
      add_row(rows, v);
      v.secondary = "";
      v.d_part = types % 2 == 0 ? ".b3" : ".h1";
      add_row(rows, v);
    }
  // Clamped shifts of 32 and more.
  Scalar v{"vshl", ".clamp", [](s64 a, s64 b) { return b > 31 ? s64{0} : static_cast<s64>(static_cast<u64>(a) << b); },
           false,  false,    false,
           false,  "",       "",
           "",     "",       false};
  add_row(rows, v);
  v.a = true;
  add_row(rows, v);
}

}  // namespace

Rows video_rows() {
  Rows rows;
  simd_rows(rows);
  scalar_rows(rows);
  return rows;
}

}  // namespace regatta::test::forms
