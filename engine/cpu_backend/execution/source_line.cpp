// SPDX-License-Identifier: MIT
#include "cpu_backend/execution/source_line.hpp"

#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "cpu_backend/execution/settings.hpp"
#include "cpu_backend/execution/signals.hpp"

namespace cpu_backend {
namespace {

std::string quoted(const std::string& path) {
  std::string text = "'";
  for (const char each : path) text += each == '\'' ? std::string("'\\''") : std::string(1, each);
  return text + "'";
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
  // Never destroyed: the race checker reports after main().
  static auto& files = *new std::map<std::filesystem::path, std::vector<std::string>>;
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

// Whether the compiler has written the function that an addr2line names, to copy a class whose
// declaration has the text of its line: only who called it tells where the copy is made.
bool is_copy_by_compiler(const std::string& function, const std::string& text) {
  const auto contains = [&](const std::string& word) {
    return text.find(word) != std::string::npos;
  };
  if (!contains("struct") && !contains("class") && !contains("union")) return false;
  if (!contains("(")) return true;  // no function is written there, whatever addr2line calls it
  if (contains("operator=") || contains("(const ")) return false;  // the student has written one
  const auto parameters = function.rfind('(');
  if (parameters != std::string::npos && !function.ends_with(" const&)") &&
      !function.ends_with("&&)")) {
    return false;
  }
  const std::string qualified = function.substr(0, parameters);
  const auto scope = qualified.rfind("::");
  const auto name = scope == std::string::npos ? qualified : qualified.substr(scope + 2);
  return name == "operator=" || contains(name);
}

std::string& missing_lines() {
  static std::string& sentence = *new std::string;
  return sentence;
}

std::string why_lines_are_unknown() {
  std::error_code failed;
  if (!std::filesystem::exists(program_path(), failed)) {
    return "/proc is not mounted, and the program's own file is not at " + program_path();
  }
  if (output_of("addr2line --version 2>/dev/null").empty()) {
    return "addr2line, of the package binutils, could not be run";
  }
  return "addr2line says nothing about " + program_path();
}

// What addr2line prints about these instructions.
std::string lines_of(const std::vector<std::uint64_t>& offsets) {
  std::string text;
  constexpr std::size_t at_once = 500;
  for (std::size_t first = 0; first < offsets.size(); first += at_once) {
    std::string command = "addr2line -a -i -f -C -e " + quoted(program_path());
    for (std::size_t i = first; i < std::min(offsets.size(), first + at_once); ++i) {
      char address[32];
      std::snprintf(address, sizeof address, " 0x%llx",
                    static_cast<unsigned long long>(offsets[i]));
      command += address;
    }
    text += output_of(command + " 2>/dev/null");
  }
  return text;
}

void read_lines(const std::string& text, std::map<std::uint64_t, inlined_calls>& found) {
  inlined_calls* now = nullptr;
  std::string function;
  bool is_copy = false;  // the last of `now`
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.starts_with("0x")) {
      now = &found[std::strtoull(line.c_str(), nullptr, 16)];
      function.clear();
      is_copy = false;
    } else if (function.empty()) {
      function = line;
    } else if (const auto colon = line.rfind(':'); now && colon != std::string::npos) {
      const std::string file = line.substr(0, colon);
      const unsigned number = std::strtoul(line.c_str() + colon + 1, nullptr, 10);
      if (is_copy) now->pop_back();
      now->emplace_back(file, number);
      is_copy = is_copy_by_compiler(function, text_of_line(located(file), number));
      function.clear();
    }
  }
}

// What one run has asked for, no other run of the program asks for again: LAB_LINES names a file
// with the program's path and all that addr2line has printed. Who asks keeps others from asking
// meanwhile. (By exec() another program may have come in this one's place.)
class shared_answers {
 public:
  shared_answers() {
    const char* const path = setting("LAB_LINES");
    if (path) file_ = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file_ < 0) return;
    flock(file_, LOCK_EX);
    read_all();
    const std::string first = program_path() + '\n';
    if (known_.empty()) add(first);
    if (known_.empty() || known_.starts_with(first)) return;
    close(file_);
    file_ = -1;
    known_.clear();
  }
  shared_answers(const shared_answers&) = delete;
  ~shared_answers() {
    if (file_ >= 0) close(file_);
  }
  const std::string& known() const { return known_; }
  void add(const std::string& text) const {
    if (file_ >= 0) (void)!write(file_, text.data(), text.size());
  }

 private:
  void read_all() {
    char part[4096];
    while (const ssize_t size = read(file_, part, sizeof part)) {
      if (size < 0) break;
      known_.append(part, static_cast<std::size_t>(size));
    }
  }

  int file_ = -1;
  std::string known_;
};

}  // namespace

const std::string& why_lines_are_missing() { return missing_lines(); }

// Where /proc is not mounted, as in a bare chroot, the path with which the program was started.
std::string program_path() {
  std::error_code failed;
  const std::string path = std::filesystem::read_symlink("/proc/self/exe", failed).string();
  if (!failed) return path;
  const auto* started = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  return started ? std::filesystem::absolute(started, failed).string() : "";
}

source_line make_source_line(const std::string& file, unsigned line) {
  std::filesystem::path here = located(file);
  if (const std::string source = preprocessed_from(here); !source.empty()) here = located(source);
  source_line made;
  made.file = shown(here);
  made.line = line;
  made.text = text_of_line(here, line);
  return made;
}

// (Of the backend's and the checker's own files only tests and benchmarks are CUDA C++. What clang
// says of them may name what translate.py made of them, in a target's folder NAME.p.)
bool belongs_to_student(const std::string& file) {
  const bool is_cuda =
      file.ends_with(".cu") || file.ends_with(".cuh") || file.find(".p/") != std::string::npos;
  return !file.starts_with("/usr/") && !file.starts_with("??") &&
         (is_cuda || (file.find("/cpu_backend/") == std::string::npos &&
                      file.find("/engine/racecheck/") == std::string::npos));
}

std::map<std::uint64_t, inlined_calls> ask_compiler(const std::vector<std::uint64_t>& offsets) {
  std::map<std::uint64_t, inlined_calls> found;
  if (offsets.empty()) return found;
  const shared_answers shared;
  read_lines(shared.known(), found);
  std::vector<std::uint64_t> unknown;
  std::ranges::copy_if(offsets, std::back_inserter(unknown),
                       [&](std::uint64_t each) { return !found.contains(each); });
  const std::string text = lines_of(unknown);
  shared.add(text);
  read_lines(text, found);
  if (found.empty()) missing_lines() = why_lines_are_unknown();
  return found;
}

namespace {

struct walk {
  call_stack stack;
  bool is_in_handler = false;  // of a signal that interrupted `from`
  const void* from = nullptr;
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* data) {
  walk& now = *static_cast<walk*>(data);
  call_stack& found = now.stack;
  int is_interrupted = 0;
  const auto* instruction =
      reinterpret_cast<const void*>(_Unwind_GetIPInfo(context, &is_interrupted));
  if (now.is_in_handler) {
    now.is_in_handler = instruction != now.from;
    return _URC_NO_REASON;
  }
  if (!instruction || found.count == call_stack::most) return _URC_END_OF_STACK;
  found.instructions[found.count++] = instruction;
  return _URC_NO_REASON;
}

// What the linker's addresses of the program were moved by when it was loaded.
std::uint64_t load_address() {
  static const std::uint64_t address = [] {
    std::uint64_t first = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
          *static_cast<std::uint64_t*>(data) = info->dlpi_addr;
          return 1;  // the first is the program itself
        },
        &first);
    return first;
  }();
  return address;
}

bool wraps_the_runtime(const std::string& file) {
  constexpr std::string_view others = CPU_BACKEND_WRAPPERS;
  return file.find("/checked_runtime/") != std::string::npos ||
         (!others.empty() && file.find(others) != std::string::npos);
}

}  // namespace

call_stack call_stack::here() {
  walk now;
  _Unwind_Backtrace(visit, &now);
  return now.stack;
}

call_stack call_stack::interrupted(const void* signal_context) {
  walk now;
  now.is_in_handler = true;
  now.from = instruction_of(signal_context);
  now.stack.was_interrupted = true;
  now.stack.instructions[now.stack.count++] = now.from;
  _Unwind_Backtrace(visit, &now);
  // A call to where no code is: all that is known of the caller is what the call left behind.
  if (now.stack.count == 1) {
    if (const void* caller = return_address_of_bad_call(signal_context)) {
      now.stack.instructions[now.stack.count++] = caller;
    }
  }
  return now.stack;
}

source_line line_of(const call_stack& calls) {
  std::vector<std::uint64_t> offsets;
  for (unsigned i = 0; i < calls.count; ++i) {
    const auto address = reinterpret_cast<std::uint64_t>(calls.instructions[i]);
    const bool is_return_address = i > 0 || !calls.was_interrupted;
    offsets.push_back(address - load_address() - is_return_address);
  }
  const auto known = ask_compiler(offsets);
  source_line of_the_course;
  for (const std::uint64_t offset : offsets) {
    const auto found = known.find(offset);
    if (found == known.end()) continue;
    for (const auto& [file, line] : found->second) {
      if (line == 0 || !belongs_to_student(file)) continue;
      const source_line here = make_source_line(file, line);
      if (!wraps_the_runtime(file)) return here;
      if (of_the_course.file.empty()) of_the_course = here;
    }
  }
  return of_the_course;
}

}  // namespace cpu_backend
