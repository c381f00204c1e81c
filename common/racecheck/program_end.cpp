// SPDX-License-Identifier: MIT
// At the program's end: the report, and an exit status that says that there was something to
// report.
//
// Environment variables:
//   LAB_RACECHECK_REPORT=FILE  the report goes there, as JSON, and not to stderr
//   LAB_RACECHECK_LENIENT=1    a race that only lacks an acquire is reported, and is no failure
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "cpu_backend/schedule.hpp"
#include "racecheck/access_log.hpp"
#include "racecheck/checker.hpp"
#include "racecheck/program_end.hpp"
#include "racecheck/report.hpp"

namespace racecheck {
namespace {

constexpr int exit_found = 1;

bool is_lenient() {
  const char* text = std::getenv("LAB_RACECHECK_LENIENT");
  return text && *text && std::string(text) != "0";
}

void print(const std::vector<located_finding>& findings, std::uint64_t seed) {
  for (const located_finding& each : findings) {
    std::string text = text_of(each) + "  seed " + std::to_string(seed);
    if (each.found.count > 1) {
      text += "; " + std::to_string(each.found.count - 1) + " more at these lines";
    }
    std::fputs((text + '\n').c_str(), stderr);
  }
  const checker& of = checker::instance();
  std::fprintf(stderr, "racecheck: seed %llu, %llu launches, %llu accesses checked, %zu found\n",
               static_cast<unsigned long long>(seed),
               static_cast<unsigned long long>(of.launches()),
               static_cast<unsigned long long>(of.accesses()), findings.size());
  if (of.forgotten_reads() != 0) {
    std::fprintf(
        stderr,
        "racecheck: there was no room to remember %llu reads; a later write that races with "
        "one of them was not reported\n",
        static_cast<unsigned long long>(of.forgotten_reads()));
  }
}

bool write_json(const std::string& path, const std::vector<located_finding>& findings,
                std::uint64_t seed, bool ended_in_kernel) {
  const checker& of = checker::instance();
  std::string text =
      "{\"seed\": " + std::to_string(seed) + ", \"launches\": " + std::to_string(of.launches()) +
      ", \"failed_launches\": " + std::to_string(of.failed_launches()) +
      ", \"ended_in_kernel\": " + (ended_in_kernel ? "true" : "false") +
      ", \"accesses\": " + std::to_string(of.accesses()) +
      ", \"forgotten_reads\": " + std::to_string(of.forgotten_reads()) + ", \"findings\": [";
  for (std::size_t i = 0; i < findings.size(); ++i) {
    text += (i == 0 ? "\n" : ",\n") + json_of(findings[i]);
  }
  const std::string temporary = path + ".temporary";
  std::ofstream out(temporary);
  out << text + "]}\n" << std::flush;
  return out && std::rename(temporary.c_str(), path.c_str()) == 0;
}

void at_end(int status, void*) {
  const checker& of = checker::instance();
  const bool ended_in_kernel = running_thread != nullptr;
  plain_accesses.flush();
  running_thread = nullptr;
  std::fflush(stdout);
  if (ended_in_kernel) std::fputs("racecheck: the kernel ended the program by exit()\n", stderr);
  const std::uint64_t seed = cpu_backend::schedule::seed();
  const std::vector<located_finding> findings = locate(of.findings());
  if (const char* path = std::getenv("LAB_RACECHECK_REPORT"); path && *path) {
    if (!write_json(path, findings, seed, ended_in_kernel)) {
      std::fprintf(stderr, "racecheck: %s can't be written\n", path);
      status = exit_found;
    }
  } else if (of.launches() != 0) {
    print(findings, seed);
  }
  bool failed = ended_in_kernel;
  for (const located_finding& each : findings) {
    if (!(is_lenient() && each.found.what == mistake::race && each.found.lacks.only_acquire())) {
      failed = true;
    }
  }
  if (of.launches() != 0 && of.accesses() == 0) {
    std::fputs("racecheck: not one access of a kernel was seen: nothing was checked\n", stderr);
    failed = true;
  }
  if (failed && status == 0) {
    std::fflush(nullptr);
    _exit(exit_found);
  }
}

// Registered before main(), so that it comes after everything that the program itself registers.
[[gnu::constructor(200)]] void report_at_end() {
  (void)cpu_backend::schedule::seed();  // a bad one is refused before anything runs
  on_exit(at_end, nullptr);
}

}  // namespace

void include_program_end() {}

}  // namespace racecheck
