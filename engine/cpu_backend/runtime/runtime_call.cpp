// SPDX-License-Identifier: MIT
#include "cpu_backend/runtime/runtime_call.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

#include "cpu_backend/execution/diagnostic.hpp"
#include "cpu_backend/execution/settings.hpp"
#include "cpu_backend/execution/source_line.hpp"
#include "cpu_backend/form.hpp"
#include "cpu_backend/observer.hpp"
#include "cuda_runtime_api.h"

namespace cpu_backend {
namespace {

constinit std::atomic<bool> is_child = false;
constinit std::atomic<bool> has_said_so = false;

void in_child() {
  is_child.store(true, std::memory_order_relaxed);
  has_said_so.store(false, std::memory_order_relaxed);
}

}  // namespace

cudaError_t refused_after_fork() {
  static const bool watched = pthread_atfork(nullptr, nullptr, in_child) == 0;
  (void)watched;
  if (!is_child.load(std::memory_order_relaxed)) return cudaSuccess;
  if (!has_said_so.exchange(true)) {
    // Not report(): what stdout holds is the parent's, which will print it itself.
    const diagnostic what("used_after_fork");
    write_record(what);
    std::fputs((what.sentence() + '\n').c_str(), stderr);
  }
  return cudaErrorInitializationError;
}

pid_t fork_with_device() {
  const pid_t child = fork();
  if (child == 0) is_child.store(false, std::memory_order_relaxed);
  return child;
}

cudaError_t begin_call(const char* function) {
  observer::runtime_called(function);
  form::called(function);
  static const std::uint64_t failing = number_setting("LAB_FAIL_CALL", 0, 1);
  static std::atomic<std::uint64_t> calls = 0;
  if (failing == 0 || ++calls != failing) return cudaSuccess;
  diagnostic made("made_to_fail");
  report(made.add("function", function).add("at", line_of(call_stack::here())));
  return cudaErrorUnknown;
}

namespace {

struct refused {
  diagnostic first;
  pid_t process;  // a child made by fork() leaves its parent's to the parent
  unsigned more = 0;
};

struct unasked {
  std::mutex lock;
  std::map<pthread_t, refused> of_thread;
};
unasked& all() {
  // Never destroyed: it is read after main().
  static unasked& the_only = *new unasked;
  return the_only;
}

std::atomic<bool> any = false;  // without it, a call pays for no lock

void report_all() {
  const std::lock_guard guard(all().lock);
  for (auto& [thread, launches] : all().of_thread) {
    if (launches.process != getpid()) continue;
    if (launches.more != 0) launches.first.add("more", launches.more);
    report(launches.first);
  }
}

}  // namespace

void note_refused_launch(cudaError_t error, const diagnostic& what) {
  const char* const wanted = setting("LAB_REPORT_UNASKED");
  if (!wanted || *wanted == '\0') return;
  const std::lock_guard guard(all().lock);
  if (!any.exchange(true)) {
    static const bool registered = std::atexit(report_all) == 0;
    (void)registered;
  }
  const auto [entry, is_new] = all().of_thread.try_emplace(pthread_self(), refused{what, getpid()});
  if (is_new) {
    entry->second.first.add("error", cudaGetErrorName(error));
  } else {
    ++entry->second.more;
  }
}

void errors_are_asked_for() {
  if (!any.load(std::memory_order_relaxed)) return;
  const std::lock_guard guard(all().lock);
  all().of_thread.erase(pthread_self());
}

}  // namespace cpu_backend
