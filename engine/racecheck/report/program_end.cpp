// SPDX-License-Identifier: MIT
// At the program's end, however it ends: the report, and an exit status that says that there was
// something to report.
//
// The file of a report has at each launch's end what is known by then. So it is there after SIGKILL
// and after exec() as well.
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "cpu_backend/execution/diagnostic.hpp"
#include "cpu_backend/execution/settings.hpp"
#include "cpu_backend/scheduled.hpp"
#include "racecheck/events/access_log.hpp"
#include "racecheck/events/host_access.hpp"
#include "racecheck/report/counting_checker.hpp"
#include "racecheck/report/finding_text.hpp"
#include "racecheck/report/merging.hpp"
#include "racecheck/report/run_report.hpp"
#include "racecheck/report/time_watch.hpp"

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
pid_t this_process = 0;  // and no child made by vfork(), which has the same memory

bool is_set(const char* variable) {
  const char* const text = cpu_backend::setting(variable);
  return text && *text && std::string_view(text) != "0";
}

bool draws_weak_values() { return cpu_backend::setting("LAB_WEAK_SEED") != nullptr; }

std::uint64_t seed_of_process() {
  static const std::uint64_t seed = cpu_backend::number_setting(
      draws_weak_values() ? "LAB_WEAK_SEED" : "LAB_RACECHECK_SEED", 0, 0);
  return seed;
}

bool is_lenient() { return is_set("LAB_RACECHECK_LENIENT"); }

const char* path_of_report() {
  const char* const path = cpu_backend::setting("LAB_RACECHECK_REPORT");
  return path && *path ? path : nullptr;
}

bool reports_to_file() { return path_of_report() && *path_of_report() != '&'; }

// Each of several processes has a file of its own. The first one has the name that was given.
const std::string& file_of_process() {
  static pid_t owner = 0;
  static std::string& file = *new std::string;
  if (owner == this_process) return file;
  owner = this_process;
  file = path_of_report();
  constexpr int most = 1000;
  for (int number = 2; number < most; ++number) {
    const int made = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (made >= 0) close(made);
    if (made >= 0 || errno != EEXIST) break;
    file = path_of_report() + ("." + std::to_string(number));
  }
  return file;
}

// What another run has left under that name is none of this one's. A program that this one becomes
// by exec(), or starts, has this variable.
void remove_older_report() {
  constexpr const char* has_begun = "LAB_RACECHECK_HAS_BEGUN";
  struct stat facts {};
  if (!reports_to_file() || std::getenv(has_begun)) return;
  setenv(has_begun, "1", 1);
  const char* const path = path_of_report();
  if (lstat(path, &facts) == 0 && S_ISREG(facts.st_mode)) unlink(path);
}

bool counts_only_unseen() {
  const char* const text = cpu_backend::setting("LAB_RACECHECK_COUNTS");
  return text && std::string_view(text) == "unseen";
}

// nullptr if nothing is to be counted.
counting_checker* counts_of_process() {
  static counting_checker* const counts =
      is_set("LAB_RACECHECK_COUNTS") ? new counting_checker : nullptr;
  return counts;
}

void say(const std::string& words) {
  write_descriptor(STDERR_FILENO, cpu_backend::without_controls(words));
}

void print(const std::vector<element_findings>& findings, const run_summary& run) {
  std::string text;
  for (const element_findings& each : findings) {
    text += text_of(each.shown);
    for (const std::string& note : notes_of(each, 0)) text += "  " + note + '\n';
  }
  text += "racecheck: seed " + std::to_string(run.seed) + ", " + std::to_string(run.launches) +
          " launches, " + std::to_string(run.accesses) + " accesses checked, " +
          std::to_string(findings.size()) + " found\n";
  if (run.forgotten_reads != 0) {
    text += "racecheck: there was no room to remember " + std::to_string(run.forgotten_reads) +
            " reads; a later write that races with one of them was not reported\n";
  }
  say(text);
}

// Returns whether it could be written, and says so if not.
bool write_report(const run_summary& run, const std::vector<finding>* findings) {
  run_counts counts;
  counting_checker* const counting = run.is_interim ? nullptr : counts_of_process();
  if (counting) {
    counts = {counting->counter().launches(), counts_only_unseen(), counting->host()};
    if (counts.only_unseen) {
      std::erase_if(counts.launches, [](const launch_counts& each) {
        return !each.completed || each.unseen_bytes_stored.value_or(0) == 0;
      });
    }
  }
  const std::string path = reports_to_file() ? file_of_process() : path_of_report();
  if (write_json_report(path, run, findings, counting ? &counts : nullptr)) return true;
  say("racecheck: " + path + " can't be written\n");
  return false;
}

void print_weak_report(const checker& of, const weak_memory& weak) {
  if (of.launches() == 0 && weak.stale().count() == 0) return;
  std::vector<finding> findings;
  const bool explains = is_set("LAB_WEAK_EXPLAIN");
  if (explains) findings = locate(of.findings(), of.plain_updates(), seed_of_process());
  std::string text = weak_report(weak.stale(), of.older().count(), explains ? &findings : nullptr);
  if (of.accesses() == 0) text += "; not one access of a kernel was seen";
  say(text + '\n');
}

void note_child() {
  is_child = true;
  this_process = getpid();
  launches_of_parent = checker::instance().launches();
}

// A program has one report: that of the process that has launched kernels.
bool belongs_to_another_process(std::uint64_t launches) {
  if (is_child) return launches == 0 || launches_of_parent != 0;
  const char* const path = path_of_report();
  return has_child && launches == 0 && path && access(path, F_OK) == 0;
}

run_summary summary(const checker& of) {
  run_summary made;
  made.seed = seed_of_process();
  made.launches = of.launches();
  made.failed_launches = of.failed_launches();
  made.accesses = of.accesses();
  made.forgotten_reads = of.forgotten_reads();
  return made;
}

std::vector<finding> findings_so_far(const checker& of) {
  return locate(of.findings(), of.plain_updates(), seed_of_process());
}

// When a launch has ended, and before code of the host goes on. If there is nothing to tell but
// larger numbers, only at each power of four of launches.
void write_interim_report() {
  static std::array<std::uint64_t, 5> written{};
  const checker& of = checker::instance();
  const auto digits = static_cast<std::uint64_t>(std::bit_width(of.launches()) + 1) / 2;
  const std::array now{of.changes_of_findings(), of.failed_launches(), digits,
                       std::uint64_t{of.accesses() != 0}, std::uint64_t{of.forgotten_reads() != 0}};
  if (now == written || belongs_to_another_process(of.launches())) return;
  written = now;
  time_of_program.check();
  const bool works = time_of_program.set_checker_works(true);
  run_summary run = summary(of);
  run.is_interim = true;
  const std::vector<finding> findings = findings_so_far(of);
  write_report(run, &findings);
  time_of_program.set_checker_works(works);
}

// Returns the status with which the program is to end if it would have ended with this one.
int make_report(int status) {
  if (reports.exchange(true)) {
    for (;;) pause();  // the other thread ends the process
  }
  note_reporter();
  const bool ended_in_kernel = running_thread != nullptr;
  plain_accesses.flush();
  running_thread = nullptr;
  if (ended_in_kernel) say("racecheck: the kernel ended the program by exit()\n");
  const checker& of = checker::instance();
  if (belongs_to_another_process(of.launches())) return status;
  run_summary run = summary(of);
  run.ended_in_kernel = ended_in_kernel;
  run.ended_by_time = time_is_over;
  bool failed = ended_in_kernel;
  if (weak_memory::active) {
    print_weak_report(of, *weak_memory::active);
    failed = counts_of_process() && !write_report(run, nullptr);
    return failed && status == 0 ? exit_found : status;
  }
  const std::vector<finding> findings = findings_so_far(of);
  if (path_of_report()) {
    if (!write_report(run, &findings)) failed = true;
  } else if (run.launches != 0) {
    print(merge_by_element(findings), run);
  }
  for (const finding& each : findings) {
    if (!(is_lenient() && each.is_strict())) failed = true;
  }
  if (run.launches > run.failed_launches && run.accesses == 0) {
    say("racecheck: not one access of a kernel was seen: nothing was checked\n");
    failed = true;
  }
  return failed && status == 0 ? exit_found : status;
}

[[noreturn]] void leave(int status) {
  for (;;) syscall(SYS_exit_group, status);
}

void at_end(int status, void*) {
  program_ends();
  std::fflush(stdout);
  const int changed = make_report(status);
  if (changed == status) return;
  std::fflush(nullptr);
  leave(changed);
}

// Nothing of the host's goes on: it is code of the host that a signal ends, or that takes too long.
void end_now(int signal) {
  if (signal != 0) {
    say(std::string("racecheck: stopped by ") + name_of_signal(signal) + '\n');
    make_report(exit_time_is_over);
    return;
  }
  time_is_over = true;
  const char* const option = cpu_backend::setting("LAB_RACECHECK_SECONDS_OPTION");
  say("racecheck: stopped after " + std::to_string(seconds_of_program()) + " s (" +
      (option ? option : "LAB_RACECHECK_SECONDS") + ")\n");
  std::fflush(stdout);
  leave(make_report(exit_time_is_over));
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
  this_process = getpid();
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
  if (reports_to_file()) {
    remove_older_report();
    if (!weak_memory::active) launch_has_ended = write_interim_report;
  }
  on_exit(at_end, nullptr);
  at_quick_exit([] {
    if (const int status = make_report(0)) leave(status);
  });
  pthread_atfork(
      nullptr, [] { has_child = true; }, note_child);
  watch_end(end_now);
}

}  // namespace

checker& checker::instance() {
  // Never destroyed: it reports after main().
  static checker& the_checker = counts_of_process() ? *counts_of_process() : *new checker;
  return the_checker;
}

// It is here because a linker takes out of a library only what is called: so a program with events
// gets the report at its end as well.
event_consumer& consumer() { return checker::instance(); }

}  // namespace racecheck

// In place of the C library's, which would end the process without a report.
extern "C" void _exit(int status) {
  racecheck::leave(getpid() == racecheck::this_process ? racecheck::make_report(status) : status);
}
extern "C" void _Exit(int status) noexcept { _exit(status); }

// For programs that run other people's functions; see bytes_of_launch and kept_work. They do
// nothing unless launches are counted.
extern "C" void racecheck_add_array(const std::byte* begin, std::size_t bytes, bool is_result) {
  auto* counts = racecheck::counts_of_process();
  if (!counts) return;
  counts->counter().kept().add_array(begin, bytes, is_result);
  if (racecheck::region* in = counts->memory().find(begin)) in->is_only_read = !is_result;
}
extern "C" void racecheck_watch_loads() {
  if (auto* counts = racecheck::counts_of_process()) counts->bytes().watch_loads();
}
extern "C" void racecheck_change_other_bytes(const std::uint64_t* but, std::size_t numbers,
                                             std::uint64_t drawn_from) {
  auto* counts = racecheck::counts_of_process();
  if (counts) counts->bytes().change_others({but, but + numbers}, drawn_from);
}
