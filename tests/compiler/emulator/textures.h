// SPDX-License-Identifier: Apache-2.0
//
// References for textures: the formulas of the CUDA programming guide (texture fetching), one texel at a time, over an
// image that is a function of the place.
#pragma once

#include "harness.h"

#include <array>
#include <cmath>
#include <functional>

namespace regatta::test {

/// An image of floats: what channel `c` of texel (x, y, z) is.
struct Image {
  std::int64_t size[3] = {1, 1, 1};
  unsigned dimensions = 1;
  std::function<double(std::int64_t, std::int64_t, std::int64_t, unsigned)> texel;
};

/// T[index], with the address mode of the guide for one axis. False: the border.
inline bool addressed(std::int64_t& i, std::int64_t n, emulator::AddressMode mode) {
  if (mode == emulator::AddressMode::border) return i >= 0 && i < n;
  if (mode == emulator::AddressMode::wrap) i = ((i % n) + n) % n;
  i = i < 0 ? 0 : i >= n ? n - 1 : i;
  return true;
}

/// x of the guide: N * x of normalized coordinates, after frac() for wrap and its mirror image.
inline double guide_coordinate(float given, std::int64_t n, const emulator::Sampler& s, unsigned axis) {
  double x = given;
  if (!s.normalized_coordinates) return x;
  const double frac = x - std::floor(x);
  if (s.address[axis] == emulator::AddressMode::wrap) x = frac;
  if (s.address[axis] == emulator::AddressMode::mirror)
    x = std::fmod(std::abs(std::floor(x)), 2.0) == 0 ? frac : 1 - frac;
  return x * static_cast<double>(n);
}

inline float reference_fetch(const Image& image, const emulator::Sampler& s, const std::array<float, 3>& at,
                             unsigned channel) {
  const bool linear = s.filter == emulator::FilterMode::linear;
  std::int64_t low[3] = {0, 0, 0};
  int weight[3] = {0, 0, 0};  // of the upper texel, of 256
  for (unsigned d = 0; d < image.dimensions; ++d) {
    const double x = guide_coordinate(at[d], image.size[d], s, d);
    const double b = linear ? x - 0.5 : x;
    low[d] = static_cast<std::int64_t>(std::floor(std::fmax(-1e15, std::fmin(b, 1e15))));
    if (linear) weight[d] = static_cast<int>(std::floor((b - std::floor(b)) * 256 + 0.5));
  }
  long double sum = 0;
  for (unsigned corner = 0; corner < (linear ? 1u << image.dimensions : 1u); ++corner) {
    std::int64_t index[3] = {0, 0, 0};
    long double part = 1;
    bool inside = true;
    for (unsigned d = 0; d < image.dimensions; ++d) {
      const bool upper = (corner >> d & 1) != 0;
      index[d] = low[d] + (upper ? 1 : 0);
      part *= (upper ? weight[d] : 256 - weight[d]) / 256.0L;
      emulator::AddressMode mode = s.address[d];
      if (!s.normalized_coordinates && mode != emulator::AddressMode::border) mode = emulator::AddressMode::clamp;
      if (s.normalized_coordinates && mode == emulator::AddressMode::mirror) mode = emulator::AddressMode::clamp;
      inside = addressed(index[d], image.size[d], mode) && inside;
    }
    if (!linear) part = 1;
    const double texel =
        inside ? image.texel(index[0], index[1], index[2], channel) : static_cast<double>(s.border[channel]);
    if (part != 0) sum += part * texel;
  }
  return static_cast<float>(sum);
}

/// A kernel that fetches: out[4 i ...] = the texture at (x[i], y[i], z[i]), `layer` of thread i being i % 8.
/// `form` is "tex.2d.v4.f32.f32"; coordinates are read as bits.
inline std::string fetch_kernel(const std::string& form, const std::string& tail = "") {
  const bool layered = form.find(".a1d") != std::string::npos || form.find(".a2d") != std::string::npos;
  const char d = form[form.find("d.v4") - 1];
  std::string place = layered ? "%r9, " : "";
  place += d == '1' ? "%r5" : d == '2' ? "%r5, %r6" : "%r5, %r6, %r7, %r7";
  if (layered && d == '2') place += ", %r6";
  return module_text(
      ".param .u64 t, .param .u64 x, .param .u64 y, .param .u64 z, .param .u64 out",
      ".reg .b64 %d<20>; .reg .b32 %r<20>; .reg .f32 %f<9>;\n"
      "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;\n"
      "mul.wide.u32 %d1, %r4, 4; and.b32 %r9, %r4, 7;\n"
      "ld.param.u64 %d2, [x]; add.u64 %d2, %d2, %d1; ld.global.b32 %r5, [%d2];\n"
      "ld.param.u64 %d2, [y]; add.u64 %d2, %d2, %d1; ld.global.b32 %r6, [%d2];\n"
      "ld.param.u64 %d2, [z]; add.u64 %d2, %d2, %d1; ld.global.b32 %r7, [%d2];\n"
      "ld.param.u64 %d3, [t]; ld.param.u64 %d4, [out]; mul.wide.u32 %d5, %r4, 16; add.u64 %d4, %d4, %d5;\n" +
          form + " {%r10, %r11, %r12, %r13}, [%d3, {" + place + "}]" + tail +
          ";\nst.global.v4.b32 [%d4], {%r10, %r11, %r12, %r13};\nret;\n");
}

}  // namespace regatta::test
