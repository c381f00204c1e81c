// SPDX-License-Identifier: MIT
#include "racecheck/events/places.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cpu_backend/execution/source_line.hpp"
#include "cpu_backend/runtime/work_order.hpp"

extern "C" {
extern const char __executable_start;  // the linker's name for the begin of the program
}

namespace racecheck {

// ---- Names, from the table of symbols
//
// Reads the table of symbols of an ELF file (System V ABI, chapters 4 and 5). A program such as nm
// would take longer to start than most runs under the race checker.

namespace {

enum class symbol_kind { function, variable };

// A file in memory, of which only the pages that are used are read: a program's table of
// symbols is megabytes, and a report asks for one or two of them. It stays until the process ends.
std::span<const char> mapped(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  struct stat facts {};
  void* begin = MAP_FAILED;
  const bool has_bytes = fstat(file, &facts) == 0 && facts.st_size > 0;
  const auto bytes = static_cast<std::size_t>(facts.st_size);
  if (has_bytes) begin = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (begin == MAP_FAILED) return {};
  return {static_cast<const char*>(begin), bytes};
}

class elf_file {
 public:
  explicit elf_file(const std::string& path) : bytes_(mapped(path)) {
    const auto header = part<ElfW(Ehdr)>(0, 1);
    if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0) return;
    sections_ = part<ElfW(Shdr)>(header[0].e_shoff, header[0].e_shnum);
    for (const ElfW(Shdr) & section : sections_) {
      if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections_.size()) continue;
      const ElfW(Shdr)& names = sections_[section.sh_link];
      symbols_ = part<ElfW(Sym)>(section.sh_offset, section.sh_size / sizeof(ElfW(Sym)));
      names_ = part<char>(names.sh_offset, names.sh_size);
      if (!names_.empty() && names_.back() != '\0') names_ = {};  // the last one has no end
    }
  }

  // nullptr if there is no such symbol, or the file was stripped.
  const ElfW(Sym) * find(std::uint64_t offset, symbol_kind kind) const;
  const char* name_of(const ElfW(Sym) & symbol) const {
    return symbol.st_name < names_.size() ? &names_[symbol.st_name] : "";
  }
  // Where each thread's variables have guards, sorted (Itanium C++ ABI, 5.1.4.3 and 3.3.4).
  std::vector<std::uint64_t> guards_in_thread() const;

 private:
  // So many of these from there on; none if the file does not have them.
  template <class Type>
  std::span<const Type> part(std::uint64_t from, std::uint64_t count) const {
    if (from > bytes_.size() || count > (bytes_.size() - from) / sizeof(Type)) return {};
    const char* begin = bytes_.data() + from;
    if (reinterpret_cast<std::uintptr_t>(begin) % alignof(Type) != 0) return {};
    return {reinterpret_cast<const Type*>(begin), static_cast<std::size_t>(count)};
  }

  bool is_of_kind(const ElfW(Sym) & symbol, symbol_kind kind) const {
    const auto type = ELF64_ST_TYPE(symbol.st_info);  // alike in a file of 32 bits
    if (kind == symbol_kind::function) return type == STT_FUNC;
    return type == STT_OBJECT && symbol.st_shndx < sections_.size() &&
           (sections_[symbol.st_shndx].sh_flags & SHF_WRITE);
  }

  std::span<const char> bytes_;
  std::span<const ElfW(Shdr)> sections_;
  std::span<const ElfW(Sym)> symbols_;
  std::span<const char> names_;  // each with a zero behind it
};

// A variable at global scope and what is extern "C" have the names that stand in the source, and
// some of those are also types' mangled names: v is void, and x long long.
std::string in_cpp(const char* name) {
  if (std::strncmp(name, "_Z", 2) != 0) return name;
  int failed = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(name, nullptr, nullptr, &failed), &std::free);
  return failed ? name : readable.get();
}

const ElfW(Sym) * elf_file::find(std::uint64_t offset, symbol_kind kind) const {
  for (const ElfW(Sym) & each : symbols_) {
    if (offset < each.st_value || offset - each.st_value >= each.st_size) continue;
    if (is_of_kind(each, kind)) return &each;
  }
  return nullptr;
}

std::vector<std::uint64_t> elf_file::guards_in_thread() const {
  std::vector<std::uint64_t> offsets;
  for (const ElfW(Sym) & each : symbols_) {
    if (ELF64_ST_TYPE(each.st_info) != STT_TLS) continue;
    const std::string_view name = name_of(each);
    if (name.starts_with("_ZGV") || name == "__tls_guard") offsets.push_back(each.st_value);
  }
  std::sort(offsets.begin(), offsets.end());
  return offsets;
}

const elf_file& program_file() {
  static const elf_file known(cpu_backend::program_path());
  return known;
}

std::uint64_t offset_in_program(const void* address) {
  return static_cast<std::uint64_t>(static_cast<const char*>(address) - &__executable_start);
}

// The running OS thread's own variables of the program.
std::span<const char> thread_variables() {
  static constinit __thread const char* begin = nullptr;
  static constinit __thread std::size_t bytes = 0;
  const auto of_program = [](dl_phdr_info* program, std::size_t, void*) {
    begin = static_cast<const char*>(program->dlpi_tls_data);
    for (const ElfW(Phdr) & each : std::span(program->dlpi_phdr, program->dlpi_phnum)) {
      if (each.p_type == PT_TLS) bytes = each.p_memsz;
    }
    return 1;  // The program is the first; its libraries would follow.
  };
  if (!begin) dl_iterate_phdr(of_program, nullptr);
  return {begin, begin ? bytes : 0};
}

}  // namespace

bool is_in_own_function(const void* address) {
  const ElfW(Sym)* const found =
      program_file().find(offset_in_program(address), symbol_kind::function);
  if (!found) return false;
  std::string_view name = program_file().name_of(*found);
  if (!name.starts_with("_Z")) {
    // Reserved names are the checker's own, or those of a library that is linked into the program.
    return name.size() < 2 || name[0] != '_' ||
           (name[1] != '_' && std::isupper(static_cast<unsigned char>(name[1])) == 0);
  }
  name.remove_prefix(std::min(name.find_first_not_of("_ZNKV"), name.size()));
  // The last four are operator new and operator delete, which a program may hold as well.
  for (const std::string_view other :
       {"S", "9__gnu_cxx", "11cpu_backend", "9racecheck", "nw", "na", "dl", "da"}) {
    if (name.starts_with(other)) return false;
  }
  return true;
}

bool is_guard_variable(const void* address) {
  const std::span<const char> variables = thread_variables();
  const auto offset =
      static_cast<std::size_t>(static_cast<const char*>(address) - variables.data());
  if (offset >= variables.size()) return false;
  static const std::vector<std::uint64_t> guards = program_file().guards_in_thread();
  return std::binary_search(guards.begin(), guards.end(), offset);
}

// ---- Places and their lines

using cpu_backend::make_source_line;

namespace {

constexpr place_number of_call = 1u << 31;

struct call_places {
  std::map<std::tuple<const char*, unsigned>, place_number> numbers;
  std::vector<cpu_backend::place> all;
};
call_places& calls() {
  static call_places& known = *new call_places;
  return known;
}

}  // namespace

place_number place_of(const void* return_address) {
  return static_cast<place_number>(offset_in_program(return_address)) - 1;
}

place_number place_of(const cpu_backend::place& at) {
  call_places& known = calls();
  const auto [entry, is_new] =
      known.numbers.try_emplace({at.file(), at.line()}, of_call | known.all.size());
  if (is_new) known.all.push_back(at);
  return entry->second;
}

place_number place_of(const cpu_backend::call_stack& calls) {
  static auto& known = *new std::map<const void*, bool>;  // of the student's
  for (unsigned i = 0; i < calls.count; ++i) {
    const place_number here = place_of(calls.instructions[i]);
    const auto [found, is_new] = known.try_emplace(calls.instructions[i]);
    if (is_new) {
      const std::string file = source_lines({here}).front().file;
      found->second = !file.empty() && cpu_backend::belongs_to_student(file);
    }
    if (found->second) return here;
  }
  return 0;
}

const void* instruction_at(place_number place) {
  return place & of_call ? nullptr : &__executable_start + place + 1;
}

std::vector<source_line> source_lines(const std::vector<place_number>& places) {
  // A report is made more than once, and asks for the same lines: a program is started for each
  // question.
  static auto& known = *new std::map<std::uint64_t, cpu_backend::inlined_calls>;
  std::vector<std::uint64_t> unknown;
  for (const place_number each : places) {
    if (!(each & of_call) && !known.contains(each)) unknown.push_back(each);
  }
  known.merge(cpu_backend::ask_compiler(unknown));
  std::vector<source_line> lines;
  for (const place_number each : places) {
    if (each & of_call) {
      const cpu_backend::place& at = calls().all[each & ~of_call];
      lines.push_back(make_source_line(at.file(), at.line()));
      continue;
    }
    source_line found;
    if (const auto calls = known.find(each); calls != known.end()) {
      for (const auto& [file, line] : calls->second) {
        if (!cpu_backend::belongs_to_student(file) || line == 0) continue;
        found = make_source_line(file, line);
        break;
      }
    }
    lines.push_back(found);
  }
  return lines;
}

variable_name find_variable(const void* address) {
  const std::uint64_t offset = offset_in_program(address);
  const ElfW(Sym)* const found = program_file().find(offset, symbol_kind::variable);
  if (!found) return {};
  return {in_cpp(program_file().name_of(*found)), offset - found->st_value, found->st_size};
}

std::string stream_name(unsigned number) {
  namespace order = cpu_backend::work_order;
  if (number == 0) return "the default stream";
  if (number == cpu_backend::stream_of_thread) return "the default stream of its host thread";
  const auto line_of_stream = [](unsigned of) {
    return cpu_backend::line_of(order::maker_of_stream(of));
  };
  const source_line at = line_of_stream(number);
  // Of a line that makes several the number tells which.
  std::string name;
  constexpr std::string_view maker = "cudaStreamCreate";
  const auto call = at.text.find(maker);
  bool is_only_one =
      call != std::string::npos && at.text.find(maker, call + 1) == std::string::npos;
  for (unsigned each = 1; is_only_one && each <= order::streams_made(); ++each) {
    const source_line other = each == number ? source_line() : line_of_stream(each);
    is_only_one = other.line != at.line || other.file != at.file;
  }
  if (is_only_one) {
    const auto begin = at.text.find('&', call);
    const auto end = at.text.find_first_not_of(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", begin + 1);
    if (begin != std::string::npos && end != std::string::npos &&
        (at.text[end] == ')' || at.text[end] == ',')) {
      name = at.text.substr(begin + 1, end - begin - 1);
    }
  }
  return "stream " + (name.empty() ? std::to_string(number) : name);
}

std::string find_function(const void* address) {
  const ElfW(Sym)* const found =
      program_file().find(offset_in_program(address), symbol_kind::function);
  return found ? in_cpp(program_file().name_of(*found)) : "";
}

std::string short_name(const std::string& function) {
  constexpr std::string_view unnamed = "(anonymous namespace)::";
  std::string name = function;
  for (std::size_t at; (at = name.find(unnamed)) != std::string::npos;) {
    name.erase(at, unnamed.size());
  }
  // Outside of the template's arguments, which may have spaces and parentheses of their own.
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (depth != 0) continue;
    if (name[i] == ' ') begin = i + 1;
    if (name[i] == '(') {
      name.resize(i);
      break;
    }
  }
  return name.substr(begin);
}

// ---- Places by their numbers

namespace {

// Number 0 is that of no instruction, and of all that come when the numbers are used up.
struct numbered_places {
  std::unordered_map<place_number, place_index> numbers;
  std::vector<place_number> places{0};
};
numbered_places& all_numbered() {
  static numbered_places& known = *new numbered_places;
  return known;
}

}  // namespace

place_index index_of_place(place_number place) {
  numbered_places& known = all_numbered();
  if (const auto found = known.numbers.find(place); found != known.numbers.end()) {
    return found->second;
  }
  if (known.places.size() > cell_record::most_places) return 0;
  const auto number = static_cast<place_index>(known.places.size());
  known.places.push_back(place);
  known.numbers.emplace(place, number);
  return number;
}

place_index index_of_place(const void* return_address) {
  return index_of_place(place_of(return_address));
}

place_number place_at(place_index number) { return all_numbered().places[number]; }

}  // namespace racecheck
