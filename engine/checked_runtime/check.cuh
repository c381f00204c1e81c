// SPDX-License-Identifier: MIT
// Error checks for calls of the CUDA runtime.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace checked {

// A call of the CUDA runtime that failed. what() is one line: file, line, the call as it was
// written, the runtime's own words, and the error's name.
class cuda_error : public std::runtime_error {
 public:
  cuda_error(cudaError_t code, const std::string& message)
      : std::runtime_error(message), code_(code) {}

  cudaError_t code() const { return code_; }

 private:
  cudaError_t code_;
};

// Throws cuda_error unless `status` is cudaSuccess. Called through CUDA_CHECK.
inline void check(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  // The runtime also keeps the error for the next cudaGetLastError(). Take it from there, else a
  // caller that recovers would find this error again after its next, innocent launch.
  (void)cudaGetLastError();
  throw cuda_error(status, std::string(file) + ":" + std::to_string(line) + ": " + call + ": " +
                               cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ")");
}

}  // namespace checked

// CUDA_CHECK(call): evaluates `call`, an expression of type cudaError_t, once, and throws
// checked::cuda_error if it failed. A macro, because only a macro knows the text of the call.
// After a launch write CUDA_CHECK(cudaGetLastError()): a launch itself returns nothing.
#define CUDA_CHECK(...) ::checked::check((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
