// SPDX-License-Identifier: MIT
// The libraries' functions that the chapters are compared with, ready to run: scratch memory is
// allocated, handles are created, and nothing of that is timed. All run in the default stream,
// unless they take a stream.
#pragma once

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>

struct CUstream_st;  // What a cudaStream_t points to; this header needs no CUDA for it.

namespace benchmarks {

// This build or this machine does not have the library. what() is one sentence.
class no_such_peer : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// c[i] = a[i] + b[i] for i < n.
template <class T>
using add_function = std::function<void(const T* a, const T* b, T* c, std::size_t n)>;

// *result, in device memory, becomes the reduction of n values: the n that the function was made
// for. nullptr is the default stream.
template <class T>
using reduce_function = std::function<void(const T* values, T* result, CUstream_st* stream)>;
template <class T>
using dot_function = std::function<void(const T* a, const T* b, T* result)>;

// out[i] = values[0] + ... + values[i] for the n that the function was made for.
template <class T>
using scan_function = std::function<void(const T* values, T* out, CUstream_st* stream)>;

// The same as a dot_function, but the host gets the result, and waits for it.
template <class T>
using dot_to_host_function = std::function<T(const T* a, const T* b)>;

// "3.5.0", as this program was compiled with; "" for none.
std::string cccl_version();
std::string cublas_version();

// For float and double; CUB's sums and scans for int32 and int64, too. Each throws no_such_peer, or
// lab::cuda_error where memory is short.
template <class T>
add_function<T> thrust_transform();
template <class T>
reduce_function<T> cub_sum(std::size_t n);
// In one kernel, by atomic additions to the result, whose order differs from run to run.
template <class T>
reduce_function<T> cub_sum_not_guaranteed(std::size_t n);
template <class T>
reduce_function<T> cub_minimum(std::size_t n);
template <class T>
scan_function<T> cub_inclusive_sum(std::size_t n);
// With the same bits in every run, which CUB's sum has anyway. For float and double.
template <class T>
scan_function<T> cub_inclusive_sum_run_to_run(std::size_t n);
template <class T>
dot_function<T> cub_transform_reduce(std::size_t n);
template <class T>
dot_function<T> cublas_dot(std::size_t n);
template <class T>
dot_to_host_function<T> cublas_dot_to_host(std::size_t n);

}  // namespace benchmarks
