// SPDX-License-Identifier: MIT
#include "cpu_backend/runtime/context.hpp"

#include <atomic>

#include "cpu_backend/runtime/refused_launches.hpp"
#include "cuda_runtime_api.h"

namespace cpu_backend {
namespace {

// (Before a kernel's __shared__ variables, as CPU_BACKEND_BEFORE_SHARED has it.)
__attribute__((section(".tdata"))) constinit thread_local cudaError_t last_error = cudaSuccess;

// Constant-initialised: a kernel may be launched, and die, before main().
constinit std::atomic<cudaError_t> fault_error = cudaSuccess;
constinit std::atomic<bool> fault_has_surfaced = false;

}  // namespace

cudaError_t record_error(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

void fault(cudaError_t error) {
  cudaError_t none = cudaSuccess;
  fault_error.compare_exchange_strong(none, error);
}

bool faulted() { return fault_error.load() != cudaSuccess; }

cudaError_t sticky_error() { return fault_has_surfaced.load() ? fault_error.load() : cudaSuccess; }

cudaError_t surface_fault() {
  const cudaError_t error = fault_error.load();
  if (error != cudaSuccess) fault_has_surfaced.store(true);
  return error;
}

void clear_fault() {
  fault_has_surfaced.store(false);
  fault_error.store(cudaSuccess);
}

}  // namespace cpu_backend

cudaError_t cudaPeekAtLastError() {
  cpu_backend::errors_are_asked_for();
  return cpu_backend::last_error;
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = cudaPeekAtLastError();
  cpu_backend::last_error = cudaSuccess;
  return error;
}
