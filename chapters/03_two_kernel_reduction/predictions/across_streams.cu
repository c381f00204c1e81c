// SPDX-License-Identifier: MIT
// Prediction 5: Across two streams
//
// A kernel fills 64 words, a copy brings them to the host, and the host reads the first one. The
// two streams, one and two, are made with cudaStreamNonBlocking, and the copy goes to pinned
// memory.
//
// A common mistake (a): The device does what it is asked for in the order in which the host asks.
#include "lab/variants.cuh"

namespace a {
// Race: missing event
// The host waits for the stream of the copy. The kernel is in another stream, and nothing says that
// it comes first: the copy may bring what was there before.
// See ../../docs/glossary.md#stream
// BEGIN a
__global__ void fill(int* words) { words[threadIdx.x] = 1; }

int first(cudaStream_t one, cudaStream_t two, int* words, int* copy) {
  fill<<<1, 64, 0, one>>>(words);
  cudaMemcpyAsync(copy, words, 256, cudaMemcpyDeviceToHost, two);
  cudaStreamSynchronize(two);
  return *copy;
}
// END a
}  // namespace a

namespace b {
// No race
// The event marks the end of the kernel, and stream two waits for it. The host waits for stream
// two, and so for the copy.
// See ../../docs/glossary.md#event
// BEGIN b
__global__ void fill(int* words) { words[threadIdx.x] = 1; }

int first(cudaStream_t one, cudaStream_t two, int* words, int* copy) {
  cudaEvent_t filled = nullptr;
  cudaEventCreate(&filled);
  fill<<<1, 64, 0, one>>>(words);
  cudaEventRecord(filled, one);
  cudaStreamWaitEvent(two, filled, 0);
  cudaMemcpyAsync(copy, words, 256, cudaMemcpyDeviceToHost, two);
  cudaStreamSynchronize(two);
  return *copy;
}
// END b
}  // namespace b

namespace c {
// Race: missing wait
// The copy comes after the kernel. But the host waits for stream one, where only the kernel is, and
// may read the word before the copy has brought it.
// See ../../docs/glossary.md#stream
// BEGIN c
__global__ void fill(int* words) { words[threadIdx.x] = 1; }

int first(cudaStream_t one, cudaStream_t two, int* words, int* copy) {
  cudaEvent_t filled = nullptr;
  cudaEventCreate(&filled);
  fill<<<1, 64, 0, one>>>(words);
  cudaEventRecord(filled, one);
  cudaStreamWaitEvent(two, filled, 0);
  cudaMemcpyAsync(copy, words, 256, cudaMemcpyDeviceToHost, two);
  cudaStreamSynchronize(one);
  return *copy;
}
// END c
}  // namespace c

namespace d {
// No race
// Both are in stream two, which does one after the other, and the host waits for it. No event is
// needed.
// See README.md#the-idea
// BEGIN d
__global__ void fill(int* words) { words[threadIdx.x] = 1; }

int first(cudaStream_t, cudaStream_t two, int* words, int* copy) {
  fill<<<1, 64, 0, two>>>(words);
  cudaMemcpyAsync(copy, words, 256, cudaMemcpyDeviceToHost, two);
  cudaStreamSynchronize(two);
  return *copy;
}
// END d
}  // namespace d

int main(int argc, char** argv) {
  return lab::run_variant(argc, argv, {a::first, b::first, c::first, d::first}, [](auto first) {
    auto words = lab::zeroed<int>(64);
    int* copy = nullptr;
    cudaStream_t one = nullptr, two = nullptr;
    CUDA_CHECK(cudaMallocHost(&copy, 256));
    CUDA_CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CUDA_CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    CUDA_CHECK(cudaDeviceSynchronize());
    std::printf("%d\n", first(one, two, words.data(), copy));
    CUDA_CHECK(cudaDeviceSynchronize());
  });
}
