// SPDX-License-Identifier: MIT
#include <cublas_v2.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "benchmark/peers.hpp"

namespace benchmarks {

namespace {

void require_success(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw std::runtime_error(std::string(call) + ": " + cublasGetStatusString(status));
}

using handle = std::shared_ptr<cublasContext>;

// `mode` says where the results go: to the device's memory, or to the host's.
handle handle_with(cublasPointerMode_t mode) {
  cublasHandle_t created = nullptr;
  if (const cublasStatus_t status = cublasCreate(&created); status != CUBLAS_STATUS_SUCCESS) {
    throw no_such_peer(std::string("cuBLAS cannot start: ") + cublasGetStatusString(status));
  }
  handle result(created, [](cublasContext* context) { (void)cublasDestroy(context); });
  require_success(cublasSetPointerMode(created, mode), "cublasSetPointerMode");
  return result;
}

template <class T>
void dot(const handle& library, std::size_t n, const T* a, const T* b, T* result) {
  const auto count = static_cast<std::int64_t>(n);
  if constexpr (std::is_same_v<T, float>) {
    require_success(cublasSdot_64(library.get(), count, a, 1, b, 1, result), "cublasSdot");
  } else {
    require_success(cublasDdot_64(library.get(), count, a, 1, b, 1, result), "cublasDdot");
  }
}

}  // namespace

std::string cublas_version() {
  std::string version;
  for (const libraryPropertyType part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
    int number = 0;
    require_success(cublasGetProperty(part, &number), "cublasGetProperty");
    if (!version.empty()) version += '.';
    version += std::to_string(number);
  }
  return version;
}

template <class T>
dot_function<T> cublas_dot(std::size_t n) {
  const handle library = handle_with(CUBLAS_POINTER_MODE_DEVICE);
  return [=](const T* a, const T* b, T* result) { dot(library, n, a, b, result); };
}

template <class T>
dot_to_host_function<T> cublas_dot_to_host(std::size_t n) {
  const handle library = handle_with(CUBLAS_POINTER_MODE_HOST);
  return [=](const T* a, const T* b) {
    T result{};
    dot(library, n, a, b, &result);
    return result;
  };
}

template dot_function<float> cublas_dot(std::size_t);
template dot_function<double> cublas_dot(std::size_t);
template dot_to_host_function<float> cublas_dot_to_host(std::size_t);
template dot_to_host_function<double> cublas_dot_to_host(std::size_t);

}  // namespace benchmarks
