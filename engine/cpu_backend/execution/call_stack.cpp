// SPDX-License-Identifier: MIT
#include "cpu_backend/execution/call_stack.hpp"

#include <link.h>
#include <unwind.h>

#include <cstdint>
#include <string_view>

#include "cpu_backend/execution/signal_context.hpp"

namespace cpu_backend {
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
