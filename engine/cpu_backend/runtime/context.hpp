// SPDX-License-Identifier: MIT
// The state behind the CUDA runtime API, as the engine that runs kernels needs it: errors, memory,
// device properties, streams, and what a kernel is allowed; and how it is undone.
#pragma once

#include <cstddef>

#include "driver_types.h"

namespace cpu_backend {

// --- Errors. A host thread has a last error; the process has one context, which a kernel that dies
// leaves unusable ("sticky" errors). As on a GPU, that death shows no sooner than at the next call
// that waits for the device; until then calls that do not wait succeed, without doing anything.

// Remembers `error` as the calling host thread's last error unless it is cudaSuccess; returns it.
cudaError_t record_error(cudaError_t error);

// A kernel died of `error`. The first one counts. May be called from any thread.
void fault(cudaError_t error);

// True from fault() to cudaDeviceReset(): nothing may run on the device any more.
bool faulted();

// What a call that does not wait for the device has to return first: the fault's error once a
// waiting call has reported it, cudaSuccess before. A launch in a faulted context does not run and
// ends in `return record_error(sticky_error())`.
cudaError_t sticky_error();

// What a call that waits for the device has to return first: the fault's error, or cudaSuccess.
// After it has returned an error, sticky_error() returns it too.
cudaError_t surface_fault();

// --- Memory.

enum class memory_kind { device, managed, pinned, symbol };

struct allocation {
  void* begin = nullptr;
  std::size_t bytes = 0;
  memory_kind kind = memory_kind::device;
};

// Makes a __device__ or __managed__ variable known as memory of the device. Doing so again is
// harmless.
void register_symbol(const void* address, std::size_t bytes,
                     memory_kind kind = memory_kind::symbol);

// What translate.py puts behind the declaration of managed variables, whose addresses the host may
// give to a kernel.
struct managed_variable {
  managed_variable(const volatile void* address, std::size_t bytes) {
    register_symbol(const_cast<const void*>(address), bytes, memory_kind::managed);
  }
};

// --- The device.

// The number of SMs, and so of blocks that are resident at once: the environment variable LAB_SMS
// (1 to 1024), else the number of hardware threads but at least 4. A bad LAB_SMS ends the program
// with one sentence and status 2.
int number_of_sms();

// What cudaGetDeviceProperties returns.
//
// The compute capability is 10.0. The one thing of this course that programs ask it for is whether
// a running block can cancel one that has not started: GPUs do so from 10.0 on, and this backend
// does. (With 9.0 a program would announce that nothing can be stolen, and then steal.) The limits
// on threads and shared memory that follow from 9.0 and from 10.0 are the same; clusters, which 9.0
// already has, are reported as missing by clusterLaunch.
const cudaDeviceProp& device_properties();

// --- Kernels and streams.

// The bytes of dynamic shared memory that a launch of `kernel` may ask for: 48 KiB, or what
// cudaFuncSetAttribute allowed. For nullptr (a kernel without a known address) the most that can be
// allowed, so that no launch is refused that a GPU would accept.
std::size_t dynamic_shared_memory_limit(const void* kernel);

// True for the default streams and for every stream that was created and not destroyed.
bool is_stream(cudaStream_t stream);

// As cudaStreamGetId() has it; 0 for none.
unsigned long long stream_id(cudaStream_t stream);

// --- What cudaDeviceReset undoes, one function for each part of the context's state.

void clear_fault();
void release_all_memory();
void destroy_all_streams();
void destroy_all_events();
void forget_function_attributes();

}  // namespace cpu_backend
