// SPDX-License-Identifier: MIT
// All 8,960 variants of the last-block guard, as kernels, against the verdicts of a reference model
// of PTX's memory model (guard_verdicts.hpp): where fences and barriers stand, who fences, at which
// scope, with which order. In all of them block 0 publishes and block 1 comes last.
#include <cuda_runtime.h>
#include <cuda/atomic>

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "guard_verdicts.hpp"
#include "racecheck/races/checker.hpp"

namespace {

// Steps: F all threads fence, f thread 0 fences, B barrier, T thread 0 takes the ticket, R thread 1
// reads what block 0 wrote.
constexpr const char* publishers[] = {"T",   "fT",   "FT",  "BT", "FBT",
                                      "BfT", "FBfT", "fBT", "Tf", "TB"};
constexpr const char* observers[] = {"TBR", "TfBR", "TBFR", "FTBR", "TBfR", "TfR", "fTfBR"};
constexpr cuda::memory_order orders[] = {cuda::memory_order_relaxed, cuda::memory_order_acq_rel,
                                         cuda::memory_order_release, cuda::memory_order_acquire};

struct variant {
  char steps[2][6];
  bool every_thread_writes;
  bool sequentially_consistent;
  bool narrow_fence[2];
  bool narrow_ticket;
  cuda::memory_order order;
};

__global__ void guard(variant of, int* data, unsigned* counter, unsigned* ticket_of_last,
                      int* sum) {
  const unsigned thread = threadIdx.x;
  const unsigned block = blockIdx.x;
  if (block == 0 && (thread == 0 || of.every_thread_writes)) data[thread] = 1;
  for (const char* step = of.steps[block]; *step; ++step) {
    switch (*step) {
      case 'F':
      case 'f':
        if (*step == 'f' && thread != 0) break;
        cuda::atomic_thread_fence(
            of.sequentially_consistent ? cuda::memory_order_seq_cst : cuda::memory_order_acq_rel,
            of.narrow_fence[block] ? cuda::thread_scope_block : cuda::thread_scope_device);
        break;
      case 'B':
        __syncthreads();
        break;
      case 'T':
        if (thread == 0) {
          const unsigned ticket =
              of.narrow_ticket
                  ? cuda::atomic_ref<unsigned, cuda::thread_scope_block>(*counter).fetch_add(
                        1, of.order)
                  : cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*counter).fetch_add(
                        1, of.order);
          if (block == 1) *ticket_of_last = ticket;
        }
        break;
      default:
        if (thread == 1) *sum = data[0] + (of.every_thread_writes ? data[1] : 0);
    }
  }
}

std::vector<variant> all_variants() {
  std::vector<variant> all;
  for (const char* publisher : publishers)
    for (const char* observer : observers)
      for (const bool every_thread_writes : {false, true})
        for (const bool sequentially_consistent : {false, true})
          for (const bool narrow_publisher : {false, true})
            for (const bool narrow_observer : {false, true})
              for (const bool narrow_ticket : {false, true})
                for (const cuda::memory_order order : orders) {
                  variant made{};
                  std::string(publisher).copy(made.steps[0], 5);
                  std::string(observer).copy(made.steps[1], 5);
                  made.every_thread_writes = every_thread_writes;
                  made.sequentially_consistent = sequentially_consistent;
                  made.narrow_fence[0] = narrow_publisher;
                  made.narrow_fence[1] = narrow_observer;
                  made.narrow_ticket = narrow_ticket;
                  made.order = order;
                  all.push_back(made);
                }
  return all;
}

std::string describe(const variant& of) {
  std::string text = std::string(of.steps[0]) + " / " + of.steps[1];
  text += of.every_thread_writes ? ", all write" : ", thread 0 writes";
  text += of.sequentially_consistent ? ", fence.sc" : ", fence.acq_rel";
  if (of.narrow_fence[0]) text += ", publisher's fences at block scope";
  if (of.narrow_fence[1]) text += ", observer's fences at block scope";
  if (of.narrow_ticket) text += ", ticket at block scope";
  return text + ", order " + std::to_string(static_cast<int>(of.order));
}

struct device_memory {
  device_memory() {
    REQUIRE(cudaMalloc(&data, 2 * sizeof(int)) == cudaSuccess);
    REQUIRE(cudaMalloc(&counter, sizeof(unsigned)) == cudaSuccess);
    REQUIRE(cudaMalloc(&ticket, sizeof(unsigned)) == cudaSuccess);
    REQUIRE(cudaMalloc(&sum, sizeof(int)) == cudaSuccess);
    REQUIRE(cudaMemset(data, 0, 2 * sizeof(int)) == cudaSuccess);
  }
  ~device_memory() {
    (void)cudaFree(data);
    (void)cudaFree(counter);
    (void)cudaFree(ticket);
    (void)cudaFree(sum);
  }
  int* data = nullptr;
  unsigned* counter = nullptr;
  unsigned* ticket = nullptr;
  int* sum = nullptr;
};

// Runs the variant until block 1 has been the last `runs` times; whether a race was found in those.
// Nothing where block 1 was not often enough the last.
std::optional<bool> finds_race(const variant& of, const device_memory& memory, unsigned runs) {
  racecheck::checker& checker = racecheck::checker::instance();
  bool found = false;
  unsigned done = 0;
  for (unsigned tries = 0; done < runs && tries < 200; ++tries) {
    checker.forget_findings();
    unsigned ticket = 0;
    if (cudaMemset(memory.counter, 0, sizeof(unsigned)) != cudaSuccess) return std::nullopt;
    guard<<<2, 2>>>(of, memory.data, memory.counter, memory.ticket, memory.sum);
    if (cudaMemcpy(&ticket, memory.ticket, sizeof ticket, cudaMemcpyDeviceToHost) != cudaSuccess)
      return std::nullopt;
    if (ticket != 1) continue;
    ++done;
    found = found || !checker.findings().empty();
  }
  checker.forget_findings();
  if (done < runs) return std::nullopt;
  return found;
}

}  // namespace

TEST_CASE("racecheck agrees with the reference model on every variant of the guard") {
  const std::vector<variant> variants = all_variants();
  const std::string expected = guard_verdicts;
  REQUIRE(variants.size() == expected.size());
  const device_memory memory;
  unsigned racy = 0;
  unsigned false_alarms = 0;
  unsigned missed = 0;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const std::optional<bool> verdict = finds_race(variants[i], memory, 2);
    if (!verdict) FAIL("block 1 was not the last one: " << describe(variants[i]));
    const bool found = *verdict;
    const bool is_racy = expected[i] == '1';
    racy += is_racy;
    false_alarms += found && !is_racy;
    missed += !found && is_racy;
    if (found != is_racy && false_alarms + missed < 10) {
      UNSCOPED_INFO(describe(variants[i]) << (found ? ": false alarm" : ": missed"));
    }
  }
  INFO(variants.size() << " variants, " << racy << " of them racy");
  CHECK(false_alarms == 0);
  CHECK(missed == 0);
  CHECK(racy > 0);
  CHECK(racy < variants.size());
}
