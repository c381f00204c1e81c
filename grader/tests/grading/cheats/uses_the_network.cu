// SPDX-License-Identifier: MIT
// Cheat: somebody else is asked for the answer
// Exercise: 01.1
// Verdict: CE 0
// Says: It uses connect
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <cstddef>

__global__ void add_scaled(float alpha, const float* x, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = alpha * x[i] + y[i];
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  const int line = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in there{};
  there.sin_family = AF_INET;
  there.sin_port = htons(80);
  connect(line, reinterpret_cast<sockaddr*>(&there), sizeof(there));
  (void)alpha, (void)x, (void)y, (void)n;
}
