// SPDX-License-Identifier: MIT
#include "cpu_backend/runtime/refused_launches.hpp"

#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

#include "cuda_runtime_api.h"

namespace cpu_backend {
namespace {

struct refused {
  std::string first;
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

void report() {
  const std::lock_guard guard(all().lock);
  std::fflush(stdout);
  for (const auto& [thread, launches] : all().of_thread) {
    std::string text = launches.first;
    if (launches.more != 0) text += ". " + std::to_string(launches.more) + " more failed later";
    std::fprintf(stderr, "%s\n", text.c_str());
  }
}

}  // namespace

void note_refused_launch(cudaError_t error, const std::string& what) {
  const char* const wanted = std::getenv("LAB_REPORT_UNASKED");
  if (!wanted || *wanted == '\0') return;
  const std::lock_guard guard(all().lock);
  if (!any.exchange(true)) {
    static const bool registered = std::atexit(report) == 0;
    (void)registered;
  }
  const auto [entry, is_new] = all().of_thread.try_emplace(pthread_self());
  if (!is_new) {
    ++entry->second.more;
    return;
  }
  const auto colon = what.find(": ");
  entry->second.first =
      what.substr(0, colon) + ": this launch failed, and nobody asked: " + cudaGetErrorName(error) +
      what.substr(colon) + ". The kernel did not run; ask by cudaGetLastError() after each launch";
}

void errors_are_asked_for() {
  if (!any.load(std::memory_order_relaxed)) return;
  const std::lock_guard guard(all().lock);
  all().of_thread.erase(pthread_self());
}

}  // namespace cpu_backend
