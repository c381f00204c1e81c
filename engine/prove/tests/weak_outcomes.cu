// SPDX-License-Identifier: MIT
// Performs small programs of the reference model in the weak form, and prints which outcomes there
// were. weak_outcomes_test.py writes the programs and judges the outcomes.
//
// Standard input: the number of seeds, then the programs, each as performed_program.cuh says. One
// line of output for each program: what its reads have read, "0 3;1 3" for two outcomes of two
// reads.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <set>
#include <vector>

#include "cpu_backend/scheduled.hpp"
#include "performed_program.cuh"
#include "racecheck/races/checker.hpp"

namespace {

int read_number() {
  int number = 0;
  if (!(std::cin >> number)) {
    std::fputs("a number is missing\n", stderr);
    std::exit(2);
  }
  return number;
}

void run_program(unsigned blocks, int seeds) {
  performed_program program(blocks, read_number);
  std::set<std::vector<int>> outcomes;
  for (int seed = 0; seed < seeds; ++seed) {
    cpu_backend::scheduled::set_seed(static_cast<std::uint64_t>(seed));
    racecheck::checker::instance().draw_values(static_cast<std::uint64_t>(seed));
    program.run();
    outcomes.insert(program.outcome());
  }
  const char* between = "";
  for (const std::vector<int>& outcome : outcomes) {
    std::fputs(between, stdout);
    between = "";
    for (const int value : outcome) {
      std::printf("%s%d", between, value);
      between = " ";
    }
    between = ";";
  }
  std::puts("");
}

}  // namespace

int main() {
  constexpr bool looks_for_races = false;
  racecheck::checker::instance().begin_weak_form(looks_for_races);
  const int seeds = read_number();
  for (int blocks = 0; std::cin >> blocks;) run_program(static_cast<unsigned>(blocks), seeds);
}
