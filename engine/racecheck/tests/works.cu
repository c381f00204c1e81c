// SPDX-License-Identifier: MIT
// Works that may run at the same time: of two streams, of the host and a stream, of two host
// threads. Each mistake has a twin in which nothing races.
#include <atomic>
#include <cstring>
#include <cuda/atomic>
#include <future>
#include <mutex>
#include <thread>

#include "cases.hpp"

namespace {

constexpr int count = 64;
constexpr std::size_t bytes = count * sizeof(int);

__global__ void fill(int* values) {
  values[threadIdx.x] = static_cast<int>(threadIdx.x);  // mark: filled
}
__global__ void add(const int* values, int* sums) {
  sums[threadIdx.x] += values[threadIdx.x];  // mark: added
}

cudaStream_t stream(unsigned flags = cudaStreamDefault) {
  cudaStream_t made = nullptr;
  cudaStreamCreateWithFlags(&made, flags);
  return made;
}
int* pinned() {
  int* made = nullptr;
  cudaMallocHost(&made, bytes);
  for (int i = 0; i < count; ++i) made[i] = 0;
  return made;
}

void wait_for(cudaStream_t one, cudaStream_t other) {
  cudaEvent_t done = nullptr;
  cudaEventCreate(&done);
  cudaEventRecord(done, one);
  cudaStreamWaitEvent(other, done, 0);
}

void two_streams(bool waits) {
  const cudaStream_t one = stream(), other = stream();
  int *const values = zeros(count), *const sums = zeros(count);
  fill<<<1, count, 0, one>>>(values);
  if (waits) wait_for(one, other);
  add<<<1, count, 0, other>>>(values, sums);
}

// The legacy default stream orders itself with the streams that are not non-blocking.
void beside_default(unsigned flags) {
  const cudaStream_t other = stream(flags);
  int *const values = zeros(count), *const sums = zeros(count);
  cudaDeviceSynchronize();
  fill<<<1, count>>>(values);
  add<<<1, count, 0, other>>>(values, sums);
}

void read_back(bool waits) {
  const cudaStream_t copies = stream();
  int *const values = zeros(count), *const host = pinned();
  cudaMemcpyAsync(host, values, bytes, cudaMemcpyDeviceToHost, copies);
  if (waits) cudaStreamSynchronize(copies);
  std::printf("%d\n", host[3]);  // mark: host reads
}

void write_again(bool waits) {
  const cudaStream_t copies = stream();
  int *const values = zeros(count), *const host = pinned();
  cudaMemcpyAsync(values, host, bytes, cudaMemcpyHostToDevice, copies);
  if (waits) cudaStreamSynchronize(copies);
  host[5] = 1;  // mark: host writes
}

void allocate_in_order(bool waits) {
  const cudaStream_t one = stream(), other = stream();
  int* values = nullptr;
  cudaMallocAsync(&values, bytes, one);  // mark: allocates
  if (waits) wait_for(one, other);
  fill<<<1, count, 0, other>>>(values);
  cudaDeviceSynchronize();
  cudaFree(values);
}

void free_in_order(bool waits) {
  const cudaStream_t one = stream(), other = stream();
  int* values = nullptr;
  cudaMallocAsync(&values, bytes, one);
  fill<<<1, count, 0, one>>>(values);
  if (waits) cudaStreamSynchronize(one);
  cudaFreeAsync(values, other);
}

// Neither waits for the device: cudaFreeHost(), and cudaFree() of memory that a pool gave.
void free_unordered(bool waits) {
  const cudaStream_t one = stream();
  int *const host = pinned(), *const values = zeros(count);
  int* of_pool = nullptr;
  cudaMallocAsync(&of_pool, bytes, one);
  cudaMemcpyAsync(values, host, bytes, cudaMemcpyHostToDevice, one);
  if (waits) cudaStreamSynchronize(one);
  cudaFreeHost(host);  // mark: frees pinned
  if (!waits) return;
  fill<<<1, count, 0, one>>>(of_pool);
  cudaStreamSynchronize(one);
  cudaFree(of_pool);
}
void freed_of_pool() {
  const cudaStream_t one = stream();
  int* values = nullptr;
  cudaMallocAsync(&values, bytes, one);
  fill<<<1, count, 0, one>>>(values);
  cudaFree(values);  // mark: frees of pool
}

// The C library reads for the host.
template <class Print>
void print_text(bool waits, Print print) {
  char* text = nullptr;
  cudaMallocManaged(&text, bytes);
  std::strcpy(text, "text\n");
  cudaDeviceSynchronize();
  fill<<<1, 1>>>(reinterpret_cast<int*>(text));
  if (waits) cudaDeviceSynchronize();
  print(text);
}
void printed() {
  print_text(false, [](const char* text) { std::printf("%d: %s", 1, text); });  // mark: prints
}
void put() {
  print_text(false, [](const char* text) { std::puts(text); });  // mark: puts
}
void written_out() {
  print_text(false, [](const char* text) { std::fwrite(text, 1, 2, stdout); });  // mark: writes out
}
void printed_later() {
  print_text(true, [](const char* text) { std::printf("%Lf %s", 1.0L, text); });
}

// A host thread that begins before the wait, and uses the memory after it.
void read_in_a_thread(bool waits) {
  int* values = nullptr;
  cudaMallocManaged(&values, bytes);
  std::atomic<bool> goes_on = false;
  int seen = 0;
  fill<<<1, count>>>(values);
  if (waits) cudaDeviceSynchronize();
  std::thread reads([&] {
    while (!goes_on.load(std::memory_order_relaxed)) std::this_thread::yield();
    seen = values[1];  // mark: thread reads
  });
  cudaDeviceSynchronize();
  goes_on.store(true, std::memory_order_relaxed);
  reads.join();
  std::printf("%d\n", seen);
}

void set_first(void* value) { *static_cast<int*>(value) = 7; }  // mark: callback
void function_of_host(bool same_stream) {
  const cudaStream_t one = stream(), other = same_stream ? one : stream();
  int *const host = pinned(), *const values = zeros(count);
  cudaDeviceSynchronize();
  cudaLaunchHostFunc(one, set_first, host);
  cudaMemcpyAsync(values, host, bytes, cudaMemcpyHostToDevice, other);
}
// Functions of two streams, and a variable that is the host's alone.
int of_host = 0;
std::mutex of_functions;
void add_locked(void* value) {
  const std::lock_guard lock(of_functions);
  of_host += *static_cast<int*>(value);
}
void add_to(void* value) { of_host += *static_cast<int*>(value); }  // mark: adds
void two_callbacks(bool same_stream, cudaHostFn_t function) {
  const cudaStream_t one = stream(), other = same_stream ? one : stream();
  int* const host = pinned();
  cudaDeviceSynchronize();
  cudaLaunchHostFunc(one, function, host);
  cudaLaunchHostFunc(other, function, host + 1);
}

// Two host threads give one stream its work.
void two_threads(bool joins) {
  int* const values = zeros(count);
  cudaDeviceSynchronize();
  std::thread one([&] { fill<<<1, count>>>(values); });
  if (joins) one.join();
  std::thread other([&] { fill<<<1, count>>>(values); });
  if (!joins) one.join();
  other.join();
}

// What a thread has waited for, another one may use that has heard of it.
template <class Tell, class Hear>
void hand_over(Tell tell, Hear hear) {
  int* host = nullptr;
  cudaMallocManaged(&host, bytes);
  std::thread gives([&] {
    const cudaStream_t own = stream(cudaStreamNonBlocking);
    fill<<<1, count, 0, own>>>(host);
    cudaStreamSynchronize(own);
    tell();
  });
  hear();
  std::printf("%d\n", host[1]);
  gives.join();
}
void by_flag(std::memory_order stored, std::memory_order loaded) {
  std::atomic<bool> done = false;
  hand_over([&] { done.store(true, stored); },
            [&] {
              while (!done.load(loaded)) {
              }
            });
}
void promise() {
  std::promise<void> done;
  hand_over([&] { done.set_value(); }, [&] { done.get_future().wait(); });
}
void mutex() {
  std::mutex lock;
  bool done = false;
  hand_over(
      [&] {
        const std::lock_guard guard(lock);
        done = true;
      },
      [&] {
        for (bool heard = false; !heard;) {
          const std::lock_guard guard(lock);
          heard = done;
        }
      });
}

// Kernels of two streams may tell each other by atomics what they have done.
template <bool releases>
__global__ void tell(int* data, int* flag) {
  *data = 1;
  cuda::atomic_ref<int, cuda::thread_scope_device>(*flag).store(
      1, releases ? cuda::memory_order_release : cuda::memory_order_relaxed);
}
__global__ void hear(const int* data, int* flag, int* heard) {
  if (cuda::atomic_ref<int, cuda::thread_scope_device>(*flag).load(cuda::memory_order_acquire)) {
    *heard = *data;
  }
}
template <bool releases>
void tell_by_flag() {
  const cudaStream_t one = stream(), other = stream();
  int* const words = zeros(3);
  cudaDeviceSynchronize();
  tell<releases><<<1, 1, 0, one>>>(words, words + 1);
  hear<<<1, 1, 0, other>>>(words, words + 1, words + 2);
}

// A kernel may wait for the host, which goes on when all threads of the kernel wait.
using system_flag = cuda::atomic_ref<int, cuda::thread_scope_system>;
__global__ void wait_and_add(int* flag, int* data) {
  while (system_flag(*flag).load(cuda::memory_order_acquire) == 0) {
  }
  *data += 1;  // mark: awaited
}
void awaited_by_host(cuda::memory_order order) {
  int* const words = pinned();
  wait_and_add<<<1, 1>>>(words, words + 1);
  words[1] = 41;  // mark: handed over
  system_flag(words[0]).store(1, order);
}

__global__ void poll(const volatile int* flag) {
  while (*flag == 0) {  // mark: polled
  }
}
void host_stores_plainly() {
  int* const words = pinned();
  poll<<<1, 1>>>(words);
  words[0] = 1;  // mark: stored plainly
}

__global__ void answer(int* asked, int* answered, int* data) {
  while (system_flag(*asked).load(cuda::memory_order_acquire) == 0) {
  }
  *data += 1;
  system_flag(*answered).store(1, cuda::memory_order_release);
}
// Later work of the host thread knows what it has acquired, and a copy waits for its turn.
void host_acquires() {
  int* const words = pinned();
  const cudaStream_t own = stream(cudaStreamNonBlocking);
  int* const copied = zeros(1);
  cudaDeviceSynchronize();
  answer<<<1, 1, 0, own>>>(words, words + 1, words + 2);
  cudaMemcpyAsync(copied, words + 2, sizeof(int), cudaMemcpyDefault, own);
  system_flag(words[0]).store(1, cuda::memory_order_release);
  while (system_flag(words[1]).load(cuda::memory_order_acquire) == 0) {
  }
  std::printf("%d\n", words[2]);
}
// The copy is done when the kernel is, and the host does not wait for it.
void host_overtakes_copy() {
  int *const words = pinned(), *const data = zeros(1);
  const cudaStream_t own = stream(cudaStreamNonBlocking);
  cudaDeviceSynchronize();
  wait_and_add<<<1, 1, 0, own>>>(words, data);
  cudaMemcpyAsync(words + 2, data, sizeof(int), cudaMemcpyDefault, own);
  system_flag(words[0]).store(1, cuda::memory_order_release);
  std::printf("%d\n", words[2]);  // mark: overtakes
}
template <bool releases>
void later_launch() {
  const cudaStream_t one = stream(cudaStreamNonBlocking), other = stream(cudaStreamNonBlocking);
  int* const words = zeros(2);
  cudaDeviceSynchronize();
  wait_and_add<<<1, 1, 0, one>>>(words, words + 1);
  tell<releases><<<1, 1, 0, other>>>(words + 1, words);
}
void never_released() {
  int* const words = pinned();
  wait_and_add<<<1, 1>>>(words, words + 1);
}

const test_case cases[] = {
    {"missing_event", [] { two_streams(false); }},
    {"event", [] { two_streams(true); }},
    {"non_blocking", [] { beside_default(cudaStreamNonBlocking); }},
    {"blocking", [] { beside_default(cudaStreamDefault); }},
    {"missing_wait", [] { read_back(false); }},
    {"wait", [] { read_back(true); }},
    {"reused", [] { write_again(false); }},
    {"reused_later", [] { write_again(true); }},
    {"allocated", [] { allocate_in_order(false); }},
    {"allocated_before", [] { allocate_in_order(true); }},
    {"released", [] { free_in_order(false); }},
    {"released_later", [] { free_in_order(true); }},
    {"freed_pinned", [] { free_unordered(false); }},
    {"freed_after_wait", [] { free_unordered(true); }},
    {"freed_of_pool", freed_of_pool},
    {"printed", printed},
    {"put", put},
    {"written_out", written_out},
    {"printed_later", printed_later},
    {"begun_thread", [] { read_in_a_thread(false); }},
    {"begun_later", [] { read_in_a_thread(true); }},
    {"callbacks_beside", [] { two_callbacks(false, add_to); }},
    {"callbacks_with_mutex", [] { two_callbacks(false, add_locked); }},
    {"callbacks_in_order", [] { two_callbacks(true, add_to); }},
    {"callback_beside", [] { function_of_host(false); }},
    {"callback_before", [] { function_of_host(true); }},
    {"unordered_threads", [] { two_threads(false); }},
    {"joined_threads", [] { two_threads(true); }},
    {"released_flag", [] { by_flag(std::memory_order_release, std::memory_order_acquire); }},
    {"relaxed_flag", [] { by_flag(std::memory_order_relaxed, std::memory_order_relaxed); }},
    {"promise", promise},
    {"mutex", mutex},
    {"kernel_flag_without_release", tell_by_flag<false>},
    {"kernel_flag", tell_by_flag<true>},
    {"host_releases", [] { awaited_by_host(cuda::memory_order_release); }},
    {"host_relaxes", [] { awaited_by_host(cuda::memory_order_relaxed); }},
    {"host_stores_plainly", host_stores_plainly},
    {"host_acquires", host_acquires},
    {"host_overtakes_copy", host_overtakes_copy},
    {"later_launch", later_launch<true>},
    {"later_launch_relaxed", later_launch<false>},
    {"never_released", never_released},
};

}  // namespace

int main(int argc, char** argv) { return run_case(cases, argc, argv); }
