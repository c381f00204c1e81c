// SPDX-License-Identifier: MIT
// The compiler of the host compiles it, and links the program.
#include <cstdio>
#include <vector>

#include "scale.cuh"

int main() {
  std::vector<float> values(1000, 1.0f);
  float* on_device = nullptr;
  cudaMalloc(&on_device, values.size() * sizeof(float));
  cudaMemcpy(on_device, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice);
  launch_scale(on_device, static_cast<int>(values.size()));
  cudaMemcpy(values.data(), on_device, values.size() * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(on_device);
  std::printf("%g\n", values[999]);
  return values[999] != 2.0f;
}
