// SPDX-License-Identifier: MIT
// With LAB_STREAM_ORDER=last the stream that was created last goes first, as far as CUDA allows it.
// (Exercise 03.2 is judged by this, in both orders.)
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstdlib>
#include <vector>

#include "checked_runtime/device_buffer.cuh"
#include "error_names.hpp"

namespace {

// Before anything asks for the order.
const int is_set = setenv("LAB_STREAM_ORDER", "last", 1);

__global__ void append_digit(long long* number, int digit) { *number = *number * 10 + digit; }

// Two streams, the first one created first, and a number that tells in which order digits came.
struct two_streams {
  explicit two_streams(unsigned int flags = cudaStreamDefault) : two_streams(flags, flags) {}
  two_streams(unsigned int flags_of_first, unsigned int flags_of_second) : number(1) {
    REQUIRE(is_set == 0);
    REQUIRE(cudaStreamCreateWithFlags(&first, flags_of_first) == cudaSuccess);
    REQUIRE(cudaStreamCreateWithFlags(&second, flags_of_second) == cudaSuccess);
    REQUIRE(cudaEventCreate(&event) == cudaSuccess);
    number.fill_bytes(0);
  }
  ~two_streams() {
    if (first) (void)cudaStreamDestroy(first);
    (void)cudaStreamDestroy(second);
    (void)cudaEventDestroy(event);
  }
  two_streams(const two_streams&) = delete;
  two_streams& operator=(const two_streams&) = delete;

  void append(int digit, cudaStream_t in) { append_digit<<<1, 1, 0, in>>>(number.data(), digit); }
  long long read() {
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    return number.to_host().front();
  }

  cudaStream_t first = nullptr;
  cudaStream_t second = nullptr;
  cudaEvent_t event = nullptr;
  checked::device_buffer<long long> number;
};

}  // namespace

TEST_CASE("without an event the stream that was created last goes first") {
  two_streams with;
  with.append(1, with.first);
  with.append(2, with.second);
  with.append(3, with.first);
  CHECK(with.read() == 213);
}

TEST_CASE("a launch through a pointer to its kernel waits for its stream's turn as well") {
  two_streams with;
  void (*const kernel)(long long*, int) = append_digit;
  kernel<<<1, 1, 0, with.first>>>(with.number.data(), 1);
  with.append(2, with.second);
  CHECK(with.read() == 21);
}

TEST_CASE("an event orders two streams in every order") {
  two_streams with;
  with.append(1, with.first);
  REQUIRE(cudaEventRecord(with.event, with.first) == cudaSuccess);
  with.append(2, with.first);
  with.append(3, with.second);
  REQUIRE(cudaStreamWaitEvent(with.second, with.event) == cudaSuccess);
  with.append(4, with.second);
  CHECK(with.read() == 3142);
}

TEST_CASE("an event that is recorded too early orders nothing") {
  two_streams with;
  REQUIRE(cudaEventRecord(with.event, with.first) == cudaSuccess);
  with.append(1, with.first);
  REQUIRE(cudaStreamWaitEvent(with.second, with.event) == cudaSuccess);
  with.append(2, with.second);
  CHECK(with.read() == 21);
}

TEST_CASE("the default stream waits for streams, but not for those that are non-blocking") {
  const unsigned int flags = GENERATE(cudaStreamDefault, cudaStreamNonBlocking);
  two_streams with(flags);
  with.append(1, with.first);
  with.append(2, nullptr);
  CHECK(with.read() == (flags == cudaStreamDefault ? 12 : 21));
}

TEST_CASE("a copy comes after the work of its own stream") {
  two_streams with;
  with.append(1, with.first);
  with.append(2, with.second);
  long long copied = -1;
  REQUIRE(cudaMemcpyAsync(&copied, with.number.data(), sizeof(copied), cudaMemcpyDeviceToHost,
                          with.first) == cudaSuccess);
  CHECK(copied == 1);
  CHECK(with.read() == 12);
}

TEST_CASE("a stream that is destroyed does its work first") {
  two_streams with;
  with.append(1, with.first);
  REQUIRE(cudaStreamDestroy(with.first) == cudaSuccess);
  with.first = nullptr;
  with.append(2, with.second);
  CHECK(with.read() == 21);
}

TEST_CASE("who asks whether a stream is done gets no for an answer, and yes in the end") {
  two_streams with;
  with.append(1, with.first);
  CHECK(cudaStreamQuery(with.first) == cudaErrorNotReady);
  int questions = 1;
  while (cudaStreamQuery(with.first) == cudaErrorNotReady && questions < 10) ++questions;
  CHECK(questions < 10);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(with.read() == 1);
}

TEST_CASE("what the host has waited for is done before all that it asks for next") {
  two_streams with;
  with.append(1, with.first);
  REQUIRE(cudaStreamSynchronize(with.first) == cudaSuccess);
  with.append(2, with.second);
  CHECK(with.read() == 12);
}

TEST_CASE("a host that waits for one stream orders no other one") {
  two_streams with;
  with.append(1, with.first);
  with.append(2, with.second);
  SECTION("by its name") { REQUIRE(cudaStreamSynchronize(with.second) == cudaSuccess); }
  SECTION("by an event") {
    REQUIRE(cudaEventRecord(with.event, with.second) == cudaSuccess);
    REQUIRE(cudaEventSynchronize(with.event) == cudaSuccess);
  }
  SECTION("by asking for its time") {
    REQUIRE(cudaEventRecord(with.event, with.second) == cudaSuccess);
    float milliseconds = -1;
    REQUIRE(cudaEventElapsedTime(&milliseconds, with.event, with.event) == cudaSuccess);
  }
  SECTION("by asking whether it is done") {
    while (cudaStreamQuery(with.second) == cudaErrorNotReady) {
    }
  }
  SECTION("by asking whether an event has happened") {
    REQUIRE(cudaEventRecord(with.event, with.second) == cudaSuccess);
    while (cudaEventQuery(with.event) == cudaErrorNotReady) {
    }
  }
  with.append(3, with.second);
  CHECK(with.read() == 231);
}

TEST_CASE("a stream that goes first does so before a host that waits for another one goes on") {
  two_streams with(cudaStreamDefault, cudaStreamNonBlocking);
  with.append(1, with.first);
  with.append(2, with.second);
  SECTION("by its name") { REQUIRE(cudaStreamSynchronize(with.first) == cudaSuccess); }
  SECTION("by an event") {
    REQUIRE(cudaEventRecord(with.event, with.first) == cudaSuccess);
    REQUIRE(cudaEventSynchronize(with.event) == cudaSuccess);
  }
  SECTION("by the default stream") { REQUIRE(cudaStreamSynchronize(nullptr) == cudaSuccess); }
  with.append(3, with.first);
  CHECK(with.read() == 213);
}

TEST_CASE("a host that waits for the device waits for all streams") {
  two_streams with;
  with.append(1, with.first);
  with.append(2, with.second);
  SECTION("by its name") { REQUIRE(cudaDeviceSynchronize() == cudaSuccess); }
  SECTION("by freeing memory") { REQUIRE(cudaFree(nullptr) == cudaSuccess); }
  with.append(3, with.second);
  CHECK(with.read() == 213);
}

TEST_CASE("a wait for an event is one for what comes before it, and not for what comes after") {
  two_streams with;
  with.append(1, with.first);
  REQUIRE(cudaEventRecord(with.event, with.first) == cudaSuccess);
  with.append(2, with.first);
  REQUIRE(cudaEventSynchronize(with.event) == cudaSuccess);
  with.append(3, with.second);
  CHECK(with.read() == 132);
}

TEST_CASE("a host that waits for a stream waits for the events that the stream waits for") {
  two_streams with;
  with.append(1, with.first);
  REQUIRE(cudaEventRecord(with.event, with.first) == cudaSuccess);
  with.append(2, with.first);
  REQUIRE(cudaStreamWaitEvent(with.second, with.event) == cudaSuccess);
  with.append(3, with.second);
  REQUIRE(cudaStreamSynchronize(with.second) == cudaSuccess);
  with.append(4, with.second);
  CHECK(with.read() == 1342);
}

TEST_CASE("a host that waits for the default stream waits for no stream that is non-blocking") {
  const unsigned int flags = GENERATE(cudaStreamDefault, cudaStreamNonBlocking);
  two_streams with(flags);
  with.append(1, with.first);
  SECTION("by its name") { REQUIRE(cudaStreamSynchronize(nullptr) == cudaSuccess); }
  SECTION("by asking whether it is done") {
    while (cudaStreamQuery(nullptr) == cudaErrorNotReady) {
    }
  }
  SECTION("by a copy") {
    long long copied = -1;
    REQUIRE(cudaMemcpy(&copied, with.number.data(), sizeof(copied), cudaMemcpyDeviceToHost) ==
            cudaSuccess);
    CHECK(copied == (flags == cudaStreamDefault ? 1 : 0));
  }
  with.append(2, with.second);
  CHECK(with.read() == (flags == cudaStreamDefault ? 12 : 21));
}
