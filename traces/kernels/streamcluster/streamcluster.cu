// SPDX-License-Identifier: Apache-2.0
//
// Stream clustering: what would be saved if a candidate point became a centre (the gain function of the facility
// location heuristic in Rodinia's and PARSEC's streamcluster). The host launches pack once, then gain for every
// candidate. It adds up `savings` over the points and decides from the sums whether to open the candidate and which
// centres to close. Coordinates lie one dimension of all points after the other.
//
// `savings` has a row of stride elements per point: element c is what the point saves if centre c is closed (its
// present cost less that to the candidate, a negative number that the candidate's other savings must outweigh), element
// `centres` what it saves by changing to the candidate.

namespace {
constexpr int threads = 512;

struct Point {
  float weight;
  const float* coordinates;
  long long centre;  ///< the point that it belongs to
  float cost;        ///< weight times squared distance to the centre
};
}  // namespace

/// What the host has before the first candidate. Every `spacing`-th point is a centre; `number` says to which of them a
/// point belongs. centre_table has the numbers of the points that are centres.
extern "C" __global__ void streamcluster_pack(const float* __restrict__ weight, const int* __restrict__ number,
                                              const float* __restrict__ cost, const float* __restrict__ coordinates,
                                              Point* __restrict__ point, int* __restrict__ centre_table, int points,
                                              int spacing) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= points) return;
  point[i].weight = weight[i];
  point[i].coordinates = coordinates + i;
  point[i].centre = number[i] * spacing;
  point[i].cost = cost[i];
  centre_table[i] = i % spacing == 0 ? i / spacing : 0;
}

extern "C" __global__ void __launch_bounds__(threads)
    streamcluster_gain(int points, int dimensions, int centres, int stride, const Point* __restrict__ point,
                       const float* __restrict__ coordinates, const int* __restrict__ centre_table,
                       float* __restrict__ savings, unsigned char* __restrict__ changes, int candidate) {
  extern __shared__ float candidate_coordinates[];
  const int cta = blockIdx.x + gridDim.x * blockIdx.y;
  const int i = blockDim.x * cta + threadIdx.x;

  for (int d = threadIdx.x; d < dimensions; d += blockDim.x)
    candidate_coordinates[d] = coordinates[d * points + candidate];
  __syncthreads();
  if (i >= points) return;

  float candidate_cost = 0.0f;
  for (int d = 0; d < dimensions; ++d) {
    const float difference = coordinates[d * points + i] - candidate_coordinates[d];
    candidate_cost = fmaf(difference, difference, candidate_cost);
  }
  candidate_cost *= point[i].weight;

  float* const row = savings + i * stride;
  if (candidate_cost < point[i].cost) {
    changes[i] = '1';
    row[centres] += candidate_cost - point[i].cost;
  } else {
    row[centre_table[point[i].centre]] += point[i].cost - candidate_cost;
  }
}
