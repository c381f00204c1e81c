// SPDX-License-Identifier: MIT
#include "runner/runner.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string_view>

#include "checked_runtime/check.cuh"
#include "checked_runtime/device_buffer.cuh"
#include "checked_runtime/timing.cuh"
#include "runner/case_file.hpp"
#include "runner/memory_names.hpp"
#include "runner/watched_loads.hpp"

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
  void prepare() {
    for (std::size_t index = 0; index < memory_.size(); ++index) {
      const case_argument& item = case_.arguments[index];
      if (item.kind == array_kind::returned) memory_[index].fill_bytes(poison);
      if (item.kind == array_kind::updated) memory_[index].copy_from(item.bytes);
    }
  }

  // Writes what a launch has left.
  void write(result_writer& results) const {
    for (std::size_t index = 0; index < memory_.size(); ++index) {
      const case_argument& item = case_.arguments[index];
      if (item.kind == array_kind::number || item.kind == array_kind::scratch) continue;
      const bytes left = memory_[index].to_host();
      if (item.kind != array_kind::given) {
        results.array(index, left);
      } else if (left != item.bytes) {
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
  for (int launch = 0; launch < given.launches; ++launch) {
    device.prepare();
    // The student's own streams need not wait for the default one.
    CUDA_CHECK(cudaDeviceSynchronize());
    // The student's mistakes only: nothing before this line has launched anything of theirs.
    called(device.arguments(static_cast<std::size_t>(launch)));
    check_launches();
    results.line("launch " + std::to_string(launch));
    device.write(results);
  }
  if (is_timed && checked::times_mean_something) {
    const std::vector<argument>& arguments = device.arguments(0);
    const auto time = checked::time_runs([&] { called(arguments); }, timed_runs);
    results.line("microseconds " + std::to_string(time.median_ms * 1000));
  }
  results.line("done");
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
      // Without the place in this file that check() puts before the runtime's own words.
      results.line(std::string("error ") + cudaGetErrorName(error.code()) + " " +
                   cudaGetErrorString(error.code()));
      return 1;
    }
  }
  return 0;
}

}  // namespace

int run(int argc, char** argv, std::initializer_list<function> functions) {
  const bool is_timed = argc == 4 && std::string_view(argv[3]) == "--time";
  if (argc != 3 && !is_timed) {
    std::fprintf(stderr, "usage: %s CASES RESULTS [--time]\n", argv[0]);
    return 2;
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return nothing_could_run;
  try {
    return run_files(argv[1], argv[2], is_timed, functions);
  } catch (const case_error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}

}  // namespace exercises
