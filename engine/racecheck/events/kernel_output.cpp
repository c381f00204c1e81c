// SPDX-License-Identifier: MIT
#include "racecheck/events/kernel_output.hpp"

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "cpu_backend/scheduled.hpp"
#include "racecheck/events/access_log.hpp"

namespace racecheck {
namespace {

namespace scheduled = cpu_backend::scheduled;

constinit std::optional<std::uint64_t> printing_thread;  // of the launch
constinit bool kernel_has_printed = false;               // since the host waited

void note_output(const void* from) {
  if (!scheduled::runs_by_decisions()) return;
  if (!running_thread) {
    if (!scheduled::device_has_work) kernel_has_printed = false;
    if (kernel_has_printed) scheduled::used("output", "before_wait", nullptr);
    return;
  }
  const checker_works now;
  const std::uint64_t by = now.thread().name.key();
  if (printing_thread.value_or(by) != by) scheduled::used("output", "several_threads", from);
  printing_thread = by;
  kernel_has_printed = true;
}

}  // namespace

void launch_prints() { printing_thread.reset(); }

}  // namespace racecheck

// The linker hands these over (--wrap).
#define HERE __builtin_return_address(0)

extern "C" {

int __real_vprintf(const char*, std::va_list);
int __real_puts(const char*);
int __real_putchar(int);

int __wrap_vprintf(const char* format, std::va_list values) {
  racecheck::note_output(HERE);
  return __real_vprintf(format, values);
}
int __wrap_printf(const char* format, ...) {
  racecheck::note_output(HERE);
  std::va_list values;
  va_start(values, format);
  const int printed = __real_vprintf(format, values);
  va_end(values);
  return printed;
}
int __wrap_puts(const char* text) {
  racecheck::note_output(HERE);
  return __real_puts(text);
}
int __wrap_putchar(int character) {
  racecheck::note_output(HERE);
  return __real_putchar(character);
}

}  // extern "C"
