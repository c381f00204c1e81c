// SPDX-License-Identifier: MIT
// exit() in a kernel ends the launch with an error, and not the program: nvcc has no such function
// for kernels. The linker hands all calls of exit() over to this one (--wrap).
#include <cstdlib>

#include "cpu_backend/execution/kernel_fault.hpp"
#include "cpu_backend/multiprocessor.hpp"
#include "cpu_backend/observer.hpp"

extern "C" [[noreturn]] void __real_exit(int status);
extern "C" [[noreturn]] void __wrap_exit(int status);

void __wrap_exit(int status) {
  cpu_backend::multiprocessor* on = cpu_backend::this_multiprocessor;
  if (on && on->holds_block() && cpu_backend::observer::thread_is_in_kernel()) {
    cpu_backend::kernel_fault fault;
    fault.what = cpu_backend::kernel_fault::kind::exit;
    fault.calls = cpu_backend::call_stack::here();
    on->fail(fault);
  }
  __real_exit(status);
}
