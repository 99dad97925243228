// SPDX-License-Identifier: Apache-2.0
// Source of mix.*.ptx: one kernel per kind of code. nvcc -ptx -arch=sm_75 -O3 [-use_fast_math -lineinfo] mix.cu
extern "C" {
__constant__ float filt[64];
__device__ int counter = 3;
__device__ int* ptr = &counter;
__device__ __noinline__ int helper(int a, int b) { return a * b + (a ^ b) % 7; }
struct S {
  int a;
  float b;
  double c;
};
__global__ void hist(const unsigned char* in, unsigned* out, int n) {
  __shared__ unsigned h[256];
  h[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&h[in[i]], 1u);
  __syncthreads();
  atomicAdd(&out[threadIdx.x], h[threadIdx.x]);
}
__global__ void red(const float* in, float* out, int n) {
  extern __shared__ float sm[];
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += in[i];
  for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
  if (threadIdx.x % 32 == 0) sm[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < blockDim.x / 32 ? sm[threadIdx.x] : 0;
    for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
    if (!threadIdx.x) out[blockIdx.x] = v;
  }
}
__device__ float cnd(float d) {
  float K = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float c = 0.39894228f * expf(-0.5f * d * d) * (K * (0.31938153f + K * (-0.356563782f + K * 1.781477937f)));
  return d > 0 ? 1 - c : c;
}
__global__ void bs(float* call, float* put, const float* S, const float* X, const float* T, float r, float v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float s = sqrtf(T[i]);
    float d1 = (logf(S[i] / X[i]) + (r + 0.5f * v * v) * T[i]) / (v * s);
    float d2 = d1 - v * s;
    float c1 = cnd(d1), c2 = cnd(d2);
    float e = expf(-r * T[i]);
    call[i] = S[i] * c1 - X[i] * e * c2;
    put[i] = X[i] * e * (1 - c2) - S[i] * (1 - c1) + sinf(S[i]) + powf(X[i], T[i]);
  }
}
__global__ void idiv(int* a, int* b, unsigned* c, long long* d, short* e, unsigned long long* f) {
  int i = threadIdx.x;
  a[i] = a[i] / b[i] + a[i] % b[i];
  c[i] = c[i] / 7 + c[i] % c[i + 1];
  d[i] = d[i] / d[i + 1] % d[i + 2];
  e[i] = e[i] / e[i + 1];
  f[i] = f[i] * f[i + 1] + (f[i] >> 3) + __umul64hi(f[i], f[i + 1]);
  a[i] += __popc(b[i]) + __clz(b[i]) + __brev(b[i]) + __ffs(b[i]) + max(a[i], b[i]) + min(c[i], 3u) +
          __mulhi(a[i], b[i]) + __byte_perm(a[i], b[i], 0x3210) + __funnelshift_l(a[i], b[i], 5) + abs(b[i]);
}
__global__ void f64(double* a, double* b, float* f, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    double x = a[i], y = b[i];
    a[i] = x * y + x / y - sqrt(x) + fmin(x, y) + fabs(y) + exp(x) + (double)f[i] + floor(y) + rint(x);
    b[i] = (x < y) ? x : y;
    f[i] = (float)x + __int2float_rn((int)y) + __float2int_rn(f[i]) + rsqrtf(f[i]) + __fdividef(f[i], 3) +
           __saturatef(f[i]) + truncf(f[i]) + ceilf(f[i]);
  }
}
__global__ void bfs(int* s, int* e, int* edges, bool* mask, bool* up, bool* vis, int* cost, int n, bool* over) {
  int t = blockIdx.x * 512 + threadIdx.x;
  if (t < n && mask[t]) {
    mask[t] = false;
    for (int i = s[t]; i < s[t] + e[t]; i++) {
      int id = edges[i];
      if (!vis[id]) {
        cost[id] = cost[t] + 1;
        up[id] = true;
        *over = true;
      }
    }
  }
}
__global__ void stencil(float* o, const float* in, int w, int h, S s) {
  __shared__ float t[18][18];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  t[threadIdx.y + 1][threadIdx.x + 1] = in[y * w + x];
  if (threadIdx.x == 0 && x > 0) t[threadIdx.y + 1][0] = in[y * w + x - 1];
  __syncthreads();
  o[y * w + x] = t[threadIdx.y][threadIdx.x + 1] * filt[3] + t[threadIdx.y + 1][threadIdx.x] * s.b + s.a + s.c;
}
__global__ void misc(int* a, float4* v, double2* w, long long* q, unsigned long long* u, char4* c, float* f) {
  int i = threadIdx.x;
  float4 x = __ldg(v + i);
  x.x += x.w;
  v[i + 1] = x;
  double2 y = w[i];
  y.x *= 2;
  w[i + 3] = y;
  if (__any_sync(~0u, a[i] > 3)) a[i] = __ballot_sync(~0u, a[i] & 1) + __activemask();
  a[i] += atomicCAS(a, 3, 4) + atomicMax(a + 1, 3) + atomicExch(a + 2, 5);
  atomicAdd(f, 1.0f);
  atomicMin(u, 5ull);
  __threadfence();
  __threadfence_block();
  volatile int* vp = a;
  vp[3] = vp[4] + 1;
  q[i] = clock64() + clock();
  char4 z = c[i];
  z.x += z.y;
  c[i] = z;
  *ptr += counter;
  a[i + 1] = __match_any_sync(~0u, a[i]);
  __syncwarp();
  atomicInc((unsigned*)a + 5, 7);
  if (__all_sync(~0u, i > 3)) a[3] = __shfl_sync(~0u, a[i], 3) + __shfl_up_sync(~0u, a[i], 1);
}
__global__ void local(int* a, int n) {
  int buf[32];
  for (int i = 0; i < 32; i++) buf[i] = a[i] * 3;
  int s = 0;
  for (int i = 0; i < n; i++) {
    s += buf[(a[i] + i) & 31];
    buf[i & 31] ^= s;
  }
  a[threadIdx.x] = s;
}
__global__ void calls(int* a, int* b) {
  a[threadIdx.x] = helper(a[threadIdx.x], b[threadIdx.x]);
  if (a[0] > 3) b[0] = helper(b[1], b[2]);
}
__global__ void generic(int* a, int sel) {
  __shared__ int s[32];
  int l[4];
  l[sel & 3] = a[1];
  l[1] = 3;
  int* p = sel > 4 ? s : (sel > 2 ? l : a);
  s[threadIdx.x & 31] = a[threadIdx.x];
  __syncthreads();
  p[threadIdx.x & 3] = sel;
  atomicAdd(p, 3);
  a[2] = s[3] + l[sel & 1];
}
}
