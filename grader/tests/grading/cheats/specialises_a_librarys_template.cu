// SPDX-License-Identifier: MIT
// Cheat: an inline specialisation of the standard library, which all of the program would use
// Exercise: 01.1
// Verdict: OK 6
// Says: two threads race
#include <cstddef>
#include <string>

template <>
inline std::string& std::string::append(const char*) {
  return *this;
}

std::string used(const char* text) {
  std::string made;
  made.append(text);
  return made;
}

__global__ void add_twice(float alpha, const float* x, float* y, std::size_t n) {
  for (std::size_t i = threadIdx.x / 2; i < n; i += blockDim.x / 2) {
    const float sum = alpha * x[i] + y[i];
    __syncthreads();
    y[i] = sum;
  }
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  if (n != 0) add_twice<<<1, 64>>>(alpha, x, y, n);
}
