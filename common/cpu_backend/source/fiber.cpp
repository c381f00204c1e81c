// SPDX-License-Identifier: MIT
// Two ways to switch stacks. Boost.Context's runs everywhere; on x86-64 a switch of our own leaves
// out the floating-point control words, which no kernel changes: that takes a barrier arrival from
// 12 to 4 ns.
#include "cpu_backend/fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#if defined(__x86_64__) && !defined(CPU_BACKEND_BOOST_FIBERS)
#define CPU_BACKEND_OWN_SWITCH
#else
#include <boost/context/detail/fcontext.hpp>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define CPU_BACKEND_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CPU_BACKEND_ADDRESS_SANITIZER
#endif
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

std::byte* stack_top(const fiber& of, unsigned index) {
  constexpr std::size_t stagger = 192;
  constexpr unsigned different_tops = 32;
  return of.stack_bottom + of.stack_bytes - (index % different_tops) * stagger;
}

#ifdef CPU_BACKEND_ADDRESS_SANITIZER
void before_switch(fiber* from, const fiber& to) {
  __sanitizer_start_switch_fiber(from ? &from->sanitizer_stack : nullptr, to.stack_bottom,
                                 to.stack_bytes);
}
void after_switch(fiber* now) {
  __sanitizer_finish_switch_fiber(now ? now->sanitizer_stack : nullptr, nullptr, nullptr);
}
#else
void before_switch(fiber*, const fiber&) {}
void after_switch(fiber*) {}
#endif

}  // namespace

#ifdef CPU_BACKEND_OWN_SWITCH

// cpu_backend_switch(void** from_stopped_at, void* to_stopped_at): saves what the System V ABI asks
// a function to preserve, less the control words. All switches call it from one place, so the
// processor predicts its `ret` rightly although it returns into another fiber.
asm(R"(
  .text
  .p2align 4
  .globl cpu_backend_switch
  .hidden cpu_backend_switch
  .type cpu_backend_switch, @function
cpu_backend_switch:
  .cfi_startproc
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .cfi_endproc
  .size cpu_backend_switch, . - cpu_backend_switch
)");
extern "C" void cpu_backend_switch(void** from_stopped_at, void* to_stopped_at);

namespace {

void jump(fiber& from, fiber& to) { cpu_backend_switch(&from.stopped_at, to.stopped_at); }

void begin_at(fiber& target, void (*entry)(), std::byte* top) {
  auto address = reinterpret_cast<std::uintptr_t>(top) & ~std::uintptr_t{15};
  auto* words = reinterpret_cast<void**>(address);
  *--words = nullptr;  // entry's return address: it has none, and a debugger's backtrace ends here
  *--words = reinterpret_cast<void*>(entry);
  for (int saved_register = 0; saved_register < 6; ++saved_register) *--words = nullptr;
  target.stopped_at = words;
}

}  // namespace

#else

namespace {

using boost::context::detail::fcontext_t;
using boost::context::detail::transfer_t;

// A jump hands over the fiber that was left; only then is it known where that one stopped.
void jump(fiber& from, fiber& to) {
  transfer_t left = boost::context::detail::jump_fcontext(to.stopped_at, &from);
  static_cast<fiber*>(left.data)->stopped_at = left.fctx;
}

thread_local void (*fiber_entry)() = nullptr;

void begin(transfer_t left) {
  static_cast<fiber*>(left.data)->stopped_at = left.fctx;
  fiber_entry();
}

void begin_at(fiber& target, void (*entry)(), std::byte* top) {
  fiber_entry = entry;
  const auto bytes = static_cast<std::size_t>(top - target.stack_bottom);
  target.stopped_at = boost::context::detail::make_fcontext(top, bytes, begin);
}

}  // namespace

#endif

void create_fiber(fiber& target, void (*entry)(), unsigned index) {
  const std::size_t guard = page_size();
  void* memory = mmap(nullptr, guard + stack_size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("CPU backend: no memory for the stack of a CUDA thread");
    std::exit(1);
  }
  // Fails only where the process has used up its memory mappings; then an overflow goes unnoticed.
  (void)mprotect(memory, guard, PROT_NONE);
  target.stack_bottom = static_cast<std::byte*>(memory) + guard;
  target.stack_bytes = stack_size;
  begin_at(target, entry, stack_top(target, index));
}

void restart_fiber(fiber& target, void (*entry)(), unsigned index) {
#ifdef CPU_BACKEND_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(target.stack_bottom, target.stack_bytes);
  target.sanitizer_stack = nullptr;
#endif
  begin_at(target, entry, stack_top(target, index));
}

void destroy_fiber(fiber& target) {
#ifdef CPU_BACKEND_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(target.stack_bottom, target.stack_bytes);
#endif
  munmap(target.stack_bottom - page_size(), page_size() + target.stack_bytes);
  target = fiber{};
}

void adopt_thread_stack(fiber& target) {
#ifdef CPU_BACKEND_ADDRESS_SANITIZER
  pthread_attr_t attributes;
  void* bottom = nullptr;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &bottom, &target.stack_bytes);
    pthread_attr_destroy(&attributes);
  }
  target.stack_bottom = static_cast<std::byte*>(bottom);
#else
  target = fiber{};
#endif
}

void switch_fiber(fiber& from, fiber& to) {
  before_switch(&from, to);
  jump(from, to);
  after_switch(&from);
}

void abandon_fiber(fiber& from, fiber& to) {
  before_switch(nullptr, to);
  jump(from, to);
}

void fiber_has_begun() { after_switch(nullptr); }

bool in_guard_page(const fiber& of, const void* address) {
  const auto* byte = static_cast<const std::byte*>(address);
  return of.stack_bottom && byte < of.stack_bottom && byte >= of.stack_bottom - page_size();
}

}  // namespace cpu_backend
