// SPDX-License-Identifier: MIT
// assert() in a kernel ends the launch with cudaErrorAssert, as on a GPU, and not the program. This
// takes the place of the C library's function of the same name.
#include <cstdlib>

#include "cpu_backend/execution/diagnostic.hpp"
#include "cpu_backend/execution/source_line.hpp"
#include "cpu_backend/multiprocessor.hpp"

extern "C" [[noreturn]] void __assert_fail(const char* assertion, const char* file, unsigned line,
                                           const char* function) noexcept {
  const auto failed = [&] {
    return cpu_backend::diagnostic("assertion")
        .add("at", cpu_backend::source_line{file, line, ""})
        .add("function", function)
        .add("expression", assertion);
  };
  if (cpu_backend::this_multiprocessor) {
    cpu_backend::this_multiprocessor->fail(cudaErrorAssert, failed);
  }
  cpu_backend::report(failed());
  std::abort();
}
