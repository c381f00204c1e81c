// SPDX-License-Identifier: MIT
#include "racecheck/places.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <tuple>

extern "C" {
extern const char __executable_start;  // the linker's name for the begin of the program
}

namespace racecheck {
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

// What a command prints on stdout.
std::string output_of(const std::string& command) {
  std::string text;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return text;
  char buffer[4096];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, pipe))
    text.append(buffer, got);
  pclose(pipe);
  return text;
}

std::string program_path() {
  std::error_code none;
  return std::filesystem::read_symlink("/proc/self/exe", none).string();
}

std::string quoted(const std::string& path) {
  std::string text = "'";
  for (const char each : path) text += each == '\'' ? std::string("'\\''") : std::string(1, each);
  return text + "'";
}

// The compiler's names are relative to the build folder, which is a parent of the program's own.
std::filesystem::path located(const std::string& file) {
  std::error_code failed;
  const std::filesystem::path named = file;
  if (named.is_absolute()) return named;
  const std::filesystem::path program = program_path();
  for (auto folder = program.parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    if (std::filesystem::exists(folder / named, failed)) return folder / named;
  }
  return named;
}

// As the reader knows it: relative to the current directory where the file is below it.
std::string shown(const std::filesystem::path& file) {
  std::error_code failed;
  const auto full = std::filesystem::weakly_canonical(file, failed);
  if (failed) return file.string();
  const auto below = full.lexically_relative(std::filesystem::current_path(failed)).string();
  return failed || below.empty() || below.starts_with("..") ? full.string() : below;
}

std::string text_of_line(const std::filesystem::path& file, unsigned line) {
  static std::map<std::filesystem::path, std::vector<std::string>> files;
  auto [entry, is_new] = files.try_emplace(file);
  if (is_new) {
    std::ifstream in(file);
    for (std::string text; std::getline(in, text);) entry->second.push_back(text);
  }
  if (line == 0 || line > entry->second.size()) return "";
  const std::string& text = entry->second[line - 1];
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// clang sometimes names the preprocessed source; that one says in its first line what it was made
// from: # 1 "reduce.cu"
std::string preprocessed_from(const std::filesystem::path& file) {
  const std::string first = text_of_line(file, 1);
  const auto open = first.find('"');
  if (!first.starts_with("# ") || open == std::string::npos) return "";
  return first.substr(open + 1, first.find('"', open + 1) - open - 1);
}

source_line make_line(const std::string& file, unsigned line) {
  std::filesystem::path here = located(file);
  if (const std::string source = preprocessed_from(here); !source.empty()) here = located(source);
  source_line made;
  made.file = shown(here);
  made.line = line;
  made.text = text_of_line(here, line);
  return made;
}

bool belongs_to_student(const std::string& file) {
  return !file.starts_with("/usr/") && !file.starts_with("??") &&
         file.find("/cpu_backend/include/") == std::string::npos;
}

// The file and line of each inlined call at each address, the innermost first.
using inlined_calls = std::vector<std::pair<std::string, unsigned>>;
std::map<place_number, inlined_calls> ask_compiler(const std::vector<place_number>& places) {
  std::map<place_number, inlined_calls> found;
  constexpr std::size_t at_once = 500;
  for (std::size_t first = 0; first < places.size(); first += at_once) {
    std::string command = "addr2line -a -i -e " + quoted(program_path());
    for (std::size_t i = first; i < std::min(places.size(), first + at_once); ++i) {
      char address[32];
      std::snprintf(address, sizeof address, " 0x%x", places[i]);
      command += address;
    }
    const std::string text = output_of(command + " 2>/dev/null");
    inlined_calls* now = nullptr;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      const std::string line = text.substr(begin, end - begin);
      begin = end + 1;
      if (line.starts_with("0x")) {
        now = &found[static_cast<place_number>(std::strtoul(line.c_str(), nullptr, 16))];
      } else if (const auto colon = line.rfind(':'); now && colon != std::string::npos) {
        now->emplace_back(line.substr(0, colon),
                          std::strtoul(line.c_str() + colon + 1, nullptr, 10));
      }
    }
  }
  return found;
}

}  // namespace

place_number place_of(const void* return_address) {
  return static_cast<place_number>(static_cast<const char*>(return_address) - &__executable_start) -
         1;
}

place_number place_of(const cpu_backend::place& at) {
  call_places& known = calls();
  const auto [entry, is_new] =
      known.numbers.try_emplace({at.file(), at.line()}, of_call | known.all.size());
  if (is_new) known.all.push_back(at);
  return entry->second;
}

std::vector<source_line> source_lines(const std::vector<place_number>& places) {
  std::vector<place_number> instructions;
  for (const place_number each : places) {
    if (!(each & of_call)) instructions.push_back(each);
  }
  const auto known =
      instructions.empty() ? std::map<place_number, inlined_calls>{} : ask_compiler(instructions);
  std::vector<source_line> lines;
  for (const place_number each : places) {
    if (each & of_call) {
      const cpu_backend::place& at = calls().all[each & ~of_call];
      lines.push_back(make_line(at.file(), at.line()));
      continue;
    }
    source_line found;
    if (const auto calls = known.find(each); calls != known.end()) {
      for (const auto& [file, line] : calls->second) {
        if (!belongs_to_student(file) || line == 0) continue;
        found = make_line(file, line);
        break;
      }
    }
    lines.push_back(found);
  }
  return lines;
}

variable_name find_variable(const void* address) {
  struct symbol {
    std::uint64_t begin, bytes;
    std::string name;
  };
  static const std::vector<symbol>& symbols = *[] {
    auto* all = new std::vector<symbol>;
    const std::string text =
        output_of("nm -C -S --defined-only " + quoted(program_path()) + " 2>/dev/null");
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      const std::string line = text.substr(begin, end - begin);
      begin = end + 1;
      unsigned long long value = 0, bytes = 0;
      char kind = 0;
      int read = 0;
      if (std::sscanf(line.c_str(), "%llx %llx %c %n", &value, &bytes, &kind, &read) == 3 &&
          std::strchr("bBdDuVv", kind)) {
        all->push_back({value, bytes, line.substr(static_cast<std::size_t>(read))});
      }
    }
    return all;
  }();
  const auto offset =
      static_cast<std::uint64_t>(static_cast<const char*>(address) - &__executable_start);
  for (const symbol& each : symbols) {
    if (offset >= each.begin && offset - each.begin < each.bytes) {
      return {each.name, offset - each.begin, each.bytes};
    }
  }
  return {};
}

}  // namespace racecheck
