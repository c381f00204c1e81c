// SPDX-License-Identifier: MIT
// What the CPU backend reads out of an AArch64 instruction that faulted. It is plain arithmetic, so
// it is tested on every processor. The words are an assembler's.
#include <catch2/catch_test_macros.hpp>
#include <cstdint>

#include "cpu_backend/execution/processor/aarch64/instruction.hpp"

using enum cpu_backend::access_kind;

namespace {

constexpr std::uint64_t x0 = 0x10000, x2 = 5, stack_pointer = 0x20000;
constexpr std::uint64_t x3 = 0xFFFFFFFE;  // as a signed word, -2

struct row {
  const char* text;
  std::uint32_t instruction;
  std::uint64_t address;
  unsigned bytes;
  cpu_backend::access_kind kind;
};

const row accesses[] = {
    {"str w1, [x0]", 0xb9000001, x0, 4, write},
    {"ldr w1, [x0, #8]", 0xb9400801, x0 + 8, 4, read},
    {"ldrb w1, [x0, #3]", 0x39400c01, x0 + 3, 1, read},
    {"strh w1, [sp, #6]", 0x79000fe1, stack_pointer + 6, 2, write},
    {"ldrsw x1, [x0, #4]", 0xb9800401, x0 + 4, 4, read},
    {"ldr x1, [x0, x2, lsl #3]", 0xf8627801, x0 + 8 * x2, 8, read},
    {"ldr w1, [x0, w3, sxtw #2]", 0xb863d801, x0 - 8, 4, read},
    {"ldr w1, [x0, w3, uxtw]", 0xb8634801, x0 + x3, 4, read},
    {"str x1, [x0, #16]!", 0xf8010c01, x0 + 16, 8, write},
    {"ldr x1, [x0], #16", 0xf8410401, x0, 8, read},
    {"ldur w1, [x0, #-4]", 0xb85fc001, x0 - 4, 4, read},
    {"str q1, [x0, #32]", 0x3d800801, x0 + 32, 16, write},
    {"ldr s1, [x0, #4]", 0xbd400401, x0 + 4, 4, read},
    {"str d1, [x0, x2]", 0xfc226801, x0 + x2, 8, write},
    {"stp x1, x2, [x0, #-16]", 0xa93f0801, x0 - 16, 16, write},
    {"ldp w1, w2, [x0], #8", 0x28c10801, x0, 8, read},
    {"ldp q1, q2, [x0, #32]", 0xad410801, x0 + 32, 32, read},
    {"ldpsw x1, x2, [x0, #8]", 0x69410801, x0 + 8, 8, read},
    {"ldnp d1, d2, [x0, #16]", 0x6c410801, x0 + 16, 16, read},
    {"ldxr w1, [x0]", 0x885f7c01, x0, 4, atomic},
    {"stlxr w2, x1, [x0]", 0xc802fc01, x0, 8, atomic},
    {"ldxp x1, x2, [x0]", 0xc87f0801, x0, 16, atomic},
    {"ldaxp w1, w2, [x0]", 0x887f8801, x0, 8, atomic},
    {"casp x2, x3, x4, x5, [x0]", 0x48227c04, x0, 16, atomic},
    {"caspal w2, w3, w4, w5, [x0]", 0x0862fc04, x0, 8, atomic},
    {"cas w1, w2, [x0]", 0x88a17c02, x0, 4, atomic},
    {"casalb w1, w2, [x0]", 0x08e1fc02, x0, 1, atomic},
    {"ldar x1, [x0]", 0xc8dffc01, x0, 8, read},
    {"stlr w1, [x0]", 0x889ffc01, x0, 4, write},
    {"ldadd w1, w2, [x0]", 0xb8210002, x0, 4, atomic},
    {"swpalh w1, w2, [x0]", 0x78e18002, x0, 2, atomic},
    {"ldapr w1, [x0]", 0xb8bfc001, x0, 4, read},
    {"ldapur x1, [x0, #-8]", 0xd95f8001, x0 - 8, 8, read},
    {"stlurb w1, [x0, #1]", 0x19001001, x0 + 1, 1, write},
    {"ld1 {v0.16b, v1.16b}, [x0]", 0x4c40a000, x0, 32, read},
    {"st1 {v0.8b}, [x0], #8", 0x0c9f7000, x0, 8, write},
    {"ld4 {v0.4s-v3.4s}, [x0]", 0x4c400800, x0, 64, read},
    {"st3 {v0.8h-v2.8h}, [x0]", 0x4c004400, x0, 48, write},
    {"ld1r {v0.4s}, [x0]", 0x4d40c800, x0, 4, read},
    {"ld2r {v0.2d, v1.2d}, [x0]", 0x4d60cc00, x0, 16, read},
    {"st1 {v0.b}[3], [x0]", 0x0d000c00, x0, 1, write},
    {"ld1 {v0.h}[1], [x0]", 0x0d404800, x0, 2, read},
    {"st2 {v0.s, v1.s}[1], [x0]", 0x0d209000, x0, 8, write},
    {"ld4 {v0.d-v3.d}[1], [x0]", 0x4d60a400, x0, 32, read},
};

const row others[] = {
    {"prfm pldl1keep, [x0]", 0xf9800000, 0, 0, unknown},
    {"ldr x1, .", 0x58000001, 0, 0, unknown},
    {"add x0, x1, x2", 0x8b020020, 0, 0, unknown},
    {"dc zva, x0", 0xd50b7420, 0, 0, unknown},
    {"nop", 0xd503201f, 0, 0, unknown},
};

cpu_backend::memory_operand decoded(const row& of) {
  cpu_backend::aarch64_registers registers;
  registers.general[0] = x0;
  registers.general[2] = x2;
  registers.general[3] = x3;
  registers.stack_pointer = stack_pointer;
  return cpu_backend::decode_aarch64(of.instruction, registers);
}

}  // namespace

TEST_CASE(
    "of a load, a store and an atomic of AArch64 the address, the size and the kind are known") {
  for (const row& each : accesses) {
    const auto found = decoded(each);
    CAPTURE(each.text);
    CHECK(found.has_address);
    CHECK(found.address == each.address);
    CHECK(found.bytes == each.bytes);
    CHECK((found.kind == each.kind));
  }
}

TEST_CASE("of another instruction of AArch64 nothing is said") {
  for (const row& each : others) {
    const auto found = decoded(each);
    CAPTURE(each.text);
    CHECK(!found.has_address);
    CHECK(found.bytes == 0);
    CHECK((found.kind == unknown));
  }
}
