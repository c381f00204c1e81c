// SPDX-License-Identifier: MIT
// CUDA's error codes and how long they stick. The table holds on a GPU and on the CPU backend
// alike: each row names a mistake that the program error_codes makes, and what that program must
// print.
#include <cuda_runtime.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// What `error_codes argument` prints. Its path is in the environment variable ERROR_CODES_PROGRAM,
// or the macro of that name. Throws if the program does not end with status 0.
std::string run(const std::string& argument) {
#ifdef ERROR_CODES_PROGRAM
  setenv("ERROR_CODES_PROGRAM", ERROR_CODES_PROGRAM, 0);
#endif
  if (!std::getenv("ERROR_CODES_PROGRAM")) {
    throw std::runtime_error("the environment variable ERROR_CODES_PROGRAM is not set");
  }
  // PROGRAM_WRAPPER: with what a program is to be started that is not for this processor.
  const std::string program = "${PROGRAM_WRAPPER:+\"$PROGRAM_WRAPPER\"} \"$ERROR_CODES_PROGRAM\" ";
  std::FILE* const pipe = popen((program + argument).c_str(), "r");
  if (!pipe) throw std::runtime_error("cannot start the program error_codes");
  std::string output;
  std::array<char, 4096> part;
  while (const std::size_t bytes = std::fread(part.data(), 1, part.size(), pipe)) {
    output.append(part.data(), bytes);
  }
  const int status = pclose(pipe);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error("error_codes " + argument + " failed after printing:\n" + output);
  }
  return output;
}

struct row {
  std::string mistake;
  std::string output;
};

// A launch that is refused: the error is reported once and then forgotten.
row refused(const std::string& mistake, const std::string& error) {
  return {mistake, "cudaPeekAtLastError: " + error +
                       "\n"
                       "cudaGetLastError: " +
                       error +
                       "\n"
                       "cudaDeviceSynchronize: cudaSuccess\n"
                       "cudaDeviceSynchronize: cudaSuccess\n"
                       "cudaMalloc: cudaSuccess\n"
                       "cudaGetLastError: cudaSuccess\n"
                       "next launch: cudaSuccess\n"};
}

row accepted(const std::string& mistake) { return refused(mistake, "cudaSuccess"); }

// A kernel that dies: the launch succeeds, every call from the next one that waits on fails.
row killed(const std::string& mistake, const std::string& error) {
  return {mistake,
          "cudaPeekAtLastError: cudaSuccess\n"
          "cudaGetLastError: cudaSuccess\n"
          "cudaDeviceSynchronize: " +
              error +
              "\n"
              "cudaDeviceSynchronize: " +
              error +
              "\n"
              "cudaMalloc: " +
              error +
              "\n"
              "cudaGetLastError: " +
              error +
              "\n"
              "next launch: " +
              error + "\n"};
}

// A call that returns `error`: cudaPeekAtLastError leaves it, cudaGetLastError takes it away.
std::string returned(const std::string& call, const std::string& error) {
  return call + ": " + error +
         "\n"
         "cudaPeekAtLastError: " +
         error +
         "\n"
         "cudaGetLastError: " +
         error +
         "\n"
         "cudaGetLastError: cudaSuccess\n"
         "cudaDeviceSynchronize: cudaSuccess\n";
}

const std::vector<row> launches = {
    accepted("no_mistake"),
    refused("block_of_2048_threads", "cudaErrorInvalidValue"),
    refused("block_of_33_by_32_threads", "cudaErrorInvalidValue"),
    refused("block_of_0_threads", "cudaErrorInvalidValue"),
    refused("block_of_z_65", "cudaErrorInvalidValue"),
    refused("grid_of_0_blocks", "cudaErrorInvalidValue"),
    refused("grid_of_y_0", "cudaErrorInvalidValue"),
    refused("grid_of_x_2_to_the_31", "cudaErrorInvalidValue"),
    refused("grid_of_y_65536", "cudaErrorInvalidValue"),
    refused("grid_of_z_65536", "cudaErrorInvalidValue"),
    accepted("dynamic_shared_memory_of_48_kib"),
    refused("dynamic_shared_memory_beyond_48_kib", "cudaErrorInvalidValue"),
    accepted("dynamic_shared_memory_allowed_by_attribute"),
    refused("dynamic_shared_memory_beyond_attribute", "cudaErrorInvalidValue"),
    refused("dynamic_shared_memory_beyond_device", "cudaErrorInvalidValue"),
    {"earlier_error_shows_after_launch",
     "cudaMalloc: cudaErrorMemoryAllocation\n" + refused("", "cudaErrorMemoryAllocation").output},
    {"cooperative_launch_larger_than_device",
     returned("cudaLaunchCooperativeKernel", "cudaErrorCooperativeLaunchTooLarge")},
};

const std::vector<row> deaths = {
    accepted("assert_holds"),
    killed("assert_fails", "cudaErrorAssert"),
    killed("trap", "cudaErrorLaunchFailure"),
    killed("write_to_null", "cudaErrorIllegalAddress"),
    killed("write_far_outside_every_allocation", "cudaErrorIllegalAddress"),
    {"last_error_after_death",
     "cudaDeviceSynchronize: cudaErrorLaunchFailure\n"
     "cudaGetLastError: cudaErrorLaunchFailure\n"
     "cudaGetLastError: cudaSuccess\n"
     "cudaPeekAtLastError: cudaSuccess\n"},
    {"death_surfaces_in_copy",
     "cudaMemcpy: cudaErrorLaunchFailure\n"
     "cudaDeviceSynchronize: cudaErrorLaunchFailure\n"},
    {"death_surfaces_in_free",
     "cudaFree: cudaErrorLaunchFailure\n"
     "cudaDeviceSynchronize: cudaErrorLaunchFailure\n"},
    {"death_surfaces_in_stream",
     "cudaStreamSynchronize: cudaErrorLaunchFailure\n"
     "cudaStreamQuery: cudaErrorLaunchFailure\n"
     "cudaDeviceSynchronize: cudaErrorLaunchFailure\n"},
    {"calls_that_ask_nothing_of_the_device_work_after_death",
     "cudaDeviceSynchronize: cudaErrorLaunchFailure\n"
     "cudaGetDeviceCount: cudaSuccess\n"
     "cudaGetDevice: cudaSuccess\n"
     "cudaRuntimeGetVersion: cudaSuccess\n"
     "cudaDeviceGetAttribute: cudaSuccess\n"},
};

const std::vector<row> calls = {
    {"malloc_of_a_pebibyte", returned("cudaMalloc", "cudaErrorMemoryAllocation")},
    {"malloc_into_null", returned("cudaMalloc", "cudaErrorInvalidValue")},
    {"malloc_of_0_bytes", returned("cudaMalloc", "cudaSuccess") + "pointer: null\n"},
    {"malloc_managed_of_0_bytes", returned("cudaMallocManaged", "cudaSuccess")},
    {"malloc_managed_with_unknown_flags", returned("cudaMallocManaged", "cudaErrorInvalidValue")},
    {"malloc_host_into_null", returned("cudaMallocHost", "cudaErrorInvalidValue")},
    {"host_alloc_with_unknown_flags", returned("cudaHostAlloc", "cudaErrorInvalidValue")},
    {"free_null", returned("cudaFree", "cudaSuccess")},
    {"free_host_pointer", returned("cudaFree", "cudaErrorInvalidValue")},
    {"free_interior_pointer", returned("cudaFree", "cudaErrorInvalidValue")},
    {"free_twice", "cudaFree: cudaSuccess\n" + returned("cudaFree", "cudaErrorInvalidValue")},
    {"free_host_null", returned("cudaFreeHost", "cudaSuccess")},
    {"free_host_of_device_pointer", returned("cudaFreeHost", "cudaErrorInvalidValue")},
    {"free_host_of_ordinary_pointer", returned("cudaFreeHost", "cudaErrorInvalidValue")},
    {"host_register_null", returned("cudaHostRegister", "cudaErrorInvalidValue")},
    {"host_register_twice",
     "cudaHostRegister: cudaSuccess\n" +
         returned("cudaHostRegister", "cudaErrorHostMemoryAlreadyRegistered")},
    {"host_unregister_what_was_not_registered",
     returned("cudaHostUnregister", "cudaErrorHostMemoryNotRegistered")},
    {"host_get_device_pointer_of_ordinary_pointer",
     returned("cudaHostGetDevicePointer", "cudaErrorInvalidValue")},
    {"prefetch_of_device_memory", returned("cudaMemPrefetchAsync", "cudaErrorInvalidValue")},

    {"copy_to_host_with_exchanged_pointers", returned("cudaMemcpy", "cudaErrorInvalidValue")},
    {"copy_to_device_with_exchanged_pointers", returned("cudaMemcpy", "cudaErrorInvalidValue")},
    {"copy_within_device_from_host_pointer", returned("cudaMemcpy", "cudaErrorInvalidValue")},
    {"copy_in_no_known_direction", returned("cudaMemcpy", "cudaErrorInvalidMemcpyDirection")},
    {"copy_beyond_destination", returned("cudaMemcpy", "cudaErrorInvalidValue")},
    {"copy_beyond_source", returned("cudaMemcpy", "cudaErrorInvalidValue")},
    {"copy_to_null", returned("cudaMemcpy", "cudaErrorInvalidValue")},
    {"copy_from_null", returned("cudaMemcpy", "cudaErrorInvalidValue")},
    {"copy_of_0_bytes", returned("cudaMemcpy", "cudaSuccess")},
    {"copy_2d_wider_than_pitch", returned("cudaMemcpy2D", "cudaErrorInvalidPitchValue")},
    {"copy_to_symbol_beyond_its_end", returned("cudaMemcpyToSymbol", "cudaErrorInvalidValue")},
    {"copy_to_symbol_in_wrong_direction",
     returned("cudaMemcpyToSymbol", "cudaErrorInvalidMemcpyDirection")},
    {"fill_null", returned("cudaMemset", "cudaErrorInvalidValue")},
    {"fill_host_memory", returned("cudaMemset", "cudaErrorInvalidValue")},
    {"fill_beyond_allocation", returned("cudaMemset", "cudaErrorInvalidValue")},

    {"set_device_10000", returned("cudaSetDevice", "cudaErrorInvalidDevice")},
    {"set_device_minus_1", returned("cudaSetDevice", "cudaErrorInvalidDevice")},
    {"device_count_into_null", returned("cudaGetDeviceCount", "cudaErrorInvalidValue")},
    {"properties_of_device_10000", returned("cudaGetDeviceProperties", "cudaErrorInvalidDevice")},
    {"attribute_of_device_10000", returned("cudaDeviceGetAttribute", "cudaErrorInvalidDevice")},
    {"unknown_attribute", returned("cudaDeviceGetAttribute", "cudaErrorInvalidValue")},
    {"attribute_into_null", returned("cudaDeviceGetAttribute", "cudaErrorInvalidValue")},
    {"allow_more_shared_memory_than_device",
     returned("cudaFuncSetAttribute", "cudaErrorInvalidValue")},
    {"allow_negative_shared_memory", returned("cudaFuncSetAttribute", "cudaErrorInvalidValue")},
    {"occupancy_of_block_of_0_threads",
     returned("cudaOccupancyMaxActiveBlocksPerMultiprocessor", "cudaErrorInvalidValue")},

    {"create_stream_into_null", returned("cudaStreamCreate", "cudaErrorInvalidValue")},
    {"create_stream_with_unknown_flags",
     returned("cudaStreamCreateWithFlags", "cudaErrorInvalidValue")},
    {"destroy_default_stream", returned("cudaStreamDestroy", "cudaErrorInvalidResourceHandle")},
    {"query_default_stream", returned("cudaStreamQuery", "cudaSuccess")},
    {"wait_for_null_event", returned("cudaStreamWaitEvent", "cudaErrorInvalidResourceHandle")},
    {"create_event_into_null", returned("cudaEventCreate", "cudaErrorInvalidValue")},
    {"create_event_with_unknown_flags",
     returned("cudaEventCreateWithFlags", "cudaErrorInvalidValue")},
    {"create_timed_event_for_other_processes",
     returned("cudaEventCreateWithFlags", "cudaErrorInvalidValue")},
    {"record_null_event", returned("cudaEventRecord", "cudaErrorInvalidResourceHandle")},
    {"destroy_null_event", returned("cudaEventDestroy", "cudaErrorInvalidResourceHandle")},
    {"synchronize_null_event", returned("cudaEventSynchronize", "cudaErrorInvalidResourceHandle")},
    {"query_event_that_was_never_recorded", returned("cudaEventQuery", "cudaSuccess")},
    {"elapsed_time_of_events_never_recorded",
     returned("cudaEventElapsedTime", "cudaErrorInvalidResourceHandle")},
    {"elapsed_time_without_end",
     returned("cudaEventElapsedTime", "cudaErrorInvalidResourceHandle")},
    {"elapsed_time_of_events_without_time",
     returned("cudaEventElapsedTime", "cudaErrorInvalidResourceHandle")},
    {"elapsed_time_into_null", returned("cudaEventElapsedTime", "cudaErrorInvalidValue")},
};

// Checks every row, so that one run shows all that differ.
void check(const std::vector<row>& table) {
  for (const row& each : table) {
    INFO("error_codes " << each.mistake);
    CHECK(run(each.mistake) == each.output);
  }
}

}  // namespace

TEST_CASE("a launch that cannot be is refused with CUDA's error, which does not stick") {
  check(launches);
}

TEST_CASE("a kernel's death surfaces at the next waiting call and sticks") { check(deaths); }

TEST_CASE("a wrong argument gives CUDA's error, which does not stick") { check(calls); }

TEST_CASE("every mistake of the program error_codes has a row, and every row a mistake") {
  std::multiset<std::string> in_tables;
  for (const auto* table : {&launches, &deaths, &calls}) {
    for (const row& each : *table) in_tables.insert(each.mistake);
  }
  std::multiset<std::string> in_program;
  std::istringstream names(run("--list"));
  for (std::string name; std::getline(names, name);) in_program.insert(name);
  CHECK(in_tables == in_program);
}

TEST_CASE("a mistake that the program error_codes does not know is no silent success") {
  CHECK_THROWS_AS(run("no_such_mistake 2>/dev/null"), std::runtime_error);
}
