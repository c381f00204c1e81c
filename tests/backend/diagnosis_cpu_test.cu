// SPDX-License-Identifier: MIT
// What the CPU backend says about mistakes in kernels. Each is made by the program `diagnosis`, in
// a process of its own. Its path is in the environment variable DIAGNOSIS_PROGRAM, or the macro of
// that name.
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using seconds = std::chrono::duration<double>;

std::filesystem::path program() {
#ifdef DIAGNOSIS_PROGRAM
  setenv("DIAGNOSIS_PROGRAM", DIAGNOSIS_PROGRAM, 0);
#endif
  const char* const path = std::getenv("DIAGNOSIS_PROGRAM");
  if (!path) throw std::runtime_error("the environment variable DIAGNOSIS_PROGRAM is not set");
  return path;
}

struct outcome {
  int exit_status = -1;  // -1: ended by a signal, or by us because it took too long
  std::string output, errors;
  seconds wall{}, processor{};
};

constexpr seconds time_limit{60};

// Runs `diagnosis argument` with "NAME=VALUE" added to its environment, if that is not empty.
outcome run(const std::string& argument, const std::string& setting = "") {
  const std::string path = program();
  int out[2], err[2];
  if (pipe(out) != 0 || pipe(err) != 0) throw std::runtime_error("no pipe");
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    dup2(out[1], 1);
    dup2(err[1], 2);
    for (const int end : {out[0], out[1], err[0], err[1]}) close(end);
    if (!setting.empty()) putenv(const_cast<char*>(setting.c_str()));
    execl(path.c_str(), path.c_str(), argument.c_str(), nullptr);
    _exit(127);
  }
  close(out[1]);
  close(err[1]);
  outcome result;
  pollfd ends[] = {{out[0], POLLIN, 0}, {err[0], POLLIN, 0}};
  std::string* const texts[] = {&result.output, &result.errors};
  for (int open_ends = 2; open_ends > 0;) {
    const seconds left = time_limit - (std::chrono::steady_clock::now() - start);
    if (left.count() <= 0 || poll(ends, 2, static_cast<int>(left.count() * 1000) + 1) == 0) {
      kill(child, SIGKILL);
      break;
    }
    for (int i = 0; i < 2; ++i) {
      if (ends[i].revents == 0) continue;
      char part[4096];
      const ssize_t bytes = read(ends[i].fd, part, sizeof part);
      if (bytes > 0) {
        texts[i]->append(part, static_cast<std::size_t>(bytes));
      } else {
        ends[i].fd = -1;  // poll() passes over it
        --open_ends;
      }
    }
  }
  close(out[0]);
  close(err[0]);
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);
  result.wall = std::chrono::steady_clock::now() - start;
  for (const timeval time : {used.ru_utime, used.ru_stime}) {
    result.processor +=
        seconds(static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6);
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    throw std::runtime_error("cannot start " + path);
  }
  if (WIFEXITED(status)) result.exit_status = WEXITSTATUS(status);
  return result;
}

// diagnosis.cu, which lies beside this file. The compiler may have been told of this file by a path
// that starts at the build's root, which the program lies under.
const std::vector<std::string>& source_lines() {
  static const std::vector<std::string> lines = [] {
    const std::filesystem::path relative =
        std::filesystem::path(__FILE__).replace_filename("diagnosis.cu");
    std::vector<std::filesystem::path> roots = {"."};
    const auto absolute = std::filesystem::absolute(program());
    for (auto folder = absolute.parent_path(); folder != folder.root_path();
         folder = folder.parent_path()) {
      roots.push_back(folder);
    }
    for (const auto& root : roots) {
      std::ifstream file(root / relative);
      std::vector<std::string> found;
      for (std::string line; std::getline(file, line);) found.push_back(line);
      if (!found.empty()) return found;
    }
    throw std::runtime_error("diagnosis.cu is not to be found beside this test's source");
  }();
  return lines;
}

// "diagnosis.cu:LINE" of the line that ends in "// mark: NAME".
std::string place(const std::string& mark) {
  const std::string comment = "// mark: " + mark;
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < source_lines().size(); ++i) {
    if (source_lines()[i].ends_with(comment)) found.push_back(i + 1);
  }
  if (found.size() != 1) throw std::runtime_error("not one line with " + comment);
  return "diagnosis.cu:" + std::to_string(found[0]);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t result = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++result;
  }
  return result;
}

// What `diagnosis` prints if its kernel ends with `error`: the launch itself succeeds, and
// everything from the next call that waits on fails, until the device is reset.
std::string output_of(const std::string& error) {
  return "cudaMalloc: cudaSuccess\n"
         "cudaMemset: cudaSuccess\n"
         "launch: cudaSuccess\n"
         "cudaDeviceSynchronize: " +
         error + "\ncudaDeviceSynchronize: " + error + "\ncudaMalloc: " + error +
         "\nnext launch: " + error +
         "\ncudaDeviceReset: cudaSuccess\n"
         "after the reset: right\n";
}

struct expectation {
  std::string mistake, error;
  std::vector<std::string> report;  // pieces of what is printed on stderr
  std::string setting = "";
};

// A report about one thread: who, where it was launched. The exact words are part of the interface
// to the student, so they are checked.
const std::vector<expectation>& expectations() {
  static const std::vector<expectation> all = {
      {"different_barriers",
       "cudaErrorLaunchFailure",
       {"kernel launched at", place("launch") + ": block (", "thread (1,0,0)", "thread (0,0,0)",
        "threads of one block wait at different barriers", place("even threads"),
        place("odd threads")}},
      {"different_kinds_of_barrier",
       "cudaErrorLaunchFailure",
       {"different barriers", place("plain barrier"), place("voting barrier")}},
      {"barrier_against_warp",
       "cudaErrorLaunchFailure",
       {"deadlock", "at the block's barrier", place("barrier of half a warp"),
        "for other lanes of the warp", place("the other half"), "and 31 more"}},
      {"different_warp_operations",
       "cudaErrorLaunchFailure",
       {"different operations", "__any_sync()", "__syncwarp()", place("meeting"), place("vote")}},
      {"mask_without_caller",
       "cudaErrorLaunchFailure",
       {"thread (16,0,0)", "__shfl_sync()", place("shuffle"), "does not name the calling lane 16"}},
      {"odd_width",
       "cudaErrorLaunchFailure",
       {"__shfl_sync()", "width of 12", "no power of two", place("shuffle of odd width")}},
      {"wait_by_atomic",
       "cudaErrorLaunchTimeout",
       {"deadlock", "for a value in memory", place("atomic wait"), "and 63 more"}},
      {"wait_by_reference",
       "cudaErrorLaunchTimeout",
       {"deadlock", "for a value in memory", place("load that waits")}},
      {"wait_before_barrier",
       "cudaErrorLaunchTimeout",
       {"deadlock", "thread (5,0,0)", "for a value in memory", place("thread that waits"),
        "at the block's barrier", place("threads at the barrier"), "and 62 more"}},
      {"wait_by_volatile",
       "cudaErrorLaunchTimeout",
       {"looks like a deadlock", "for 1 s", "LAB_TIMEOUT"},
       "LAB_TIMEOUT=1"},
      {"grid_barrier_missed",
       "cudaErrorLaunchFailure",
       {place("cooperative launch"), "waits for the whole grid", place("grid barrier"),
        "a block has ended without coming there"}},
      {"grid_barrier_of_ordinary_launch",
       "cudaErrorLaunchFailure",
       {"grid_group::sync()", place("grid barrier of an ordinary launch"),
        "cudaLaunchCooperativeKernel"}},
      {"null_pointer", "cudaErrorIllegalAddress", {"thread (0,0,0)", "null pointer"}},
      {"beyond_allocation",
       "cudaErrorIllegalAddress",
       {"8 bytes past the end of an allocation of 1048576 bytes"}},
      {"nowhere_near_an_allocation", "cudaErrorIllegalAddress", {"which is in no allocation"}},
      {"host_pointer", "cudaErrorIllegalAddress", {"host pointer"}},
      {"stack_overflow", "cudaErrorLaunchFailure", {"ran out of stack"}},
      {"stack_overflow_at_once", "cudaErrorLaunchFailure", {"ran out of stack"}},
      {"division_by_zero", "cudaErrorLaunchFailure", {"divided an integer by zero"}},
      {"exception",
       "cudaErrorLaunchFailure",
       {"an exception left the kernel", "no way out", "thread (0,0,0)"}},
      {"trap", "cudaErrorLaunchFailure", {"thread (7,0,0)", "__trap()", place("trap")}},
      {"assertion", "cudaErrorAssert", {"thread (9,0,0)", place("assertion"), "threadIdx.x != 9"}},
      {"launch_in_kernel", "cudaErrorNotSupported", {"a kernel launches a kernel"}},
      {"cancel_twice",
       "cudaErrorLaunchFailure",
       {"for_each_canceled_block", "second time", place("second call")}},
      {"cancel_in_two_dimensions",
       "cudaErrorLaunchFailure",
       {"for_each_canceled_block<1>", "more dimensions", place("rank 1")}},
  };
  return all;
}

}  // namespace

TEST_CASE("a mistake in a kernel is reported with its places, and the error sticks") {
  for (const expectation& expected : expectations()) {
    DYNAMIC_SECTION(expected.mistake) {
      const outcome got = run(expected.mistake, expected.setting);
      CAPTURE(got.errors);
      CHECK(got.exit_status == 0);
      CHECK(got.output == output_of(expected.error));
      CHECK(count(got.errors, "kernel launched at ") == 1);
      CHECK(contains(got.errors, "block ("));
      for (const std::string& piece : expected.report) {
        CAPTURE(piece);
        CHECK(contains(got.errors, piece));
      }
      // Nothing but the report, and no stack trace.
      CHECK(got.errors.starts_with("kernel launched at "));
      CHECK(count(got.errors, "\n") <= 12);
    }
  }
}

TEST_CASE("a kernel without a mistake is not reported") {
  const outcome got = run("none");
  CHECK(got.exit_status == 0);
  CHECK(got.output == output_of("cudaSuccess"));
  CHECK(got.errors.empty());
}

TEST_CASE("every mistake of the program diagnosis is expected here") {
  std::set<std::string> expected = {"none", "barrier_on_host"};
  for (const expectation& each : expectations()) expected.insert(each.mistake);
  std::set<std::string> made;
  std::istringstream list(run("--list").output);
  for (std::string name; std::getline(list, name);) made.insert(name);
  REQUIRE(made == expected);
}

TEST_CASE("a device function that the host calls ends the program with one sentence") {
  const outcome got = run("barrier_on_host");
  CAPTURE(got.errors);
  CHECK(got.exit_status == 1);
  CHECK(count(got.errors, "\n") == 1);
  CHECK(contains(got.errors, place("barrier on the host")));
  CHECK(contains(got.errors, "__syncthreads() was called by the host"));
}

TEST_CASE("a launch that waits for ever ends soon, and does not burn a core meanwhile") {
  // Three blocks wait here, each on an OS thread of its own.
  const outcome got = run("wait_by_atomic");
  CAPTURE(got.wall.count(), got.processor.count());
  CHECK(got.exit_status == 0);  // else it took longer than the time limit
  CHECK(got.processor < got.wall / 2);
}

TEST_CASE("bad settings in the environment: one sentence, exit status 2") {
  for (const std::string setting :
       {"LAB_SMS=0", "LAB_SMS=x", "LAB_SMS=", "LAB_SMS=-1", "LAB_SMS=2000", "LAB_SMS=3.5",
        "LAB_TIMEOUT=-1", "LAB_TIMEOUT=0", "LAB_TIMEOUT=soon", "LAB_TIMEOUT=", "LAB_TIMEOUT=1s",
        "LAB_TIMEOUT=nan"}) {
    const outcome got = run("none", setting);
    CAPTURE(setting, got.output, got.errors);
    CHECK(got.exit_status == 2);
    CHECK(count(got.errors, "\n") == 1);
    CHECK(contains(got.errors, setting.substr(0, setting.find('='))));
    CHECK(!contains(got.output, "launch:"));
  }
}

TEST_CASE("LAB_SMS sets how many multiprocessors there are, and so how many blocks are resident") {
  for (const int count : {1, 2, 7, 64}) {
    const outcome got = run("--multiprocessors", "LAB_SMS=" + std::to_string(count));
    CAPTURE(count, got.errors);
    CHECK(got.exit_status == 0);
    CHECK(got.output == "multiprocessors: " + std::to_string(count) +
                            "\n"
                            "cooperative launch: cudaSuccess\n"
                            "cooperative launch: cudaErrorCooperativeLaunchTooLarge\n"
                            "cudaDeviceSynchronize: cudaSuccess\n");
  }
}
