// SPDX-License-Identifier: MIT
#include "racecheck/report/time_watch.hpp"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <thread>

#include "cpu_backend/execution/settings.hpp"
#include "cpu_backend/observer.hpp"
#include "racecheck/events/access_log.hpp"

namespace racecheck {
namespace {

using namespace std::chrono_literals;

struct ending_signal {
  int number;
  const char* name;
  bool is_of_thread;  // which has caused it, and can't go on
};
constexpr ending_signal ending_signals[] = {
    {SIGABRT, "SIGABRT", true},  {SIGBUS, "SIGBUS", true},    {SIGFPE, "SIGFPE", true},
    {SIGILL, "SIGILL", true},    {SIGPIPE, "SIGPIPE", true},  {SIGSEGV, "SIGSEGV", true},
    {SIGSYS, "SIGSYS", true},    {SIGTRAP, "SIGTRAP", true},  {SIGALRM, "SIGALRM", false},
    {SIGHUP, "SIGHUP", false},   {SIGINT, "SIGINT", false},   {SIGQUIT, "SIGQUIT", false},
    {SIGTERM, "SIGTERM", false}, {SIGUSR1, "SIGUSR1", false}, {SIGUSR2, "SIGUSR2", false},
};

const ending_signal& about(int number) {
  return *std::ranges::find(ending_signals, number, &ending_signal::number);
}

sem_t asked_to_end;
std::atomic<int> signal_that_came = 0;             // the first one
std::atomic<bool> stops_between_launches = false;  // its thread, and most programs have one
std::atomic<bool> has_reported = false;
constinit thread_local bool makes_report = false;

void end_by(int number) {
  signal(number, SIG_DFL);
  raise(number);
}

// Waits for the report, but not for ever: it may need what this thread holds, such as a lock of the
// heap. After a signal from elsewhere a kernel goes on until it can be stopped, and the thread that
// makes the report until it is made.
void on_signal(int number) {
  const bool is_of_thread = about(number).is_of_thread;
  const bool launch_runs = time_of_program.launch_runs();
  if (makes_report && is_of_thread) end_by(number);
  if (makes_report) return;
  int none = 0;
  if (signal_that_came.compare_exchange_strong(none, number)) {
    stops_between_launches = !launch_runs;
    sem_post(&asked_to_end);
  }
  if (launch_runs && !is_of_thread) return;
  constexpr int most_milliseconds = 10'000;
  const timespec moment{0, 1'000'000};
  for (int i = 0; i < most_milliseconds && !has_reported; ++i) nanosleep(&moment, nullptr);
  end_by(number);
}

// Those with which the program would end; what it sets itself later comes in their place.
void handle_signals() {
  // A thread whose stack is full can't handle a signal on it.
  alignas(16) static char stack[64 << 10];
  stack_t other{};
  other.ss_sp = stack;
  other.ss_size = sizeof stack;
  sigaltstack(&other, nullptr);
  for (const ending_signal& each : ending_signals) {
    struct sigaction before {};
    sigaction(each.number, nullptr, &before);
    if (before.sa_handler != SIG_DFL) continue;
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART | SA_ONSTACK;
    sigaction(each.number, &action, nullptr);
  }
}

// A child made by fork() has no thread that watches.
void leave_signals_alone() {
  for (const ending_signal& each : ending_signals) {
    struct sigaction now {};
    sigaction(each.number, nullptr, &now);
    if (now.sa_handler == on_signal) signal(each.number, SIG_DFL);
  }
}

// Waits until a signal, which it returns, or the end of the time.
int wait_for_end() {
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += seconds_of_program();
  for (;;) {
    const int failed =
        seconds_of_program() == 0 ? sem_wait(&asked_to_end) : sem_timedwait(&asked_to_end, &until);
    if (!failed) return signal_that_came;
    if (errno == ETIMEDOUT) return 0;
  }
}

// A kernel that computes without an access to memory, and the host, never come to the checker: if
// no thread has, and nothing is being checked, it makes no difference.
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
    return static_cast<unsigned>(std::min<std::uint64_t>(
        cpu_backend::number_setting("LAB_RACECHECK_SECONDS", 0, 1), UINT32_MAX));
  }();
  return seconds;
}

const char* name_of_signal(int signal) { return about(signal).name; }

void note_reporter() { makes_report = true; }

void watch_end(void (*report)(int signal)) {
  seconds_of_program();
  sem_init(&asked_to_end, 0, 0);
  handle_signals();
  pthread_atfork(nullptr, nullptr, leave_signals_alone);
  // None of the program's threads: looked at as one, it would wait for what the thread holds that
  // caused the signal.
  const cpu_backend::observer::runtime_access now;
  std::thread([report] {
    const cpu_backend::observer::runtime_access at_the_end;
    const int signal = wait_for_end();
    if (!stops_between_launches) stop_the_kernel();
    report(signal);
    has_reported = true;
    if (about(signal).is_of_thread) std::this_thread::sleep_for(1s);  // it ends the process itself
    end_by(signal);
  }).detach();
}

}  // namespace racecheck
