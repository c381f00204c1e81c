// SPDX-License-Identifier: MIT
// The host's own threads: where two of them meet, what the one has given the device, or waited for,
// is before what the other one does. These functions stand in the place of the system's, in the
// standard library's calls too.
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include "cpu_backend/execution/settings.hpp"
#include "cpu_backend/runtime/work_order.hpp"
#include "cpu_backend/scheduled.hpp"
#include "racecheck/events/host_access.hpp"

namespace {

using cpu_backend::work_order::host_acquires;
using cpu_backend::work_order::host_releases;

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// The mutexes of a program without threads of its own order nothing, nor do those of the checker. A
// function in a stream is as one.
constinit bool has_threads = false;
constinit __thread bool is_here = false;
constinit __thread bool is_host = false;  // and plays no kernels

__attribute__((constructor)) void note_first_thread() { is_host = true; }

template <class Tell>
void tell(Tell what) {
  if (!has_threads || !is_host || is_here || racecheck::accesses_by_runtime != 0) return;
  is_here = true;
  what();
  is_here = false;
}

void takes_turn(pthread_mutex_t* mutex) {
  racecheck::note_turn_of_thread(mutex, nullptr);
  host_acquires(mutex);
}

struct beginning {
  void* (*function)(void*);
  void* argument;
  unsigned number;  // from 0, as they are made
};

std::atomic<unsigned> ended = 0;  // host threads

// In runs of `lab prove` that others are compared with, threads begin in the opposite order, or
// each before the one that has made it goes on: when it has ended, or after a while, as it may wait
// for what comes then.
bool compares_with(bool opposite) {
  static const char* const asked = cpu_backend::setting("LAB_PROVE_FAILS_BY_CHANCE");
  return asked && opposite == (std::atoi(asked) % 2 == 1);
}

void begin_in_opposite_order(unsigned number) {
  using namespace std::chrono_literals;
  constexpr unsigned most = 4;
  if (compares_with(true)) std::this_thread::sleep_for(100ms * (most - std::min(number, most)));
}

void let_thread_go_first(unsigned number) {
  using namespace std::chrono_literals;
  if (!compares_with(false)) return;
  for (int round = 0; ended <= number && round < 300; ++round) std::this_thread::sleep_for(1ms);
}

const void* name_of(pthread_t thread) { return reinterpret_cast<const void*>(thread); }

void* run(void* of) {
  is_host = true;
  tell([&] { cpu_backend::work_order::host_thread_starts(of); });
  const beginning begun = *static_cast<beginning*>(of);
  delete static_cast<beginning*>(of);
  begin_in_opposite_order(begun.number);
  // Also of a thread that is cancelled, or ends by pthread_exit().
  struct at_end {
    ~at_end() {
      tell([] {
        host_releases(name_of(pthread_self()));
        cpu_backend::work_order::host_thread_ends();
      });
      ++ended;
    }
  } const end;
  return begun.function(begun.argument);
}

}  // namespace

void racecheck::note_function_in_stream() { has_threads = true; }

bool racecheck::is_second_host_thread() { return is_host && gettid() != getpid(); }

extern "C" {

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                   void* argument) {
  static const auto create = next<decltype(pthread_create)>("pthread_create");
  if (racecheck::accesses_by_runtime != 0) return create(thread, attributes, function, argument);
  has_threads = true;
  racecheck::watches_host_threads = cpu_backend::scheduled::runs_by_decisions();
  static std::atomic<unsigned> made = 0;
  const unsigned number = made++;
  auto* const begun = new beginning{function, argument, number};
  tell([&] { cpu_backend::work_order::host_thread_begins(begun); });
  const int error = create(thread, attributes, run, begun);
  if (error != 0) {
    tell([&] { cpu_backend::work_order::host_thread_does_not_begin(begun); });
    delete begun;
  }
  if (error == 0) let_thread_go_first(number);
  return error;
}

int pthread_join(pthread_t thread, void** result) {
  static const auto join = next<decltype(pthread_join)>("pthread_join");
  const int error = join(thread, result);
  if (error == 0) tell([&] { host_acquires(name_of(thread)); });
  return error;
}

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static const auto lock = next<decltype(pthread_mutex_lock)>("pthread_mutex_lock");
  const int error = lock(mutex);
  if (error == 0) tell([&] { takes_turn(mutex); });
  return error;
}

int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  static const auto lock = next<decltype(pthread_mutex_trylock)>("pthread_mutex_trylock");
  const int error = lock(mutex);
  if (error == 0) tell([&] { takes_turn(mutex); });
  return error;
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  static const auto unlock = next<decltype(pthread_mutex_unlock)>("pthread_mutex_unlock");
  tell([&] { host_releases(mutex); });
  return unlock(mutex);
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  static const auto wait = next<decltype(pthread_cond_wait)>("pthread_cond_wait");
  tell([&] { host_releases(mutex); });
  const int error = wait(condition, mutex);
  tell([&] { host_acquires(mutex); });
  return error;
}
}
