// SPDX-License-Identifier: MIT
#include <cstdio>
#define FULL_MASK 0xffffffff
__inline__ __device__ int warpReduceSum(int val) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2)
    val += __shfl_down_sync(FULL_MASK, val, offset);
  return val;
}
__inline__ __device__ int blockReduceSum(int val) {
  static __shared__ int shared[32];
  int lane = threadIdx.x % warpSize;
  int wid = threadIdx.x / warpSize;
  val = warpReduceSum(val);
  if (lane == 0) shared[wid] = val;
  __syncthreads();
  val = (threadIdx.x < blockDim.x / warpSize) ? shared[lane] : 0;
  if (wid == 0) val = warpReduceSum(val);
  return val;
}
__global__ void reduce(const int* in, int* out, int n) {
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    sum += __ldg(&in[i]);
  sum = blockReduceSum(sum);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}
__global__ void votes(unsigned* o) {
  unsigned b = __ballot_sync(FULL_MASK, threadIdx.x & 1);
  int a = __any_sync(FULL_MASK, threadIdx.x == 3), l = __all_sync(FULL_MASK, threadIdx.x < 32);
  unsigned m = __match_any_sync(FULL_MASK, threadIdx.x / 8);
  int pred;
  unsigned ma = __match_all_sync(FULL_MASK, 5, &pred);
  unsigned r = __reduce_add_sync(FULL_MASK, threadIdx.x);
  int mx = __reduce_max_sync(FULL_MASK, (int)threadIdx.x);
  double dd = __shfl_xor_sync(FULL_MASK, (double)threadIdx.x, 1);
  long long ll = __shfl_sync(FULL_MASK, (long long)threadIdx.x, 4);
  unsigned am = __activemask();
  float fu = __shfl_up_sync(FULL_MASK, 1.5f * threadIdx.x, 2, 16);
  if (threadIdx.x == 0) {
    o[0] = b;
    o[1] = a + l;
    o[2] = m;
    o[3] = ma;
    o[4] = r;
    o[5] = mx;
    o[6] = dd;
    o[7] = ll;
    o[8] = am != 0;
    o[9] = fu;
  }
  unsigned lm = 0;
  if (threadIdx.x > 100) __nanosleep(10);
  __syncwarp();
  __threadfence_block();
  o[10] = lm;
  int c = __syncthreads_count(1), orr = __syncthreads_or(0), an = __syncthreads_and(1);
  if (!threadIdx.x) o[11] = c + orr + an;
}
extern __shared__ float dyn[];
template <unsigned int bs>
__device__ void warpReduce(volatile float* s, unsigned tid) {
  if (bs >= 64) s[tid] += s[tid + 32];
}
template <unsigned int blockSize>
__global__ void reduce6(float* g) {
  unsigned tid = threadIdx.x;
  float* s = dyn;
  s[tid] = g[tid];
  __syncthreads();
  if (blockSize >= 128) {
    if (tid < 64) s[tid] += s[tid + 64];
    __syncthreads();
  }
  for (int st = 32; st > 0; st >>= 1) {
    if (tid < st) s[tid] += s[tid + st];
    __syncthreads();
  }
  if (!tid) g[0] = s[0];
}
__device__ double atomicAddD(double* address, double val) {
  unsigned long long int* a = (unsigned long long int*)address;
  unsigned long long int old = *a, assumed;
  do {
    assumed = old;
    old = atomicCAS(a, assumed, __double_as_longlong(val + __longlong_as_double(assumed)));
  } while (assumed != old);
  return __longlong_as_double(old);
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
#else
static __inline__ __device__ double atomicAdd(double* address, double val) {
  return atomicAddD(address, val);
}
#endif
__device__ static float atomicMaxF(float* address, float val) {
  int* a = (int*)address;
  int old = *a, assumed;
  do {
    assumed = old;
    old = ::atomicCAS(a, assumed, __float_as_int(::fmaxf(val, __int_as_float(assumed))));
  } while (assumed != old);
  return __int_as_float(old);
}
__global__ void at(double* d, float* f) {
  atomicAddD(d, 1.0);
  atomicAdd(d + 1, 2.0);
  atomicMaxF(f, threadIdx.x);
  atomicAdd(f + 1, 1.0f);
}
int main() {
  int n = 10000, *in, *out;
  cudaMallocManaged(&in, n * 4);
  cudaMallocManaged(&out, 4);
  *out = 0;
  for (int i = 0; i < n; i++) in[i] = 1;
  reduce<<<8, 256>>>(in, out, n);
  cudaDeviceSynchronize();
  printf("%d\n", *out);
  unsigned* o;
  cudaMallocManaged(&o, 64);
  votes<<<1, 32>>>(o);
  cudaDeviceSynchronize();
  for (int i = 0; i < 12; i++) printf("%x ", o[i]);
  puts("");
  float* g;
  cudaMallocManaged(&g, 512);
  for (int i = 0; i < 128; i++) g[i] = 1;
  switch (128) {
    case 128:
      reduce6<128><<<1, 128, 128 * sizeof(float)>>>(g);
      break;
    case 64:
      reduce6<64><<<1, 64, 64 * 4>>>(g);
  }
  cudaDeviceSynchronize();
  printf("%g\n", g[0]);
  double* d;
  cudaMallocManaged(&d, 16);
  d[0] = d[1] = 0;
  g[0] = g[1] = 0;
  at<<<2, 64>>>(d, g);
  cudaDeviceSynchronize();
  printf("%g %g %g %g\n", d[0], d[1], g[0], g[1]);
}
