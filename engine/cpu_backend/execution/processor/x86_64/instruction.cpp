// SPDX-License-Identifier: MIT
#include "cpu_backend/execution/processor/x86_64/instruction.hpp"

#include <cstring>

namespace cpu_backend {
namespace {

// The part of an instruction before its operands.
struct instruction_head {
  bool wide = false;          // REX.W, VEX.W
  bool operand_size = false;  // 66
  bool repeat = false;        // F3
  bool repeat_not = false;    // F2
  bool lock = false;
  bool uses_thread_base = false;
  unsigned vector_bytes = 16;
  unsigned reg = 0, index = 0, base = 0;  // the bits that extend register numbers, as 0 or 8
  unsigned map = 1;                       // of opcodes: 1 one byte, 2 0F, 3 0F 38, 4 0F 3A
  std::uint8_t opcode = 0;
  bool is_known = true;

  unsigned word_bytes() const { return wide ? 8 : operand_size ? 2 : 4; }
  // Of a floating-point instruction whose prefix says what it works on.
  unsigned float_bytes() const { return repeat ? 4 : repeat_not ? 8 : vector_bytes; }
};

void read_vex(instruction_head& head, const std::uint8_t*& at) {
  const bool is_long = *at++ == 0xC4;
  const std::uint8_t first = *at++;
  std::uint8_t last = first;
  head.map = 2;
  if (is_long) {
    last = *at++;
    head.map = (first & 31u) + 1;
    head.index = first & 0x40 ? 0 : 8;
    head.base = first & 0x20 ? 0 : 8;
    head.wide = last & 0x80;
  }
  head.reg = first & 0x80 ? 0 : 8;
  head.vector_bytes = last & 4 ? 32 : 16;
  head.operand_size = (last & 3) == 1;
  head.repeat = (last & 3) == 2;
  head.repeat_not = (last & 3) == 3;
}

instruction_head read_head(const std::uint8_t*& at) {
  instruction_head head;
  for (;; ++at) {
    if (*at == 0x66) {
      head.operand_size = true;
    } else if (*at == 0xF3) {
      head.repeat = true;
    } else if (*at == 0xF2) {
      head.repeat_not = true;
    } else if (*at == 0xF0) {
      head.lock = true;
    } else if (*at == 0x64) {
      head.uses_thread_base = true;
    } else if (*at != 0x2E && *at != 0x36 && *at != 0x3E && *at != 0x26) {
      break;
    }
  }
  if (*at == 0xC4 || *at == 0xC5) {
    read_vex(head, at);
  } else {
    if ((*at & 0xF0) == 0x40) {
      head.wide = *at & 8;
      head.reg = *at & 4 ? 8 : 0;
      head.index = *at & 2 ? 8 : 0;
      head.base = *at & 1 ? 8 : 0;
      ++at;
    }
    if (*at == 0x0F) {
      head.map = 2;
      ++at;
      if (*at == 0x38 || *at == 0x3A) head.map = *at++ == 0x38 ? 3 : 4;
    }
  }
  if (*at == 0x62 || *at == 0x67 || *at == 0x65) head.is_known = false;  // EVEX, and what is rare
  head.opcode = *at++;
  return head;
}

struct operand {
  unsigned reg = 0;  // the number of the register, or more bits of the opcode
  bool is_memory = false;
  bool has_address = false;
  std::uint64_t address = 0;
  unsigned number = 0;  // of the register, if it is no memory
};

operand read_operand(const instruction_head& head, const std::uint8_t* at,
                     const x86_registers& registers) {
  const std::uint8_t byte = *at++;
  const unsigned mode = byte >> 6;
  const unsigned low = byte & 7;
  operand found;
  found.reg = byte >> 3 & 7;
  found.number = low | head.base;
  if (mode == 3) return found;
  found.is_memory = true;
  std::uint64_t address = 0;
  if (low == 4) {
    const std::uint8_t scaled = *at++;
    const unsigned index = (scaled >> 3 & 7u) | head.index;
    const unsigned base = scaled & 7;
    if (index != 4) address += registers.general[index] << (scaled >> 6);
    if (base == 5 && mode == 0) {
      std::int32_t distance;
      std::memcpy(&distance, at, sizeof distance);
      address += static_cast<std::uint64_t>(std::int64_t{distance});
    } else {
      address += registers.general[base | head.base];
    }
  } else if (low == 5 && mode == 0) {
    return found;  // relative to the next instruction, whose begin is not known here
  } else {
    address = registers.general[found.number];
  }
  if (mode == 1) {
    address += static_cast<std::uint64_t>(std::int64_t{static_cast<std::int8_t>(*at)});
  } else if (mode == 2) {
    std::int32_t distance;
    std::memcpy(&distance, at, sizeof distance);
    address += static_cast<std::uint64_t>(std::int64_t{distance});
  }
  if (head.uses_thread_base) address += registers.thread_base;
  found.address = address;
  found.has_address = true;
  return found;
}

void describe_one_byte(const instruction_head& head, unsigned reg, x86_access& made) {
  const std::uint8_t code = head.opcode;
  const unsigned bytes = code & 1 ? head.word_bytes() : 1;
  if (code < 0x40 && (code & 7) < 4) {
    made.bytes = bytes;
    made.writes = !(code & 2) && code < 0x38;
    return;
  }
  switch (code) {
    case 0x63:
      made.bytes = 4;
      return;
    case 0x69:
    case 0x6B:
      made.bytes = head.word_bytes();
      return;
    case 0x80:
    case 0x81:
      made.bytes = bytes;
      made.writes = reg != 7;
      return;
    case 0x83:
      made.bytes = head.word_bytes();
      made.writes = reg != 7;
      return;
    case 0x84:
    case 0x85:
    case 0x8A:
    case 0x8B:
      made.bytes = bytes;
      return;
    case 0x86:
    case 0x87:
      made.is_atomic = true;
      [[fallthrough]];
    case 0x88:
    case 0x89:
    case 0xC0:
    case 0xC1:
    case 0xC6:
    case 0xC7:
    case 0xD0:
    case 0xD1:
    case 0xD2:
    case 0xD3:
      made.bytes = bytes;
      made.writes = true;
      return;
    case 0xF6:
    case 0xF7:
      made.bytes = bytes;
      made.writes = reg == 2 || reg == 3;
      return;
    case 0xFE:
    case 0xFF:
      made.bytes = reg >= 2 ? 8 : bytes;
      made.writes = reg < 2;
      return;
    default:
      return;
  }
}

void describe_two_bytes(const instruction_head& head, x86_access& made) {
  const std::uint8_t code = head.opcode;
  const auto is_one_of = [code](auto... codes) { return ((code == codes) || ...); };
  made.writes = is_one_of(0x11, 0x13, 0x17, 0x29, 0x2B, 0x7F, 0xE7, 0xB0, 0xB1, 0xC0, 0xC1, 0xC3) ||
                (code >= 0x90 && code <= 0x9F) || (is_one_of(0x7E, 0xD6) && head.operand_size);
  if (is_one_of(0xB6, 0xBE, 0xB0, 0xC0) || (code >= 0x90 && code <= 0x9F)) {
    made.bytes = 1;
  } else if (is_one_of(0xB7, 0xBF, 0xC4)) {
    made.bytes = 2;
  } else if (is_one_of(0xAF, 0xB1, 0xC1, 0xC3, 0xBA, 0xA3) || (code >= 0x40 && code <= 0x4F)) {
    made.bytes = head.word_bytes();
  } else if (code == 0xC7) {
    made.bytes = head.wide ? 16 : 8;
    made.writes = true;
  } else if (is_one_of(0x12, 0x13, 0x16, 0x17)) {
    made.bytes = head.repeat ? head.vector_bytes : 8;
  } else if (code == 0x2A) {
    made.bytes = head.repeat || head.repeat_not ? head.word_bytes() : 8;
  } else if (is_one_of(0x2E, 0x2F)) {
    made.bytes = head.operand_size ? 8 : 4;
  } else if (is_one_of(0x6E, 0x7E)) {
    made.bytes = head.repeat || head.wide ? 8 : 4;
  } else if (code == 0xD6) {
    made.bytes = 8;
  } else if (is_one_of(0x5A, 0xE6) && !head.repeat_not && !(head.repeat && code == 0x5A)) {
    made.bytes = head.operand_size ? head.vector_bytes : 8;  // from floats, or integers, to doubles
  } else if (is_one_of(0x10, 0x11, 0x2C, 0x2D, 0xC2) || (code >= 0x51 && code <= 0x5F)) {
    made.bytes = code == 0x5B ? head.vector_bytes : head.float_bytes();
  } else if (is_one_of(0x14, 0x15, 0x28, 0x29, 0x2B, 0x6F, 0x70, 0x7F, 0xC6) ||
             (code >= 0x60 && code <= 0x76) || code >= 0xD0) {
    made.bytes = head.vector_bytes;
  }
}

void describe_three_bytes(const instruction_head& head, x86_access& made) {
  const std::uint8_t code = head.opcode;
  constexpr std::uint8_t widened[] = {8, 4, 2, 8, 4, 8};  // what becomes 16 bytes
  if ((code & 0xF0) == 0x20 || (code & 0xF0) == 0x30) {
    if ((code & 15) < 6) made.bytes = widened[code & 15] * head.vector_bytes / 16;
  } else if (code == 0x18 || code == 0x58) {
    made.bytes = 4;
  } else if (code == 0x19 || code == 0x59) {
    made.bytes = 8;
  } else if (code < 0x10) {
    made.bytes = head.vector_bytes;
  } else if (code >= 0x96 && code <= 0xBF && (code & 15) >= 6) {
    const bool is_scalar = (code & 15) >= 9 && code & 1;
    made.bytes = !is_scalar ? head.vector_bytes : head.wide ? 8 : 4;
  }
}

std::uint64_t value_of(const operand& of, unsigned bytes, const x86_registers& registers) {
  std::uint64_t value = 0;
  if (of.is_memory) {
    std::memcpy(&value, reinterpret_cast<const void*>(of.address), bytes);
  } else {
    value = registers.general[of.number];
  }
  return bytes == 8 ? value : value & ((std::uint64_t{1} << 8 * bytes) - 1);
}

}  // namespace

x86_access decode_x86(const std::uint8_t* instruction, const x86_registers& registers) {
  x86_access made;
  const instruction_head head = read_head(instruction);
  if (!head.is_known) return made;
  const operand of = read_operand(head, instruction, registers);
  if (head.map == 1 && (head.opcode & 0xFE) == 0xF6 && of.reg >= 6) {
    const unsigned bytes = head.opcode == 0xF6 ? 1 : head.word_bytes();
    const bool is_known = !of.is_memory || of.has_address;
    made.divides_by_zero = !is_known || value_of(of, bytes, registers) == 0;
  }
  if (!of.is_memory) return made;
  if (head.map == 1) {
    describe_one_byte(head, of.reg, made);
  } else if (head.map == 2) {
    describe_two_bytes(head, made);
  } else if (head.map == 3) {
    describe_three_bytes(head, made);
  }
  if (made.bytes == 0) return made;
  made.is_atomic = made.is_atomic || head.lock;
  made.has_address = of.has_address;
  made.address = of.address;
  return made;
}

}  // namespace cpu_backend
