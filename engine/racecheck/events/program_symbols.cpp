// SPDX-License-Identifier: MIT
// Reads the table of symbols of an ELF file (System V ABI, chapters 4 and 5). A program such as nm
// would take longer to start than most runs under the race checker.
#include "racecheck/events/program_symbols.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <link.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

#include "cpu_backend/execution/source_line.hpp"

namespace racecheck {
namespace {

struct symbol {
  std::uint64_t begin, bytes;
  symbol_kind kind;
  std::uint32_t name;  // where it begins among the names
};

struct symbol_table {
  std::vector<symbol> symbols;
  std::string names;  // each with a zero behind it
};

class elf_file {
 public:
  explicit elf_file(const std::string& path) : file_(path, std::ios::binary) {
    ElfW(Ehdr) header{};
    if (!read(&header, sizeof header, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
      return;
    sections_.resize(header.e_shnum);
    if (!read(sections_.data(), sections_.size() * sizeof sections_[0], header.e_shoff))
      sections_.clear();
  }

  // Empty if the file is none, or was stripped.
  symbol_table symbols() {
    symbol_table found;
    for (const ElfW(Shdr) & section : sections_) {
      if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections_.size()) continue;
      std::vector<ElfW(Sym)> entries(section.sh_size / sizeof(ElfW(Sym)));
      const ElfW(Shdr)& names = sections_[section.sh_link];
      found.names.resize(names.sh_size + 1);
      if (!read(entries.data(), entries.size() * sizeof entries[0], section.sh_offset) ||
          !read(found.names.data(), names.sh_size, names.sh_offset)) {
        return {};
      }
      for (const ElfW(Sym) & entry : entries) add(entry, found);
    }
    return found;
  }

 private:
  bool read(void* into, std::size_t bytes, std::uint64_t from) {
    file_.seekg(static_cast<std::streamoff>(from));
    return bool(file_.read(static_cast<char*>(into), static_cast<std::streamsize>(bytes)));
  }

  void add(const ElfW(Sym) & entry, symbol_table& to) const {
    const auto type = ELF64_ST_TYPE(entry.st_info);  // alike in a file of 32 bits
    const bool is_function = type == STT_FUNC;
    if (entry.st_size == 0 || entry.st_name >= to.names.size()) return;
    if (!is_function && (type != STT_OBJECT || !is_writable(entry.st_shndx))) return;
    to.symbols.push_back({entry.st_value, entry.st_size,
                          is_function ? symbol_kind::function : symbol_kind::variable,
                          entry.st_name});
  }
  bool is_writable(std::size_t section) const {
    return section < sections_.size() && (sections_[section].sh_flags & SHF_WRITE);
  }

  std::ifstream file_;
  std::vector<ElfW(Shdr)> sections_;
};

std::string in_cpp(const char* name) {
  int failed = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(name, nullptr, nullptr, &failed), &std::free);
  return failed ? name : readable.get();
}

}  // namespace

program_symbol symbol_at(std::uint64_t offset, symbol_kind kind) {
  static const symbol_table& known =
      *new symbol_table(elf_file(cpu_backend::program_path()).symbols());
  for (const symbol& each : known.symbols) {
    if (each.kind == kind && offset >= each.begin && offset - each.begin < each.bytes) {
      return {in_cpp(known.names.c_str() + each.name), each.begin, each.bytes};
    }
  }
  return {};
}

}  // namespace racecheck
