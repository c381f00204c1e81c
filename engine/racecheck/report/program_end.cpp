// SPDX-License-Identifier: MIT
// At the program's end: the report, and an exit status that says that there was something to
// report.
//
// Environment variables, or handed over (cpu_backend/execution/settings.hpp):
//   LAB_RACECHECK_SEED=N       of the order in which blocks and threads run; 0 otherwise
//   LAB_RACECHECK_REPORT=FILE  the report goes there, as JSON, and not to stderr; &0: descriptor 0
//   LAB_RACECHECK_LENIENT=1    a race that only lacks an acquire is reported, and is no failure
//   LAB_RACECHECK_COUNTS=1     the JSON report has what each launch did, in numbers
//   LAB_RACECHECK_SECONDS=N    after so many seconds the program ends, with what was found by then
//   LAB_RACECHECK_SECONDS_OPTION=NAME  the option by which a user has set that, for the message
//   LAB_PROVE_ORDERED_FENCES=1 sequentially consistent fences have the order in which they are
//   executed
// The weak form, in which plain reads get old values, and the exit status is the program's own:
//   LAB_WEAK=1                 each the oldest one that it may get
//   LAB_WEAK_SEED=N            each one that is drawn from those that it may get; N is also the
//   seed
//                              of the order in which blocks and threads run
//   LAB_WEAK_EXPLAIN=1         the report has the race that is the reason
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "cpu_backend/execution/settings.hpp"
#include "cpu_backend/execution/terminal_text.hpp"
#include "cpu_backend/scheduled.hpp"
#include "racecheck/counts/counting_consumer.hpp"
#include "racecheck/events/access_log.hpp"
#include "racecheck/events/event_consumer.hpp"
#include "racecheck/races/checker.hpp"
#include "racecheck/report/finding_text.hpp"
#include "racecheck/report/json_report.hpp"
#include "racecheck/report/locating.hpp"
#include "racecheck/report/merging.hpp"
#include "racecheck/report/time_watch.hpp"
#include "racecheck/report/weak_report.hpp"

namespace racecheck {
namespace {

constexpr int exit_found = 1;
constexpr int exit_time_is_over = 124;  // as timeout(1) has it

std::atomic<bool> reports = false;  // once is enough
bool time_is_over = false;
// fork() makes a process that has the findings of its parent, too, and the same file for its
// report.
bool is_child = false;
bool has_child = false;
std::uint64_t launches_of_parent = 0;

std::uint64_t read_seed(const char* variable) {
  const char* const text = cpu_backend::setting(variable);
  if (!text) return 0;
  const std::string_view digits = text;
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seed);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    std::fprintf(stderr, "%s must be a whole number of 0 or more, not \"%s\".\n", variable, text);
    std::exit(2);
  }
  return seed;
}

bool is_set(const char* variable) {
  const char* const text = cpu_backend::setting(variable);
  return text && *text && std::string_view(text) != "0";
}

bool draws_weak_values() { return cpu_backend::setting("LAB_WEAK_SEED") != nullptr; }

std::uint64_t seed_of_process() {
  static const std::uint64_t seed =
      read_seed(draws_weak_values() ? "LAB_WEAK_SEED" : "LAB_RACECHECK_SEED");
  return seed;
}

bool is_lenient() { return is_set("LAB_RACECHECK_LENIENT"); }

const char* path_of_report() {
  const char* const path = cpu_backend::setting("LAB_RACECHECK_REPORT");
  return path && *path ? path : nullptr;
}

// nullptr if nothing is to be counted.
counting_consumer* counts_of_process() {
  static counting_consumer* const counts =
      is_set("LAB_RACECHECK_COUNTS") ? new counting_consumer(checker::instance()) : nullptr;
  return counts;
}

void print(const std::vector<element_findings>& findings, const run_summary& run) {
  for (const element_findings& each : findings) {
    std::string text = text_of(each.shown);
    for (const std::string& note : notes_of(each, 0)) text += "  " + note + '\n';
    cpu_backend::write_to_stderr(text);
  }
  std::fprintf(stderr, "racecheck: seed %llu, %llu launches, %llu accesses checked, %zu found\n",
               static_cast<unsigned long long>(run.seed),
               static_cast<unsigned long long>(run.launches),
               static_cast<unsigned long long>(run.accesses), findings.size());
  if (run.forgotten_reads != 0) {
    std::fprintf(
        stderr,
        "racecheck: there was no room to remember %llu reads; a later write that races with "
        "one of them was not reported\n",
        static_cast<unsigned long long>(run.forgotten_reads));
  }
}

// Returns whether it could be written, and says so if not.
bool write_report(const char* path, const run_summary& run,
                  const std::vector<located_finding>* findings) {
  run_counts counts;
  if (auto* counting = counts_of_process()) {
    counts = {counting->counter().launches(), counting->host()};
  }
  if (write_json_report(path, run, findings, counts_of_process() ? &counts : nullptr)) return true;
  std::fprintf(stderr, "racecheck: %s can't be written\n", path);
  return false;
}

void print_weak_report(const checker& of, const weak_memory& weak) {
  if (of.launches() == 0) return;
  std::vector<located_finding> findings;
  const bool explains = is_set("LAB_WEAK_EXPLAIN");
  if (explains) findings = locate(of.findings(), of.plain_updates(), seed_of_process());
  std::string text = weak_report(weak.stale(), of.older().count(), explains ? &findings : nullptr);
  if (of.accesses() == 0) text += "; not one access of a kernel was seen";
  cpu_backend::write_to_stderr(text + '\n');
}

void note_child() {
  is_child = true;
  launches_of_parent = checker::instance().launches();
}

// A program has one report: that of the process that has launched kernels.
bool belongs_to_another_process(std::uint64_t launches) {
  if (is_child) return launches == 0 || launches_of_parent != 0;
  const char* const path = path_of_report();
  return has_child && launches == 0 && path && access(path, F_OK) == 0;
}

void at_end(int status, void*) {
  if (reports.exchange(true)) {
    for (;;) pause();  // the other thread ends the process
  }
  const bool ended_in_kernel = running_thread != nullptr;
  plain_accesses.flush();
  running_thread = nullptr;
  std::fflush(stdout);
  if (ended_in_kernel) std::fputs("racecheck: the kernel ended the program by exit()\n", stderr);
  const checker& of = checker::instance();
  if (belongs_to_another_process(of.launches())) return;
  const run_summary run{seed_of_process(), of.launches(), of.failed_launches(), ended_in_kernel,
                        time_is_over,      of.accesses(), of.forgotten_reads()};
  if (weak_memory::active) {
    print_weak_report(of, *weak_memory::active);
    if (counts_of_process() && !write_report(path_of_report(), run, nullptr) && status == 0) {
      std::fflush(nullptr);
      _exit(exit_found);
    }
    return;
  }
  const std::vector<located_finding> findings =
      locate(of.findings(), of.plain_updates(), seed_of_process());
  bool failed = ended_in_kernel;
  if (const char* const path = path_of_report()) {
    if (!write_report(path, run, &findings)) failed = true;
  } else if (run.launches != 0) {
    print(merge_by_element(findings), run);
  }
  for (const located_finding& each : findings) {
    if (!(is_lenient() && each.finding.is_strict())) failed = true;
  }
  if (run.launches > run.failed_launches && run.accesses == 0) {
    std::fputs("racecheck: not one access of a kernel was seen: nothing was checked\n", stderr);
    failed = true;
  }
  if (failed && status == 0) {
    std::fflush(nullptr);
    _exit(exit_found);
  }
}

// Its own exit status says that the program did not end by itself.
void end_now(ended_by why) {
  time_is_over = true;
  if (why == ended_by::time) {
    const char* const option = cpu_backend::setting("LAB_RACECHECK_SECONDS_OPTION");
    std::fprintf(stderr, "racecheck: stopped after %u s (%s)\n", seconds_of_program(),
                 option ? option : "LAB_RACECHECK_SECONDS");
  } else {
    std::fputs("racecheck: stopped by SIGTERM\n", stderr);
  }
  at_end(exit_time_is_over, nullptr);
  if (why == ended_by::signal) {
    signal(SIGTERM, SIG_DFL);
    kill(getpid(), SIGTERM);
  }
  _exit(exit_time_is_over);
}

void begin_weak_form() {
  checker& of = checker::instance();
  of.begin_weak_form(is_set("LAB_WEAK_EXPLAIN"));
  if (draws_weak_values()) {
    of.draw_values(seed_of_process());
  } else {
    cpu_backend::scheduled::run_ahead();
  }
}

// Before main(), so that the report comes after everything that the program itself registers, and a
// bad seed is refused before anything runs.
[[gnu::constructor(200)]] void report_at_end() {
  cpu_backend::scheduled::set_seed(seed_of_process());
  if (counts_of_process() && !path_of_report()) {
    std::fputs("LAB_RACECHECK_COUNTS needs LAB_RACECHECK_REPORT, the file for the counts.\n",
               stderr);
    std::exit(2);
  }
  if (draws_weak_values() || is_set("LAB_WEAK")) {
    begin_weak_form();
  } else if (seed_of_process() % 4 == 3 && !cpu_backend::scheduled::runs_by_decisions()) {
    // Not at all seeds: what an order of the threads shows is easier to follow.
    checker::instance().begin_older_loads();
  }
  if (is_set("LAB_PROVE_ORDERED_FENCES")) checker::instance().order_sc_fences();
  on_exit(at_end, nullptr);
  pthread_atfork(
      nullptr, [] { has_child = true; }, note_child);
  watch_time(end_now);
}

}  // namespace

// It is here because a linker takes out of a library only what somebody calls: whoever tells of
// events gets the report at the program's end as well.
event_consumer& consumer() {
  static event_consumer& first = counts_of_process()
                                     ? static_cast<event_consumer&>(*counts_of_process())
                                     : checker::instance();
  return first;
}

}  // namespace racecheck

// For who runs other people's functions; see loaded_bytes.hpp. Both do nothing unless launches are
// counted.
extern "C" void racecheck_watch_loads() {
  if (auto* counts = racecheck::counts_of_process()) counts->loaded().watch();
}
extern "C" void racecheck_change_other_bytes(const std::uint64_t* but, std::size_t numbers,
                                             std::uint64_t drawn_from) {
  auto* counts = racecheck::counts_of_process();
  if (counts) counts->loaded().change_others({but, but + numbers}, drawn_from);
}
