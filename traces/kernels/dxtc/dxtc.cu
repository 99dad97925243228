// SPDX-License-Identifier: Apache-2.0
//
// Compresses a picture to DXT1: every block of 4 x 4 pixels becomes two colours of 16 bits and two bits a pixel, which
// select one of the colours or a mixture of them. A CTA of 64 threads makes a block: it orders the pixels along the
// line that fits their colours best, then tries all ways to divide them, in this order, into four groups (969 ways) or
// three (153), each with its best pair of colours, and takes the way of the least error.
//
// The host launches `permutations`, which lists the ways, and `blocks`, which makes pixels of 32 bits from the planes
// of the picture and puts each block's together, then `dxtc`.

namespace {
constexpr int threads = 64;
constexpr int pixels = 16;  // of a block
constexpr int power_steps = 8;
constexpr float no_error = 3.0e38f;

/// The codes of 16 ordered pixels, two bits each, the first lowest.
__device__ __forceinline__ unsigned codes(int zeros, int twos, int threes) {
  unsigned bits = 0;
  for (int i = 0; i < pixels; ++i) {
    const unsigned code = i < zeros ? 0u : i < zeros + twos ? 2u : i < zeros + twos + threes ? 3u : 1u;
    bits |= code << (2 * i);
  }
  return bits;
}
}  // namespace

/// Every `stride`-th way to divide 16 ordered pixels: `four` of four groups, which have codes 0, 2, 3 and 1 in this
/// order, then `three` of three, with codes 0, 2 and 1.
extern "C" __global__ void dxtc_permutations(unsigned* __restrict__ permutations, int four, int three, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= four + three) return;
  int rank = (i < four ? i : i - four) * stride;
  int rest = pixels;
  int zeros = 0;
  if (i < four) {
    for (int ways = (rest + 1) * (rest + 2) / 2; rank >= ways; ways = (rest + 1) * (rest + 2) / 2) {
      rank -= ways;
      --rest;
      ++zeros;
    }
  }
  int twos = 0;
  while (rank > rest) {
    rank -= rest + 1;
    --rest;
    ++twos;
  }
  permutations[i] = i < four ? codes(zeros, twos, rank) : codes(twos, rank, 0);
}

/// Pixels with red in the lowest byte, block by block.
extern "C" __global__ void dxtc_blocks(const unsigned char* __restrict__ red, const unsigned char* __restrict__ green,
                                       const unsigned char* __restrict__ blue, unsigned* __restrict__ image, int width,
                                       int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int at = y * width + x;
  const int block = y / 4 * (width / 4) + x / 4;
  image[block * pixels + y % 4 * 4 + x % 4] = red[at] | green[at] << 8 | blue[at] << 16;
}

namespace {
__device__ __forceinline__ float dot(float3 a, float3 b) { return fmaf(a.x, b.x, fmaf(a.y, b.y, a.z * b.z)); }

/// How far the two colours, the sums of whose weights' squares and products are given, are from 16 pixels; less the sum
/// of these pixels' squares, which is the same for all ways.
__device__ __forceinline__ float channel_error(float a, float b, float alpha2, float beta2, float alphabeta,
                                               float alphax, float betax) {
  const float mixed = fmaf(a * b, alphabeta, -fmaf(a, alphax, b * betax));
  return fmaf(a * a, alpha2, fmaf(b * b, beta2, 2.0f * mixed));
}

__device__ __forceinline__ float quantised(float value, float levels) {
  return rintf(fminf(fmaxf(value, 0.0f), 1.0f) * levels);
}

struct Colours {
  float3 a, b;  // in levels: 0 to 31, 63 and 31
};

/// The best two colours for a way to divide the pixels, and their error. Mixtures are thirds or, of three groups,
/// halves.
__device__ __forceinline__ float evaluate(const float3* sorted, unsigned permutation, bool halves, Colours& best) {
  float alpha2 = 0.0f;
  float beta2 = 0.0f;
  float alphabeta = 0.0f;
  float3 alphax = make_float3(0.0f, 0.0f, 0.0f);
  float3 betax = alphax;
  for (int i = 0; i < pixels; ++i) {
    const unsigned code = permutation >> (2 * i);
    float beta = static_cast<float>(code & 1u);
    if ((code & 2u) != 0) beta = halves ? 0.5f : (1.0f + beta) / 3.0f;
    const float alpha = 1.0f - beta;
    alpha2 = fmaf(alpha, alpha, alpha2);
    beta2 = fmaf(beta, beta, beta2);
    alphabeta = fmaf(alpha, beta, alphabeta);
    const float3 colour = sorted[i];
    alphax.x = fmaf(alpha, colour.x, alphax.x);
    alphax.y = fmaf(alpha, colour.y, alphax.y);
    alphax.z = fmaf(alpha, colour.z, alphax.z);
    betax.x = fmaf(beta, colour.x, betax.x);
    betax.y = fmaf(beta, colour.y, betax.y);
    betax.z = fmaf(beta, colour.z, betax.z);
  }
  const float determinant = fmaf(alpha2, beta2, -(alphabeta * alphabeta));
  // All pixels in one group: no two colours are best.
  if (fabsf(determinant) < 0.01f) return no_error;
  const float factor = 1.0f / determinant;
  best.a.x = quantised(fmaf(alphax.x, beta2, -(betax.x * alphabeta)) * factor, 31.0f);
  best.a.y = quantised(fmaf(alphax.y, beta2, -(betax.y * alphabeta)) * factor, 63.0f);
  best.a.z = quantised(fmaf(alphax.z, beta2, -(betax.z * alphabeta)) * factor, 31.0f);
  best.b.x = quantised(fmaf(betax.x, alpha2, -(alphax.x * alphabeta)) * factor, 31.0f);
  best.b.y = quantised(fmaf(betax.y, alpha2, -(alphax.y * alphabeta)) * factor, 63.0f);
  best.b.z = quantised(fmaf(betax.z, alpha2, -(alphax.z * alphabeta)) * factor, 31.0f);
  const float red = channel_error(best.a.x / 31.0f, best.b.x / 31.0f, alpha2, beta2, alphabeta, alphax.x, betax.x);
  const float green = channel_error(best.a.y / 63.0f, best.b.y / 63.0f, alpha2, beta2, alphabeta, alphax.y, betax.y);
  const float blue = channel_error(best.a.z / 31.0f, best.b.z / 31.0f, alpha2, beta2, alphabeta, alphax.z, betax.z);
  return red + green + blue;
}

__device__ __forceinline__ unsigned packed(float3 colour) {
  return static_cast<unsigned>(colour.x) << 11 | static_cast<unsigned>(colour.y) << 5 | static_cast<unsigned>(colour.z);
}
}  // namespace

extern "C" __global__ void __launch_bounds__(threads)
    dxtc(const unsigned* __restrict__ image, const unsigned* __restrict__ permutations, uint2* __restrict__ result,
         int four, int three) {
  __shared__ float3 colours[pixels];
  __shared__ float3 sorted[pixels];
  __shared__ float covariance[6][pixels];
  __shared__ float along[pixels];
  __shared__ int ranks[pixels];
  __shared__ float errors[threads];
  __shared__ int choices[threads];
  const int t = threadIdx.x;

  if (t < pixels) {
    const unsigned pixel = image[blockIdx.x * pixels + t];
    const float3 colour =
        make_float3(static_cast<float>(pixel & 255u) / 255.0f, static_cast<float>(pixel >> 8 & 255u) / 255.0f,
                    static_cast<float>(pixel >> 16 & 255u) / 255.0f);
    colours[t] = colour;
    sorted[t] = colour;
  }

  // Their mean, then how they vary about it.
#pragma unroll
  for (int half = pixels / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) {
      sorted[t].x += sorted[t + half].x;
      sorted[t].y += sorted[t + half].y;
      sorted[t].z += sorted[t + half].z;
    }
  }
  __syncthreads();
  if (t < pixels) {
    const float3 mean = sorted[0];
    const float3 d =
        make_float3(colours[t].x - mean.x / 16.0f, colours[t].y - mean.y / 16.0f, colours[t].z - mean.z / 16.0f);
    covariance[0][t] = d.x * d.x;
    covariance[1][t] = d.x * d.y;
    covariance[2][t] = d.x * d.z;
    covariance[3][t] = d.y * d.y;
    covariance[4][t] = d.y * d.z;
    covariance[5][t] = d.z * d.z;
  }
#pragma unroll
  for (int half = pixels / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < 6 * half) covariance[t / half][t % half] += covariance[t / half][t % half + half];
  }
  __syncthreads();

  // The direction in which they vary most: the power method.
  float3 axis = make_float3(1.0f, 1.0f, 1.0f);
  const float xx = covariance[0][0];
  const float xy = covariance[1][0];
  const float xz = covariance[2][0];
  const float yy = covariance[3][0];
  const float yz = covariance[4][0];
  const float zz = covariance[5][0];
  for (int step = 0; step < power_steps; ++step) {
    const float3 v = make_float3(dot(axis, make_float3(xx, xy, xz)), dot(axis, make_float3(xy, yy, yz)),
                                 dot(axis, make_float3(xz, yz, zz)));
    const float most = fmaxf(fabsf(v.x), fmaxf(fabsf(v.y), fabsf(v.z)));
    if (most > 0.0f) axis = make_float3(v.x / most, v.y / most, v.z / most);
  }

  // Their order along it.
  if (t < pixels) along[t] = dot(colours[t], axis);
  __syncthreads();
  if (t < pixels) {
    int rank = 0;
    for (int i = 0; i < pixels; ++i) rank += along[i] < along[t] || (along[i] == along[t] && i < t);
    ranks[t] = rank;
    sorted[rank] = colours[t];
  }
  __syncthreads();

  float least = no_error;
  int choice = 0;
  Colours ends{};
  for (int i = t; i < four + three; i += threads) {
    Colours here{};
    const float error = evaluate(sorted, permutations[i], i >= four, here);
    if (error < least) {
      least = error;
      choice = i;
      ends = here;
    }
  }
  errors[t] = least;
  choices[t] = choice;
#pragma unroll
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) {
      const float other = errors[t + half];
      if (other < errors[t] || (other == errors[t] && choices[t + half] < choices[t])) {
        errors[t] = other;
        choices[t] = choices[t + half];
      }
    }
  }
  __syncthreads();

  // Whoever tried the best way stores it. Thirds are what a block means whose first colour is the greater number.
  if (t != choices[0] % threads) return;
  unsigned first = packed(ends.a);
  unsigned second = packed(ends.b);
  const bool thirds = choice < four;
  const unsigned permutation = permutations[choice];
  unsigned bits = 0;
  for (int i = 0; i < pixels; ++i) bits |= (permutation >> (2 * ranks[i]) & 3u) << (2 * i);
  if (first == second) {
    bits = 0;
  } else if ((first > second) != thirds) {
    const unsigned other = first;
    first = second;
    second = other;
    // Codes 0 and 1 change places, and so do 2 and 3 if there are thirds.
    bits ^= thirds ? 0x55555555u : 0x55555555u & ~(bits >> 1);
  }
  result[blockIdx.x] = make_uint2(second << 16 | first, bits);
}
