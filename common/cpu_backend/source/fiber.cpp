// SPDX-License-Identifier: MIT
#include "cpu_backend/fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#ifndef CPU_BACKEND_OWN_SWITCH
#include <boost/context/detail/fcontext.hpp>
#endif
#ifdef CPU_BACKEND_ADDRESS_SANITIZER
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace cpu_backend {
namespace {

#ifdef CPU_BACKEND_ADDRESS_SANITIZER
constexpr std::size_t stack_size = 256 * 1024;  // its red zones make frames several times larger
#else
constexpr std::size_t stack_size = 64 * 1024;
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

#ifdef CPU_BACKEND_ADDRESS_SANITIZER
void before_switch(fiber* from, const fiber& to) {
  __sanitizer_start_switch_fiber(from ? &from->stack->sanitizer_stack : nullptr, to.stack->bottom,
                                 to.stack->bytes);
}
void after_switch(fiber* now) {
  __sanitizer_finish_switch_fiber(now ? now->stack->sanitizer_stack : nullptr, nullptr, nullptr);
}
#else
void before_switch(fiber*, const fiber&) {}
void after_switch(fiber*) {}
#endif

}  // namespace

#ifdef CPU_BACKEND_OWN_SWITCH

namespace {

void jump(fiber& from, fiber& to) { jump_to_fiber(from, to); }

void begin_at(fiber& target, void (*entry)()) {
  const auto address =
      reinterpret_cast<std::uintptr_t>(stack_top(*target.stack)) & ~std::uintptr_t{15};
  auto* words = reinterpret_cast<void**>(address);
  *--words = nullptr;  // entry's return address: it has none, and a debugger's backtrace ends here
  target.stack_pointer = words;
  target.instruction = reinterpret_cast<void*>(entry);
  target.frame_pointer = nullptr;
}

}  // namespace

#else

namespace {

using boost::context::detail::fcontext_t;
using boost::context::detail::transfer_t;

// A jump hands over the fiber that was left; only then is it known where that one stopped.
void jump(fiber& from, fiber& to) {
  transfer_t left = boost::context::detail::jump_fcontext(to.stack_pointer, &from);
  static_cast<fiber*>(left.data)->stack_pointer = left.fctx;
}

thread_local void (*fiber_entry)() = nullptr;

void begin(transfer_t left) {
  static_cast<fiber*>(left.data)->stack_pointer = left.fctx;
  fiber_entry();
}

void begin_at(fiber& target, void (*entry)()) {
  fiber_entry = entry;
  std::byte* top = stack_top(*target.stack);
  const auto bytes = static_cast<std::size_t>(top - target.stack->bottom);
  target.stack_pointer = boost::context::detail::make_fcontext(top, bytes, begin);
}

}  // namespace

#endif

void create_fiber(fiber& target, fiber_stack& stack, void (*entry)(), unsigned index) {
  const std::size_t guard = page_size();
  void* memory = mmap(nullptr, guard + stack_size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("CPU backend: no memory for the stack of a CUDA thread");
    std::exit(1);
  }
  // Fails only where the process has used up its memory mappings; then an overflow goes unnoticed.
  (void)mprotect(memory, guard, PROT_NONE);
  stack.bottom = static_cast<std::byte*>(memory) + guard;
  stack.bytes = stack_size;
  stack.index = index;
  target.stack = &stack;
  begin_at(target, entry);
}

void restart_fiber(fiber& target, void (*entry)()) {
  forget_frames({target.stack->bottom, target.stack->bytes});
  target.stack->sanitizer_stack = nullptr;
  begin_at(target, entry);
}

#ifdef CPU_BACKEND_ADDRESS_SANITIZER
void forget_frames(std::span<std::byte> stack) {
  __asan_unpoison_memory_region(stack.data(), stack.size());
}
#else
void forget_frames(std::span<std::byte>) {}
#endif

void adopt_thread_stack(fiber& target, fiber_stack& stack) {
#ifdef CPU_BACKEND_ADDRESS_SANITIZER
  pthread_attr_t attributes;
  void* bottom = nullptr;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &bottom, &stack.bytes);
    pthread_attr_destroy(&attributes);
  }
  stack.bottom = static_cast<std::byte*>(bottom);
#endif
  target.stack = &stack;
}

#if !defined(CPU_BACKEND_OWN_SWITCH) || defined(CPU_BACKEND_ADDRESS_SANITIZER)
void switch_fiber(fiber& from, fiber& to) {
  before_switch(&from, to);
  jump(from, to);
  after_switch(&from);
}
#endif

void abandon_fiber(fiber& from, fiber& to) {
  before_switch(nullptr, to);
  jump(from, to);
}

void fiber_has_begun() { after_switch(nullptr); }

bool in_guard_page(const fiber& of, const void* address) {
  const auto* byte = static_cast<const std::byte*>(address);
  return byte < of.stack->bottom && byte >= of.stack->bottom - page_size();
}

}  // namespace cpu_backend
