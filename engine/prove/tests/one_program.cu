// SPDX-License-Identifier: MIT
// Performs one small program of the reference model, once, and prints what its reads have read.
// proved_programs_test.py has it explored. The arguments are the program, as performed_program.cuh
// says.
#include <cstdio>
#include <cstdlib>

#include "performed_program.cuh"

int main(int, char** words) {
  const auto next_number = [&words] {
    if (!*++words) {
      std::fputs("a number is missing\n", stderr);
      std::exit(2);
    }
    return std::atoi(*words);
  };
  const auto blocks = static_cast<unsigned>(next_number());
  performed_program program(blocks, next_number);
  program.run();
  for (const int value : program.outcome()) std::printf("%d ", value);
  const char* between = "; ";
  for (const int value : program.memory()) {
    std::printf("%s%d", between, value);
    between = " ";
  }
  std::puts("");
}
