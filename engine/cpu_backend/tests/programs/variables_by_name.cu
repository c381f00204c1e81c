// SPDX-License-Identifier: MIT
#include <iostream>
using namespace std;
#define TILE 16
__constant__ float coef[8];
__constant__ int kn;
__device__ int total;
__device__ float data_d[4] = {1, 2, 3, 4};
__managed__ int mm = 3;
struct Params {
  float a;
  int b;
};
__constant__ Params params;
__shared__ int fs[32];
__device__ volatile int vv;
__device__ __managed__ float mf[2];
static __device__ unsigned int cnt = 0;
__global__ void k(float* o) {
  fs[threadIdx.x] = threadIdx.x;
  __syncthreads();
  o[threadIdx.x] = coef[threadIdx.x % 8] * kn + params.a + params.b + fs[31 - threadIdx.x];
  atomicAdd(&total, 1);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    mm *= 2;
    mf[1] = 2;
    vv = 1;
    atomicInc(&cnt, 100);
  }
}
__global__ void transpose(float (*out)[TILE], const float in[TILE][TILE]) {
  __shared__ float t[TILE][TILE + 1];
  int x = threadIdx.x, y = threadIdx.y;
  t[y][x] = in[y][x];
  __syncthreads();
  out[y][x] = t[x][y];
}
int main() {
  float h[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  int n = 10;
  Params p{0.5f, 2};
  cudaMemcpyToSymbol(coef, h, sizeof(h));
  cudaMemcpyToSymbol(kn, &n, sizeof(int), 0, cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(params, &p, sizeof p);
  float* o;
  cudaMalloc(&o, 128);
  int z = 0;
  cudaMemcpyToSymbol(total, &z, 4);
  k<<<2, 32>>>(o);
  float r[32];
  cudaMemcpy(r, o, 128, cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(&z, total, sizeof z);
  cout << r[0] << " " << r[31] << " " << z << " " << mm << endl;
  void* ad;
  cudaGetSymbolAddress(&ad, data_d);
  float t;
  cudaMemcpy(&t, (float*)ad + 2, 4, cudaMemcpyDeviceToHost);
  size_t sz;
  cudaGetSymbolSize(&sz, data_d);
  cout << t << " " << sz << endl;
  float* da;
  cudaGetSymbolAddress((void**)&da, coef);
  cudaMemset(da, 0, 32);
  float(*m)[TILE], (*m2)[TILE];
  cudaMallocManaged(&m, sizeof(float) * TILE * TILE);
  cudaMallocManaged((void**)&m2, sizeof(float) * TILE * TILE);
  for (int i = 0; i < 256; i++) m[i / 16][i % 16] = i;
  transpose<<<1, dim3(TILE, TILE)>>>(m2, m);
  cudaDeviceSynchronize();
  cout << m2[1][2] << endl;
}
