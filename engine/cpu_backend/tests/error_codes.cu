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

void allow_dynamic_shared_memory(std::size_t bytes) {
  prepare("cudaFuncSetAttribute",
          cudaFuncSetAttribute(do_nothing, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(bytes)));
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

struct mistake {
  const char* name;
  void (*make)();
};

const mistake mistakes[] = {
    // --- Launches that the runtime refuses
    {"no_mistake",
     [] {
       do_nothing<<<1, 1>>>();
       report_after_launch();
     }},
    {"block_of_2048_threads",
     [] {
       do_nothing<<<1, 2048>>>();
       report_after_launch();
     }},
    {"block_of_33_by_32_threads",
     [] {
       do_nothing<<<1, dim3(33, 32)>>>();
       report_after_launch();
     }},
    {"block_of_0_threads",
     [] {
       do_nothing<<<1, 0>>>();
       report_after_launch();
     }},
    {"block_of_z_65",
     [] {
       do_nothing<<<1, dim3(1, 1, 65)>>>();
       report_after_launch();
     }},
    {"grid_of_0_blocks",
     [] {
       do_nothing<<<0, 1>>>();
       report_after_launch();
     }},
    {"grid_of_y_0",
     [] {
       do_nothing<<<dim3(1, 0, 1), 1>>>();
       report_after_launch();
     }},
    {"grid_of_x_2_to_the_31",
     [] {
       do_nothing<<<2147483648u, 1>>>();
       report_after_launch();
     }},
    {"grid_of_y_65536",
     [] {
       do_nothing<<<dim3(1, 65536), 1>>>();
       report_after_launch();
     }},
    {"grid_of_z_65536",
     [] {
       do_nothing<<<dim3(1, 1, 65536), 1>>>();
       report_after_launch();
     }},
    {"dynamic_shared_memory_of_48_kib",
     [] {
       do_nothing<<<1, 1, 48 * kibibyte>>>();
       report_after_launch();
     }},
    {"dynamic_shared_memory_beyond_48_kib",
     [] {
       do_nothing<<<1, 1, 48 * kibibyte + 16>>>();
       report_after_launch();
     }},
    {"dynamic_shared_memory_allowed_by_attribute",
     [] {
       allow_dynamic_shared_memory(shared_memory_at_most());
       do_nothing<<<1, 1, shared_memory_at_most()>>>();
       report_after_launch();
     }},
    {"dynamic_shared_memory_beyond_attribute",
     [] {
       allow_dynamic_shared_memory(56 * kibibyte);
       do_nothing<<<1, 1, 60 * kibibyte>>>();
       report_after_launch();
     }},
    {"dynamic_shared_memory_beyond_device",
     [] {
       allow_dynamic_shared_memory(shared_memory_at_most());
       do_nothing<<<1, 1, shared_memory_at_most() + kibibyte>>>();
       report_after_launch();
     }},
    {"earlier_error_shows_after_launch",
     [] {
       void* memory = nullptr;
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
    {"assert_fails",
     [] {
       assert_equal<<<1, 1>>>(1, 2);
       report_after_launch();
     }},
    {"assert_holds",
     [] {
       assert_equal<<<1, 1>>>(1, 1);
       report_after_launch();
     }},
    {"trap",
     [] {
       trap<<<1, 1>>>();
       report_after_launch();
     }},
    {"write_to_null",
     [] {
       write_to<<<1, 1>>>(hidden(0));
       report_after_launch();
     }},
    {"write_far_outside_every_allocation",
     [] {
       write_to<<<1, 1>>>(hidden(0x123456789000));
       report_after_launch();
     }},
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
       int value = 0;
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
       int value = -1;
       report("cudaGetDeviceCount", cudaGetDeviceCount(&value));
       report("cudaGetDevice", cudaGetDevice(&value));
       report("cudaRuntimeGetVersion", cudaRuntimeGetVersion(&value));
       report("cudaDeviceGetAttribute", cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
     }},

    // --- Allocation
    {"malloc_of_a_pebibyte",
     [] {
       void* memory = nullptr;
       report_call("cudaMalloc", cudaMalloc(&memory, std::size_t{1} << 50));
     }},
    {"malloc_into_null",
     [] { report_call("cudaMalloc", cudaMalloc(static_cast<void**>(nullptr), 4)); }},
    {"malloc_of_0_bytes",
     [] {
       void* memory = &memory;
       report_call("cudaMalloc", cudaMalloc(&memory, 0));
       std::printf("pointer: %s\n", memory ? "not null" : "null");
     }},
    {"malloc_managed_of_0_bytes",
     [] {
       void* memory = nullptr;
       report_call("cudaMallocManaged", cudaMallocManaged(&memory, 0));
     }},
    {"malloc_managed_with_unknown_flags",
     [] {
       void* memory = nullptr;
       report_call("cudaMallocManaged", cudaMallocManaged(&memory, 4, 0x80));
     }},
    {"malloc_host_into_null",
     [] { report_call("cudaMallocHost", cudaMallocHost(static_cast<void**>(nullptr), 4)); }},
    {"host_alloc_with_unknown_flags",
     [] {
       void* memory = nullptr;
       report_call("cudaHostAlloc", cudaHostAlloc(&memory, 4, 0x80));
     }},
    {"free_null", [] { report_call("cudaFree", cudaFree(nullptr)); }},
    {"free_host_pointer",
     [] {
       int on_the_stack = 0;
       report_call("cudaFree", cudaFree(&on_the_stack));
     }},
    {"free_interior_pointer",
     [] { report_call("cudaFree", cudaFree(device_memory(mebibyte) + 64)); }},
    {"free_twice",
     [] {
       int* const memory = device_memory(mebibyte);
       report("cudaFree", cudaFree(memory));
       report_call("cudaFree", cudaFree(memory));
     }},
    {"free_host_null", [] { report_call("cudaFreeHost", cudaFreeHost(nullptr)); }},
    {"free_host_of_device_pointer",
     [] { report_call("cudaFreeHost", cudaFreeHost(device_memory(4))); }},
    {"free_host_of_ordinary_pointer",
     [] {
       int on_the_stack = 0;
       report_call("cudaFreeHost", cudaFreeHost(&on_the_stack));
     }},
    {"host_register_null",
     [] {
       report_call("cudaHostRegister", cudaHostRegister(nullptr, 4, cudaHostRegisterDefault));
     }},
    {"host_register_twice",
     [] {
       static int values[4096];
       report("cudaHostRegister", cudaHostRegister(values, sizeof values, cudaHostRegisterDefault));
       report_call("cudaHostRegister",
                   cudaHostRegister(values, sizeof values, cudaHostRegisterDefault));
     }},
    {"host_unregister_what_was_not_registered",
     [] {
       static int values[4096];
       report_call("cudaHostUnregister", cudaHostUnregister(values));
     }},
    {"host_get_device_pointer_of_ordinary_pointer",
     [] {
       static int values[4096];
       int* on_device = nullptr;
       report_call("cudaHostGetDevicePointer", cudaHostGetDevicePointer(&on_device, values, 0));
     }},
    {"prefetch_of_device_memory",
     [] {
       report_call("cudaMemPrefetchAsync",
                   cudaMemPrefetchAsync(device_memory(mebibyte), mebibyte,
                                        cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0));
     }},

    // --- Copies and fills
    {"copy_to_host_with_exchanged_pointers",
     [] {
       int value = 0;
       report_call("cudaMemcpy", cudaMemcpy(device_memory(sizeof value), &value, sizeof value,
                                            cudaMemcpyDeviceToHost));
     }},
    {"copy_to_device_with_exchanged_pointers",
     [] {
       int value = 0;
       report_call("cudaMemcpy", cudaMemcpy(&value, device_memory(sizeof value), sizeof value,
                                            cudaMemcpyHostToDevice));
     }},
    {"copy_within_device_from_host_pointer",
     [] {
       int value = 0;
       report_call("cudaMemcpy", cudaMemcpy(device_memory(sizeof value), &value, sizeof value,
                                            cudaMemcpyDeviceToDevice));
     }},
    {"copy_in_no_known_direction",
     [] {
       int value = 0;
       report_call("cudaMemcpy", cudaMemcpy(device_memory(sizeof value), &value, sizeof value,
                                            static_cast<cudaMemcpyKind>(7)));
     }},
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
    {"copy_to_null",
     [] {
       int value = 0;
       report_call("cudaMemcpy", cudaMemcpy(nullptr, &value, sizeof value, cudaMemcpyHostToDevice));
     }},
    {"copy_from_null",
     [] {
       report_call("cudaMemcpy", cudaMemcpy(device_memory(sizeof(int)), nullptr, sizeof(int),
                                            cudaMemcpyHostToDevice));
     }},
    {"copy_of_0_bytes",
     [] { report_call("cudaMemcpy", cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice)); }},
    {"copy_2d_wider_than_pitch",
     [] {
       const std::vector<char> values(64);
       report_call("cudaMemcpy2D", cudaMemcpy2D(device_memory(64), 8, values.data(), 8, 16, 4,
                                                cudaMemcpyHostToDevice));
     }},
    {"copy_to_symbol_beyond_its_end",
     [] {
       const int values[5] = {};
       report_call("cudaMemcpyToSymbol",
                   cudaMemcpyToSymbol(device_variable, values, sizeof values));
     }},
    {"copy_to_symbol_in_wrong_direction",
     [] {
       const int value = 0;
       report_call("cudaMemcpyToSymbol", cudaMemcpyToSymbol(device_variable, &value, sizeof value,
                                                            0, cudaMemcpyDeviceToHost));
     }},
    {"fill_null", [] { report_call("cudaMemset", cudaMemset(nullptr, 0, 4)); }},
    {"fill_host_memory",
     [] {
       int value = 0;
       report_call("cudaMemset", cudaMemset(&value, 0, sizeof value));
     }},
    {"fill_beyond_allocation",
     [] { report_call("cudaMemset", cudaMemset(device_memory(mebibyte), 0, 64 * mebibyte)); }},

    // --- Devices and kernels
    {"set_device_10000", [] { report_call("cudaSetDevice", cudaSetDevice(10000)); }},
    {"set_device_minus_1", [] { report_call("cudaSetDevice", cudaSetDevice(-1)); }},
    {"device_count_into_null",
     [] { report_call("cudaGetDeviceCount", cudaGetDeviceCount(nullptr)); }},
    {"properties_of_device_10000",
     [] {
       cudaDeviceProp properties;
       report_call("cudaGetDeviceProperties", cudaGetDeviceProperties(&properties, 10000));
     }},
    {"attribute_of_device_10000",
     [] {
       int value = 0;
       report_call("cudaDeviceGetAttribute",
                   cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 10000));
     }},
    {"unknown_attribute",
     [] {
       int value = 0;
       report_call("cudaDeviceGetAttribute",
                   cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(100000), 0));
     }},
    {"attribute_into_null",
     [] {
       report_call("cudaDeviceGetAttribute",
                   cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0));
     }},
    {"allow_more_shared_memory_than_device",
     [] {
       report_call("cudaFuncSetAttribute",
                   cudaFuncSetAttribute(do_nothing, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(shared_memory_at_most() + kibibyte)));
     }},
    {"allow_negative_shared_memory",
     [] {
       report_call(
           "cudaFuncSetAttribute",
           cudaFuncSetAttribute(do_nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, -1));
     }},
    {"occupancy_of_block_of_0_threads",
     [] {
       int blocks = 0;
       report_call("cudaOccupancyMaxActiveBlocksPerMultiprocessor",
                   cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, do_nothing, 0, 0));
     }},

    // --- Streams and events
    {"create_stream_into_null", [] { report_call("cudaStreamCreate", cudaStreamCreate(nullptr)); }},
    {"create_stream_with_unknown_flags",
     [] {
       cudaStream_t stream = nullptr;
       report_call("cudaStreamCreateWithFlags", cudaStreamCreateWithFlags(&stream, 0x80));
     }},
    {"destroy_default_stream",
     [] { report_call("cudaStreamDestroy", cudaStreamDestroy(nullptr)); }},
    {"query_default_stream", [] { report_call("cudaStreamQuery", cudaStreamQuery(nullptr)); }},
    {"wait_for_null_event",
     [] { report_call("cudaStreamWaitEvent", cudaStreamWaitEvent(nullptr, nullptr, 0)); }},
    {"create_event_into_null", [] { report_call("cudaEventCreate", cudaEventCreate(nullptr)); }},
    {"create_event_with_unknown_flags",
     [] {
       cudaEvent_t created = nullptr;
       report_call("cudaEventCreateWithFlags", cudaEventCreateWithFlags(&created, 0x80));
     }},
    {"create_timed_event_for_other_processes",
     [] {
       cudaEvent_t created = nullptr;
       report_call("cudaEventCreateWithFlags",
                   cudaEventCreateWithFlags(&created, cudaEventInterprocess));
     }},
    {"record_null_event",
     [] { report_call("cudaEventRecord", cudaEventRecord(nullptr, nullptr)); }},
    {"destroy_null_event", [] { report_call("cudaEventDestroy", cudaEventDestroy(nullptr)); }},
    {"synchronize_null_event",
     [] { report_call("cudaEventSynchronize", cudaEventSynchronize(nullptr)); }},
    {"query_event_that_was_never_recorded",
     [] { report_call("cudaEventQuery", cudaEventQuery(event())); }},
    {"elapsed_time_of_events_never_recorded",
     [] {
       float milliseconds = 0;
       report_call("cudaEventElapsedTime", cudaEventElapsedTime(&milliseconds, event(), event()));
     }},
    {"elapsed_time_without_end",
     [] {
       float milliseconds = 0;
       const cudaEvent_t start = recorded_event();
       report_call("cudaEventElapsedTime", cudaEventElapsedTime(&milliseconds, start, event()));
     }},
    {"elapsed_time_of_events_without_time",
     [] {
       float milliseconds = 0;
       const cudaEvent_t start = recorded_event(cudaEventDisableTiming);
       const cudaEvent_t end = recorded_event(cudaEventDisableTiming);
       report_call("cudaEventElapsedTime", cudaEventElapsedTime(&milliseconds, start, end));
     }},
    {"elapsed_time_into_null",
     [] {
       const cudaEvent_t start = recorded_event();
       const cudaEvent_t end = recorded_event();
       report_call("cudaEventElapsedTime", cudaEventElapsedTime(nullptr, start, end));
     }},
};

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 2) {
    std::fprintf(stderr, "usage: %s --list | NAME_OF_A_MISTAKE\n", arguments[0]);
    return 2;
  }
  if (std::strcmp(arguments[1], "--list") == 0) {
    for (const mistake& each : mistakes) std::printf("%s\n", each.name);
    return 0;
  }
  for (const mistake& each : mistakes) {
    if (std::strcmp(arguments[1], each.name) != 0) continue;
    prepare("cudaFree", cudaFree(nullptr));  // the first call of a process sets the device up
    each.make();
    return 0;
  }
  std::fprintf(stderr, "%s: there is no mistake named \"%s\"\n", arguments[0], arguments[1]);
  return 2;
}
