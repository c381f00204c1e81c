// SPDX-License-Identifier: MIT
// A fiber: a stack of its own and the place where it stopped. It never changes its OS thread.
#pragma once

#include <cstddef>
#include <span>

#if defined(__SANITIZE_ADDRESS__)
#define CPU_BACKEND_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CPU_BACKEND_ADDRESS_SANITIZER
#endif
#endif

// Boost.Context's switch runs everywhere. On x86-64 one of our own leaves out the floating-point
// control words, which no kernel changes, and saves no register that the compiler does not need:
// that takes a switch from 12 to 3 ns.
#if defined(__x86_64__) && !defined(CPU_BACKEND_BOOST_FIBERS)
#define CPU_BACKEND_OWN_SWITCH
#endif

namespace cpu_backend {

struct fiber_stack {
  std::byte* bottom = nullptr;
  std::size_t bytes = 0;
  void* sanitizer_stack = nullptr;  // AddressSanitizer's shadow of the frames on it
  unsigned index = 0;
};

struct fiber {
  void* stack_pointer = nullptr;  // where it stopped; Boost's fcontext_t, if that switches
  void* instruction = nullptr;
  void* frame_pointer = nullptr;
  fiber_stack* stack = nullptr;
};

// Gives `target` a stack (64 KiB and a guard page below it) and lets it begin in `entry`, which
// must never return. `index` staggers the stacks' tops: equal tops would share one set of the
// cache.
void create_fiber(fiber& target, fiber_stack& stack, void (*entry)(), unsigned index);

// Lets `target` begin in `entry` anew; whatever was on its stack is forgotten without a destructor.
void restart_fiber(fiber& target, void (*entry)());

// Tells AddressSanitizer that the frames on this stack are gone, where nobody returned from them.
void forget_frames(std::span<std::byte> stack);

// Adopts the stack that the calling OS thread runs on, so that fibers can switch back to it.
void adopt_thread_stack(fiber& target, fiber_stack& stack);

#ifdef CPU_BACKEND_OWN_SWITCH
// All registers are named as overwritten, so the compiler itself keeps on the stack what it still
// needs. (It is inlined into kernels, hence AVX-512's and the x87's too.) It leaves by a jump and
// not by `ret`, which the processor would predict to return to its caller.
inline __attribute__((always_inline)) void jump_to_fiber(fiber& from, fiber& to) {
  fiber* left = &from;
  fiber* entered = &to;
  asm volatile(
      "leaq 1f(%%rip), %%rax\n\t"
      "movq %%rsp, 0(%0)\n\t"
      "movq %%rax, 8(%0)\n\t"
      "movq %%rbp, 16(%0)\n\t"
      "movq 0(%1), %%rsp\n\t"
      "movq 16(%1), %%rbp\n\t"
      "jmpq *8(%1)\n\t"
      "1:"
      : "+D"(left), "+S"(entered)
      :
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0",
        "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
        "xmm12", "xmm13", "xmm14", "xmm15",
#ifdef __AVX512F__
        "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",
        "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6",
        "k7",
#endif
        "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)", "memory", "cc");
}
#endif

// Stops here as `from` and goes on where `to` stopped. Returns when something switches to `from`.
#if defined(CPU_BACKEND_OWN_SWITCH) && !defined(CPU_BACKEND_ADDRESS_SANITIZER)
inline void switch_fiber(fiber& from, fiber& to) { jump_to_fiber(from, to); }
#else
void switch_fiber(fiber& from, fiber& to);
#endif

// The same, but `from` is done with its frames: it may only be restarted.
void abandon_fiber(fiber& from, fiber& to);

// The first thing a fiber does in its entry.
void fiber_has_begun();

// True if `address` lies in the guard page below the fiber's stack.
bool in_guard_page(const fiber& of, const void* address);

}  // namespace cpu_backend
