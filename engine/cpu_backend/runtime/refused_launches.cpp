// SPDX-License-Identifier: MIT
#include "cpu_backend/runtime/refused_launches.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>

#include "cpu_backend/execution/settings.hpp"
#include "cuda_runtime_api.h"

namespace cpu_backend {
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

std::atomic<bool> any = false;  // so that whoever asks in vain pays for no lock

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
