// SPDX-License-Identifier: Apache-2.0
#include "operations.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace regatta::test::differential {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

u32 u(u64 v) { return static_cast<u32>(v); }
s32 s(u64 v) { return static_cast<s32>(static_cast<u32>(v)); }

float f32(u64 v) {
  const u32 low = u(v);
  float value = 0;
  std::memcpy(&value, &low, sizeof value);
  return value;
}
double f64(u64 v) {
  double value = 0;
  std::memcpy(&value, &v, sizeof value);
  return value;
}
u64 bits(float v) {
  u32 value = 0;
  std::memcpy(&value, &v, sizeof value);
  return value;
}
u64 bits(double v) {
  u64 value = 0;
  std::memcpy(&value, &v, sizeof value);
  return value;
}
/// The NaN that every operation of the emulated machine gives (compiler/emulator/README.md).
float canonical(float v) { return std::isnan(v) ? f32(0x7fffffff) : v; }
double canonical(double v) { return std::isnan(v) ? f64(0xfff8000000000000) : v; }

/// The number wins over a NaN, and -0 is below +0.
template <class T>
T least(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
T greatest(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

s64 saturated(s64 v) { return std::clamp<s64>(v, INT32_MIN, INT32_MAX); }

/// Whole numbers to 32 bits, clamped; NaN is 0.
u64 to_signed(float v) {
  if (std::isnan(v)) return 0;
  if (v >= 0x1p31f) return INT32_MAX;
  if (v <= -0x1p31f) return u(0x80000000u);
  return static_cast<u64>(static_cast<s64>(v));
}
u64 to_unsigned(float v) {
  if (std::isnan(v) || v <= 0) return 0;
  return v >= 0x1p32f ? UINT32_MAX : static_cast<u64>(v);
}

u64 ones(u32 v) {
  u64 n = 0;
  for (; v != 0; v &= v - 1) ++n;
  return n;
}

u64 leading_zeros(u64 v, unsigned width) {
  u64 n = 0;
  while (n < width && ((v >> (width - 1 - n)) & 1) == 0) ++n;
  return n;
}

u64 reversed(u64 v, unsigned width) {
  u64 r = 0;
  for (unsigned i = 0; i < width; ++i) r |= ((v >> i) & 1) << (width - 1 - i);
  return r;
}

/// bfe, bit by bit as the PTX manual has it.
u64 field(u64 v, unsigned position, unsigned length, unsigned width, bool is_signed) {
  const unsigned top = width - 1;
  const bool sign = is_signed && length != 0 && ((v >> std::min(position + length - 1, top)) & 1) != 0;
  u64 r = 0;
  for (unsigned i = 0; i < width; ++i) {
    const bool bit = i < length && position + i <= top ? ((v >> (position + i)) & 1) != 0 : sign;
    r |= u64{bit} << i;
  }
  return r;
}

/// bfi: the low bits of `from` at `position` of `into`.
u64 inserted(u64 from, u64 into, unsigned position, unsigned length, unsigned width) {
  for (unsigned i = 0; i < length && position + i < width; ++i) {
    const u64 bit = u64{1} << (position + i);
    into = ((from >> i) & 1) != 0 ? into | bit : into & ~bit;
  }
  return into;
}

/// prmt in its default mode.
u64 permuted(u64 bytes, u32 selector) {
  u64 r = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const u32 choice = (selector >> (4 * i)) & 15;
    u64 byte = (bytes >> (8 * (choice & 7))) & 255;
    if ((choice & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
    r |= byte << (8 * i);
  }
  return r;
}

u64 high_product(u64 a, u64 b) {
  const u64 low = u64{u(a)} * u(b);
  const u64 cross1 = (a >> 32) * u(b) + (low >> 32);
  const u64 cross2 = u64{u(a)} * (b >> 32) + u(cross1);
  return (a >> 32) * (b >> 32) + (cross1 >> 32) + (cross2 >> 32);
}

}  // namespace

namespace {

// Each row: text, shape, meaning.
std::vector<Operation> plain_operations() {
  return {
      // 32-bit integers.
      {"add.u32 $0, $1, $2;", "r:rr",
       [](const u64* in, u64* out) {
         const u32 a = u(in[0]), b = u(in[1]);
         out[0] = a + b;
       }},
      {"sub.u32 $0, $1, $2;", "r:rr",
       [](const u64* in, u64* out) {
         const u32 a = u(in[0]), b = u(in[1]);
         out[0] = a - b;
       }},
      {"mul.lo.u32 $0, $1, $2;", "r:rr",
       [](const u64* in, u64* out) {
         const u32 a = u(in[0]), b = u(in[1]);
         out[0] = a * b;
       }},
      {"mul.hi.u32 $0, $1, $2;", "r:rr",
       [](const u64* in, u64* out) {
         const u32 a = u(in[0]), b = u(in[1]);
         out[0] = (u64{a} * b) >> 32;
       }},
      {"and.b32 $0, $1, $2;", "r:rr",
       [](const u64* in, u64* out) {
         const u32 a = u(in[0]), b = u(in[1]);
         out[0] = a & b;
       }},
      {"or.b32 $0, $1, $2;", "r:rr",
       [](const u64* in, u64* out) {
         const u32 a = u(in[0]), b = u(in[1]);
         out[0] = a | b;
       }},
      {"xor.b32 $0, $1, $2;", "r:rr",
       [](const u64* in, u64* out) {
         const u32 a = u(in[0]), b = u(in[1]);
         out[0] = a ^ b;
       }},
      {"min.u32 $0, $1, $2;", "r:rr",
       [](const u64* in, u64* out) {
         const u32 a = u(in[0]), b = u(in[1]);
         out[0] = std::min(a, b);
       }},
      {"max.u32 $0, $1, $2;", "r:rr",
       [](const u64* in, u64* out) {
         const u32 a = u(in[0]), b = u(in[1]);
         out[0] = std::max(a, b);
       }},
      {"shl.b32 $0, $1, $2;", "r:rr",
       [](const u64* in, u64* out) {
         const u32 a = u(in[0]), b = u(in[1]);
         out[0] = b > 31 ? 0 : a << b;
       }},
      {"shr.u32 $0, $1, $2;", "r:rr",
       [](const u64* in, u64* out) {
         const u32 a = u(in[0]), b = u(in[1]);
         out[0] = b > 31 ? 0 : a >> b;
       }},
      {"mul.hi.s32 $0, $1, $2;", "r:rr",
       [](const u64* in, u64* out) {
         const s32 a = s(in[0]), b = s(in[1]);
         out[0] = static_cast<u64>((s64{a} * b) >> 32);
       }},
      {"min.s32 $0, $1, $2;", "r:rr",
       [](const u64* in, u64* out) {
         const s32 a = s(in[0]), b = s(in[1]);
         out[0] = static_cast<u64>(std::min(a, b));
       }},
      {"max.s32 $0, $1, $2;", "r:rr",
       [](const u64* in, u64* out) {
         const s32 a = s(in[0]), b = s(in[1]);
         out[0] = static_cast<u64>(std::max(a, b));
       }},
      {"add.sat.s32 $0, $1, $2;", "r:rr",
       [](const u64* in, u64* out) {
         const s32 a = s(in[0]), b = s(in[1]);
         out[0] = static_cast<u64>(saturated(s64{a} + b));
       }},
      {"sub.sat.s32 $0, $1, $2;", "r:rr",
       [](const u64* in, u64* out) {
         const s32 a = s(in[0]), b = s(in[1]);
         out[0] = static_cast<u64>(saturated(s64{a} - b));
       }},
      {"shr.s32 $0, $1, $2;", "r:rr",
       [](const u64* in, u64* out) {
         const s32 a = s(in[0]);
         const u32 b = u(in[1]);
         out[0] = static_cast<u64>(s64{a} >> std::min(b, 31u));
       }},
      {"or.b32 %t0, $2, 1; div.u32 $0, $1, %t0;", "r:rr",
       [](const u64* in, u64* out) { out[0] = u(in[0]) / (u(in[1]) | 1); }},
      {"or.b32 %t0, $2, 1; rem.u32 $0, $1, %t0;", "r:rr",
       [](const u64* in, u64* out) { out[0] = u(in[0]) % (u(in[1]) | 1); }},
      {"or.b32 %t0, $2, 1; div.s32 $0, $1, %t0;", "r:rr",
       [](const u64* in, u64* out) { out[0] = static_cast<u64>(s64{s(in[0])} / (s(in[1]) | 1)); }},
      {"or.b32 %t0, $2, 1; rem.s32 $0, $1, %t0;", "r:rr",
       [](const u64* in, u64* out) { out[0] = static_cast<u64>(s64{s(in[0])} % (s(in[1]) | 1)); }},
      {"not.b32 $0, $1;", "r:R", [](const u64* in, u64* out) { out[0] = ~in[0]; }},
      {"neg.s32 $0, $1;", "r:R", [](const u64* in, u64* out) { out[0] = 0 - in[0]; }},
      {"abs.s32 $0, $1;", "r:R", [](const u64* in, u64* out) { out[0] = s(in[0]) < 0 ? 0 - in[0] : in[0]; }},
      {"mov.b32 $0, $1;", "r:r", [](const u64* in, u64* out) { out[0] = in[0]; }},
      {"popc.b32 $0, $1;", "r:R", [](const u64* in, u64* out) { out[0] = ones(u(in[0])); }},
      {"clz.b32 $0, $1;", "r:R", [](const u64* in, u64* out) { out[0] = leading_zeros(u(in[0]), 32); }},
      {"brev.b32 $0, $1;", "r:R", [](const u64* in, u64* out) { out[0] = reversed(u(in[0]), 32); }},
      {"mad.lo.u32 $0, $1, $2, $3;", "r:rrr", [](const u64* in, u64* out) { out[0] = in[0] * in[1] + in[2]; }},
      {"mad.hi.u32 $0, $1, $2, $3;", "r:rrr",
       [](const u64* in, u64* out) { out[0] = ((u64{u(in[0])} * u(in[1])) >> 32) + in[2]; }},
      {"sad.u32 $0, $1, $2, $3;", "r:rrr",
       [](const u64* in, u64* out) {
         const u32 a = u(in[0]), b = u(in[1]);
         out[0] = (a < b ? b - a : a - b) + in[2];
       }},
      {"bfe.u32 $0, $1, $2, $3;", "r:rrr",
       [](const u64* in, u64* out) { out[0] = field(u(in[0]), u(in[1]) & 255, u(in[2]) & 255, 32, false); }},
      {"bfe.s32 $0, $1, $2, $3;", "r:rrr",
       [](const u64* in, u64* out) { out[0] = field(u(in[0]), u(in[1]) & 255, u(in[2]) & 255, 32, true); }},
      {"bfi.b32 $0, $1, $2, $3, $4;", "r:rrrr",
       [](const u64* in, u64* out) { out[0] = inserted(u(in[0]), u(in[1]), u(in[2]) & 255, u(in[3]) & 255, 32); }},
      {"prmt.b32 $0, $1, $2, $3;", "r:rrr",
       [](const u64* in, u64* out) { out[0] = permuted(u(in[0]) | in[1] << 32, u(in[2])); }},
      {"shf.l.wrap.b32 $0, $1, $2, $3;", "r:rrr",
       [](const u64* in, u64* out) {
         const u64 v = u(in[0]) | in[1] << 32;
         out[0] = (v << (in[2] & 31)) >> 32;
       }},
      {"shf.r.wrap.b32 $0, $1, $2, $3;", "r:rrr",
       [](const u64* in, u64* out) {
         const u64 v = u(in[0]) | in[1] << 32;
         out[0] = v >> (in[2] & 31);
       }},
      {"shf.l.clamp.b32 $0, $1, $2, $3;", "r:rrr",
       [](const u64* in, u64* out) {
         const u64 v = u(in[0]) | in[1] << 32;
         out[0] = (v << std::min<u64>(u(in[2]), 32)) >> 32;
       }},
      {"shf.r.clamp.b32 $0, $1, $2, $3;", "r:rrr",
       [](const u64* in, u64* out) {
         const u64 v = u(in[0]) | in[1] << 32;
         out[0] = v >> std::min<u64>(u(in[2]), 32);
       }},
      {"bfind.u32 $0, $1;", "r:R",
       [](const u64* in, u64* out) {
         const u32 a = u(in[0]);
         out[0] = a == 0 ? ~u64{0} : 31 - leading_zeros(a, 32);
       }},
      {"selp.b32 $0, $1, $2, $3;", "r:rrP", [](const u64* in, u64* out) { out[0] = in[2] ? in[0] : in[1]; }},
      // 64-bit integers.
      {"add.u64 $0, $1, $2;", "d:dd",
       [](const u64* in, u64* out) {
         const u64 a = in[0], b = in[1];
         out[0] = a + b;
       }},
      {"sub.u64 $0, $1, $2;", "d:dd",
       [](const u64* in, u64* out) {
         const u64 a = in[0], b = in[1];
         out[0] = a - b;
       }},
      {"mul.lo.u64 $0, $1, $2;", "d:dd",
       [](const u64* in, u64* out) {
         const u64 a = in[0], b = in[1];
         out[0] = a * b;
       }},
      {"mul.hi.u64 $0, $1, $2;", "d:dd",
       [](const u64* in, u64* out) {
         const u64 a = in[0], b = in[1];
         out[0] = high_product(a, b);
       }},
      {"and.b64 $0, $1, $2;", "d:dd",
       [](const u64* in, u64* out) {
         const u64 a = in[0], b = in[1];
         out[0] = a & b;
       }},
      {"or.b64 $0, $1, $2;", "d:dd",
       [](const u64* in, u64* out) {
         const u64 a = in[0], b = in[1];
         out[0] = a | b;
       }},
      {"xor.b64 $0, $1, $2;", "d:dd",
       [](const u64* in, u64* out) {
         const u64 a = in[0], b = in[1];
         out[0] = a ^ b;
       }},
      {"min.u64 $0, $1, $2;", "d:dd",
       [](const u64* in, u64* out) {
         const u64 a = in[0], b = in[1];
         out[0] = std::min(a, b);
       }},
      {"max.u64 $0, $1, $2;", "d:dd",
       [](const u64* in, u64* out) {
         const u64 a = in[0], b = in[1];
         out[0] = std::max(a, b);
       }},
      {"min.s64 $0, $1, $2;", "d:dd",
       [](const u64* in, u64* out) {
         const auto a = static_cast<s64>(in[0]), b = static_cast<s64>(in[1]);
         out[0] = static_cast<u64>(std::min(a, b));
       }},
      {"max.s64 $0, $1, $2;", "d:dd",
       [](const u64* in, u64* out) {
         const auto a = static_cast<s64>(in[0]), b = static_cast<s64>(in[1]);
         out[0] = static_cast<u64>(std::max(a, b));
       }},
      {"shl.b64 $0, $1, $2;", "d:dr",
       [](const u64* in, u64* out) {
         const u32 n = u(in[1]);
         out[0] = n > 63 ? 0 : in[0] << n;
       }},
      {"shr.u64 $0, $1, $2;", "d:dr",
       [](const u64* in, u64* out) {
         const u32 n = u(in[1]);
         out[0] = n > 63 ? 0 : in[0] >> n;
       }},
      {"shr.s64 $0, $1, $2;", "d:dr",
       [](const u64* in, u64* out) { out[0] = static_cast<u64>(static_cast<s64>(in[0]) >> std::min(u(in[1]), 63u)); }},
      {"or.b64 %u0, $2, 1; div.u64 $0, $1, %u0;", "d:dd",
       [](const u64* in, u64* out) { out[0] = in[0] / (in[1] | 1); }},
      {"or.b64 %u0, $2, 1; rem.u64 $0, $1, %u0;", "d:dd",
       [](const u64* in, u64* out) { out[0] = in[0] % (in[1] | 1); }},
      {"not.b64 $0, $1;", "d:D", [](const u64* in, u64* out) { out[0] = ~in[0]; }},
      {"neg.s64 $0, $1;", "d:D", [](const u64* in, u64* out) { out[0] = 0 - in[0]; }},
      {"abs.s64 $0, $1;", "d:D",
       [](const u64* in, u64* out) { out[0] = static_cast<s64>(in[0]) < 0 ? 0 - in[0] : in[0]; }},
      {"mov.b64 $0, $1;", "d:d", [](const u64* in, u64* out) { out[0] = in[0]; }},
      {"popc.b64 $0, $1;", "r:D", [](const u64* in, u64* out) { out[0] = ones(u(in[0])) + ones(u(in[0] >> 32)); }},
      {"clz.b64 $0, $1;", "r:D", [](const u64* in, u64* out) { out[0] = leading_zeros(in[0], 64); }},
      {"brev.b64 $0, $1;", "d:D", [](const u64* in, u64* out) { out[0] = reversed(in[0], 64); }},
      {"mul.wide.u32 $0, $1, $2;", "d:rr", [](const u64* in, u64* out) { out[0] = u64{u(in[0])} * u(in[1]); }},
      {"mul.wide.s32 $0, $1, $2;", "d:rr",
       [](const u64* in, u64* out) { out[0] = static_cast<u64>(s64{s(in[0])} * s(in[1])); }},
      {"mad.wide.u32 $0, $1, $2, $3;", "d:rrd",
       [](const u64* in, u64* out) { out[0] = u64{u(in[0])} * u(in[1]) + in[2]; }},
      {"mad.lo.u64 $0, $1, $2, $3;", "d:ddd", [](const u64* in, u64* out) { out[0] = in[0] * in[1] + in[2]; }},
      {"bfe.u64 $0, $1, $2, $3;", "d:drr",
       [](const u64* in, u64* out) { out[0] = field(in[0], u(in[1]) & 255, u(in[2]) & 255, 64, false); }},
      {"bfi.b64 $0, $1, $2, $3, $4;", "d:ddrr",
       [](const u64* in, u64* out) { out[0] = inserted(in[0], in[1], u(in[2]) & 255, u(in[3]) & 255, 64); }},
      {"selp.b64 $0, $1, $2, $3;", "d:ddP", [](const u64* in, u64* out) { out[0] = in[2] ? in[0] : in[1]; }},
      {"mov.b64 {$0, $1}, $2;", "rr:D",
       [](const u64* in, u64* out) {
         out[0] = u(in[0]);
         out[1] = in[0] >> 32;
       }},
      {"mov.b64 $0, {$1, $2};", "d:RR", [](const u64* in, u64* out) { out[0] = u(in[0]) | in[1] << 32; }},
      // Carry chains.
      {"add.cc.u32 %t0, $2, $4; addc.u32 %t1, $3, $5; mov.b32 $0, %t0; mov.b32 $1, %t1;", "rr:rrrr",
       [](const u64* in, u64* out) {
         const u64 a = u(in[0]) | in[1] << 32, b = u(in[2]) | in[3] << 32;
         out[0] = u(a + b);
         out[1] = (a + b) >> 32;
       }},
      {"sub.cc.u32 %t0, $2, $4; subc.u32 %t1, $3, $5; mov.b32 $0, %t0; mov.b32 $1, %t1;", "rr:rrrr",
       [](const u64* in, u64* out) {
         const u64 a = u(in[0]) | in[1] << 32, b = u(in[2]) | in[3] << 32;
         out[0] = u(a - b);
         out[1] = (a - b) >> 32;
       }},
      {"add.cc.u32 %t0, $1, $2; addc.cc.u32 %t1, $2, $3; addc.u32 $0, %t1, $3;", "r:rrr",
       [](const u64* in, u64* out) {
         const u64 first = u64{u(in[0])} + u(in[1]);
         const u64 second = u64{u(in[1])} + u(in[2]) + (first >> 32);
         out[0] = u(second) + in[2] + (second >> 32);
       }},
      {"mad.lo.cc.u32 %t0, $2, $3, $4; madc.hi.u32 $1, $2, $3, $5; mov.b32 $0, %t0;", "rr:RRrr",
       [](const u64* in, u64* out) {
         const u64 v = u64{u(in[0])} * u(in[1]) + (u(in[2]) | in[3] << 32);
         out[0] = u(v);
         out[1] = v >> 32;
       }},
      // 16-bit integers.
      {"add.u16 $0, $1, $2;", "h:hh",
       [](const u64* in, u64* out) {
         const u32 a = u(in[0]) & 0xffff, b = u(in[1]) & 0xffff;
         out[0] = a + b;
       }},
      {"sub.u16 $0, $1, $2;", "h:hh",
       [](const u64* in, u64* out) {
         const u32 a = u(in[0]) & 0xffff, b = u(in[1]) & 0xffff;
         out[0] = a - b;
       }},
      {"mul.lo.u16 $0, $1, $2;", "h:hh",
       [](const u64* in, u64* out) {
         const u32 a = u(in[0]) & 0xffff, b = u(in[1]) & 0xffff;
         out[0] = a * b;
       }},
      {"and.b16 $0, $1, $2;", "h:hh",
       [](const u64* in, u64* out) {
         const u32 a = u(in[0]) & 0xffff, b = u(in[1]) & 0xffff;
         out[0] = a & b;
       }},
      {"xor.b16 $0, $1, $2;", "h:hh",
       [](const u64* in, u64* out) {
         const u32 a = u(in[0]) & 0xffff, b = u(in[1]) & 0xffff;
         out[0] = a ^ b;
       }},
      {"min.u16 $0, $1, $2;", "h:hh",
       [](const u64* in, u64* out) {
         const u32 a = u(in[0]) & 0xffff, b = u(in[1]) & 0xffff;
         out[0] = std::min(a, b);
       }},
      {"shr.s16 $0, $1, $2;", "h:hr",
       [](const u64* in, u64* out) {
         out[0] = static_cast<u64>(s64{static_cast<std::int16_t>(in[0])} >> std::min(u(in[1]), 15u));
       }},
      {"mul.wide.s16 $0, $1, $2;", "r:hh",
       [](const u64* in, u64* out) {
         out[0] = static_cast<u64>(s64{static_cast<std::int16_t>(in[0])} * static_cast<std::int16_t>(in[1]));
       }},
      {"selp.b16 $0, $1, $2, $3;", "h:hhP", [](const u64* in, u64* out) { out[0] = in[2] ? in[0] : in[1]; }},
      {"cvt.u16.u32 $0, $1;", "h:R", [](const u64* in, u64* out) { out[0] = in[0]; }},
      {"cvt.u32.u16 $0, $1;", "r:H", [](const u64* in, u64* out) { out[0] = in[0] & 0xffff; }},
      {"cvt.s32.s16 $0, $1;", "r:H",
       [](const u64* in, u64* out) { out[0] = static_cast<u64>(s64{static_cast<std::int16_t>(in[0])}); }},
      {"mov.b32 {$0, $1}, $2;", "hh:R",
       [](const u64* in, u64* out) {
         out[0] = in[0] & 0xffff;
         out[1] = (in[0] >> 16) & 0xffff;
       }},
      {"mov.b32 $0, {$1, $2};", "r:HH", [](const u64* in, u64* out) { out[0] = (in[0] & 0xffff) | in[1] << 16; }},
      // Conversions.
      {"cvt.u64.u32 $0, $1;", "d:R", [](const u64* in, u64* out) { out[0] = u(in[0]); }},
      {"cvt.s64.s32 $0, $1;", "d:R", [](const u64* in, u64* out) { out[0] = static_cast<u64>(s64{s(in[0])}); }},
      {"cvt.u32.u64 $0, $1;", "r:D", [](const u64* in, u64* out) { out[0] = in[0]; }},
      {"cvt.s32.s8 $0, $1;", "r:R",
       [](const u64* in, u64* out) { out[0] = static_cast<u64>(s64{static_cast<std::int8_t>(in[0])}); }},
      {"cvt.u32.u8 $0, $1;", "r:R", [](const u64* in, u64* out) { out[0] = in[0] & 0xff; }},
      {"cvt.rn.f32.u32 $0, $1;", "f:R", [](const u64* in, u64* out) { out[0] = bits(static_cast<float>(u(in[0]))); }},
      {"cvt.rn.f32.s32 $0, $1;", "f:R", [](const u64* in, u64* out) { out[0] = bits(static_cast<float>(s(in[0]))); }},
      {"cvt.rn.f64.s32 $0, $1;", "g:R", [](const u64* in, u64* out) { out[0] = bits(static_cast<double>(s(in[0]))); }},
      {"cvt.rn.f64.u64 $0, $1;", "g:D", [](const u64* in, u64* out) { out[0] = bits(static_cast<double>(in[0])); }},
      {"cvt.rzi.s32.f32 $0, $1;", "r:F", [](const u64* in, u64* out) { out[0] = to_signed(std::trunc(f32(in[0]))); }},
      {"cvt.rni.s32.f32 $0, $1;", "r:F",
       [](const u64* in, u64* out) { out[0] = to_signed(std::nearbyint(f32(in[0]))); }},
      {"cvt.rmi.u32.f32 $0, $1;", "r:F", [](const u64* in, u64* out) { out[0] = to_unsigned(std::floor(f32(in[0]))); }},
      {"cvt.f64.f32 $0, $1;", "g:F",
       [](const u64* in, u64* out) { out[0] = bits(canonical(static_cast<double>(f32(in[0])))); }},
      {"cvt.rn.f32.f64 $0, $1;", "f:G",
       [](const u64* in, u64* out) { out[0] = bits(canonical(static_cast<float>(f64(in[0])))); }},
      {"cvt.rpi.f32.f32 $0, $1;", "f:F",
       [](const u64* in, u64* out) { out[0] = bits(canonical(std::ceil(f32(in[0])))); }},
      {"mov.b32 $0, $1;", "f:R", [](const u64* in, u64* out) { out[0] = in[0]; }},
      {"mov.b32 $0, $1;", "r:F", [](const u64* in, u64* out) { out[0] = in[0]; }},
      {"mov.b64 $0, $1;", "g:D", [](const u64* in, u64* out) { out[0] = in[0]; }},
      {"mov.b64 $0, $1;", "d:G", [](const u64* in, u64* out) { out[0] = in[0]; }},
      // f32 and f64.
      {"add.rn.f32 $0, $1, $2;", "f:ff",
       [](const u64* in, u64* out) {
         const float a = f32(in[0]), b = f32(in[1]);
         out[0] = bits(canonical(a + b));
       }},
      {"sub.rn.f32 $0, $1, $2;", "f:ff",
       [](const u64* in, u64* out) {
         const float a = f32(in[0]), b = f32(in[1]);
         out[0] = bits(canonical(a - b));
       }},
      {"mul.rn.f32 $0, $1, $2;", "f:ff",
       [](const u64* in, u64* out) {
         const float a = f32(in[0]), b = f32(in[1]);
         out[0] = bits(canonical(a * b));
       }},
      {"div.rn.f32 $0, $1, $2;", "f:ff",
       [](const u64* in, u64* out) {
         const float a = f32(in[0]), b = f32(in[1]);
         out[0] = bits(canonical(a / b));
       }},
      {"min.f32 $0, $1, $2;", "f:ff",
       [](const u64* in, u64* out) {
         const float a = f32(in[0]), b = f32(in[1]);
         out[0] = bits(canonical(least(a, b)));
       }},
      {"max.f32 $0, $1, $2;", "f:ff",
       [](const u64* in, u64* out) {
         const float a = f32(in[0]), b = f32(in[1]);
         out[0] = bits(canonical(greatest(a, b)));
       }},
      {"add.rn.f64 $0, $1, $2;", "g:gg",
       [](const u64* in, u64* out) {
         const double a = f64(in[0]), b = f64(in[1]);
         out[0] = bits(canonical(a + b));
       }},
      {"sub.rn.f64 $0, $1, $2;", "g:gg",
       [](const u64* in, u64* out) {
         const double a = f64(in[0]), b = f64(in[1]);
         out[0] = bits(canonical(a - b));
       }},
      {"mul.rn.f64 $0, $1, $2;", "g:gg",
       [](const u64* in, u64* out) {
         const double a = f64(in[0]), b = f64(in[1]);
         out[0] = bits(canonical(a * b));
       }},
      {"div.rn.f64 $0, $1, $2;", "g:gg",
       [](const u64* in, u64* out) {
         const double a = f64(in[0]), b = f64(in[1]);
         out[0] = bits(canonical(a / b));
       }},
      {"min.f64 $0, $1, $2;", "g:gg",
       [](const u64* in, u64* out) {
         const double a = f64(in[0]), b = f64(in[1]);
         out[0] = bits(canonical(least(a, b)));
       }},
      {"max.f64 $0, $1, $2;", "g:gg",
       [](const u64* in, u64* out) {
         const double a = f64(in[0]), b = f64(in[1]);
         out[0] = bits(canonical(greatest(a, b)));
       }},
      {"fma.rn.f32 $0, $1, $2, $3;", "f:fff",
       [](const u64* in, u64* out) { out[0] = bits(canonical(std::fma(f32(in[0]), f32(in[1]), f32(in[2])))); }},
      {"fma.rn.f64 $0, $1, $2, $3;", "g:ggg",
       [](const u64* in, u64* out) { out[0] = bits(canonical(std::fma(f64(in[0]), f64(in[1]), f64(in[2])))); }},
      {"sqrt.rn.f32 $0, $1;", "f:F", [](const u64* in, u64* out) { out[0] = bits(canonical(std::sqrt(f32(in[0])))); }},
      {"sqrt.rn.f64 $0, $1;", "g:G", [](const u64* in, u64* out) { out[0] = bits(canonical(std::sqrt(f64(in[0])))); }},
      {"rcp.rn.f32 $0, $1;", "f:F", [](const u64* in, u64* out) { out[0] = bits(canonical(1.0f / f32(in[0]))); }},
      {"add.rn.sat.f32 $0, $1, $2;", "f:ff",
       [](const u64* in, u64* out) {
         const float v = f32(in[0]) + f32(in[1]);
         out[0] = bits(v > 0 ? std::min(v, 1.0f) : 0.0f);
       }},
      {"mov.f32 $0, $1;", "f:f", [](const u64* in, u64* out) { out[0] = in[0]; }},
      {"mov.f64 $0, $1;", "g:g", [](const u64* in, u64* out) { out[0] = in[0]; }},
      {"selp.f32 $0, $1, $2, $3;", "f:ffP", [](const u64* in, u64* out) { out[0] = in[2] ? in[0] : in[1]; }},
      {"selp.f64 $0, $1, $2, $3;", "g:ggP", [](const u64* in, u64* out) { out[0] = in[2] ? in[0] : in[1]; }},
      // Comparisons and predicates.
      {"setp.eq.u32 $0, $1, $2;", "p:rr", [](const u64* in, u64* out) { out[0] = u(in[0]) == u(in[1]); }},
      {"setp.eq.u64 $0, $1, $2;", "p:dd", [](const u64* in, u64* out) { out[0] = in[0] == in[1]; }},
      {"setp.lt.u32 $0, $1, $2;", "p:rr", [](const u64* in, u64* out) { out[0] = u(in[0]) < u(in[1]); }},
      {"setp.lt.u64 $0, $1, $2;", "p:dd", [](const u64* in, u64* out) { out[0] = in[0] < in[1]; }},
      {"setp.ge.u32 $0, $1, $2;", "p:rr", [](const u64* in, u64* out) { out[0] = u(in[0]) >= u(in[1]); }},
      {"setp.ge.u64 $0, $1, $2;", "p:dd", [](const u64* in, u64* out) { out[0] = in[0] >= in[1]; }},
      {"setp.gt.s32 $0, $1, $2;", "p:rr", [](const u64* in, u64* out) { out[0] = s(in[0]) > s(in[1]); }},
      {"setp.le.s64 $0, $1, $2;", "p:dd",
       [](const u64* in, u64* out) { out[0] = static_cast<s64>(in[0]) <= static_cast<s64>(in[1]); }},
      {"setp.lt.f32 $0, $1, $2;", "p:ff", [](const u64* in, u64* out) { out[0] = f32(in[0]) < f32(in[1]); }},
      {"setp.geu.f32 $0, $1, $2;", "p:ff", [](const u64* in, u64* out) { out[0] = !(f32(in[0]) < f32(in[1])); }},
      {"setp.nan.f64 $0, $1, $2;", "p:gg",
       [](const u64* in, u64* out) { out[0] = std::isnan(f64(in[0])) || std::isnan(f64(in[1])); }},
      {"setp.ne.f64 $0, $1, $2;", "p:gg",
       [](const u64* in, u64* out) {
         const double a = f64(in[0]), b = f64(in[1]);
         out[0] = a < b || a > b;
       }},
      {"setp.lt.and.u32 $0, $1, $2, $3;", "p:rrP",
       [](const u64* in, u64* out) { out[0] = u(in[0]) < u(in[1]) && in[2] != 0; }},
      {"setp.ne.xor.s32 $0, $1, $2, !$3;", "p:rrP",
       [](const u64* in, u64* out) { out[0] = (s(in[0]) != s(in[1])) != (in[2] == 0); }},
      {"setp.hi.u32 %q0|%q1, $2, $3; mov.pred $0, %q0; mov.pred $1, %q1;", "pp:rr",
       [](const u64* in, u64* out) {
         out[0] = u(in[0]) > u(in[1]);
         out[1] = !(u(in[0]) > u(in[1]));
       }},
      {"and.pred $0, $1, $2;", "p:PP", [](const u64* in, u64* out) { out[0] = in[0] & in[1]; }},
      {"or.pred $0, $1, $2;", "p:PP", [](const u64* in, u64* out) { out[0] = in[0] | in[1]; }},
      {"xor.pred $0, $1, $2;", "p:PP", [](const u64* in, u64* out) { out[0] = in[0] ^ in[1]; }},
      {"not.pred $0, $1;", "p:P", [](const u64* in, u64* out) { out[0] = in[0] ^ 1; }},
      {"mov.pred $0, $1;", "p:P", [](const u64* in, u64* out) { out[0] = in[0]; }},
      {"set.lt.u32.s32 $0, $1, $2;", "r:rr",
       [](const u64* in, u64* out) { out[0] = s(in[0]) < s(in[1]) ? ~u64{0} : 0; }},
  };
}

}  // namespace

const std::vector<Operation>& operations() {
  static const std::vector<Operation> table = [] {
    std::vector<Operation> all = plain_operations();
    const std::vector<Operation> packed = packed_operations();
    all.insert(all.end(), packed.begin(), packed.end());
    return all;
  }();
  return table;
}

}  // namespace regatta::test::differential
