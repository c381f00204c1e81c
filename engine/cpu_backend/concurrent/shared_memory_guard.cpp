// SPDX-License-Identifier: MIT
#include "cpu_backend/shared_memory_guard.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include "cpu_backend/fibers/fiber.hpp"

namespace cpu_backend {
namespace {

// A thread's variables end with those that start as zero, in the order in which the linker comes to
// them: the program's own, which its __shared__ variables are among, and then those of libraries.
// What the backend itself needs stands in front of them all (CPU_BACKEND_BEFORE_SHARED), so that
// this comes next. Beyond it the system keeps what it knows about the thread: an index that runs
// there ends the process without a word.
struct behind_shared_variables {
  canary first;
  std::byte pages[16 * 1024];
};
__thread behind_shared_variables behind;

}  // namespace

guarded_stretch guard_shared_variables() {
  guarded_stretch made{&behind.first, behind.pages, 0};
  behind.first.restore();
#ifndef CPU_BACKEND_ADDRESS_SANITIZER  // which reads all of a thread's variables at the end
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(behind.pages) + page - 1) / page * page;
  const auto end =
      reinterpret_cast<std::uintptr_t>(behind.pages + sizeof behind.pages) / page * page;
  if (begin < end && mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_NONE) == 0) {
    made.pages = reinterpret_cast<const std::byte*>(begin);
    made.page_bytes = end - begin;
  }
#endif
  return made;
}

}  // namespace cpu_backend
