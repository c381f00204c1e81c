// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>
template <typename T>
class Matrix {
 public:
  int r, c;
  T* d;
  __host__ __device__ Matrix(int r_, int c_, T* d_) : r(r_), c(c_), d(d_) {}
  __host__ __device__ T& operator()(int i, int j) { return d[i * c + j]; }
  __host__ __device__ const T& operator()(int i, int j) const { return d[i * c + j]; }
};
template <typename T, int BS>
__global__ void gemm(Matrix<T> A, Matrix<T> B, Matrix<T> C) {
  __shared__ T As[BS][BS], Bs[BS][BS];
  int row = blockIdx.y * BS + threadIdx.y, col = blockIdx.x * BS + threadIdx.x;
  T acc = 0;
  for (int t = 0; t < (A.c + BS - 1) / BS; ++t) {
    int k = t * BS + threadIdx.x;
    As[threadIdx.y][threadIdx.x] = (row < A.r && k < A.c) ? A(row, k) : T(0);
    k = t * BS + threadIdx.y;
    Bs[threadIdx.y][threadIdx.x] = (k < B.r && col < B.c) ? B(k, col) : T(0);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < BS; ++i) acc += As[threadIdx.y][i] * Bs[i][threadIdx.x];
    __syncthreads();
  }
  if (row < C.r && col < C.c) C(row, col) = acc;
}
class Managed {
 public:
  void* operator new(size_t len) {
    void* p;
    cudaMallocManaged(&p, len);
    cudaDeviceSynchronize();
    return p;
  }
  void operator delete(void* p) {
    cudaDeviceSynchronize();
    cudaFree(p);
  }
};
class Obj : public Managed {
 public:
  int x;
  __device__ void inc() { atomicAdd(&x, 1); }
};
__global__ void incp(Obj* o) { o->inc(); }
class Solver {
  float* d_;
  int n_;

 public:
  explicit Solver(int n) : n_(n) { cudaMalloc(&d_, n * sizeof(float)); }
  ~Solver() { cudaFree(d_); }
  void run();
};
__global__ void fill(float* p, int n, float v) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) p[i] = v;
}
void Solver::run() {
  const int threads = 128;
  fill<<<(n_ + threads - 1) / threads, threads>>>(d_, n_, 2.5f);
  std::vector<float> h(n_);
  cudaMemcpy(h.data(), d_, n_ * sizeof(float), cudaMemcpyDeviceToHost);
  printf("%g\n", h.back());
}
template <typename F, typename... Args>
void launch(F kernel, int g, int b, Args... args) {
  kernel<<<g, b>>>(args...);
  cudaError_t e = cudaGetLastError();
  if (e != cudaSuccess) printf("%s\n", cudaGetErrorString(e));
}
struct Deleter {
  void operator()(float* p) const { cudaFree(p); }
};
enum class Mode { A, B };
template <Mode M>
__global__ void modek(int* p) {
  if constexpr (M == Mode::A)
    *p = 1;
  else
    *p = 2;
}
int main() {
  const int n = 33;
  std::vector<float> a(n * n), b(n * n), c(n * n), ref(n * n);
  std::mt19937 gen(1);
  std::uniform_int_distribution<int> dist(0, 5);
  for (auto& x : a) x = dist(gen);
  std::generate(b.begin(), b.end(), [&] { return dist(gen); });
  float *da, *db, *dc;
  for (auto pp : {&da, &db, &dc}) cudaMalloc(pp, n * n * sizeof(float));
  cudaMemcpy(da, a.data(), n * n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(db, &b[0], n * n * 4, cudaMemcpyHostToDevice);
  auto t0 = std::chrono::high_resolution_clock::now();
  gemm<float, 16><<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(
      Matrix<float>(n, n, da), Matrix<float>(n, n, db), Matrix<float>(n, n, dc));
  cudaDeviceSynchronize();
  auto t1 = std::chrono::high_resolution_clock::now();
  (void)(t1 - t0);
  cudaMemcpy(c.data(), dc, n * n * 4, cudaMemcpyDeviceToHost);
  bool ok = true;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      float s = 0;
      for (int k = 0; k < n; k++) s += a[i * n + k] * b[k * n + j];
      ok &= s == c[i * n + j];
    }
  printf("%s\n", ok ? "ok" : "bad");
  Obj* o = new Obj;
  o->x = 0;
  incp<<<2, 32>>>(o);
  cudaDeviceSynchronize();
  printf("%d\n", o->x);
  delete o;
  Solver s(1000);
  s.run();
  launch(fill, 2, 64, dc, n, 1.0f);
  std::unique_ptr<float, Deleter> up(da);
  int* q;
  cudaMallocManaged(&q, 4);
  modek<Mode::B><<<1, 1>>>(q);
  cudaDeviceSynchronize();
  printf("%d\n", *q);
  void (*kp)(float*, int, float) = fill;
  kp<<<1, 32>>>(dc, 3, 4.f);
  void (*table[])(int*) = {modek<Mode::A>, modek<Mode::B>};
  table[0]<<<1, 1>>>(q);
  cudaDeviceSynchronize();
  printf("%d\n", *q);
  return 0;
}
