// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
using namespace std;
#define BLOCK_SIZE 16
#define LIMIT -999
typedef struct Node {
  int starting;
  int no_of_edges;
} Node;
void usage(int argc, char** argv) { fprintf(stderr, "Usage: %s <n>\n", argv[0]); }
__global__ void Kernel(Node* g_graph_nodes, int* g_graph_edges, bool* g_mask, bool* g_updating,
                       bool* g_visited, int* g_cost, int no_of_nodes) {
  int tid = blockIdx.x * 512 + threadIdx.x;
  if (tid < no_of_nodes && g_mask[tid]) {
    g_mask[tid] = false;
    for (int i = g_graph_nodes[tid].starting;
         i < (g_graph_nodes[tid].no_of_edges + g_graph_nodes[tid].starting); i++) {
      int id = g_graph_edges[i];
      if (!g_visited[id]) {
        g_cost[id] = g_cost[tid] + 1;
        g_updating[id] = true;
      }
    }
  }
}
__global__ void Kernel2(bool* m, bool* u, bool* v, bool* over, int n) {
  int tid = blockIdx.x * 512 + threadIdx.x;
  if (tid < n && u[tid]) {
    m[tid] = true;
    v[tid] = true;
    *over = true;
    u[tid] = false;
  }
}
#define STR_SIZE 256
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
#define MIN(a, b) ((a) <= (b) ? (a) : (b))
__global__ void calculate_temp(int iteration, float* power, float* src, float* dst, int grid_cols,
                               int grid_rows, float Cap, float Rx) {
  __shared__ float temp[BLOCK_SIZE][BLOCK_SIZE];
  int bx = blockIdx.x, tx = threadIdx.x, ty = threadIdx.y;
  int blkY = BLOCK_SIZE * blockIdx.y + ty, blkX = BLOCK_SIZE * bx + tx;
  int index = grid_cols * blkY + blkX;
  if (IN_RANGE(blkY, 0, grid_rows - 1) && IN_RANGE(blkX, 0, grid_cols - 1))
    temp[ty][tx] = src[index];
  __syncthreads();
  bool computed;
  for (int i = 0; i < iteration; i++) {
    computed = false;
    if (IN_RANGE(tx, i + 1, BLOCK_SIZE - i - 2) && IN_RANGE(ty, i + 1, BLOCK_SIZE - i - 2))
      computed = true;
    __syncthreads();
    if (i == iteration - 1) break;
    if (computed) temp[ty][tx] *= 0.5;
    __syncthreads();
  }
  if (computed) dst[index] = temp[ty][tx] * Cap + power[index] * Rx;
}
int main(int argc, char** argv) {
  int no = 6;
  Node h[6] = {{0, 2}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 0}};
  int edges[6] = {1, 2, 3, 4, 5, 5};
  bool mask[6] = {1}, upd[6] = {0}, vis[6] = {1}, stop;
  int cost[6];
  for (int i = 0; i < 6; i++) cost[i] = -1;
  cost[0] = 0;
  Node* dn;
  cudaMalloc((void**)&dn, sizeof(Node) * no);
  cudaMemcpy(dn, h, sizeof h, cudaMemcpyHostToDevice);
  int *de, *dc;
  cudaMalloc((void**)&de, sizeof edges);
  cudaMemcpy(de, edges, sizeof edges, cudaMemcpyHostToDevice);
  cudaMalloc((void**)&dc, sizeof cost);
  cudaMemcpy(dc, cost, sizeof cost, cudaMemcpyHostToDevice);
  bool *dm, *du, *dv, *ds;
  cudaMalloc((void**)&dm, 6);
  cudaMalloc((void**)&du, 6);
  cudaMalloc((void**)&dv, 6);
  cudaMalloc((void**)&ds, 1);
  cudaMemcpy(dm, mask, 6, cudaMemcpyHostToDevice);
  cudaMemcpy(du, upd, 6, cudaMemcpyHostToDevice);
  cudaMemcpy(dv, vis, 6, cudaMemcpyHostToDevice);
  dim3 grid(1, 1, 1), threads(512, 1, 1);
  int it = 0;
  do {
    stop = false;
    cudaMemcpy(ds, &stop, 1, cudaMemcpyHostToDevice);
    Kernel<<<grid, threads, 0>>>(dn, de, dm, du, dv, dc, no);
    Kernel2<<<grid, threads, 0>>>(dm, du, dv, ds, no);
    cudaMemcpy(&stop, ds, 1, cudaMemcpyDeviceToHost);
    it++;
  } while (stop);
  cudaMemcpy(cost, dc, sizeof cost, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 6; i++) cout << cost[i] << " ";
  cout << it << endl;
  clock_t c = clock();
  cudaEvent_t e;
  cudaEventCreate(&e);
  map<string, int> m;
  m["a"] = 1;
  stringstream ss;
  ss << "x";
  float* p;
  cudaMallocManaged(&p, 4096);
  calculate_temp<<<dim3(2, 2), dim3(16, 16)>>>(3, p, p, p + 1024 / 2, 16, 16, .5f, .1f);
  cudaDeviceSynchronize();
  cout << (clock() >= c) << endl;
}
