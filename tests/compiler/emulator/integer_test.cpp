// SPDX-License-Identifier: Apache-2.0
#include "operations.h"

#include <algorithm>

using namespace regatta::test;

namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
__extension__ using u128 = unsigned __int128;
__extension__ using s128 = __int128;

std::string to32(const std::string& operation) { return operation + " cvt.u64.u32 %out, %r4;"; }
void check32(const std::string& operation, const std::function<u32(u32, u32, u32)>& f) {
  check_operation(to32(operation), edge_integers(), [&](u64 a, u64 b, u64 c) {
    return u64{f(static_cast<u32>(a), static_cast<u32>(b), static_cast<u32>(c))};
  });
}
void check64(const std::string& operation, const Reference& f) { check_operation(operation, edge_integers(), f); }

u32 as_signed(u32 a, u32 b, s32 (*f)(s32, s32)) {
  return static_cast<u32>(f(static_cast<s32>(a), static_cast<s32>(b)));
}

}  // namespace

TEST_CASE("32-bit integer arithmetic wraps") {
  check32("add.s32 %r4, %ra, %rb;", [](u32 a, u32 b, u32) { return a + b; });
  check32("sub.s32 %r4, %ra, %rb;", [](u32 a, u32 b, u32) { return a - b; });
  check32("mul.lo.s32 %r4, %ra, %rb;", [](u32 a, u32 b, u32) { return a * b; });
  check32("mad.lo.s32 %r4, %ra, %rb, %rc;", [](u32 a, u32 b, u32 c) { return a * b + c; });
  check32("mul.hi.u32 %r4, %ra, %rb;", [](u32 a, u32 b, u32) { return static_cast<u32>((u64{a} * b) >> 32); });
  check32("mul.hi.s32 %r4, %ra, %rb;", [](u32 a, u32 b, u32) {
    return static_cast<u32>((static_cast<s64>(static_cast<s32>(a)) * static_cast<s32>(b)) >> 32);
  });
  check32("neg.s32 %r4, %ra;", [](u32 a, u32, u32) { return 0u - a; });
  check32("abs.s32 %r4, %ra;", [](u32 a, u32, u32) { return static_cast<s32>(a) < 0 ? 0u - a : a; });
  check32("min.s32 %r4, %ra, %rb;",
          [](u32 a, u32 b, u32) { return as_signed(a, b, [](s32 x, s32 y) { return std::min(x, y); }); });
  check32("max.u32 %r4, %ra, %rb;", [](u32 a, u32 b, u32) { return std::max(a, b); });
  check32("add.sat.s32 %r4, %ra, %rb;", [](u32 a, u32 b, u32) {
    const s64 v = static_cast<s64>(static_cast<s32>(a)) + static_cast<s32>(b);
    return static_cast<u32>(static_cast<s32>(std::clamp<s64>(v, INT32_MIN, INT32_MAX)));
  });
  check32("sad.s32 %r4, %ra, %rb, %rc;", [](u32 a, u32 b, u32 c) {
    const s64 d = static_cast<s64>(static_cast<s32>(a)) - static_cast<s32>(b);
    return static_cast<u32>(d < 0 ? -d : d) + c;
  });
}

TEST_CASE("64-bit and wide integer arithmetic") {
  check64("add.s64 %out, %da, %db;", [](u64 a, u64 b, u64) { return a + b; });
  check64("sub.s64 %out, %da, %db;", [](u64 a, u64 b, u64) { return a - b; });
  check64("mul.lo.s64 %out, %da, %db;", [](u64 a, u64 b, u64) { return a * b; });
  check64("mul.hi.u64 %out, %da, %db;", [](u64 a, u64 b, u64) { return static_cast<u64>((u128{a} * b) >> 64); });
  check64("mul.hi.s64 %out, %da, %db;",
          [](u64 a, u64 b, u64) { return static_cast<u64>((s128{static_cast<s64>(a)} * static_cast<s64>(b)) >> 64); });
  check64("mul.wide.s32 %out, %ra, %rb;", [](u64 a, u64 b, u64) {
    return static_cast<u64>(static_cast<s64>(static_cast<s32>(a)) * static_cast<s32>(b));
  });
  check64("mad.wide.u32 %out, %ra, %rb, %dc;",
          [](u64 a, u64 b, u64 c) { return u64{static_cast<u32>(a)} * static_cast<u32>(b) + c; });
  check64("min.s64 %out, %da, %db;",
          [](u64 a, u64 b, u64) { return static_cast<s64>(a) < static_cast<s64>(b) ? a : b; });
  check64("max.u64 %out, %da, %db;", [](u64 a, u64 b, u64) { return std::max(a, b); });
  check64("add.cc.u32 %r4, %ra, %rb; addc.u32 %r5, %rb, %rc; mov.b64 %out, {%r4, %r5};", [](u64 a, u64 b, u64 c) {
    const u64 low = u64{static_cast<u32>(a)} + static_cast<u32>(b);
    const u32 high = static_cast<u32>(b) + static_cast<u32>(c) + static_cast<u32>(low >> 32);
    return (u64{high} << 32) | static_cast<u32>(low);
  });
  check64("sub.cc.u32 %r4, %ra, %rb; subc.u32 %r5, %rb, %rc; mov.b64 %out, {%r4, %r5};", [](u64 a, u64 b, u64 c) {
    const u32 x = static_cast<u32>(a), y = static_cast<u32>(b), z = static_cast<u32>(c);
    return (u64{y - z - (x < y ? 1u : 0u)} << 32) | (x - y);
  });
  check64("mul.wide.s16 %r4, %ha, %hb; cvt.u64.u32 %out, %r4;",
          [](u64 a, u64 b, u64) { return u64{static_cast<u32>(static_cast<s16>(a) * static_cast<s16>(b))}; });
  check64("mul.lo.u16 %h1, %ha, %hb; cvt.u64.u16 %out, %h1;",
          [](u64 a, u64 b, u64) { return u64{static_cast<u16>(u32{static_cast<u16>(a)} * static_cast<u16>(b))}; });
}

TEST_CASE("division by zero gives all ones, the remainder the dividend") {
  check32("div.u32 %r4, %ra, %rb;", [](u32 a, u32 b, u32) { return b == 0 ? ~0u : a / b; });
  check32("rem.u32 %r4, %ra, %rb;", [](u32 a, u32 b, u32) { return b == 0 ? a : a % b; });
  check32("div.s32 %r4, %ra, %rb;", [](u32 a, u32 b, u32) {
    if (b == 0) return ~0u;
    return b == ~0u ? 0u - a : static_cast<u32>(static_cast<s32>(a) / static_cast<s32>(b));
  });
  check32("rem.s32 %r4, %ra, %rb;", [](u32 a, u32 b, u32) {
    if (b == 0) return a;
    return b == ~0u ? 0u : static_cast<u32>(static_cast<s32>(a) % static_cast<s32>(b));
  });
  check64("div.u64 %out, %da, %db;", [](u64 a, u64 b, u64) { return b == 0 ? ~u64{0} : a / b; });
  check64("rem.s64 %out, %da, %db;", [](u64 a, u64 b, u64) {
    if (b == 0) return a;
    return b == ~u64{0} ? u64{0} : static_cast<u64>(static_cast<s64>(a) % static_cast<s64>(b));
  });
}

TEST_CASE("logic and shifts, which clamp") {
  check32("and.b32 %r4, %ra, %rb;", [](u32 a, u32 b, u32) { return a & b; });
  check32("or.b32 %r4, %ra, %rb;", [](u32 a, u32 b, u32) { return a | b; });
  check64("xor.b64 %out, %da, %db;", [](u64 a, u64 b, u64) { return a ^ b; });
  check64("not.b64 %out, %da;", [](u64 a, u64, u64) { return ~a; });
  check32("shl.b32 %r4, %ra, %rb;", [](u32 a, u32 b, u32) { return b > 31 ? 0 : a << b; });
  check32("shr.u32 %r4, %ra, %rb;", [](u32 a, u32 b, u32) { return b > 31 ? 0 : a >> b; });
  check32("shr.s32 %r4, %ra, %rb;",
          [](u32 a, u32 b, u32) { return static_cast<u32>(static_cast<s32>(a) >> std::min(b, 31u)); });
  check64("shl.b64 %out, %da, %rb;", [](u64 a, u64 b, u64) { return static_cast<u32>(b) > 63 ? 0 : a << (b & 63); });
  check64("shr.s64 %out, %da, %rb;", [](u64 a, u64 b, u64) {
    return static_cast<u64>(static_cast<s64>(a) >> std::min<u32>(static_cast<u32>(b), 63));
  });
  check32("shf.l.wrap.b32 %r4, %ra, %rb, %rc;",
          [](u32 a, u32 b, u32 c) { return static_cast<u32>((((u64{b} << 32) | a) << (c & 31)) >> 32); });
  check32("shf.r.clamp.b32 %r4, %ra, %rb, %rc;",
          [](u32 a, u32 b, u32 c) { return static_cast<u32>(((u64{b} << 32) | a) >> std::min(c, 32u)); });
}

TEST_CASE("bit fields") {
  check32("popc.b32 %r4, %ra;", [](u32 a, u32, u32) { return static_cast<u32>(__builtin_popcount(a)); });
  check64("popc.b64 %r4, %da; cvt.u64.u32 %out, %r4;",
          [](u64 a, u64, u64) { return static_cast<u64>(__builtin_popcountll(a)); });
  check32("clz.b32 %r4, %ra;", [](u32 a, u32, u32) { return a == 0 ? 32u : static_cast<u32>(__builtin_clz(a)); });
  check64("clz.b64 %r4, %da; cvt.u64.u32 %out, %r4;",
          [](u64 a, u64, u64) { return a == 0 ? u64{64} : static_cast<u64>(__builtin_clzll(a)); });
  check64("brev.b64 %out, %da;", [](u64 a, u64, u64) {
    u64 r = 0;
    for (unsigned i = 0; i < 64; ++i) r |= ((a >> i) & 1) << (63 - i);
    return r;
  });
  check32("bfind.s32 %r4, %ra;", [](u32 a, u32, u32) {
    const u32 v = static_cast<s32>(a) < 0 ? ~a : a;
    return v == 0 ? ~0u : 31u - static_cast<u32>(__builtin_clz(v));
  });
  check32("bfind.shiftamt.u32 %r4, %ra;",
          [](u32 a, u32, u32) { return a == 0 ? ~0u : static_cast<u32>(__builtin_clz(a)); });
  check32("bfe.u32 %r4, %ra, %rb, %rc;", [](u32 a, u32 b, u32 c) {
    const u32 pos = b & 255, len = c & 255;
    const u64 shifted = pos > 63 ? 0 : u64{a} >> pos;
    return static_cast<u32>(len > 31 ? shifted : shifted & ((u64{1} << len) - 1));
  });
  check32("bfe.s32 %r4, %ra, %rb, %rc;", [](u32 a, u32 b, u32 c) {
    // Shift right arithmetically, then keep `len` bits extended by the field's (or the operand's) sign bit.
    const u32 pos = b & 255, len = c & 255;
    if (len == 0) return 0u;
    const s64 shifted = static_cast<s64>(static_cast<s32>(a)) >> std::min(pos, 63u);
    if (len > 31) return static_cast<u32>(shifted);
    return static_cast<u32>(static_cast<s64>(static_cast<u64>(shifted) << (64 - len)) >> (64 - len));
  });
  check32("bfi.b32 %r4, %ra, %rb, %rc, 7;", [](u32 a, u32 b, u32 c) {
    const u32 pos = c & 255;
    if (pos > 31) return b;
    const u32 mask = 0x7fu << pos;
    return (b & ~mask) | ((a << pos) & mask);
  });
  check32("prmt.b32 %r4, %ra, %rb, %rc;", [](u32 a, u32 b, u32 c) {
    u32 r = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const u32 n = (c >> (4 * i)) & 15;
      u32 byte = ((n & 7) < 4 ? a >> (8 * (n & 7)) : b >> (8 * ((n & 7) - 4))) & 255;
      if (n > 7) byte = byte > 127 ? 255 : 0;
      r |= byte << (8 * i);
    }
    return r;
  });
}

TEST_CASE("compares, selection and predicates") {
  check32("setp.lt.s32 %q1, %ra, %rb; selp.b32 %r4, 1, 0, %q1;",
          [](u32 a, u32 b, u32) { return static_cast<s32>(a) < static_cast<s32>(b) ? 1u : 0u; });
  check32("setp.ge.u32 %q1, %ra, %rb; selp.b32 %r4, %rb, %rc, %q1;",
          [](u32 a, u32 b, u32 c) { return a >= b ? b : c; });
  check32(
      "setp.ne.u32 %q1, %ra, %rb; setp.gt.and.s32 %q2|%q3, %rb, %rc, %q1; selp.b32 %r4, 2, 0, %q2; @%q3 add.u32 %r4, "
      "%r4, 1;",
      [](u32 a, u32 b, u32 c) {
        const bool q1 = a != b, gt = static_cast<s32>(b) > static_cast<s32>(c);
        return (q1 && gt ? 2u : 0u) + (q1 && !gt ? 1u : 0u);
      });
  check64(
      "setp.hi.u64 %q1, %da, %db; setp.eq.u32 %q2, %ra, %rc; xor.pred %q3, %q1, %q2; not.pred %q1, %q3; selp.b64 %out, "
      "1, 0, %q1;",
      [](u64 a, u64 b, u64 c) { return (a > b) != (static_cast<u32>(a) == static_cast<u32>(c)) ? u64{0} : u64{1}; });
  check32("set.lt.u32.s32 %r4, %ra, %rb;",
          [](u32 a, u32 b, u32) { return static_cast<s32>(a) < static_cast<s32>(b) ? ~0u : 0u; });
}

TEST_CASE("packing and unpacking") {
  check64("mov.b64 %out, {%ra, %rb};", [](u64 a, u64 b, u64) { return (b << 32) | static_cast<u32>(a); });
  check64("mov.b64 {%r4, %r5}, %da; mov.b64 %out, {%r5, %r4};", [](u64 a, u64, u64) { return (a << 32) | (a >> 32); });
  check64("mov.b32 %r4, {%ha, %hb}; cvt.u64.u32 %out, %r4;",
          [](u64 a, u64 b, u64) { return ((b & 0xffff) << 16) | (a & 0xffff); });
}
