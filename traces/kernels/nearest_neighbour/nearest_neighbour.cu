// SPDX-License-Identifier: Apache-2.0
//
// The distances of many records, each a latitude and a longitude, from one place (as in Rodinia's nn). The host picks
// the nearest records. The grid may have rows of CTAs, and CTAs beyond the last record.

struct Location {
  float latitude, longitude;
};

extern "C" __global__ void nearest_neighbour(const Location* __restrict__ location, float* __restrict__ distance,
                                             int records, float latitude, float longitude) {
  const int record = blockDim.x * (gridDim.x * blockIdx.y + blockIdx.x) + threadIdx.x;
  if (record < records) {
    const Location here = location[record];
    const float north = latitude - here.latitude;
    const float east = longitude - here.longitude;
    distance[record] = sqrtf(fmaf(north, north, east * east));
  }
}
