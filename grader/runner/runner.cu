// SPDX-License-Identifier: MIT
#include "runner/runner.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string_view>

#include "checked_runtime/check.cuh"
#include "checked_runtime/device_buffer.cuh"
#include "checked_runtime/timing.cuh"
#include "runner/case_file.hpp"
#include "runner/memory_names.hpp"
#include "runner/watched_loads.hpp"

// The main() of a second driver, which calls the course's solution: a grade that gives points for
// speed links it under this name (grader/judging/sandboxed.py); elsewhere its address is null.
extern "C" [[gnu::weak]] int solution_driver_main(int argc, char** argv);

namespace exercises {
namespace {

constexpr unsigned char poison = 0xa5;
constexpr int nothing_could_run = 77;
constexpr int timed_runs = 9;

using bytes = std::vector<std::byte>;

// The arrays of one case in global memory, and the arguments that point to them.
class device_arguments {
 public:
  explicit device_arguments(const exercise_case& given) : case_(given) {
    for (const case_argument& item : case_.arguments) {
      memory_.emplace_back(item.size());
      auto& memory = memory_.back();
      if (memory.size() != 0) name_memory(memory.data(), item.element_bytes, item.text.c_str());
      arguments_.push_back(
          {.memory = memory.data(), .element_bytes = item.element_bytes, .number = ""});
      const bool is_result = item.kind == array_kind::returned || item.kind == array_kind::updated;
      if (is_result || item.kind == array_kind::given) {
        add_array(memory.data(), memory.size(), is_result);
      }
      if (item.kind == array_kind::scratch) memory.fill_bytes(poison);
      if (!item.bytes.empty()) memory.copy_from(item.bytes);
    }
  }

  // Those of this launch, counted from 0.
  const std::vector<argument>& arguments(std::size_t launch) {
    for (std::size_t index = 0; index < arguments_.size(); ++index) {
      const std::vector<std::string>& numbers = case_.arguments[index].numbers;
      if (!numbers.empty()) arguments_[index].number = numbers[launch % numbers.size()];
    }
    return arguments_;
  }

  // What every launch finds anew.
  void prepare(std::size_t launch) {
    for (std::size_t index = 0; index < memory_.size(); ++index) {
      const case_argument& item = case_.arguments[index];
      if (item.kind == array_kind::returned) memory_[index].fill_bytes(poison);
      const bool is_given_anew = item.kind == array_kind::given && !item.again.empty();
      if (item.kind == array_kind::updated || item.kind == array_kind::refilled || is_given_anew) {
        memory_[index].copy_from(item.bytes_of(launch));
      }
    }
  }

  // Writes what a launch has left.
  void write(std::size_t launch, result_writer& results) const {
    for (std::size_t index = 0; index < memory_.size(); ++index) {
      const case_argument& item = case_.arguments[index];
      if (item.kind == array_kind::number || item.kind == array_kind::scratch) continue;
      const bytes left = memory_[index].to_host();
      if (item.kind != array_kind::given) {
        results.array(index, left);
      } else if (left != item.bytes_of(launch)) {
        results.line("changed " + std::to_string(index));
      }
    }
  }

 private:
  const exercise_case& case_;
  std::vector<checked::device_buffer<std::byte>> memory_;
  std::vector<argument> arguments_;
};

const function& function_of(const exercise_case& given, std::initializer_list<function> functions) {
  for (const function& item : functions) {
    if (item.name() == given.function) return item;
  }
  throw case_error("there is no function '" + given.function + "' to call");
}

void check_launches() {
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
}

void run_case(const exercise_case& given, const function& called, bool is_timed,
              result_writer& results) {
  device_arguments device(given);
  watch_loads(given);
  for (std::size_t launch = 0; launch < static_cast<std::size_t>(given.launches); ++launch) {
    device.prepare(launch);
    // The student's own streams need not wait for the default one.
    CUDA_CHECK(cudaDeviceSynchronize());
    // The student's mistakes only: nothing before this line has launched anything of theirs.
    called(device.arguments(launch));
    check_launches();
    results.line("launch " + std::to_string(launch));
    device.write(launch, results);
  }
  if (is_timed && checked::times_mean_something) {
    device.prepare(0);
    const std::vector<argument>& arguments = device.arguments(0);
    const auto time = checked::time_runs([&] { called(arguments); }, timed_runs);
    results.line("microseconds " + std::to_string(time.median_ms * 1000));
  }
  results.line("done");
}

// Waits for the work of all streams of all devices, and goes on with the first device.
void wait_for_devices() {
  int devices = 0;
  CUDA_CHECK(cudaGetDeviceCount(&devices));
  while (devices-- > 0) {
    CUDA_CHECK(cudaSetDevice(devices));
    CUDA_CHECK(cudaDeviceSynchronize());
  }
}

// How long one call takes, from when all devices have nothing to do until they have nothing to do
// again. So what it has left to another stream, to a copy or to another device is a part of it. The
// clock is the host's, because a call could do its work before or after an event of ours.
std::int64_t nanoseconds_of(const function& called, device_arguments& device) {
  device.prepare(0);
  const std::vector<argument>& arguments = device.arguments(0);
  wait_for_devices();
  const auto start = std::chrono::steady_clock::now();
  called(arguments);
  wait_for_devices();
  const auto end = std::chrono::steady_clock::now();
  CUDA_CHECK(cudaGetLastError());
  return std::chrono::duration_cast<std::chrono::nanoseconds>(end - start).count();
}

// Calls the submission with the inputs of each case, and the solution with those of the case before
// it: so no answer that the submission is asked for has been computed before, or was left in
// memory that is freed. One after the other comes first. The first case is for warming up.
void time_case(const exercise_case& given, const exercise_case& before, bool is_solution_first,
               const function& submitted, const function& solution, result_writer& results) {
  std::int64_t of_solution = 0;
  const auto time_solution = [&] {
    device_arguments device(before);
    of_solution = nanoseconds_of(solution, device);
  };
  if (is_solution_first) time_solution();
  std::int64_t of_submission = 0;
  {
    device_arguments device(given);
    of_submission = nanoseconds_of(submitted, device);
    results.line("launch 0");
    device.write(0, results);
  }
  if (!is_solution_first) time_solution();
  results.line("nanoseconds " + std::to_string(of_submission) + " " + std::to_string(of_solution));
  results.line("done");
}

// What a file of results has of a CUDA error.
void write_error(const checked::cuda_error& error, result_writer& results) {
  // Without the place in this file that check() puts before the runtime's own words.
  results.line(std::string("error ") + cudaGetErrorName(error.code()) + " " +
               cudaGetErrorString(error.code()));
}

int time_files(const std::string& cases_path, const std::string& results_path,
               std::initializer_list<function> submitted,
               std::initializer_list<function> of_solution) {
  const std::vector<exercise_case> cases = read_cases(cases_path);
  result_writer results(results_path);
  for (std::size_t number = 0; number < cases.size(); ++number) {
    const exercise_case& given = cases[number];
    const exercise_case& before = cases[number == 0 ? 0 : number - 1];
    results.line("case " + std::to_string(number));
    try {
      time_case(given, before, number % 2 == 1, function_of(given, submitted),
                function_of(before, of_solution), results);
    } catch (const checked::cuda_error& error) {
      write_error(error, results);
      return 1;
    }
  }
  return 0;
}

// The submission's driver begins this. Each driver alone knows how its function is called, so the
// solution's is asked for it: its main() comes back here by run().
int run_timed(int argc, char** argv, std::initializer_list<function> functions) {
  static const std::initializer_list<function>* submitted = nullptr;
  if (submitted != nullptr) return time_files(argv[1], argv[2], *submitted, functions);
  if (solution_driver_main == nullptr) throw case_error("no solution is linked to be timed");
  submitted = &functions;
  return solution_driver_main(argc, argv);
}

int run_files(const std::string& cases_path, const std::string& results_path, bool is_timed,
              std::initializer_list<function> functions) {
  const std::vector<exercise_case> cases = read_cases(cases_path);
  result_writer results(results_path);
  for (std::size_t number = 0; number < cases.size(); ++number) {
    results.line("case " + std::to_string(number));
    try {
      run_case(cases[number], function_of(cases[number], functions), is_timed, results);
    } catch (const checked::cuda_error& error) {
      write_error(error, results);
      return 1;
    }
  }
  return 0;
}

}  // namespace

int run(int argc, char** argv, std::initializer_list<function> functions) {
  const std::string_view option = argc == 4 ? argv[3] : "";
  const bool is_timed = option == "--time";
  const bool is_in_turn = option == "--in-turn";
  if (argc != 3 && !is_timed && !is_in_turn) {
    std::fprintf(stderr, "usage: %s CASES RESULTS [--time|--in-turn]\n", argv[0]);
    return 2;
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return nothing_could_run;
  try {
    if (is_in_turn) return run_timed(argc, argv, functions);
    return run_files(argv[1], argv[2], is_timed, functions);
  } catch (const case_error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}

}  // namespace exercises
