// SPDX-License-Identifier: MIT
// The switch between fibers on AArch64, made as the one on x86-64 is: it leaves out the
// floating-point control register, which no kernel changes, and saves no register that the compiler
// does not need.
#pragma once

#include <cstddef>

#include "cpu_backend/fibers/fiber_state.hpp"

namespace cpu_backend {

// All registers but the frame pointer are named as overwritten, so the compiler itself keeps on the
// stack what it still needs. (It is inlined into kernels, hence SVE's predicates too; the vector
// registers' names stand for SVE's longer ones.) With branch protection an indirect branch has to
// meet a landing pad: x17 may enter a function, and hint #36 (bti j) is the pad for a fiber that
// goes on. The link register is 0 for a fiber that begins, so that a debugger's backtrace ends
// there.
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

// Lets `target` begin in `entry`, with the stack below `top`.
void begin_fiber_at(fiber& target, std::byte* top, void (*entry)());

}  // namespace cpu_backend
