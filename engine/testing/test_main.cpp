// SPDX-License-Identifier: MIT
// main() of every Catch2 test of the course. Exit status: 0 all passed, 77 nothing could run (Meson
// then reports SKIP), 1 something failed, 2 wrong usage.
#include <catch2/catch_session.hpp>
#include <catch2/catch_test_case_info.hpp>
#include <catch2/catch_test_spec.hpp>
#include <catch2/interfaces/catch_interfaces_registry_hub.hpp>
#include <catch2/interfaces/catch_interfaces_reporter.hpp>
#include <catch2/interfaces/catch_interfaces_testcase.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <string>

#include "checked_runtime/device.hpp"

namespace {

constexpr int exit_passed = 0;
constexpr int exit_failed = 1;
constexpr int exit_usage = 2;
constexpr int exit_skipped = 77;

std::string binary_name;

// Appends "outcome<TAB>binary<TAB>test case" to the file that the environment variable LAB_TEST_LOG
// names, if it names one. Who runs the tests can count these lines: Meson itself counts binaries.
void log_outcome(const char* outcome, const std::string& test_case) {
  const char* const path = std::getenv("LAB_TEST_LOG");
  if (path == nullptr || *path == '\0') return;
  // One write of a whole line in append mode: test binaries that run side by side do not mix.
  std::ofstream log(path, std::ios::app);
  log << (std::string(outcome) + '\t' + binary_name + '\t' + test_case + '\n') << std::flush;
  if (!log) {
    std::cerr << binary_name << ": cannot write to LAB_TEST_LOG '" << path << "'\n";
    std::exit(exit_failed);
  }
}

// The outcome of the whole run. Catch2's own exit status cannot tell it: it is 4 where all test
// cases were skipped, and before Catch2 3.6 also where four assertions failed.
Catch::Counts finished_test_cases;

// Of those that would run with what the command line chooses: without a filter all but the hidden
// ones.
std::set<std::string> chosen_test_cases(const Catch::IConfig& config) {
  const Catch::TestSpec& chosen = config.testSpec();
  std::set<std::string> names;
  for (const Catch::TestCaseInfo* test_case :
       Catch::getRegistryHub().getTestCaseRegistry().getAllInfos()) {
    const bool would_run =
        chosen.hasFilters() ? chosen.matches(*test_case) : !test_case->isHidden();
    if (would_run) names.insert(test_case->name);
  }
  return names;
}

// A kernel has died, so that every later call of the runtime fails: to run what is left would bury
// the one report that says why. Catch2 can't be told to stop, and its process ends here.
[[noreturn]] void stop_after_fault(std::set<std::string> left_out, const std::string& at_fault) {
  std::cout << std::flush;
  std::cerr << binary_name << ": a kernel died in the test case \"" << at_fault
            << "\" (its report is above). Nothing can run on the device after that: "
            << left_out.size() << (left_out.size() == 1 ? " test case was" : " test cases were")
            << " left out.\n";
  for (const std::string& each : left_out) log_outcome("skipped", each);
  std::exit(exit_failed);
}

class outcome_listener : public Catch::EventListenerBase {
 public:
  using Catch::EventListenerBase::EventListenerBase;

  // A test case starts again for each of its sections.
  void testCasePartialStarting(const Catch::TestCaseInfo& test_case, std::uint64_t) override {
    if (!running_.empty() && checked::device_is_lost()) {
      std::set<std::string> left_out = chosen_test_cases(*m_config);
      for (const std::string& each : begun_) left_out.erase(each);
      if (!ended_) log_outcome("failed", running_);
      stop_after_fault(left_out, running_);
    }
    running_ = test_case.name;
    begun_.insert(running_);
    ended_ = false;
  }

  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    ended_ = true;
    const Catch::Counts& counts = stats.totals.testCases;
    const char* const outcome =
        counts.failed > 0 ? "failed" : (counts.skipped > 0 ? "skipped" : "passed");
    log_outcome(outcome, stats.testInfo->name);
  }

  void testRunEnded(const Catch::TestRunStats& stats) override {
    finished_test_cases = stats.totals.testCases;
  }

 private:
  std::string running_;
  bool ended_ = false;
  std::set<std::string> begun_;
};

CATCH_REGISTER_LISTENER(outcome_listener)

// No device: every test case that would have run is skipped, and is counted as such.
void log_all_as_skipped(Catch::Session& session) {
  for (const std::string& each : chosen_test_cases(session.config())) log_outcome("skipped", each);
}

}  // namespace

int main(int argc, char** argv) {
  binary_name = std::filesystem::path(argv[0]).filename().string();
  Catch::Session session;
  if (session.applyCommandLine(argc, argv) != 0) return exit_usage;

  const Catch::ConfigData& chosen = session.configData();
  const bool only_lists = chosen.showHelp || chosen.libIdentify || chosen.listTests ||
                          chosen.listTags || chosen.listReporters || chosen.listListeners;
  if (only_lists) return session.run();

  if (const auto reason = checked::why_no_device()) {
    std::cout << binary_name << ": skipped: " << *reason << '\n';
    log_all_as_skipped(session);
    return exit_skipped;
  }

  std::cerr << "seed: " << session.config().rngSeed() << " (repeat with --rng-seed "
            << session.config().rngSeed() << ")\n";
  const int status = session.run();
  if (finished_test_cases.failed > 0) return exit_failed;
  if (finished_test_cases.skipped > 0 && finished_test_cases.passed == 0) return exit_skipped;
  return status == 0 ? exit_passed : exit_failed;
}
