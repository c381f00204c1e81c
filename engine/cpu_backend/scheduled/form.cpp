// SPDX-License-Identifier: MIT
#include "cpu_backend/form.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <vector>

#include "cpu_backend/execution/resident_thread.hpp"
#include "cpu_backend/multiprocessor.hpp"
#include "cpu_backend/scheduled.hpp"
#include "cpu_backend/scheduled/decisions.hpp"
#include "cpu_backend/scheduled/forked_runs.hpp"
#include "cpu_backend/scheduled/scheduler.hpp"

namespace cpu_backend::form {

std::uint64_t block_at(std::uint64_t position) { return scheduler::current().block_at(position); }

bool prefers_new_thread() { return scheduler::current().prefers_new_thread(); }

bool lets_warp_run_ahead() { return scheduler::current().lets_warp_run_ahead(); }

void reorder(thread_queue& released) {
  std::vector<resident_thread*> threads;
  while (!released.empty()) threads.push_back(released.pop());
  scheduler& order = scheduler::current();
  order.shuffle(threads);
  if (order.runs_ahead()) {
    // Warps in the order of their first threads.
    std::unordered_map<unsigned, std::size_t> place;
    const auto warp_of = [](const resident_thread* of) {
      return ((of->index.z * blockDim.y + of->index.y) * blockDim.x + of->index.x) / warp_size;
    };
    for (const resident_thread* each : threads) place.emplace(warp_of(each), place.size());
    std::stable_sort(threads.begin(), threads.end(), [&](const auto* left, const auto* right) {
      return place[warp_of(left)] < place[warp_of(right)];
    });
  }
  for (resident_thread* thread : threads) released.push(thread);
}

bool hides_times() { return decisions::active() != nullptr; }

void used(const char* kind, const char* name, const place* at) {
  if (decisions* list = decisions::active()) list->used(kind, name, at, nullptr);
}

void called(const char* function) {
  if (!decisions::active()) return;
  used("call", function);
  static const pthread_t first = pthread_self();
  if (!pthread_equal(first, pthread_self())) used("host", "second_thread");
}

namespace {
std::uint64_t works = 0;
}  // namespace

void device_gets_work() {
  ++works;
  scheduled::device_has_work = decisions::active() != nullptr;
}

void host_has_waited() { scheduled::device_has_work = false; }

void host_asks_for_time() {
  if (scheduled::device_has_work) used("host", "early_time");
}

std::uint64_t work_so_far() { return works; }

void launch_comes() {
  static const bool once = (fork_runs(), true);
  (void)once;
}

}  // namespace cpu_backend::form
