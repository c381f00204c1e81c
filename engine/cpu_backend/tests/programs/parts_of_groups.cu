// SPDX-License-Identifier: MIT
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
#include <cuda/barrier>
namespace cg = cooperative_groups;
__device__ int sum(cg::thread_group g, int* scratch, int v) {
  int lane = g.thread_rank();
  for (int i = g.size() / 2; i > 0; i /= 2) {
    scratch[lane] = v;
    g.sync();
    if (lane < i) v += scratch[lane + i];
    g.sync();
  }
  return v;
}
struct P {
  double a;
  float b;
  int c;
};
__global__ void k(int* out) {
  __shared__ int s[256];
  cg::thread_block b = cg::this_thread_block();
  int v = sum(b, s, threadIdx.x);
  if (threadIdx.x == 0) printf("block %d\n", v);
  b.sync();
  cg::thread_group t = cg::tiled_partition(b, 16);
  v = sum(t, s + (threadIdx.x / 16) * 16, threadIdx.x);
  if (t.thread_rank() == 0) printf("tile %d\n", v);
  auto w = cg::tiled_partition<32>(b);
  auto odd = cg::binary_partition(w, threadIdx.x & 1);
  int n = cg::reduce(odd, 1, cg::plus<int>());
  int q = odd.shfl((int)threadIdx.x, 3);
  if (threadIdx.x == 33)
    printf("odd %d %d %u %u\n", n, q, odd.meta_group_rank(), odd.meta_group_size());
  auto lab = cg::labeled_partition(w, (int)threadIdx.x % 3);
  if (threadIdx.x == 35)
    printf("lab %d %d %u %u\n", lab.size(), lab.thread_rank(), lab.meta_group_rank(),
           lab.meta_group_size());
  P p{threadIdx.x * 0.5, 1.0f * threadIdx.x, (int)threadIdx.x};
  p = w.shfl(p, 7);
  if (threadIdx.x == 40) printf("P %g %g %d\n", p.a, p.b, p.c);
  int sc = cg::exclusive_scan(w, 2);
  int si = cg::inclusive_scan(w, 2);
  if (threadIdx.x == 9) printf("scan %d %d\n", sc, si);
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  b.sync();
  s[threadIdx.x] = threadIdx.x;
  bar.arrive_and_wait();
  out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
  auto tok = bar.arrive();
  bar.wait(std::move(tok));
  s[threadIdx.x] = 0;
}
int main() {
  int* o;
  cudaMallocManaged(&o, 1024);
  k<<<1, 64>>>(o);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  printf("%d %d\n", o[0], o[63]);
  cudaExtent e = make_cudaExtent(40, 3, 2);
  cudaPitchedPtr pp;
  cudaMalloc3D(&pp, e);
  cudaMemset3D(pp, 1, e);
  cudaMemcpy3DParms c = {0};
  int h[60];
  c.srcPtr = pp;
  c.dstPtr = make_cudaPitchedPtr(h, 40, 10, 3);
  c.extent = e;
  c.kind = cudaMemcpyDeviceToHost;
  cudaError_t e3 = cudaMemcpy3D(&c);
  printf("%s %x\n", cudaGetErrorName(e3), h[59]);
}
