// SPDX-License-Identifier: MIT
// assert() in a kernel ends the launch with cudaErrorAssert, as on a GPU, and not the program. This
// takes the place of the C library's function of the same name.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cpu_backend/multiprocessor.hpp"

extern "C" [[noreturn]] void __assert_fail(const char* assertion, const char* file, unsigned line,
                                           const char* function) noexcept {
  const auto failed = [&] {
    return std::string(file) + ":" + std::to_string(line) + ": " + function + ": Assertion `" +
           assertion + "` failed.";
  };
  if (cpu_backend::this_multiprocessor) {
    cpu_backend::this_multiprocessor->fail(cudaErrorAssert, failed);
  }
  std::fflush(stdout);
  std::fprintf(stderr, "%s\n", failed().c_str());
  std::abort();
}
