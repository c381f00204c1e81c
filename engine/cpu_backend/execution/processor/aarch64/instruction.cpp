// SPDX-License-Identifier: MIT
#include "cpu_backend/execution/processor/aarch64/instruction.hpp"

namespace cpu_backend {
namespace {

// The names of parts of an instruction are the manual's.
class aarch64_decoder {
 public:
  aarch64_decoder(std::uint32_t instruction, const aarch64_registers& registers)
      : instruction_(instruction), registers_(registers) {}

  memory_operand operand() const {
    if (matches(0x3F000000, 0x08000000)) return exclusive_or_ordered();
    if (matches(0x3F200C00, 0x19000000))
      return operand_at_offset(signed_bits(12, 9), 1u << size(), kind_by_opc());
    if (matches(0x3A000000, 0x28000000)) return pair();
    if (matches(0x3B000000, 0x39000000)) return single(bits(10, 12) * single_bytes());
    if (matches(0x3B200C00, 0x38200800)) return single(register_offset());
    if (matches(0x3F200C00, 0x38200000)) return atomic_operation();
    if (matches(0x3B200000, 0x38000000)) return single(is_post_indexed() ? 0 : signed_bits(12, 9));
    if (matches(0xBF000000, 0x0C000000)) return structures();
    if (matches(0xBF000000, 0x0D000000)) return one_structure();
    return {};
  }

 private:
  bool matches(std::uint32_t mask, std::uint32_t value) const {
    return (instruction_ & mask) == value;
  }
  std::uint32_t bits(unsigned first, unsigned count) const {
    return instruction_ >> first & ((1u << count) - 1);
  }
  bool bit(unsigned number) const { return bits(number, 1) != 0; }
  std::uint64_t signed_bits(unsigned first, unsigned count) const {
    const std::uint64_t sign = std::uint64_t{1} << (count - 1);
    return (std::uint64_t{bits(first, count)} ^ sign) - sign;
  }

  unsigned size() const { return bits(30, 2); }
  bool is_vector() const { return bit(26); }  // V
  bool is_post_indexed() const { return bits(10, 2) == 1; }
  access_kind kind_by_opc() const {
    return bits(22, 2) == 0 ? access_kind::write : access_kind::read;
  }
  access_kind kind_by_l() const { return bit(22) ? access_kind::read : access_kind::write; }

  std::uint64_t value_of(unsigned number) const {  // 31 is the register that is always 0
    return number < registers_.general.size() ? registers_.general[number] : 0;
  }

  memory_operand operand_at_offset(std::uint64_t offset, unsigned bytes, access_kind kind) const {
    const unsigned number = bits(5, 5);  // here 31 is the stack pointer
    const std::uint64_t base =
        number < registers_.general.size() ? registers_.general[number] : registers_.stack_pointer;
    return {true, base + offset, bytes, kind};
  }

  memory_operand exclusive_or_ordered() const {
    const bool o2 = bit(23), o1 = bit(21);
    if (o2 && !o1) return operand_at_offset(0, 1u << size(), kind_by_l());  // LDAR, STLR
    const bool is_pair_compared = !o2 && o1 && size() < 2;                  // CASP
    const unsigned bytes = is_pair_compared ? 8u << size() : 1u << size();
    const bool is_exclusive_pair = !o2 && o1 && size() >= 2;  // LDXP, STXP
    return operand_at_offset(0, is_exclusive_pair ? 2 * bytes : bytes, access_kind::atomic);
  }

  memory_operand pair() const {
    const unsigned opc = bits(30, 2);
    const unsigned each = is_vector() ? 4u << opc : opc == 2 ? 8 : 4;
    const bool is_post_indexed_pair = bits(23, 2) == 1;
    return operand_at_offset(is_post_indexed_pair ? 0 : signed_bits(15, 7) * each, 2 * each,
                             kind_by_l());
  }

  unsigned single_bytes() const { return 1u << (is_vector() && bit(23) ? 4 : size()); }

  memory_operand single(std::uint64_t offset) const {
    if (!is_vector() && size() == 3 && bits(22, 2) == 2) return {};  // PRFM, which never faults
    return operand_at_offset(offset, single_bytes(), is_vector() ? kind_by_l() : kind_by_opc());
  }

  std::uint64_t register_offset() const {
    enum { uxtw = 2, sxtw = 6 };
    std::uint64_t offset = value_of(bits(16, 5));
    const unsigned option = bits(13, 3);
    if (option == uxtw) offset = static_cast<std::uint32_t>(offset);
    if (option == sxtw) {
      offset = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(offset)});
    }
    return bit(12) ? offset * single_bytes() : offset;
  }

  memory_operand atomic_operation() const {
    const bool is_load_acquire = bits(12, 4) == 12;  // LDAPR
    return operand_at_offset(0, 1u << size(),
                             is_load_acquire ? access_kind::read : access_kind::atomic);
  }

  // Whole vector registers, one to four.
  memory_operand structures() const {
    if (bit(21)) return {};
    unsigned registers = 0;
    switch (bits(12, 4)) {
      case 7:
        registers = 1;
        break;
      case 8:
      case 10:
        registers = 2;
        break;
      case 4:
      case 6:
        registers = 3;
        break;
      case 0:
      case 2:
        registers = 4;
        break;
      default:
        return {};
    }
    return operand_at_offset(0, registers * (8u << bits(30, 1)), kind_by_l());
  }

  // One element of each of one to four vector registers, or one for all their elements.
  memory_operand one_structure() const {
    const unsigned opcode = bits(13, 3);
    const unsigned registers = (opcode & 1) * 2 + bits(21, 1) + 1;
    unsigned scale = opcode >> 1;
    if (scale == 3) {
      scale = bits(10, 2);
    } else if (scale == 2) {
      scale += bits(10, 1);
    }
    return operand_at_offset(0, registers << scale, kind_by_l());
  }

  std::uint32_t instruction_;
  const aarch64_registers& registers_;
};

}  // namespace

memory_operand decode_aarch64(std::uint32_t instruction, const aarch64_registers& registers) {
  return aarch64_decoder(instruction, registers).operand();
}

}  // namespace cpu_backend
