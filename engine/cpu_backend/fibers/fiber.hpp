// SPDX-License-Identifier: MIT
// A fiber: a stack of its own and the place where it stopped. It never changes its OS thread.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#if defined(__SANITIZE_ADDRESS__)
#define CPU_BACKEND_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CPU_BACKEND_ADDRESS_SANITIZER
#endif
#endif

namespace cpu_backend {

struct fiber_stack {
  std::byte* bottom = nullptr;
  std::size_t bytes = 0;
  void* sanitizer_stack = nullptr;  // AddressSanitizer's shadow of the frames on it
  unsigned index = 0;
};

struct fiber {
  void* stack_pointer = nullptr;  // where it stopped
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

// Adopts the stack that the calling OS thread runs on, so that fibers can switch back to it.
void adopt_thread_stack(fiber& target, fiber_stack& stack);

// Goes on where `to` stopped; `from` is done with its frames, and may only be restarted.
void abandon_fiber(fiber& from, fiber& to);

// Tells AddressSanitizer that the frames on this stack are gone, where no function returned from
// them.
void forget_frames(std::span<std::byte> stack);

// The first thing a fiber does in its entry.
void fiber_has_begun();

// True if `address` lies in the guard page below the fiber's stack.
bool in_guard_page(const fiber& of, const void* address);

// Whether a fiber's stack may be there.
bool is_stack_memory(const void* address);

// ---- The switch. It leaves out the floating-point control words, which no kernel changes, and
// saves no register that the compiler does not need: all but the frame pointer are named as
// overwritten, so the compiler itself keeps on the stack what it still needs. (It is inlined into
// kernels, hence the registers of vector extensions too.)

#if defined(__x86_64__)
// It leaves by a jump and not by `ret`, which the processor would predict to return to its caller.
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
#elif defined(__aarch64__)
// The vector registers' names stand for SVE's longer ones. With branch protection an indirect
// branch has to meet a landing pad: x17 may enter a function, and hint #36 (bti j) is the pad for a
// fiber that goes on. The link register is 0 for a fiber that begins, so that a debugger's
// backtrace ends there.
inline __attribute__((always_inline)) void jump_to_fiber(fiber& from, fiber& to) {
  register fiber* left asm("x0") = &from;
  register fiber* entered asm("x1") = &to;
  asm volatile(
      "adr x17, 1f\n\t"
      "mov x16, sp\n\t"
      "stp x16, x17, [%0]\n\t"
      "str x29, [%0, #16]\n\t"
      "ldp x16, x17, [%1]\n\t"
      "ldr x29, [%1, #16]\n\t"
      "mov sp, x16\n\t"
      "mov x30, xzr\n\t"
      "br x17\n\t"
      "1:\n\t"
      "hint #36"
      : "+r"(left), "+r"(entered)
      :
      : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
        "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28",
        "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12",
        "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25",
        "v26", "v27", "v28", "v29", "v30", "v31",
#ifdef __ARM_FEATURE_SVE
        "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11", "p12", "p13",
        "p14", "p15",
#endif
        "memory", "cc");
}
#else
#error "The CPU backend runs on x86-64 and AArch64"
#endif

// Stops here as `from` and goes on where `to` stopped. Returns when something switches to `from`.
#ifdef CPU_BACKEND_ADDRESS_SANITIZER
void switch_fiber(fiber& from, fiber& to);  // has to be told of every switch
#else
inline void switch_fiber(fiber& from, fiber& to) { jump_to_fiber(from, to); }
#endif

// ---- Whether a thread is in the state that it was in before.

// Goes on from `hash` with the words from `begin` to `end`. Reads stacks across the red zones that
// AddressSanitizer puts between variables.
__attribute__((no_sanitize("address"))) inline std::uint64_t hash_of_memory(std::uint64_t hash,
                                                                            const void* begin,
                                                                            const void* end) {
  const auto* last = static_cast<const std::uint64_t*>(end);
  for (auto* word = static_cast<const std::uint64_t*>(begin); word < last; ++word) {
    hash = (std::rotl(hash, 5) ^ *word) * 0x9e3779b97f4a7c15u;
  }
  return hash;
}

// A hash of the registers and of the stack of the thread that runs, up to the stack's end. `frame`
// is that of the calling function, which must have saved all registers there
// (__builtin_unwind_init). The function's own variables do not count: what it leaves there would
// make each turn another state.
inline std::uint64_t hash_of_thread(const void* frame, const void* end) {
#if defined(__aarch64__)
  // The frame's address is that of the caller's frame, as it was saved; after it come the other
  // registers, and after those the variables.
  constexpr std::size_t saved_registers = 2 + 10 + 8;
  const auto* saved = static_cast<const void* const*>(frame);
  return hash_of_memory(hash_of_memory(0, saved, saved + saved_registers), *saved, end);
#else
  // The registers lie below the frame's address, and the variables below those.
  constexpr std::ptrdiff_t saved_registers = 5 * sizeof(void*);
  return hash_of_memory(0, static_cast<const std::byte*>(frame) - saved_registers, end);
#endif
}

}  // namespace cpu_backend
