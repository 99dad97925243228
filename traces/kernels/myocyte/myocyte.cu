// SPDX-License-Identifier: Apache-2.0
//
// Heart muscle cells: a system of 28 ordinary differential equations a cell, integrated with Fehlberg's method of
// orders 4 and 5 and steps of varying length. A thread integrates a cell; there are few of them. The membrane is that
// of Luo and Rudy (1991); calcium passes through three compartments, in each of which it binds to calmodulin, to what
// calmodulin activates, and to a buffer.
//
// The host launches `initial`, which makes initial states of numbers from 0 to 1, and `solve`. A cell's states lie next
// to each other; 0 is the voltage in mV, 1 to 6 are gates, 7 to 9 calcium in mM in the cytosol, in the dyad and under
// the membrane, 10 + 6 c to 15 + 6 c what it binds to in compartment c, in uM. Times are in ms.

namespace {
constexpr int threads = 32;
constexpr int states = 28;
constexpr int stages = 6;
constexpr int bound_states = 6;
constexpr int most_ticks = 64;  // of an interval, in which steps are 1, 2, 4, ... 64 ticks long
}  // namespace

// Not in the namespace: the names would depend on the folder.
__constant__ float myocyte_least[10] = {-80.0f, 0.002f, 0.7f, 0.7f, 0.003f, 0.9f, 0.01f, 1.0e-4f, 1.0e-4f, 1.0e-4f};
__constant__ float myocyte_most[10] = {-68.0f, 0.02f, 0.95f, 0.95f, 0.01f, 0.99f, 0.1f, 3.0e-4f, 9.0e-4f, 5.0e-4f};
__constant__ float myocyte_most_bound[bound_states] = {0.5f, 0.2f, 0.3f, 0.1f, 0.2f, 20.0f};

/// Initial states. A quarter of the cells is excited already: 10 to 30 mV.
extern "C" __global__ void myocyte_initial(const float* __restrict__ numbers, float* __restrict__ state, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float number = numbers[i];
  const int which = i % states;
  float value;
  if (which >= 10) {
    const float high = myocyte_most_bound[(which - 10) % bound_states];
    value = fmaf(number, 0.9f * high, 0.1f * high);
  } else if (which == 0 && number < 0.25f) {
    value = fmaf(number, 80.0f, 10.0f);
  } else {
    value = fmaf(number, myocyte_most[which] - myocyte_least[which], myocyte_least[which]);
  }
  state[i] = value;
}

namespace {
/// Rates of states 0 to 9, without the calcium that binds.
__device__ __forceinline__ void membrane(const float* y, float* rate, float stimulus) {
  const float v = y[0];
  const float m = y[1];
  const float h = y[2];
  const float j = y[3];
  const float d = y[4];
  const float f = y[5];
  const float x = y[6];
  const float cytosol = y[7];
  const float dyad = y[8];
  const float cleft = y[9];

  // Fast sodium.
  const float alpha_m = 0.32f * (v + 47.13f) / (1.0f - expf(-0.1f * (v + 47.13f)));
  const float beta_m = 0.08f * expf(-v / 11.0f);
  float alpha_h = 0.0f;
  float alpha_j = 0.0f;
  float beta_h;
  float beta_j;
  if (v >= -40.0f) {
    beta_h = 1.0f / (0.13f * (1.0f + expf((v + 10.66f) / -11.1f)));
    beta_j = 0.3f * expf(-2.535e-7f * v) / (1.0f + expf(-0.1f * (v + 32.0f)));
  } else {
    alpha_h = 0.135f * expf((80.0f + v) / -6.8f);
    beta_h = fmaf(3.56f, expf(0.079f * v), 3.1e5f * expf(0.35f * v));
    alpha_j = fmaf(-1.2714e5f, expf(0.2444f * v), -3.474e-5f * expf(-0.04391f * v)) * (v + 37.78f) /
              (1.0f + expf(0.311f * (v + 79.23f)));
    beta_j = 0.1212f * expf(-0.01052f * v) / (1.0f + expf(-0.1378f * (v + 40.14f)));
  }
  const float sodium = 23.0f * (m * m * m) * h * j * (v - 54.4f);

  // Slow inward: calcium, into the dyad.
  const float alpha_d = 0.095f * expf(-0.01f * (v - 5.0f)) / (1.0f + expf(-0.072f * (v - 5.0f)));
  const float beta_d = 0.07f * expf(-0.017f * (v + 44.0f)) / (1.0f + expf(0.05f * (v + 44.0f)));
  const float alpha_f = 0.012f * expf(-0.008f * (v + 28.0f)) / (1.0f + expf(0.15f * (v + 28.0f)));
  const float beta_f = 0.0065f * expf(-0.02f * (v + 30.0f)) / (1.0f + expf(-0.2f * (v + 30.0f)));
  const float calcium = 0.09f * d * f * (v - fmaf(-13.0287f, logf(dyad), 7.7f));

  // Potassium: delayed, inward rectifier, plateau.
  const float alpha_x = 0.0005f * expf(0.083f * (v + 50.0f)) / (1.0f + expf(0.057f * (v + 50.0f)));
  const float beta_x = 0.0013f * expf(-0.06f * (v + 20.0f)) / (1.0f + expf(-0.04f * (v + 20.0f)));
  const float delayed = 0.282f * x * 2.837f * (expf(0.04f * (v + 77.0f)) - 1.0f) / expf(0.04f * (v + 35.0f));
  const float over = v + 87.26f;
  const float alpha_k = 1.02f / (1.0f + expf(0.2385f * (over - 59.215f)));
  const float beta_k = fmaf(0.49124f, expf(0.08032f * (over + 5.476f)), expf(0.06175f * (over - 594.31f))) /
                       (1.0f + expf(-0.5143f * (over + 4.753f)));
  const float rectifier = 0.6047f * alpha_k / (alpha_k + beta_k) * over;
  const float plateau = 0.0183f * over / (1.0f + expf((7.488f - v) / 5.98f));
  const float background = 0.03921f * (v + 59.87f);

  rate[0] = stimulus - (((sodium + calcium) + (delayed + rectifier)) + (plateau + background));
  rate[1] = fmaf(alpha_m, 1.0f - m, -beta_m * m);
  rate[2] = fmaf(alpha_h, 1.0f - h, -beta_h * h);
  rate[3] = fmaf(alpha_j, 1.0f - j, -beta_j * j);
  rate[4] = fmaf(alpha_d, 1.0f - d, -beta_d * d);
  rate[5] = fmaf(alpha_f, 1.0f - f, -beta_f * f);
  rate[6] = fmaf(alpha_x, 1.0f - x, -beta_x * x);

  // Calcium spreads from the dyad to the space under the membrane and from there to the cytosol.
  const float out = 0.4f * (dyad - cleft);
  const float in = 0.1f * (cleft - cytosol);
  rate[7] = fmaf(0.07f, 1.0e-4f - cytosol, 0.05f * in);
  rate[8] = fmaf(-1.0e-4f, calcium, -out);
  rate[9] = fmaf(0.2f, out, -in);
}

/// Rates of what binds calcium in one compartment: calmodulin with two and with four ions, with four bound to its
/// kinase, that kinase phosphorylated, with four bound to calcineurin, and the buffer. Returns how fast they take up
/// calcium.
__device__ __forceinline__ float binding(const float* y, float* rate, float calcium) {
  constexpr float calmodulin = 6.0f;
  constexpr float kinase = 2.0f;
  constexpr float calcineurin = 1.0f;
  constexpr float buffer = 70.0f;
  const float two = y[0];
  const float four = y[1];
  const float active = y[2];
  const float phosphorylated = y[3];
  const float with_calcineurin = y[4];
  const float buffered = y[5];
  const float ca = 1000.0f * calcium;  // uM
  const float ca2 = ca * ca;

  const float taken = ((two + four) + (active + phosphorylated)) + with_calcineurin;
  const float first = fmaf(0.025f * ca2, calmodulin - taken, -0.05f * two);
  const float second = fmaf(0.4f * ca2, two, -0.5f * four);
  const float activation = fmaf(0.05f * four, kinase - active - phosphorylated, -0.02f * active);
  const float phosphorylation =
      0.06f * active * (active + phosphorylated) / kinase - 0.01f * phosphorylated / (0.5f + phosphorylated);
  const float pairing = fmaf(0.1f * four, calcineurin - with_calcineurin, -0.03f * with_calcineurin);
  const float buffering = fmaf(0.03f * ca, buffer - buffered, -0.02f * buffered);
  rate[0] = first - second;
  rate[1] = second - activation - pairing;
  rate[2] = activation - phosphorylation;
  rate[3] = phosphorylation;
  rate[4] = pairing;
  rate[5] = buffering;
  return fmaf(2.0f, first + second, buffering) / 1000.0f;
}

__device__ __forceinline__ void rates(const float* y, float* rate, float stimulus) {
  membrane(y, rate, stimulus);
  for (int compartment = 0; compartment < 3; ++compartment) {
    const int at = 10 + bound_states * compartment;
    // A hundredth of what binds: all of it would make the system stiff.
    rate[7 + compartment] -= 0.01f * binding(y + at, rate + at, y[7 + compartment]);
  }
}

/// The states from whose rates stage `stage` comes.
template <int stage>
__device__ __forceinline__ void advance(const float* y, const float* k, float* next, float h) {
  constexpr float fraction[stages][stages - 1] = {
      {},
      {1.0f / 4},
      {3.0f / 32, 9.0f / 32},
      {1932.0f / 2197, -7200.0f / 2197, 7296.0f / 2197},
      {439.0f / 216, -8.0f, 3680.0f / 513, -845.0f / 4104},
      {-8.0f / 27, 2.0f, -3544.0f / 2565, 1859.0f / 4104, -11.0f / 40},
  };
  for (int s = 0; s < states; ++s) {
    float sum = 0.0f;
#pragma unroll
    for (int before = 0; before < stage; ++before) sum = fmaf(fraction[stage][before], k[before * states + s], sum);
    next[s] = fmaf(h, sum, y[s]);
  }
}

/// The states after a step, and by how much, at most, those of the lower order are different, relative to a state.
__device__ __forceinline__ float finish(const float* y, const float* k, float* next, float h) {
  constexpr float order5[stages] = {16.0f / 135, 0.0f, 6656.0f / 12825, 28561.0f / 56430, -9.0f / 50, 2.0f / 55};
  constexpr float difference[stages] = {1.0f / 360, 0.0f, -128.0f / 4275, -2197.0f / 75240, 1.0f / 50, 2.0f / 55};
  float worst = 0.0f;
  for (int s = 0; s < states; ++s) {
    float sum = 0.0f;
    float error = 0.0f;
#pragma unroll
    for (int stage = 0; stage < stages; ++stage) {
      if (stage == 1) continue;
      sum = fmaf(order5[stage], k[stage * states + s], sum);
      error = fmaf(difference[stage], k[stage * states + s], error);
    }
    next[s] = fmaf(h, sum, y[s]);
    worst = fmaxf(worst, fabsf(h * error) / fmaxf(fabsf(y[s]), 1.0e-4f));
  }
  return worst;
}
}  // namespace

/// `intervals` times `interval` ms, each in one step at first; after a step whose error is more than `tolerance` times
/// a state, which is undone, the interval's steps are half as long. `trial` has the states of a stage, `slope` the
/// rates of all stages, `steps` how many steps each cell tried.
extern "C" __global__ void __launch_bounds__(threads)
    myocyte_solve(float* __restrict__ state, float* __restrict__ trial, float* __restrict__ slope,
                  int* __restrict__ steps, int cells, int intervals, float interval, float tolerance, float stimulus) {
  const int cell = blockIdx.x * threads + threadIdx.x;
  if (cell >= cells) return;
  float* y = state + cell * states;
  float* next = trial + cell * states;
  float* k = slope + cell * stages * states;
  int tried = 0;
  for (int i = 0; i < intervals; ++i) {
    int step = most_ticks;
    for (int tick = 0; tick < most_ticks;) {
      const float h = interval * (static_cast<float>(step) / most_ticks);
      for (int stage = 0; stage < stages; ++stage) {
        switch (stage) {
          case 0:
            advance<0>(y, k, next, h);
            break;
          case 1:
            advance<1>(y, k, next, h);
            break;
          case 2:
            advance<2>(y, k, next, h);
            break;
          case 3:
            advance<3>(y, k, next, h);
            break;
          case 4:
            advance<4>(y, k, next, h);
            break;
          default:
            advance<5>(y, k, next, h);
            break;
        }
        rates(next, k + stage * states, stimulus);
      }
      const float worst = finish(y, k, next, h);
      ++tried;
      if (worst > tolerance && step > 1) {
        step /= 2;
        continue;
      }
      for (int s = 0; s < states; ++s) y[s] = next[s];
      tick += step;
    }
  }
  steps[cell] = tried;
}
