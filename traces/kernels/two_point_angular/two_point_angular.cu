// SPDX-License-Identifier: Apache-2.0
//
// Two-point angular correlation: how many pairs of objects of the sky are how far apart, for one set of observed
// objects and `sets` sets of random ones. Angles are in 20 bins, five to a factor of ten, from 1 to 10,000 minutes of
// arc. The host launches two_point_angular_directions for the observed set and for the random sets, then
// two_point_angular once with 1 + 2 * sets CTAs: one for the pairs inside each set, one for the pairs of the observed
// and each random set.

namespace {
constexpr int threads = 256;
constexpr int bins = 20;
// Two threads share a histogram, so that most increments find no other.
constexpr int threads_per_histogram = 2;
constexpr int histograms = threads / threads_per_histogram;
constexpr int group = 32;  // threads that share 16 histograms, each with the one 16 further on

struct Direction {
  float x, y, z;
};
}  // namespace

/// Cosines of the angles between bins: cos(10^(k / 5) / 60 degrees). They descend; bin k is between edges k and k + 1.
__constant__ float edges[bins + 1] = {
    0.99999994f,  0.999999881f, 0.999999762f, 0.999999344f, 0.999998331f, 0.999995768f,  0.99998939f,
    0.999973297f, 0.999932945f, 0.999831557f, 0.999576926f, 0.998937488f, 0.997331738f,  0.993302107f,
    0.983204126f, 0.957989514f, 0.895596206f, 0.744722009f, 0.401129454f, -0.261507958f, -0.973044872f};

/// Projects points in space onto the unit sphere. Point i becomes direction first + i.
extern "C" __global__ void two_point_angular_directions(const float* __restrict__ points, float* __restrict__ x,
                                                        float* __restrict__ y, float* __restrict__ z, int count,
                                                        int first) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const Direction p = {points[3 * i], points[3 * i + 1], points[3 * i + 2]};
  const float length = sqrtf(fmaf(p.x, p.x, fmaf(p.y, p.y, p.z * p.z)));
  x[first + i] = p.x / length;
  y[first + i] = p.y / length;
  z[first + i] = p.z / length;
}

/// Set 0 is the observed one. Every CTA writes its own histogram: CTA 0 of the pairs inside the observed set, CTAs 1 to
/// `sets` of those inside each random set, the others of those between the observed and each random set.
extern "C" __global__ void __launch_bounds__(threads)
    two_point_angular(const float* __restrict__ x, const float* __restrict__ y, const float* __restrict__ z,
                      unsigned* __restrict__ result, int sets, int elements) {
  __shared__ unsigned counts[bins][histograms];
  __shared__ Direction tile[threads];

  const int thread = threadIdx.x;
  const int histogram = thread / group * (group / threads_per_histogram) + thread % (group / threads_per_histogram);
  const int cta = blockIdx.x;
  const bool inside = cta <= sets;
  const int tile_set = (inside ? cta : 0) * elements;
  const int other_set = (inside ? cta : cta - sets) * elements;

  for (int i = thread; i < bins * histograms; i += threads) counts[i / histograms][i % histograms] = 0;

  for (int first = 0; first < elements; first += threads) {
    if (first + thread < elements) {
      const int i = tile_set + first + thread;
      tile[thread] = {x[i], y[i], z[i]};
    }
    __syncthreads();
    const int tile_size = min(threads, elements - first);
    // Inside a set a pair counts once: its second object comes after its first.
    for (int other = (inside ? first : 0) + thread; other < elements; other += threads) {
      const Direction mine = {x[other_set + other], y[other_set + other], z[other_set + other]};
      for (int k = 0; k < tile_size; ++k) {
        if (inside && other <= first + k) break;
        const float cosine = fmaf(mine.x, tile[k].x, fmaf(mine.y, tile[k].y, mine.z * tile[k].z));
        if (cosine >= edges[0] || cosine < edges[bins]) continue;
        int bin = 0;
        int end = bins;
        while (end > bin + 1) {
          const int middle = (bin + end) / 2;
          if (cosine >= edges[middle]) {
            end = middle;
          } else {
            bin = middle;
          }
        }
        atomicAdd(&counts[bin][histogram], 1u);
      }
    }
    __syncthreads();
  }

  for (int half = histograms / 2; half > 0; half /= 2) {
    if (thread < half) {
      for (int bin = 0; bin < bins; ++bin) counts[bin][thread] += counts[bin][thread + half];
    }
    __syncthreads();
  }
  if (thread < bins) result[cta * bins + thread] = counts[thread][0];
}
