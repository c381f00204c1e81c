// SPDX-License-Identifier: MIT
#include "racecheck/report/time_watch.hpp"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "cpu_backend/execution/settings.hpp"
#include "racecheck/events/time_limit.hpp"

namespace racecheck {
namespace {

using namespace std::chrono_literals;

sem_t asked_to_end;

void on_signal(int) { sem_post(&asked_to_end); }

// Waits until SIGTERM or the end of the time.
ended_by wait_for_end() {
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += seconds_of_program();
  for (;;) {
    const int failed =
        seconds_of_program() == 0 ? sem_wait(&asked_to_end) : sem_timedwait(&asked_to_end, &until);
    if (!failed) return ended_by::signal;
    if (errno == ETIMEDOUT) return ended_by::time;
  }
}

// A kernel that computes without an access to memory, and the host, never come to the checker: if
// nobody has, and nothing is being checked, it will be all the same.
void stop_the_kernel() {
  time_of_program.end();
  const auto now = [] { return std::chrono::steady_clock::now(); };
  const auto start = now();
  while (!time_of_program.has_stopped_a_thread()) {
    const auto waited = now() - start;
    if (waited > 10s || (waited > 1s && !time_of_program.checker_works())) break;
    std::this_thread::sleep_for(5ms);
  }
  time_of_program.let_through();
}

}  // namespace

unsigned seconds_of_program() {
  static const unsigned seconds = [] {
    const char* const text = cpu_backend::setting("LAB_RACECHECK_SECONDS");
    if (!text || !*text) return 0u;
    const std::string_view digits = text;
    unsigned read = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), read);
    if (error != std::errc() || end != digits.data() + digits.size() || read == 0) {
      std::fprintf(
          stderr, "LAB_RACECHECK_SECONDS must be a whole number of 1 or more, not \"%s\".\n", text);
      std::exit(2);
    }
    return read;
  }();
  return seconds;
}

void watch_time(void (*report)(ended_by why)) {
  seconds_of_program();
  sem_init(&asked_to_end, 0, 0);
  struct sigaction before {};
  sigaction(SIGTERM, nullptr, &before);
  if (before.sa_handler == SIG_DFL) {
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigaction(SIGTERM, &action, nullptr);
    // A child made by fork() has no thread that watches.
    pthread_atfork(nullptr, nullptr, [] { signal(SIGTERM, SIG_DFL); });
  }
  std::thread([report] {
    const ended_by why = wait_for_end();
    stop_the_kernel();
    report(why);
  }).detach();
}

}  // namespace racecheck
