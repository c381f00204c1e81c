// SPDX-License-Identifier: MIT
#include "cpu_backend/fibers/fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#ifdef CPU_BACKEND_ADDRESS_SANITIZER
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace cpu_backend {
namespace {

// ---- What AddressSanitizer has to be told about fibers; without it, nothing.

#ifdef CPU_BACKEND_ADDRESS_SANITIZER

constexpr std::size_t stack_size = 256 * 1024;  // red zones make frames several times larger

// `from` is nullptr where its frames are given up; `now` where it has none yet.
void before_switch(fiber* from, const fiber& to) {
  __sanitizer_start_switch_fiber(from ? &from->stack->sanitizer_stack : nullptr, to.stack->bottom,
                                 to.stack->bytes);
}
void after_switch(fiber* now) {
  __sanitizer_finish_switch_fiber(now ? now->stack->sanitizer_stack : nullptr, nullptr, nullptr);
}
void tell_sanitizer_of_forgotten_frames(std::span<std::byte> stack) {
  __asan_unpoison_memory_region(stack.data(), stack.size());
}
void tell_sanitizer_of_thread_stack(fiber_stack& stack) {
  pthread_attr_t attributes;
  void* bottom = nullptr;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &bottom, &stack.bytes);
    pthread_attr_destroy(&attributes);
  }
  stack.bottom = static_cast<std::byte*>(bottom);
}

#else

constexpr std::size_t stack_size = 64 * 1024;

void before_switch(fiber*, const fiber&) {}
void after_switch(fiber*) {}
void tell_sanitizer_of_forgotten_frames(std::span<std::byte>) {}
void tell_sanitizer_of_thread_stack(fiber_stack&) {}

#endif

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

std::byte* stack_top(const fiber_stack& of) {
  constexpr std::size_t cache_line = 64;
  constexpr unsigned different_tops = 64;
  return of.bottom + of.bytes - (of.index % different_tops) * cache_line;
}

std::byte* map(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

std::byte* first_stacks = nullptr;
std::atomic<std::size_t> taken_of_first = 0;  // bytes of them that are stacks by now
constexpr std::size_t stacks_at_once =
    16 * 1024;  // for all that eight multiprocessors hold, and more

// Memory for one stack more, or nullptr. Stacks lie side by side, and no allocation of the
// program's among them: who looks where an address belongs needs one answer for all of them.
std::byte* take_stack_memory(std::size_t bytes) {
  static std::mutex mutex;
  static std::byte* next = nullptr;
  static std::size_t left = 0;
  const std::lock_guard lock(mutex);
  if (left == 0) {
    next = map(stacks_at_once * bytes);
    left = stacks_at_once;
    if (!first_stacks) first_stacks = next;
    // It is used in small pieces: a huge page would take memory for stacks that are not needed yet.
    if (next) (void)madvise(next, stacks_at_once * bytes, MADV_NOHUGEPAGE);
  }
  if (!next) {  // there is not that much room
    left = 0;
    return map(bytes);
  }
  --left;
  std::byte* const taken = next;
  next += bytes;
  const auto end = static_cast<std::size_t>(next - first_stacks);
  if (end <= stacks_at_once * bytes) taken_of_first = end;
  return taken;
}

// Lets `target` begin in `entry`, with the stack below `top`.
void begin_fiber_at(fiber& target, std::byte* top, void (*entry)()) {
  auto* words =
      reinterpret_cast<void**>(reinterpret_cast<std::uintptr_t>(top) & ~std::uintptr_t{15});
#if defined(__x86_64__)
  *--words = nullptr;  // entry's return address: it has none, and a debugger's backtrace ends here
#endif
  target.stack_pointer = words;
  target.instruction = reinterpret_cast<void*>(entry);
  target.frame_pointer = nullptr;
}

}  // namespace

void create_fiber(fiber& target, fiber_stack& stack, void (*entry)(), unsigned index) {
  const std::size_t guard = page_size();
  std::byte* const memory = take_stack_memory(guard + stack_size);
  if (!memory) {
    std::perror("CPU backend: no memory for the stack of a CUDA thread");
    std::fflush(nullptr);
    _exit(1);  // a kernel is running: exit() would end no more than the launch
  }
  // Fails only where the process has used up its memory mappings; then an overflow goes unnoticed.
  (void)mprotect(memory, guard, PROT_NONE);
  stack.bottom = memory + guard;
  stack.bytes = stack_size;
  stack.index = index;
  target.stack = &stack;
  begin_fiber_at(target, stack_top(stack), entry);
}

void restart_fiber(fiber& target, void (*entry)()) {
  forget_frames({target.stack->bottom, target.stack->bytes});
  target.stack->sanitizer_stack = nullptr;
  begin_fiber_at(target, stack_top(*target.stack), entry);
}

void forget_frames(std::span<std::byte> stack) { tell_sanitizer_of_forgotten_frames(stack); }

void adopt_thread_stack(fiber& target, fiber_stack& stack) {
  tell_sanitizer_of_thread_stack(stack);
  target.stack = &stack;
}

#ifdef CPU_BACKEND_ADDRESS_SANITIZER
void switch_fiber(fiber& from, fiber& to) {
  before_switch(&from, to);
  jump_to_fiber(from, to);
  after_switch(&from);
}
#endif

void abandon_fiber(fiber& from, fiber& to) {
  before_switch(nullptr, to);
  jump_to_fiber(from, to);
}

void fiber_has_begun() { after_switch(nullptr); }

bool is_stack_memory(const void* address) {
  const auto offset =
      static_cast<std::size_t>(static_cast<const std::byte*>(address) - first_stacks);
  return first_stacks && offset < taken_of_first;
}

bool in_guard_page(const fiber& of, const void* address) {
  const auto* byte = static_cast<const std::byte*>(address);
  return byte < of.stack->bottom && byte >= of.stack->bottom - page_size();
}

}  // namespace cpu_backend
