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
#include <utility>
#include <vector>

#include "cpu_backend/execution/diagnostic.hpp"

namespace {

using seconds = std::chrono::duration<double>;

std::filesystem::path program_of(const char* variable) {
  const char* const path = std::getenv(variable);
  if (!path) {
    throw std::runtime_error(std::string("the environment variable ") + variable + " is not set");
  }
  return path;
}

std::filesystem::path program() {
#ifdef DIAGNOSIS_PROGRAM
  setenv("DIAGNOSIS_PROGRAM", DIAGNOSIS_PROGRAM, 0);
#endif
  return program_of("DIAGNOSIS_PROGRAM");
}

struct outcome {
  int exit_status = -1;  // -1: ended by a signal, or by us because it took too long
  std::string output, errors;
  seconds wall{}, processor{};
};

constexpr seconds time_limit{60};

// Runs `diagnosis argument` with "NAME=VALUE" added to its environment, if that is not empty.
outcome run(const std::string& argument, const std::string& setting = "",
            const std::string& path = program()) {
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
    // With what a program is to be started that is not for this processor.
    if (const char* const wrapper = std::getenv("PROGRAM_WRAPPER")) {
      execl(wrapper, wrapper, path.c_str(), argument.c_str(), nullptr);
    } else {
      execl(path.c_str(), path.c_str(), argument.c_str(), nullptr);
    }
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
  bool racecheck_says_the_same = false;
  // It has a memcpy() of its own, puts room between variables, and reads what it knows of an
  // address, which is a fault without an address, too, if that is impossible.
  bool is_another_with_address_sanitizer = false;
};

// The processor or the C library ended the kernel.
constexpr bool faults_alike = true;
#ifdef __SANITIZE_ADDRESS__
constexpr bool with_address_sanitizer = true;
#else
constexpr bool with_address_sanitizer = false;
#endif
// clang reads a float4 in two parts.
#ifdef __clang__
constexpr bool with_gcc = false;
#else
constexpr bool with_gcc = true;
#endif

// clang moves a division out of the loop over threads, and gives neither that nor a function's
// first instructions a line; what it inlines may have the line of the call.
bool is_lost_by_clang(const expectation& expected, const std::string& piece) {
  static const std::set<std::string> without_line = {"division_by_zero", "division_that_overflows",
                                                     "stack_overflow_at_once",
                                                     "read_beyond_allocation"};
  return !with_gcc && without_line.contains(expected.mistake) &&
         (contains(piece, "diagnosis.cu:") || piece.ends_with(" at "));
}

// An AArch64 processor divides by zero, and reads from any address, without a fault.
bool is_unnoticed(const expectation& expected) {
#ifdef __aarch64__
  static const std::set<std::string> mistakes = {"division_by_zero", "division_that_overflows",
                                                 "misaligned_vector"};
  return mistakes.contains(expected.mistake);
#else
  (void)expected;
  return false;
#endif
}

// QEMU 7.2, which plays AArch64 in CI, does not say whether an access was a write.
bool is_said(std::string piece, const std::string& errors) {
  if (contains(errors, piece)) return true;
#ifdef __aarch64__
  for (const std::string kind : {"__ read", "__ write"}) {
    if (const auto at = piece.find(kind); at != std::string::npos) {
      return contains(errors, piece.replace(at, kind.size(), "__ access"));
    }
  }
#endif
  return false;
}

expectation failure(std::string mistake, std::string error, std::vector<std::string> report,
                    std::string setting = "", bool racecheck_says_the_same = false,
                    bool is_another_with_address_sanitizer = false) {
  return {std::move(mistake), std::move(error),        std::move(report),
          std::move(setting), racecheck_says_the_same, is_another_with_address_sanitizer};
}

// A mistake that the processor finds: racecheck says the same of it.
expectation fault(std::string mistake, std::string error, std::vector<std::string> report) {
  return {std::move(mistake), std::move(error), std::move(report), "", faults_alike};
}

// A report about one thread: who, where it was launched. The exact words are part of the interface
// to the student, so they are checked.
const std::vector<expectation>& expectations() {
  static const std::vector<expectation> all = {
      failure("different_barriers", "cudaErrorLaunchFailure",
              {"kernel launched at", place("launch") + ": block (", "thread (1,0,0)",
               "thread (0,0,0)", "threads of one block wait at different barriers",
               place("even threads"), place("odd threads")}),
      failure("different_kinds_of_barrier", "cudaErrorLaunchFailure",
              {"different barriers", place("plain barrier"), place("voting barrier")}),
      failure("two_barriers_of_one_line", "cudaErrorLaunchFailure",
              {"different barriers of ", place("both barriers") + ": thread (", " at one, thread (",
               " at another"}),
      failure("barrier_against_warp", "cudaErrorLaunchFailure",
              {"deadlock", "at the block's barrier", place("barrier of half a warp"),
               "for other lanes of the warp", place("the other half"), "and 31 more"}),
      failure("different_warp_operations", "cudaErrorLaunchFailure",
              {"different operations", "__any_sync()", "__syncwarp()", place("meeting"),
               place("vote")}),
      failure("mask_without_caller", "cudaErrorLaunchFailure",
              {"thread (16,0,0)", "__shfl_sync()", place("shuffle"),
               "does not name the calling lane 16"}),
      failure("odd_width", "cudaErrorLaunchFailure",
              {"__shfl_sync()", "width of 12", "no power of two", place("shuffle of odd width")}),
      failure("wait_by_atomic", "cudaErrorLaunchTimeout",
              {"deadlock", "for a value in memory", place("atomic wait"), "and 63 more"}),
      failure("wait_by_reference", "cudaErrorLaunchTimeout",
              {"deadlock", "for a value in memory", place("load that waits")}),
      failure("one_block_too_many", "cudaErrorLaunchTimeout",
              {"deadlock",
               "no other thread will change; not started, because no multiprocessor is free: "
               "block (2,0,0)\n",
               "block (0,0,0):", "block (1,0,0):", "for a value in memory", place("all blocks")},
              "LAB_SMS=2"),
      failure("two_blocks_too_many", "cudaErrorLaunchTimeout",
              {"deadlock", "because no multiprocessor is free: block (1,0,0) and 1 more\n",
               place("all blocks")},
              "LAB_SMS=1"),
      failure("wait_before_barrier", "cudaErrorLaunchTimeout",
              {"deadlock", "thread (5,0,0)", "for a value in memory", place("thread that waits"),
               "at the block's barrier", place("threads at the barrier"), "and 62 more"}),
      failure("wait_by_volatile", "cudaErrorLaunchTimeout",
              {"looks like a deadlock", "for 1 s", "LAB_TIMEOUT"}, "LAB_TIMEOUT=1"),
      failure("grid_barrier_missed", "cudaErrorLaunchFailure",
              {place("cooperative launch"), "waits for the whole grid", place("grid barrier"),
               "a block has ended without coming there"}),
      failure("grid_barrier_of_ordinary_launch", "cudaErrorLaunchFailure",
              {"grid_group::sync()", place("grid barrier of an ordinary launch"),
               "cudaLaunchCooperativeKernel"}),
      fault("null_pointer", "cudaErrorIllegalAddress",
            {"thread (0,0,0): Invalid __global__ write at ", place("write") + ": ",
             "used a null pointer", "\n      address[index] = 1;"}),
      failure("fault_while_another_block_waits", "cudaErrorIllegalAddress",
              {"block (0,0,0), thread (0,0,0): Invalid __global__ write at ",
               place("write while another block waits") + ": ", "used a null pointer"},
              "LAB_TIMEOUT=1", faults_alike),
      fault("in_one_of_two_kernels_alike", "cudaErrorIllegalAddress",
            {place("write of a row") + ": ", "used a null pointer"}),
      fault("in_the_other_of_two_kernels_alike", "cudaErrorIllegalAddress",
            {place("write of a row as well") + ": ", "used a null pointer"}),
      fault("beyond_allocation", "cudaErrorIllegalAddress",
            {"Invalid __global__ write at ", place("write") + ": ",
             "8 bytes past the end of an allocation of 1048576 bytes, made at ",
             place("allocation")}),
      fault(
          "beyond_allocation_by_one_thread", "cudaErrorIllegalAddress",
          {place("launch of one that faults"), "block (1,0,0), thread (37,0,0): Invalid __global__",
           place("write of one thread"), "112 bytes past the end of an allocation of 400 bytes"}),
      fault("read_beyond_allocation", "cudaErrorIllegalAddress",
            {"Invalid __global__ read at ", place("read in a device function"),
             "0 bytes past the end of an allocation of 1048576 bytes"}),
      failure("copy_from_nowhere", "cudaErrorIllegalAddress",
              {"Invalid __global__ read", place("copy"), "used a null pointer"}, "", faults_alike,
              true),
      fault("use_after_free", "cudaErrorIllegalAddress",
            {"Invalid __global__ write at ", place("write") + ": ",
             "used freed memory: byte 12 of an allocation of 4096 bytes that was freed at ",
             place("free") + " and allocated at ", place("allocation before the free")}),
      fault("nowhere_near_an_allocation", "cudaErrorIllegalAddress",
            {place("write"), "which is in no allocation"}),
      fault("host_pointer", "cudaErrorIllegalAddress",
            {"Invalid __global__ write at ", place("write"), "used a host pointer: 0x"}),
      failure("misaligned_vector", "cudaErrorMisalignedAddress",
              {"Invalid __global__ access at ", place("vector"),
               "a misaligned address of a vector such as float4"},
              "", false, true),
      fault("misaligned_atomic", "cudaErrorMisalignedAddress",
            {"Invalid __global__ atomic operation of size 4 bytes at ", place("misaligned atomic"),
             "misaligned address: 0x", "is no multiple of 4; it is byte 2 of"}),
      failure(
          "past_shared_variable", "cudaErrorIllegalAddress",
          {"block (0,0,0): Invalid __shared__ write: a thread wrote past the end of a __shared__ ",
           cpu_backend::check_command + std::string(" FILE names the variable")},
          "", false, true),
      failure("far_past_shared_variable", "cudaErrorIllegalAddress",
              {"Invalid __shared__ write at ", place("shared variable"),
               "it ran past the end of a __shared__ variable",
               cpu_backend::check_command + std::string(" FILE")},
              "", false, true),
      failure("past_dynamic_shared_memory", "cudaErrorIllegalAddress",
              {"Invalid __shared__ write: a thread wrote past the end of the dynamic shared memory",
               "256 bytes", cpu_backend::check_command + std::string(" FILE")}),
      failure("no_dynamic_shared_memory", "cudaErrorIllegalAddress",
              {"past the end of the dynamic shared memory, which has 0 bytes",
               cpu_backend::check_command + std::string(" FILE")}),
      fault("before_dynamic_shared_memory", "cudaErrorIllegalAddress",
            {"Invalid __shared__ write at ", place("dynamic shared memory"),
             "8 bytes before the dynamic shared memory of its block, which has 256 bytes"}),
      fault("far_beyond_dynamic_shared_memory", "cudaErrorIllegalAddress",
            {"Invalid __shared__ write at ", place("dynamic shared memory"),
             "279744 bytes past the end of the dynamic shared memory of its block"}),
      fault("stack_overflow", "cudaErrorLaunchFailure",
            {"Stack overflow at ", "diagnosis.cu:", "ran out of stack"}),
      fault("stack_overflow_at_once", "cudaErrorLaunchFailure",
            {"Stack overflow at ", "diagnosis.cu:", "ran out of stack"}),
      fault("division_by_zero", "cudaErrorLaunchFailure",
            {"Invalid division at ", place("division"), "divided an integer by zero"}),
      fault("division_that_overflows", "cudaErrorLaunchFailure",
            {"Invalid division at ", place("division"), "or the smallest negative number by -1"}),
      fault("abort_in_kernel", "cudaErrorLaunchFailure",
            {"abort() at ", place("abort"), "thread (0,0,0)"}),
      fault("exit_in_kernel", "cudaErrorLaunchFailure",
            {"exit() at ", place("exit"), "thread (0,0,0)"}),
      fault("unreachable_in_kernel", "cudaErrorIllegalInstruction",
            {"Illegal instruction at ", place("unreachable")}),
      fault("call_of_null", "cudaErrorInvalidPc",
            {"Invalid program counter at ", place("call of a function")}),
      failure("exception", "cudaErrorLaunchFailure",
              {"an exception left the kernel", "no way out", "thread (0,0,0)"}),
      failure("trap", "cudaErrorLaunchFailure",
              {"thread (7,0,0)", "__trap()", place("trap") + ": if (threadIdx.x == 7) __trap();"}),
      failure("assertion", "cudaErrorAssert",
              {"thread (9,0,0)", place("assertion"), "threadIdx.x != 9"}),
      failure("launch_in_kernel", "cudaErrorNotSupported", {"a kernel launches a kernel"}),
      failure("cancel_twice", "cudaErrorLaunchFailure",
              {"for_each_canceled_block", "second time", place("second call")}),
      failure("cancel_in_two_dimensions", "cudaErrorLaunchFailure",
              {"for_each_canceled_block<1>", "more dimensions", place("rank 1")}),
  };
  return all;
}

}  // namespace

TEST_CASE("a mistake in a kernel is reported with its places, and the error sticks") {
  for (const expectation& expected : expectations()) {
    if (expected.is_another_with_address_sanitizer && with_address_sanitizer) continue;
    DYNAMIC_SECTION(expected.mistake) {
      const outcome got = run(expected.mistake, expected.setting);
      CAPTURE(got.errors);
      CHECK(got.exit_status == 0);
      if (is_unnoticed(expected)) {
        CHECK(got.output == output_of("cudaSuccess"));
        CHECK(got.errors.empty());
        continue;
      }
      CHECK(got.output == output_of(expected.error));
      CHECK(count(got.errors, "kernel launched at ") == 1);
      CHECK(contains(got.errors, "block ("));
      for (const std::string& piece : expected.report) {
        if (is_lost_by_clang(expected, piece)) continue;
        CAPTURE(piece);
        CHECK(is_said(piece, got.errors));
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

TEST_CASE("racecheck says of a fault what the ordinary form says, at the same line") {
  if (!std::getenv("DIAGNOSIS_RACECHECK_PROGRAM")) SKIP("this build has no race checker");
  const std::filesystem::path racecheck = program_of("DIAGNOSIS_RACECHECK_PROGRAM");
  for (const expectation& expected : expectations()) {
    if (!expected.racecheck_says_the_same || is_unnoticed(expected)) continue;
    DYNAMIC_SECTION(expected.mistake) {
      const outcome got = run(expected.mistake, "LAB_RACECHECK_SEED=3", racecheck);
      CAPTURE(got.errors);
      CHECK(got.output == output_of(expected.error));
      CHECK(count(got.errors, "kernel launched at ") == 1);
      for (std::string piece : expected.report) {
        // Which of several threads comes first is the schedule's.
        if (const auto who = piece.find("thread (0,0,0)"); who != std::string::npos) {
          piece.erase(0, who + std::string("thread (0,0,0)").size());
        }
        if (is_lost_by_clang(expected, piece)) continue;
        CAPTURE(piece);
        CHECK(is_said(piece, got.errors));
      }
    }
  }
}

TEST_CASE("a launch that failed, and that nobody asked about, is told of at the end if lab asks") {
  const outcome got = run("refused_launches", "LAB_REPORT_UNASKED=1");
  CAPTURE(got.errors);
  CHECK(contains(got.errors, place("refused launch") +
                                 ": this launch failed, and nobody asked: cudaErrorInvalidValue: "
                                 "a block of 2000 threads; the limit is 1024."));
  CHECK(contains(got.errors, "1 more failed later"));
  CHECK(count(got.errors, "\n") == 1);
  CHECK(run("refused_launches").errors.empty());
  CHECK(run("none", "LAB_REPORT_UNASKED=1").errors.empty());
}

TEST_CASE("a pointer to before an array, of which only the array is used, is no mistake") {
  const outcome got = run("counting_from_one");
  CAPTURE(got.errors);
  CHECK(got.output == output_of("cudaSuccess"));
  CHECK(got.errors.empty());
}

TEST_CASE("a block of threads that take longer together than one may is not taken for a deadlock") {
  const outcome got = run("long_threads", "LAB_TIMEOUT=1");
  CHECK(got.exit_status == 0);
  CHECK(got.output == output_of("cudaSuccess"));
  CHECK(got.errors.empty());
}

TEST_CASE("every mistake of the program diagnosis is expected here") {
  std::set<std::string> expected = {"none", "long_threads", "barrier_on_host", "counting_from_one",
                                    "refused_launches"};
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
