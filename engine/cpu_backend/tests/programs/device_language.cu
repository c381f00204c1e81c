// SPDX-License-Identifier: MIT
#include <cassert>
#include <cstdio>
#include <cstring>
#include <new>
struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Sq : Shape {
  float s;
  __device__ Sq(float x) : s(x) {}
  __device__ float area() const override { return s * s; }
};
struct Ci : Shape {
  float r;
  __device__ Ci(float x) : r{x} {}
  __device__ float area() const override { return 3 * r * r; }
};
typedef float (*op_t)(float, float);
__device__ float mul(float a, float b) { return a * b; }
__device__ float sub(float a, float b) { return a - b; }
__device__ op_t ops[2] = {mul, sub};
__device__ op_t d_mul = mul;
template <op_t F>
__global__ void apply(float* x) {
  x[threadIdx.x] = F(x[threadIdx.x], 2);
}
template <typename T, int N>
struct Arr {
  T v[N];
  __host__ __device__ T& operator[](int i) { return v[i]; }
  __host__ __device__ const T& operator[](int i) const { return v[i]; }
};
__global__ void k(float* out) {
  Shape* s = threadIdx.x % 2 ? (Shape*)new Sq(2) : (Shape*)new Ci(1);
  out[threadIdx.x] = s->area();
  delete s;
  int* m = (int*)malloc(16);
  memset(m, 0, 16);
  m[1] = 3;
  assert(m[1] == 3);
  out[threadIdx.x] += m[1];
  free(m);
  out[threadIdx.x] = ops[threadIdx.x & 1](out[threadIdx.x], 1);
  Arr<float, 4> a;
  a[0] = 1;
  for (int i = 1; i < 4; i++) a[i] = a[i - 1] * 2;
  out[threadIdx.x] += a[3];
  if (threadIdx.x == 0) printf("hello from %d, %s %f %5.2e\n", blockIdx.x, "str", 1.5, 2.0);
}
__global__ void fp(float* out, op_t f) { out[0] = f(out[0], 10); }
template <class F>
__global__ void lam(F f, int* o, int n) {
  int i = threadIdx.x;
  if (i < n) o[i] = f(i);
}
extern "C" __global__ void ck(int* p) { *p = 77; }
namespace a {
namespace b {
__global__ void nk(int* p) { *p += 1; }
}  // namespace b
}  // namespace a
static __global__ void sk(int* p) { *p += 1; }
int main() {
  float* o;
  cudaMallocManaged(&o, 4 * 32);
  k<<<1, 32>>>(o);
  cudaDeviceSynchronize();
  printf("%g %g\n", o[0], o[1]);
  apply<mul><<<1, 2>>>(o);
  cudaDeviceSynchronize();
  printf("%g\n", o[0]);
  op_t h;
  cudaMemcpyFromSymbol(&h, d_mul, sizeof(op_t));
  fp<<<1, 1>>>(o, h);
  cudaDeviceSynchronize();
  printf("%g\n", o[0]);
  int* q;
  cudaMallocManaged(&q, 128);
  int c = 5;
  lam<<<1, 4>>>([=] __device__(int i) { return i * c; }, q, 4);
  cudaDeviceSynchronize();
  printf("%d\n", q[3]);
  auto hd = [] __host__ __device__(int i) { return i + 1; };
  lam<<<1, 4>>>(hd, q, 4);
  cudaDeviceSynchronize();
  printf("%d %d\n", q[3], hd(1));
  ck<<<1, 1>>>(q);
  a::b::nk<<<1, 1>>>(q);
  sk<<<1, 1>>>(q);
  using namespace a;
  b::nk<<<dim3(1), dim3(1)>>>(q);
  cudaDeviceSynchronize();
  printf("%d\n", q[0]);
}
