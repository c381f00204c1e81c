// SPDX-License-Identifier: MIT
// On the CPU backend, whose tests run the benchmarks without any library beside them, and without
// CUDA graphs.
#include <cstdint>
#include <string>

#include "benchmark/call_graph.hpp"
#include "benchmark/peers.hpp"

namespace benchmarks {

namespace {

[[noreturn]] void refuse(const char* what) {
  throw no_such_peer(std::string("the CPU backend has no ") + what);
}

}  // namespace

void require_graphs() { refuse("CUDA graphs"); }

std::function<void()> recorded_graph(unsigned, const std::function<void(cudaStream_t)>&) {
  require_graphs();
  return {};
}

std::string cccl_version() { return {}; }

template <class T>
add_function<T> thrust_transform() {
  refuse("Thrust");
}
template <class T>
reduce_function<T> cub_sum(std::size_t) {
  refuse("CUB");
}
template <class T>
reduce_function<T> cub_sum_not_guaranteed(std::size_t) {
  refuse("CUB");
}
template <class T>
reduce_function<T> cub_minimum(std::size_t) {
  refuse("CUB");
}
template <class T>
scan_function<T> cub_inclusive_sum(std::size_t) {
  refuse("CUB");
}
template <class T>
scan_function<T> cub_inclusive_sum_run_to_run(std::size_t) {
  refuse("CUB");
}
template <class T>
dot_function<T> cub_transform_reduce(std::size_t) {
  refuse("CUB");
}

template add_function<float> thrust_transform();
template reduce_function<std::int32_t> cub_sum(std::size_t);
template reduce_function<std::int64_t> cub_sum(std::size_t);
template reduce_function<float> cub_sum(std::size_t);
template reduce_function<double> cub_sum(std::size_t);
template reduce_function<std::int32_t> cub_sum_not_guaranteed(std::size_t);
template reduce_function<std::int64_t> cub_sum_not_guaranteed(std::size_t);
template reduce_function<float> cub_sum_not_guaranteed(std::size_t);
template reduce_function<double> cub_sum_not_guaranteed(std::size_t);
template reduce_function<float> cub_minimum(std::size_t);
template scan_function<std::int32_t> cub_inclusive_sum(std::size_t);
template scan_function<std::int64_t> cub_inclusive_sum(std::size_t);
template scan_function<float> cub_inclusive_sum(std::size_t);
template scan_function<double> cub_inclusive_sum(std::size_t);
template scan_function<float> cub_inclusive_sum_run_to_run(std::size_t);
template scan_function<double> cub_inclusive_sum_run_to_run(std::size_t);
template dot_function<float> cub_transform_reduce(std::size_t);
template dot_function<double> cub_transform_reduce(std::size_t);

}  // namespace benchmarks
