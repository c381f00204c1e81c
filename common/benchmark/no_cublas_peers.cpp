// SPDX-License-Identifier: MIT
// Where there is no cuBLAS: the benchmark says so, and goes on without it.
#include "benchmark/peers.hpp"

namespace benchmarks {

std::string cublas_version() { return {}; }

template <class T>
dot_function<T> cublas_dot(std::size_t) {
  throw no_such_peer("this program was built without cuBLAS");
}
template <class T>
dot_to_host_function<T> cublas_dot_to_host(std::size_t) {
  throw no_such_peer("this program was built without cuBLAS");
}

template dot_function<float> cublas_dot(std::size_t);
template dot_function<double> cublas_dot(std::size_t);
template dot_to_host_function<float> cublas_dot_to_host(std::size_t);
template dot_to_host_function<double> cublas_dot_to_host(std::size_t);

}  // namespace benchmarks
