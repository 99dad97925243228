// SPDX-License-Identifier: Apache-2.0
//
// Coordinates are exact: an f32 times a size, and what becomes of it, fits a double. A weight is rounded to 1/256, half
// up, which the guide calls nine bits with eight of fraction (1 can be one). A filtered value is the sum of texels
// times weights, exact in a double for texels of similar size, and rounded to f32 once.
#include "sampling.h"

#include <regatta/ir/half.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace regatta::emulator {
namespace {

constexpr std::int64_t outside = -1;
/// Beyond all sizes, and within what a double and an int64 hold exactly.
constexpr double farthest = 1099511627776.0;
constexpr int one = 256;  ///< weights are multiples of 1/256

float as_float(std::uint32_t bits) {
  float f = 0;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}
std::uint32_t bits_of(float f) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &f, sizeof bits);
  return bits;
}

/// Where an axis is read: texels `index` with `weight` (of 256), one of them or two. `outside`: the border.
struct AxisTexels {
  unsigned count = 1;
  std::int64_t index[2] = {0, 0};
  int weight[2] = {one, 0};
};

/// A coordinate in texels, wrapped or mirrored into the image.
double position(double coordinate, std::uint32_t size, AddressMode mode, bool normalized) {
  double x = coordinate;
  if (std::isnan(x)) x = 0;
  if (normalized) {
    const double whole = std::floor(x);
    const bool can_wrap = std::isfinite(x);
    if (mode == AddressMode::wrap) {
      x = can_wrap ? x - whole : 0;
    } else if (mode == AddressMode::mirror) {
      const double part = can_wrap ? x - whole : 0;
      x = can_wrap && std::fmod(whole, 2) != 0 ? 1 - part : part;
    }
    x *= size;
  }
  return std::clamp(x, -farthest, farthest);
}

std::int64_t addressed(std::int64_t i, std::int64_t size, AddressMode mode) {
  if (i >= 0 && i < size) return i;
  switch (mode) {
    case AddressMode::border:
      return outside;
    case AddressMode::wrap:
      return (i % size + size) % size;
    default:
      return i < 0 ? 0 : size - 1;
  }
}

AxisTexels point_axis(double x, std::uint32_t size, AddressMode mode) {
  AxisTexels a;
  a.index[0] = addressed(static_cast<std::int64_t>(std::floor(x)), size, mode);
  return a;
}

AxisTexels linear_axis(double x, std::uint32_t size, AddressMode mode) {
  AxisTexels a;
  const double lower = std::floor(x - 0.5);
  const auto i = static_cast<std::int64_t>(lower);
  const int weight = static_cast<int>(std::floor((x - 0.5 - lower) * one + 0.5));
  a.count = 2;
  a.index[0] = addressed(i, size, mode);
  a.index[1] = addressed(i + 1, size, mode);
  a.weight[0] = one - weight;
  a.weight[1] = weight;
  return a;
}

std::uint32_t raw_channel(const TexelFormat& f, const std::uint8_t* texel, unsigned channel) {
  std::uint32_t raw = 0;
  std::memcpy(&raw, texel + std::size_t{channel} * f.bits / 8, f.bits / 8u);
  if (f.kind != ChannelKind::signed_integer || f.bits == 32) return raw;
  const unsigned shift = 32u - f.bits;
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(raw << shift) >> shift);
}

/// The bits that a fetch without a filter returns.
std::uint32_t converted(const TextureView& v, std::uint32_t raw) {
  const TexelFormat& f = v.shape.format;
  if (f.kind == ChannelKind::floating) {
    return f.bits == 32 ? raw : bits_of(static_cast<float>(ir::small_to_double<ir::Binary16>(raw)));
  }
  if (v.sampler.read == ReadMode::element) return raw;
  const bool is_signed = f.kind == ChannelKind::signed_integer;
  const auto most = static_cast<float>((1u << (f.bits - (is_signed ? 1u : 0u))) - 1);
  if (!is_signed) return bits_of(static_cast<float>(raw) / most);
  return bits_of(std::max(static_cast<float>(static_cast<std::int32_t>(raw)) / most, -1.0f));
}

std::uint32_t border_bits(const TextureView& v, unsigned channel) {
  const float colour = v.sampler.border[channel];
  const TexelFormat& f = v.shape.format;
  if (f.kind == ChannelKind::floating || v.sampler.read == ReadMode::normalized_float) return bits_of(colour);
  if (std::isnan(colour)) return 0;
  const double whole = std::clamp(static_cast<double>(colour), -2147483648.0, 4294967295.0);
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(whole));
}

class Fetch {
 public:
  Fetch(const TextureView& view, const TexelMemory& memory, const TextureCoordinates& at, Fetched& out)
      : v_(view), memory_(memory), at_(at), out_(out) {
    out_ = Fetched();
  }

  /// Notes a texel; nullptr if it is the border.
  const std::uint8_t* texel(const std::int64_t* index, bool counts) {
    std::uint64_t& address = out_.address[out_.texels++];
    for (unsigned d = 0; d < 3; ++d) {
      if (index[d] == outside) return nullptr;
    }
    const unsigned bytes = v_.shape.format.bytes();
    const auto z = static_cast<std::uint64_t>(v_.shape.layers != 0 ? layer() : index[2]);
    address = v_.layout.address(static_cast<std::uint64_t>(index[0]) * bytes, static_cast<std::uint64_t>(index[1]), z);
    const std::uint64_t offset = address - memory_.base;
    if (counts && memory_.written != nullptr && std::memchr(memory_.written + offset, 0, bytes) != nullptr) {
      out_.uninitialised = address;
    }
    return memory_.data + offset;
  }

  void one_texel(const std::int64_t* index) {
    const std::uint8_t* const found = texel(index, true);
    for (unsigned c = 0; c < v_.shape.format.channels; ++c) {
      out_.result[c] = found != nullptr ? converted(v_, raw_channel(v_.shape.format, found, c)) : border_bits(v_, c);
    }
  }

  void integer() {
    std::int64_t index[3] = {0, 0, 0};
    for (unsigned d = 0; d < v_.shape.dimensions(); ++d) {
      const AddressMode mode =
          v_.is_linear || v_.sampler.address[d] == AddressMode::border ? AddressMode::border : AddressMode::clamp;
      index[d] = addressed(static_cast<std::int32_t>(at_.value[d]), size(d), mode);
    }
    one_texel(index);
  }

  void point() {
    std::int64_t index[3] = {0, 0, 0};
    for (unsigned d = 0; d < v_.shape.dimensions(); ++d) {
      index[d] = point_axis(along(d), size(d), v_.sampler.address[d]).index[0];
    }
    one_texel(index);
  }

  void linear() {
    AxisTexels axis[3];
    for (unsigned d = 0; d < v_.shape.dimensions(); ++d)
      axis[d] = linear_axis(along(d), size(d), v_.sampler.address[d]);
    const unsigned channels = v_.shape.format.channels;
    double sum[4] = {0, 0, 0, 0};
    for (unsigned z = 0; z < axis[2].count; ++z) {
      for (unsigned y = 0; y < axis[1].count; ++y) {
        for (unsigned x = 0; x < axis[0].count; ++x) {
          const std::int64_t index[3] = {axis[0].index[x], axis[1].index[y], axis[2].index[z]};
          const double weight = axis[0].weight[x] / 256.0 * (axis[1].weight[y] / 256.0) * (axis[2].weight[z] / 256.0);
          const std::uint8_t* const found = texel(index, weight != 0);
          if (weight == 0) continue;  // so that an infinity beside the place does not count
          for (unsigned c = 0; c < channels; ++c) {
            const std::uint32_t bits =
                found != nullptr ? converted(v_, raw_channel(v_.shape.format, found, c)) : border_bits(v_, c);
            sum[c] += weight * as_float(bits);
          }
        }
      }
    }
    for (unsigned c = 0; c < channels; ++c) out_.result[c] = bits_of(static_cast<float>(sum[c]));
  }

  void gather(unsigned channel) {
    const AxisTexels x = linear_axis(along(0), size(0), v_.sampler.address[0]);
    const AxisTexels y = linear_axis(along(1), size(1), v_.sampler.address[1]);
    static constexpr unsigned order[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    for (unsigned n = 0; n < 4; ++n) {
      const std::int64_t index[3] = {x.index[order[n][0]], y.index[order[n][1]], 0};
      const std::uint8_t* const found = texel(index, true);
      if (channel >= v_.shape.format.channels) continue;
      out_.result[n] =
          found != nullptr ? converted(v_, raw_channel(v_.shape.format, found, channel)) : border_bits(v_, channel);
    }
  }

 private:
  std::uint32_t size(unsigned d) const { return d == 0 ? v_.shape.width : d == 1 ? v_.shape.height : v_.shape.depth; }
  double along(unsigned d) const {
    if (at_.is_exact) return position(at_.exact[d], size(d), v_.sampler.address[d], true);
    return position(as_float(at_.value[d]), size(d), v_.sampler.address[d], v_.sampler.normalized_coordinates);
  }
  std::int64_t layer() const { return std::clamp<std::int64_t>(at_.layer, 0, std::int64_t{v_.shape.layers} - 1); }

  const TextureView& v_;
  const TexelMemory& memory_;
  const TextureCoordinates& at_;
  Fetched& out_;
};

}  // namespace

TextureCoordinates on_face(const TextureCoordinates& direction) {
  const double x = as_float(direction.value[0]), y = as_float(direction.value[1]), z = as_float(direction.value[2]);
  const double ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  // The guide leaves open which of two equal axes counts: z before y before x.
  const bool along_z = az >= ax && az >= ay, along_y = !along_z && ay >= ax;
  const double m = along_z ? z : along_y ? y : x;
  const bool negative = m < 0;
  const double s = along_z ? (negative ? -x : x) : along_y ? x : negative ? z : -z;
  const double t = along_y ? (negative ? -z : z) : -y;
  TextureCoordinates at;
  at.layer = (along_z ? 4 : along_y ? 2 : 0) + (negative ? 1 : 0);
  at.is_exact = true;
  const double length = std::fabs(m);
  at.exact = {(s / length + 1) / 2, (t / length + 1) / 2};
  return at;
}

void fetch_texel(const TextureView& view, const TexelMemory& memory, const TextureCoordinates& at, Fetched& out) {
  Fetch fetch(view, memory, at, out);
  if (at.is_integer) {
    fetch.integer();
  } else if (view.sampler.filter == FilterMode::linear) {
    fetch.linear();
  } else {
    fetch.point();
  }
}

void gather_texels(const TextureView& view, const TexelMemory& memory, const TextureCoordinates& at, unsigned channel,
                   Fetched& out) {
  Fetch(view, memory, at, out).gather(channel);
}

}  // namespace regatta::emulator
