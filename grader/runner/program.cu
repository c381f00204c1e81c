// SPDX-License-Identifier: MIT
// The driver of every exercise whose file is a whole program: PROGRAM CASES RESULTS calls the
// student's main() with the numbers of the one case of the file CASES as its arguments, and writes
// into RESULTS what it has printed and which exit code it has come to, by return or by exit().
// case_file.hpp describes both files.
//
// The program is linked with --wrap=main: a call of main() gets the one below, which finds the
// student's as __real_main(). So the student's file is compiled as it is.
#include <cuda_runtime_api.h>
#include <stdlib.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "runner/case_file.hpp"
#include "runner/runner.hpp"
#include "runner/watched_loads.hpp"

extern "C" int __real_main(int argc, char** argv);

namespace {

using namespace exercises;

constexpr int wrong_use = 2;
constexpr int nothing_could_run = 77;

// For the end of the program, which may come in any function of the student's.
struct student_program {
  std::unique_ptr<result_writer> results;
  std::string printed_to;
  std::vector<std::string> words;
  std::vector<char*> arguments;
};
student_program& running() {
  static student_program& the_only = *new student_program;
  return the_only;
}

void write_end(int code, void*) {
  std::cout.flush();
  std::fflush(stdout);
  std::ifstream file(running().printed_to, std::ios::binary);
  const std::string printed{std::istreambuf_iterator<char>(file), {}};
  try {
    running().results->printed(printed);
    running().results->line("returned " + std::to_string(code));
  } catch (const case_error& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
}

void begin(const std::string& cases_path, const std::string& results_path) {
  const std::vector<exercise_case> cases = read_cases(cases_path);
  if (cases.size() != 1) throw case_error("a program has one case");
  const exercise_case& given = cases.front();
  student_program& now = running();
  now.results = std::make_unique<result_writer>(results_path);
  now.results->line("case 0");
  now.words = {given.function};
  for (const case_argument& argument : given.arguments) {
    if (argument.numbers.empty()) throw case_error("a program's arguments are numbers");
    now.words.push_back(argument.numbers.front());
  }
  for (std::string& word : now.words) now.arguments.push_back(word.data());
  now.arguments.push_back(nullptr);
  now.printed_to = results_path + ".printed";
  if (!std::freopen(now.printed_to.c_str(), "w", stdout)) {
    throw case_error(now.printed_to + " can't be written");
  }
  on_exit(write_end, nullptr);
  watch_loads(given);
}

}  // namespace

extern "C" int __wrap_main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s CASES RESULTS\n", argv[0]);
    return wrong_use;
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return nothing_could_run;
  try {
    begin(argv[1], argv[2]);
  } catch (const case_error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return wrong_use;
  }
  return __real_main(static_cast<int>(running().words.size()), running().arguments.data());
}
