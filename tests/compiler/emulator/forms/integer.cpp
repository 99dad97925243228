// SPDX-License-Identifier: Apache-2.0
//
// Integer arithmetic, carry chains and bit fields, from exact 128-bit formulas.
#include "forms.h"

#include <cstdlib>
#include <limits>
#include <type_traits>

namespace regatta::test::forms {
namespace {

__extension__ using s128 = __int128;
__extension__ using u128 = unsigned __int128;

constexpr u64 spread = 0x9e3779b97f4a7c15u;

template <class T>
s128 value(u64 bits) {
  return static_cast<s128>(static_cast<T>(bits));
}
template <class T>
u64 low(s128 v) {
  return static_cast<std::make_unsigned_t<T>>(v);
}
template <class T>
u64 divide(s128 a, s128 b) {
  return b == 0 ? low<T>(-1) : low<T>(a / b);
}
template <class T>
u64 remainder(s128 a, s128 b) {
  return b == 0 ? low<T>(a) : low<T>(a % b);
}
s128 clamp32(s128 v) {
  const s128 top = std::numeric_limits<s32>::max();
  return v > top ? top : v < -top - 1 ? -top - 1 : v;
}
/// Floor division by 2^n.
s128 shifted(s128 v, unsigned n) { return v >> n; }

using Formula = std::function<u64(s128, s128, s128)>;

template <class T>
void add(Rows& rows, const std::string& form, unsigned sources, const Formula& f) {
  const char kind = sizeof(T) == 8 ? 'd' : sizeof(T) == 4 ? 'r' : 'h';
  rows.push_back({form, kind, plain(form, kind, sources), Values::integers,
                  each([f](u64 a, u64 b, u64 c) { return f(value<T>(a), value<T>(b), value<T>(c)); })});
}

/// Products of two 64-bit unsigned numbers need all of u128.
template <class T>
s128 high(s128 a, s128 b) {
  if constexpr (std::is_same_v<T, u64>) return static_cast<s128>((static_cast<u128>(a) * static_cast<u128>(b)) >> 64);
  return shifted(a * b, 8 * sizeof(T));
}
template <class T>
s128 product(s128 a, s128 b) {
  return static_cast<s128>(static_cast<u128>(a) * static_cast<u128>(b));
}

template <class T>
void arithmetic(Rows& rows, const std::string& type) {
  add<T>(rows, "add." + type, 2, [](s128 a, s128 b, s128) { return low<T>(a + b); });
  add<T>(rows, "sub." + type, 2, [](s128 a, s128 b, s128) { return low<T>(a - b); });
  add<T>(rows, "mul.lo." + type, 2, [](s128 a, s128 b, s128) { return low<T>(product<T>(a, b)); });
  add<T>(rows, "mul.hi." + type, 2, [](s128 a, s128 b, s128) { return low<T>(high<T>(a, b)); });
  add<T>(rows, "mad.lo." + type, 3, [](s128 a, s128 b, s128 c) { return low<T>(product<T>(a, b) + c); });
  add<T>(rows, "mad.hi." + type, 3, [](s128 a, s128 b, s128 c) { return low<T>(high<T>(a, b) + c); });
  add<T>(rows, "div." + type, 2, [](s128 a, s128 b, s128) { return divide<T>(a, b); });
  add<T>(rows, "rem." + type, 2, [](s128 a, s128 b, s128) { return remainder<T>(a, b); });
  add<T>(rows, "min." + type, 2, [](s128 a, s128 b, s128) { return low<T>(a < b ? a : b); });
  add<T>(rows, "max." + type, 2, [](s128 a, s128 b, s128) { return low<T>(a > b ? a : b); });
  add<T>(rows, "sad." + type, 3, [](s128 a, s128 b, s128 c) { return low<T>(c + (a < b ? b - a : a - b)); });
  if (std::is_signed_v<T>) {
    add<T>(rows, "neg." + type, 1, [](s128 a, s128, s128) { return low<T>(-a); });
    add<T>(rows, "abs." + type, 1, [](s128 a, s128, s128) { return low<T>(a < 0 ? -a : a); });
  }
}

template <class T, class Wide>
void widening(Rows& rows, const std::string& type) {
  const char kind = sizeof(T) == 4 ? 'r' : 'h', wide = sizeof(T) == 4 ? 'd' : 'r';
  const std::string sources = reg(kind, 'a') + ", " + reg(kind, 'b');
  rows.push_back({"mul.wide." + type, wide, "mul.wide." + type + " " + reg(wide, '9') + ", " + sources + ";",
                  Values::integers, each([](u64 a, u64 b, u64) { return low<Wide>(value<T>(a) * value<T>(b)); })});
  rows.push_back({"mad.wide." + type, wide,
                  "mad.wide." + type + " " + reg(wide, '9') + ", " + sources + ", " + reg(wide, 'c') + ";",
                  Values::integers,
                  each([](u64 a, u64 b, u64 c) { return low<Wide>(value<T>(a) * value<T>(b) + value<Wide>(c)); })});
}

/// `form` on a carry that c + c (or 0 - the top bit of c) set before, then the carry out by `reader` %d2, 0, 0.
template <class T>
void chain(Rows& rows, const std::string& form, unsigned sources, bool carry_in, const std::string& reader,
           const std::function<s128(s128, s128, s128, s128)>& f, bool borrows) {
  const char kind = sizeof(T) == 8 ? 'd' : 'r';
  const std::string type = form.substr(form.rfind('.') + 1);
  std::string body;
  if (carry_in && borrows) body += "sub.cc.u32 %r1, 0, %rc; ";
  if (carry_in && !borrows) body += "add.cc.u32 %r1, %rc, %rc; ";
  body += plain(form, kind, sources);
  const bool writes = form.find(".cc") != std::string::npos;
  if (writes) body += " " + reader + ".u64 %d2, 0, 0;";
  body += kind == 'r' ? " cvt.u64.u32 %d9, %r9;" : "";
  if (writes) body += " mul.lo.u64 %d2, %d2, 0x9e3779b97f4a7c15; xor.b64 %d9, %d9, %d2;";
  rows.push_back({form, 'd', body, Values::integers, each([=](u64 a, u64 b, u64 c) {
                    const s128 in = !carry_in ? 0 : borrows ? static_cast<u32>(c) != 0 : static_cast<u32>(c) >> 31;
                    const s128 exact = f(value<T>(a), value<T>(b), value<T>(c), in);
                    u64 out = low<T>(exact);
                    if (writes) {
                      // The carry is the one of the unsigned addition.
                      const s128 carry = exact >> (8 * sizeof(T));
                      out ^= static_cast<u64>(carry) * spread;
                    }
                    return out;
                  })});
}

template <class U, class S>
void carries(Rows& rows, const std::string& size) {
  for (const bool is_signed : {false, true}) {
    const std::string type = (is_signed ? "s" : "u") + size;
    const auto sum = [](s128 a, s128 b, s128, s128 in) { return a + b + in; };
    const auto difference = [](s128 a, s128 b, s128, s128 in) { return a - b - in; };
    chain<U>(rows, "add.cc." + type, 2, false, "addc", sum, false);
    chain<U>(rows, "addc.cc." + type, 2, true, "addc", sum, false);
    chain<U>(rows, "addc." + type, 2, true, "addc", sum, false);
    chain<U>(rows, "sub.cc." + type, 2, false, "subc", difference, true);
    chain<U>(rows, "subc.cc." + type, 2, true, "subc", difference, true);
    chain<U>(rows, "subc." + type, 2, true, "subc", difference, true);
    const auto lower = [](s128 a, s128 b, s128 c, s128 in) {
      return static_cast<s128>(static_cast<U>(product<U>(a, b))) + c + in;
    };
    const auto upper = [is_signed](s128 a, s128 b, s128 c, s128 in) {
      const s128 h = is_signed ? high<S>(static_cast<S>(a), static_cast<S>(b)) : high<U>(a, b);
      return static_cast<s128>(static_cast<U>(h)) + c + in;
    };
    for (const bool is_high : {false, true}) {
      const std::string half = is_high ? "hi." : "lo.";
      const std::function<s128(s128, s128, s128, s128)> f =
          is_high ? std::function<s128(s128, s128, s128, s128)>(upper) : lower;
      chain<U>(rows, "mad." + half + "cc." + type, 3, false, "addc", f, false);
      chain<U>(rows, "madc." + half + "cc." + type, 3, true, "addc", f, false);
      chain<U>(rows, "madc." + half + type, 3, true, "addc", f, false);
    }
  }
}

unsigned highest_bit(u64 v) {
  unsigned n = 0;
  while (v >>= 1) ++n;
  return n;
}

template <class T>
void fields(Rows& rows, const std::string& size) {
  using S = std::make_signed_t<T>;
  const char kind = sizeof(T) == 8 ? 'd' : 'r';
  constexpr unsigned bits = 8 * sizeof(T);
  const std::string a = reg(kind, 'a'), d = reg(kind, '9'), b = reg(kind, 'b');
  const auto row = [&](const std::string& form, char result, const std::string& operands,
                       const std::function<u64(u64, u64, u64)>& f) {
    rows.push_back({form, result, form + " " + operands + ";", Values::integers, each(f)});
  };
  row("popc.b" + size, 'r', "%r9, " + a, [](u64 x, u64, u64) {
    u64 n = 0;
    for (unsigned i = 0; i < bits; ++i) n += (x >> i) & 1u;
    return n;
  });
  row("clz.b" + size, 'r', "%r9, " + a, [](u64 x, u64, u64) {
    const T v = static_cast<T>(x);
    return u64{v == 0 ? bits : bits - 1 - highest_bit(v)};
  });
  row("brev.b" + size, kind, d + ", " + a, [](u64 x, u64, u64) {
    u64 r = 0;
    for (unsigned i = 0; i < bits; ++i) r |= ((x >> i) & 1u) << (bits - 1 - i);
    return r;
  });
  const auto find = [&](bool is_signed, bool amount) {
    row(std::string("bfind.") + (amount ? "shiftamt." : "") + (is_signed ? "s" : "u") + size, 'r', "%r9, " + a,
        [=](u64 x, u64, u64) {
          T v = static_cast<T>(x);
          if (is_signed && static_cast<S>(v) < 0) v = static_cast<T>(~v);
          if (v == 0) return u64{0xffffffffu};
          return u64{amount ? bits - 1 - highest_bit(v) : highest_bit(v)};
        });
    if (amount) return;
    row(std::string("bfe.") + (is_signed ? "s" : "u") + size, kind, d + ", " + a + ", %rb, %rc",
        [=](u64 x, u64 position, u64 length) {
          const unsigned p = position & 255u, n = length & 255u;
          const T v = static_cast<T>(x);
          const unsigned top = p + n - 1 < bits - 1 || n == 0 ? p + n - 1 : bits - 1;
          const bool sign = is_signed && n != 0 && ((v >> top) & 1u) != 0;
          u64 r = 0;
          for (unsigned i = 0; i < bits; ++i) {
            const bool inside = i < n && p + i < bits;
            const u64 bit = inside ? (v >> (p + i)) & 1u : sign;
            r |= bit << i;
          }
          return r;
        });
  };
  for (const bool is_signed : {false, true}) {
    find(is_signed, false);
    find(is_signed, true);
  }
  row("bfi.b" + size, kind, d + ", " + a + ", " + b + ", %rc, 5", [](u64 x, u64 y, u64 position) {
    u64 r = static_cast<T>(y);
    for (unsigned i = 0; i < 5; ++i) {
      const unsigned at = (position & 255u) + i;
      if (at < bits) r = (r & ~(u64{1} << at)) | (((x >> i) & 1u) << at);
    }
    return r;
  });
  row("bfi.b" + size, kind, d + ", " + a + ", " + b + ", 3, %rc", [](u64 x, u64 y, u64 length) {
    u64 r = static_cast<T>(y);
    for (unsigned i = 0; i < (length & 255u) && 3 + i < bits; ++i)
      r = (r & ~(u64{1} << (3 + i))) | (((x >> i) & 1u) << (3 + i));
    return r;
  });
}

void words(Rows& rows) {
  const auto row = [&](const std::string& form, unsigned sources, const std::function<u64(u32, u32, u32)>& f) {
    rows.push_back({form, 'r', plain(form, 'r', sources), Values::integers, each([f](u64 a, u64 b, u64 c) {
                      return f(static_cast<u32>(a), static_cast<u32>(b), static_cast<u32>(c));
                    })});
  };
  // Base and offset are taken from few values, since most others find nothing.
  rows.push_back({"fns.b32", 'r', "and.b32 %r1, %rb, 31; shr.s32 %r2, %rc, 27; fns.b32 %r9, %ra, %r1, %r2;",
                  Values::integers, each([](u64 a, u64 b, u64 c) {
                    const auto base = static_cast<s64>(b & 31);
                    const s64 offset = static_cast<s32>(static_cast<u32>(c)) >> 27;
                    std::vector<s64> ones;
                    for (s64 bit = 0; bit < 32; ++bit) {
                      const s64 at = offset < 0 ? 31 - bit : bit;
                      const bool beyond = offset < 0 ? at <= base : offset == 0 ? at == base : at >= base;
                      if (beyond && (a >> at & 1) != 0) ones.push_back(at);
                    }
                    const auto nth = static_cast<std::size_t>(offset == 0 ? 0 : std::abs(offset) - 1);
                    return nth < ones.size() ? static_cast<u64>(ones[nth]) : u64{0xffffffffu};
                  })});
  for (const bool wrap : {false, true}) {
    const std::string mode = wrap ? "wrap.b32" : "clamp.b32";
    row("shf.l." + mode, 3, [wrap](u32 a, u32 b, u32 c) {
      const u32 n = wrap ? c % 32 : c < 32 ? c : 32;
      u64 both = (u64{b} << 32) | a;
      for (u32 i = 0; i < n; ++i) both <<= 1;
      return both >> 32;
    });
    row("shf.r." + mode, 3, [wrap](u32 a, u32 b, u32 c) {
      const u32 n = wrap ? c % 32 : c < 32 ? c : 32;
      u64 both = (u64{b} << 32) | a;
      for (u32 i = 0; i < n; ++i) both >>= 1;
      return both & 0xffffffffu;
    });
    row("bmsk." + mode, 2, [wrap](u32 a, u32 b, u32) {
      const u64 first = wrap ? a % 32 : a, count = wrap ? b % 32 : b;
      u64 r = 0;
      for (u64 i = 0; i < 32; ++i)
        if (i >= first && i - first < count) r |= u64{1} << i;
      return r;
    });
  }
  struct Mode {
    const char* name;
    unsigned bytes[4][4];  ///< of c modulo 4, the result's lowest byte first
  };
  const Mode modes[] = {{"f4e", {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}}},
                        {"b4e", {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}}},
                        {"rc8", {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}},
                        {"ecl", {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}}},
                        {"ecr", {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}}},
                        {"rc16", {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}}}};
  for (const Mode& m : modes)
    row(std::string("prmt.b32.") + m.name, 3, [m](u32 a, u32 b, u32 c) {
      const u64 both = (u64{b} << 32) | a;
      u64 r = 0;
      for (unsigned i = 0; i < 4; ++i) r |= ((both >> (8 * m.bytes[c % 4][i])) & 255u) << (8 * i);
      return r;
    });
  row("prmt.b32", 3, [](u32 a, u32 b, u32 c) {
    u8 bytes[8];
    std::memcpy(bytes, &a, 4);
    std::memcpy(bytes + 4, &b, 4);
    u64 r = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned pick = (c >> (4 * i)) & 15u;
      u8 byte = bytes[pick % 8];
      if (pick >= 8) byte = byte >= 128 ? 255 : 0;
      r |= u64{byte} << (8 * i);
    }
    return r;
  });
}

/// The carry of a subtraction, read by an addition, and the other way round: a borrow is a carry that is missing.
template <class T>
void mixed_carries(Rows& rows, const std::string& type) {
  const char kind = sizeof(T) == 8 ? 'd' : 'r';
  const auto reading = [&](const std::string& reader) {
    return " " + reader + "." + type + " " + reg(kind, '9') + ", 0, 0;";
  };
  rows.push_back({"sub.cc." + type, kind, plain("sub.cc." + type, kind, 2) + reading("addc"), Values::integers,
                  each([](u64 a, u64 b, u64) { return u64{static_cast<T>(a) >= static_cast<T>(b)}; })});
  rows.push_back({"add.cc." + type, kind, plain("add.cc." + type, kind, 2) + reading("subc"), Values::integers,
                  each([](u64 a, u64 b, u64) {
                    const bool carries = static_cast<T>(a + b) < static_cast<T>(a);
                    return carries ? u64{0} : u64{static_cast<T>(-1)};
                  })});
}

/// Two halves of a word, each for itself.
void pairs(Rows& rows) {
  using Half = std::function<s64(s64, s64)>;
  const std::pair<std::string, Half> operations[] = {
      {"add", [](s64 a, s64 b) { return a + b; }},
      {"min", [](s64 a, s64 b) { return a < b ? a : b; }},
      {"max", [](s64 a, s64 b) { return a > b ? a : b; }},
      {"min.relu", [](s64 a, s64 b) { return a < 0 || b < 0 ? 0
                                             : a < b        ? a
                                                            : b; }},
      {"max.relu", [](s64 a, s64 b) { return a < 0 && b < 0 ? 0
                                             : a > b        ? a
                                                            : b; }}};
  for (const auto& [name, operation] : operations) {
    for (const bool is_signed : {false, true}) {
      const bool relu = name.size() > 3;
      if (relu && !is_signed) continue;
      const std::string form = name + (is_signed ? ".s16x2" : ".u16x2");
      rows.push_back({form, 'r', plain(form, 'r', 2), Values::integers, each([=, f = operation](u64 a, u64 b, u64) {
                        u64 result = 0;
                        for (const unsigned at : {0u, 16u}) {
                          const auto x = static_cast<u16>(a >> at), y = static_cast<u16>(b >> at);
                          const s64 half = is_signed ? f(static_cast<s16>(x), static_cast<s16>(y)) : f(x, y);
                          result |= u64{static_cast<u16>(half)} << at;
                        }
                        return result;
                      })});
    }
    if (name.size() > 3) {
      add<s32>(rows, name + ".s32", 2,
               [f = operation](s128 a, s128 b, s128) { return low<s32>(f(static_cast<s64>(a), static_cast<s64>(b))); });
    }
  }
}

/// Products of 24-bit factors, of bytes, of halves and bytes.
void small_products(Rows& rows) {
  for (const bool is_signed : {false, true}) {
    const std::string type = is_signed ? "s32" : "u32";
    const auto factor = [is_signed](u64 bits) {
      const s64 v = static_cast<s64>(bits & 0xffffffu);
      return is_signed && v >= 0x800000 ? v - 0x1000000 : v;
    };
    const auto half = [factor](u64 a, u64 b, bool high) {
      const s64 product = factor(a) * factor(b);
      return static_cast<u64>(high ? product >> 16 : product) & 0xffffffffu;
    };
    for (const bool high : {false, true}) {
      const std::string end = std::string(high ? "hi." : "lo.") + type;
      rows.push_back({"mul24." + end, 'r', plain("mul24." + end, 'r', 2), Values::integers,
                      each([=](u64 a, u64 b, u64) { return half(a, b, high); })});
      rows.push_back({"mad24." + end, 'r', plain("mad24." + end, 'r', 3), Values::integers,
                      each([=](u64 a, u64 b, u64 c) { return (half(a, b, high) + c) & 0xffffffffu; })});
    }
    for (const bool second_signed : {false, true}) {
      const std::string form = "dp4a." + type + (second_signed ? ".s32" : ".u32");
      rows.push_back({form, 'r', plain(form, 'r', 3), Values::integers, each([=](u64 a, u64 b, u64 c) {
                        u8 x[4], y[4];
                        std::memcpy(x, &a, 4);
                        std::memcpy(y, &b, 4);
                        s64 sum = static_cast<s32>(static_cast<u32>(c));
                        for (unsigned i = 0; i < 4; ++i) {
                          const s64 first = is_signed ? s64{static_cast<s8>(x[i])} : s64{x[i]};
                          sum += first * (second_signed ? s64{static_cast<s8>(y[i])} : s64{y[i]});
                        }
                        return static_cast<u64>(sum) & 0xffffffffu;
                      })});
      for (const bool high : {false, true}) {
        const std::string halves =
            std::string(high ? "dp2a.hi." : "dp2a.lo.") + type + (second_signed ? ".s32" : ".u32");
        rows.push_back({halves, 'r', plain(halves, 'r', 3), Values::integers, each([=](u64 a, u64 b, u64 c) {
                          u16 x[2];
                          u8 y[4];
                          std::memcpy(x, &a, 4);
                          std::memcpy(y, &b, 4);
                          s64 sum = static_cast<s32>(static_cast<u32>(c));
                          for (unsigned i = 0; i < 2; ++i) {
                            const u8 byte = y[high ? 2 + i : i];
                            const s64 first = is_signed ? s64{static_cast<s16>(x[i])} : s64{x[i]};
                            sum += first * (second_signed ? s64{static_cast<s8>(byte)} : s64{byte});
                          }
                          return static_cast<u64>(sum) & 0xffffffffu;
                        })});
      }
    }
  }
}

}  // namespace

Rows integer_rows() {
  Rows rows;
  arithmetic<u16>(rows, "u16");
  arithmetic<s16>(rows, "s16");
  arithmetic<u32>(rows, "u32");
  arithmetic<s32>(rows, "s32");
  arithmetic<u64>(rows, "u64");
  arithmetic<s64>(rows, "s64");
  add<s32>(rows, "add.sat.s32", 2, [](s128 a, s128 b, s128) { return low<s32>(clamp32(a + b)); });
  add<s32>(rows, "sub.sat.s32", 2, [](s128 a, s128 b, s128) { return low<s32>(clamp32(a - b)); });
  add<s32>(rows, "mad.hi.sat.s32", 3, [](s128 a, s128 b, s128 c) { return low<s32>(clamp32(high<s32>(a, b) + c)); });
  widening<u16, u32>(rows, "u16");
  widening<s16, s32>(rows, "s16");
  widening<u32, u64>(rows, "u32");
  widening<s32, s64>(rows, "s32");
  carries<u32, s32>(rows, "32");
  carries<u64, s64>(rows, "64");
  fields<u32>(rows, "32");
  fields<u64>(rows, "64");
  words(rows);
  pairs(rows);
  mixed_carries<u32>(rows, "u32");
  mixed_carries<u64>(rows, "u64");
  small_products(rows);
  return rows;
}

}  // namespace regatta::test::forms
