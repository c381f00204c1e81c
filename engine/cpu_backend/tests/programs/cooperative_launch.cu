// SPDX-License-Identifier: MIT
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
namespace cg = cooperative_groups;
using namespace cooperative_groups;
template <unsigned S>
__device__ int rs(thread_block_tile<S> g, int v) {
  for (int i = g.size() / 2; i > 0; i /= 2) v += g.shfl_down(v, i);
  return v;
}
__device__ int atomicAggInc(int* c) {
  coalesced_group g = coalesced_threads();
  int p;
  if (g.thread_rank() == 0) p = atomicAdd(c, g.size());
  return g.thread_rank() + g.shfl(p, 0);
}
__global__ void k(const int* in, int* out, int n) {
  thread_block b = this_thread_block();
  auto t = tiled_partition<32>(b);
  int v = 0;
  for (int i = this_grid().thread_rank(); i < n; i += this_grid().size()) v += in[i];
  v = cg::reduce(t, v, cg::plus<int>());
  if (t.thread_rank() == 0) atomicAdd(out, v);
  grid_group g = this_grid();
  g.sync();
  if (g.thread_rank() == 0) out[1] = out[0] * 2;
  cg::sync(g);
  auto t8 = tiled_partition<8>(t);
  int w = rs<8>(t8, 1);
  if (threadIdx.x == 0 && blockIdx.x == 0) out[2] = w;
  if (threadIdx.x % 3 == 0) {
    atomicAggInc(out + 3);
  }
  out[4] = b.group_index().x + b.thread_index().y + b.group_dim().x + t.meta_group_size() +
           t8.meta_group_rank() * 0;
}
int main() {
  int n = 1000, *in, *out;
  cudaMallocManaged(&in, 4000);
  cudaMallocManaged(&out, 40);
  for (int i = 0; i < n; i++) in[i] = 1;
  for (int i = 0; i < 5; i++) out[i] = 0;
  int sup = 0;
  cudaDeviceGetAttribute(&sup, cudaDevAttrCooperativeLaunch, 0);
  int per = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per, k, 64, 0);
  void* args[] = {(void*)&in, (void*)&out, (void*)&n};
  cudaError_t e = cudaLaunchCooperativeKernel((void*)k, 2, 64, args);
  printf("%s\n", cudaGetErrorString(e));
  cudaDeviceSynchronize();
  printf("%d %d %d %d\n", out[0], out[1], out[2], out[3]);
}
