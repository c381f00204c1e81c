// SPDX-License-Identifier: MIT
// Makes one named mistake and prints what the calls of the CUDA runtime return for it, one line
// each:
//   error_codes block_of_2048_threads
// A mistake in a kernel ends the process's use of the device, so each runs in a process of its own;
// error_codes_test runs them all. `error_codes --list` prints the names.

#undef NDEBUG  // the device assert below must be live in a release build too
#include <cuda_runtime.h>

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr std::size_t kibibyte = 1024;
constexpr std::size_t mebibyte = 1024 * kibibyte;

__device__ int device_variable[4];

__global__ void do_nothing() {}
// A null pointer is the point here: UndefinedBehaviorSanitizer is not to end the program before it.
__attribute__((no_sanitize("undefined"))) __global__ void write_to(int* address) { *address = 1; }
__global__ void assert_equal(int a, int b) { assert(a == b); }
__global__ void trap() { __trap(); }

void report(const char* call, cudaError_t error) {
  std::printf("%s: %s\n", call, cudaGetErrorName(error));
}

// What the rest of the program gets to see of a launch. cudaPeekAtLastError and the first
// cudaGetLastError come before any call that waits for the kernel.
void report_after_launch() {
  report("cudaPeekAtLastError", cudaPeekAtLastError());
  report("cudaGetLastError", cudaGetLastError());
  report("cudaDeviceSynchronize", cudaDeviceSynchronize());
  report("cudaDeviceSynchronize", cudaDeviceSynchronize());
  int* memory = nullptr;
  report("cudaMalloc", cudaMalloc(&memory, sizeof(int)));
  report("cudaGetLastError", cudaGetLastError());
  do_nothing<<<1, 1>>>();
  report("next launch", cudaGetLastError());
}

// What the rest of the program gets to see of a call that returned `error`.
void report_call(const char* call, cudaError_t error) {
  report(call, error);
  report("cudaPeekAtLastError", cudaPeekAtLastError());
  report("cudaGetLastError", cudaGetLastError());
  report("cudaGetLastError", cudaGetLastError());
  report("cudaDeviceSynchronize", cudaDeviceSynchronize());
}

// A set-up step, which must succeed: prints the failure, and so spoils the comparison, if it does
// not.
void prepare(const char* call, cudaError_t error) {
  if (error != cudaSuccess) report(call, error);
}

int* device_memory(std::size_t bytes) {
  int* memory = nullptr;
  prepare("cudaMalloc", cudaMalloc(&memory, bytes));
  return memory;
}

int attribute(cudaDeviceAttr which) {
  int value = 0;
  prepare("cudaDeviceGetAttribute", cudaDeviceGetAttribute(&value, which, 0));
  return value;
}

std::size_t shared_memory_at_most() {
  return static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
}

void launch_after_allowing(std::size_t allowed_bytes, std::size_t shared_bytes) {
  prepare("cudaFuncSetAttribute",
          cudaFuncSetAttribute(do_nothing, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(allowed_bytes)));
  do_nothing<<<1, 1, shared_bytes>>>();
  report_after_launch();
}

cudaEvent_t event(unsigned int flags = cudaEventDefault) {
  cudaEvent_t created = nullptr;
  prepare("cudaEventCreateWithFlags", cudaEventCreateWithFlags(&created, flags));
  return created;
}

cudaEvent_t recorded_event(unsigned int flags = cudaEventDefault) {
  const cudaEvent_t created = event(flags);
  prepare("cudaEventRecord", cudaEventRecord(created, nullptr));
  prepare("cudaEventSynchronize", cudaEventSynchronize(created));
  return created;
}

// An address that the compiler cannot see through: it would turn the write to it into something
// else.
int* hidden(std::uintptr_t address) {
  volatile std::uintptr_t stored = address;
  return reinterpret_cast<int*>(stored);
}

// What calls write to, or are wrongly given as memory of the device.
void* memory = nullptr;
int value = 0, values[4096];
float milliseconds = 0;
cudaDeviceProp properties;
cudaEvent_t created_event = nullptr;
cudaStream_t created_stream = nullptr;

struct launch {
  const char* name;
  dim3 blocks, threads;
  std::size_t shared_bytes = 0;
};

const launch launches[] = {
    {"no_mistake", 1, 1},
    {"block_of_2048_threads", 1, 2048},
    {"block_of_33_by_32_threads", 1, {33, 32}},
    {"block_of_0_threads", 1, 0},
    {"block_of_z_65", 1, {1, 1, 65}},
    {"grid_of_0_blocks", 0, 1},
    {"grid_of_y_0", {1, 0, 1}, 1},
    {"grid_of_x_2_to_the_31", 2147483648u, 1},
    {"grid_of_y_65536", {1, 65536}, 1},
    {"grid_of_z_65536", {1, 1, 65536}, 1},
    {"dynamic_shared_memory_of_48_kib", 1, 1, 48 * kibibyte},
    {"dynamic_shared_memory_beyond_48_kib", 1, 1, 48 * kibibyte + 16},
};

struct mistake {
  const char* name;
  void (*make)();
};

// A mistake of one call, and one of a kernel.
#define CALL(name, function, ...)                                \
  mistake {                                                      \
#name, [] { report_call(#function, function(__VA_ARGS__)); } \
  }
#define KERNEL(name, kernel, ...)                                   \
  mistake {                                                         \
#name, [] { kernel<<<1, 1>>>(__VA_ARGS__); report_after_launch(); } \
  }

const mistake mistakes[] = {
    // --- Launches after something else
    {"dynamic_shared_memory_allowed_by_attribute",
     [] { launch_after_allowing(shared_memory_at_most(), shared_memory_at_most()); }},
    {"dynamic_shared_memory_beyond_attribute",
     [] { launch_after_allowing(56 * kibibyte, 60 * kibibyte); }},
    {"dynamic_shared_memory_beyond_device",
     [] { launch_after_allowing(shared_memory_at_most(), shared_memory_at_most() + kibibyte); }},
    {"earlier_error_shows_after_launch",
     [] {
       report("cudaMalloc", cudaMalloc(&memory, std::size_t{1} << 50));
       do_nothing<<<1, 1>>>();
       report_after_launch();
     }},
    {"cooperative_launch_larger_than_device",
     [] {
       int blocks = 0;
       prepare("cudaOccupancyMaxActiveBlocksPerMultiprocessor",
               cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, do_nothing, 128, 0));
       blocks *= attribute(cudaDevAttrMultiProcessorCount);
       const dim3 one_too_many(static_cast<unsigned int>(blocks) + 1);
       report_call("cudaLaunchCooperativeKernel",
                   cudaLaunchCooperativeKernel(do_nothing, one_too_many, dim3(128), nullptr));
     }},

    // --- Kernels that die
    KERNEL(assert_fails, assert_equal, 1, 2),
    KERNEL(assert_holds, assert_equal, 1, 1),
    KERNEL(trap, trap),
    KERNEL(write_to_null, write_to, hidden(0)),
    KERNEL(write_far_outside_every_allocation, write_to, hidden(0x123456789000)),
    {"last_error_after_death",
     [] {
       trap<<<1, 1>>>();
       report("cudaDeviceSynchronize", cudaDeviceSynchronize());
       report("cudaGetLastError", cudaGetLastError());
       report("cudaGetLastError", cudaGetLastError());
       report("cudaPeekAtLastError", cudaPeekAtLastError());
     }},
    {"death_surfaces_in_copy",
     [] {
       int* const memory = device_memory(sizeof(int));
       trap<<<1, 1>>>();
       report("cudaMemcpy", cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost));
       report("cudaDeviceSynchronize", cudaDeviceSynchronize());
     }},
    {"death_surfaces_in_free",
     [] {
       int* const memory = device_memory(sizeof(int));
       trap<<<1, 1>>>();
       report("cudaFree", cudaFree(memory));
       report("cudaDeviceSynchronize", cudaDeviceSynchronize());
     }},
    {"death_surfaces_in_stream",
     [] {
       cudaStream_t stream = nullptr;
       prepare("cudaStreamCreate", cudaStreamCreate(&stream));
       trap<<<1, 1, 0, stream>>>();
       report("cudaStreamSynchronize", cudaStreamSynchronize(stream));
       report("cudaStreamQuery", cudaStreamQuery(stream));
       report("cudaDeviceSynchronize", cudaDeviceSynchronize());
     }},
    {"calls_that_ask_nothing_of_the_device_work_after_death",
     [] {
       trap<<<1, 1>>>();
       report("cudaDeviceSynchronize", cudaDeviceSynchronize());
       report("cudaGetDeviceCount", cudaGetDeviceCount(&value));
       report("cudaGetDevice", cudaGetDevice(&value));
       report("cudaRuntimeGetVersion", cudaRuntimeGetVersion(&value));
       report("cudaDeviceGetAttribute", cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
     }},

    // --- Allocation
    CALL(malloc_of_a_pebibyte, cudaMalloc, &memory, std::size_t{1} << 50),
    CALL(malloc_into_null, cudaMalloc, static_cast<void**>(nullptr), 4),
    {"malloc_of_0_bytes",
     [] {
       memory = &memory;
       report_call("cudaMalloc", cudaMalloc(&memory, 0));
       std::printf("pointer: %s\n", memory ? "not null" : "null");
     }},
    CALL(malloc_managed_of_0_bytes, cudaMallocManaged, &memory, 0),
    CALL(malloc_managed_with_unknown_flags, cudaMallocManaged, &memory, 4, 0x80),
    CALL(malloc_host_into_null, cudaMallocHost, static_cast<void**>(nullptr), 4),
    CALL(host_alloc_with_unknown_flags, cudaHostAlloc, &memory, 4, 0x80),
    CALL(free_null, cudaFree, nullptr),
    CALL(free_host_pointer, cudaFree, &value),
    CALL(free_interior_pointer, cudaFree, device_memory(mebibyte) + 64),
    {"free_twice",
     [] {
       int* const memory = device_memory(mebibyte);
       report("cudaFree", cudaFree(memory));
       report_call("cudaFree", cudaFree(memory));
     }},
    CALL(free_host_null, cudaFreeHost, nullptr),
    CALL(free_host_of_device_pointer, cudaFreeHost, device_memory(4)),
    CALL(free_host_of_ordinary_pointer, cudaFreeHost, &value),
    CALL(host_register_null, cudaHostRegister, nullptr, 4, cudaHostRegisterDefault),
    {"host_register_twice",
     [] {
       report("cudaHostRegister", cudaHostRegister(values, sizeof values, cudaHostRegisterDefault));
       report_call("cudaHostRegister",
                   cudaHostRegister(values, sizeof values, cudaHostRegisterDefault));
     }},
    CALL(host_unregister_what_was_not_registered, cudaHostUnregister, values),
    CALL(host_get_device_pointer_of_ordinary_pointer, cudaHostGetDevicePointer, &memory, values, 0),
    CALL(prefetch_of_device_memory, cudaMemPrefetchAsync, device_memory(mebibyte), mebibyte,
         cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0),

    // --- Copies and fills
    CALL(copy_to_host_with_exchanged_pointers, cudaMemcpy, device_memory(sizeof value), &value,
         sizeof value, cudaMemcpyDeviceToHost),
    CALL(copy_to_device_with_exchanged_pointers, cudaMemcpy, &value, device_memory(sizeof value),
         sizeof value, cudaMemcpyHostToDevice),
    CALL(copy_within_device_from_host_pointer, cudaMemcpy, device_memory(sizeof value), &value,
         sizeof value, cudaMemcpyDeviceToDevice),
    CALL(copy_in_no_known_direction, cudaMemcpy, device_memory(sizeof value), &value, sizeof value,
         static_cast<cudaMemcpyKind>(7)),
    {"copy_beyond_destination",
     [] {
       const std::vector<char> values(64 * mebibyte);
       report_call("cudaMemcpy", cudaMemcpy(device_memory(mebibyte), values.data(), values.size(),
                                            cudaMemcpyHostToDevice));
     }},
    {"copy_beyond_source",
     [] {
       std::vector<char> values(64 * mebibyte);
       report_call("cudaMemcpy", cudaMemcpy(values.data(), device_memory(mebibyte), values.size(),
                                            cudaMemcpyDeviceToHost));
     }},
    CALL(copy_to_null, cudaMemcpy, nullptr, &value, sizeof value, cudaMemcpyHostToDevice),
    CALL(copy_from_null, cudaMemcpy, device_memory(sizeof(int)), nullptr, sizeof(int),
         cudaMemcpyHostToDevice),
    CALL(copy_of_0_bytes, cudaMemcpy, nullptr, nullptr, 0, cudaMemcpyHostToDevice),
    {"copy_2d_wider_than_pitch",
     [] {
       const std::vector<char> values(64);
       report_call("cudaMemcpy2D", cudaMemcpy2D(device_memory(64), 8, values.data(), 8, 16, 4,
                                                cudaMemcpyHostToDevice));
     }},
    CALL(copy_to_symbol_beyond_its_end, cudaMemcpyToSymbol, device_variable, values,
         5 * sizeof(int)),
    CALL(copy_to_symbol_in_wrong_direction, cudaMemcpyToSymbol, device_variable, &value,
         sizeof value, 0, cudaMemcpyDeviceToHost),
    CALL(fill_null, cudaMemset, nullptr, 0, 4),
    CALL(fill_host_memory, cudaMemset, &value, 0, sizeof value),
    CALL(fill_beyond_allocation, cudaMemset, device_memory(mebibyte), 0, 64 * mebibyte),

    // --- Devices and kernels
    CALL(set_device_10000, cudaSetDevice, 10000),
    CALL(set_device_minus_1, cudaSetDevice, -1),
    CALL(device_count_into_null, cudaGetDeviceCount, nullptr),
    CALL(properties_of_device_10000, cudaGetDeviceProperties, &properties, 10000),
    CALL(attribute_of_device_10000, cudaDeviceGetAttribute, &value, cudaDevAttrWarpSize, 10000),
    CALL(unknown_attribute, cudaDeviceGetAttribute, &value, static_cast<cudaDeviceAttr>(100000), 0),
    CALL(attribute_into_null, cudaDeviceGetAttribute, nullptr, cudaDevAttrWarpSize, 0),
    CALL(allow_more_shared_memory_than_device, cudaFuncSetAttribute, do_nothing,
         cudaFuncAttributeMaxDynamicSharedMemorySize,
         static_cast<int>(shared_memory_at_most() + kibibyte)),
    CALL(allow_negative_shared_memory, cudaFuncSetAttribute, do_nothing,
         cudaFuncAttributeMaxDynamicSharedMemorySize, -1),
    CALL(occupancy_of_block_of_0_threads, cudaOccupancyMaxActiveBlocksPerMultiprocessor, &value,
         do_nothing, 0, 0),

    // --- Streams and events
    CALL(create_stream_into_null, cudaStreamCreate, nullptr),
    CALL(create_stream_with_unknown_flags, cudaStreamCreateWithFlags, &created_stream, 0x80),
    CALL(destroy_default_stream, cudaStreamDestroy, nullptr),
    CALL(query_default_stream, cudaStreamQuery, nullptr),
    CALL(wait_for_null_event, cudaStreamWaitEvent, nullptr, nullptr, 0),
    CALL(create_event_into_null, cudaEventCreate, nullptr),
    CALL(create_event_with_unknown_flags, cudaEventCreateWithFlags, &created_event, 0x80),
    CALL(create_timed_event_for_other_processes, cudaEventCreateWithFlags, &created_event,
         cudaEventInterprocess),
    CALL(record_null_event, cudaEventRecord, nullptr, nullptr),
    CALL(destroy_null_event, cudaEventDestroy, nullptr),
    CALL(synchronize_null_event, cudaEventSynchronize, nullptr),
    CALL(query_event_that_was_never_recorded, cudaEventQuery, event()),
    CALL(elapsed_time_of_events_never_recorded, cudaEventElapsedTime, &milliseconds, event(),
         event()),
    CALL(elapsed_time_without_end, cudaEventElapsedTime, &milliseconds, recorded_event(), event()),
    CALL(elapsed_time_of_events_without_time, cudaEventElapsedTime, &milliseconds,
         recorded_event(cudaEventDisableTiming), recorded_event(cudaEventDisableTiming)),
    CALL(elapsed_time_into_null, cudaEventElapsedTime, nullptr, recorded_event(), recorded_event()),
};

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 2) {
    std::fprintf(stderr, "usage: %s --list | NAME_OF_A_MISTAKE\n", arguments[0]);
    return 2;
  }
  if (std::strcmp(arguments[1], "--list") == 0) {
    for (const launch& each : launches) std::printf("%s\n", each.name);
    for (const mistake& each : mistakes) std::printf("%s\n", each.name);
    return 0;
  }
  prepare("cudaFree", cudaFree(nullptr));  // the first call of a process sets the device up
  for (const launch& each : launches) {
    if (std::strcmp(arguments[1], each.name) != 0) continue;
    do_nothing<<<each.blocks, each.threads, each.shared_bytes>>>();
    report_after_launch();
    return 0;
  }
  for (const mistake& each : mistakes) {
    if (std::strcmp(arguments[1], each.name) != 0) continue;
    each.make();
    return 0;
  }
  std::fprintf(stderr, "%s: there is no mistake named \"%s\"\n", arguments[0], arguments[1]);
  return 2;
}
