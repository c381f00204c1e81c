// SPDX-License-Identifier: MIT
// Output and input by the C library, which the linker hands over (--wrap): what kernels print, and
// what the library reads and writes of the host's memory.
#include <dlfcn.h>
#include <printf.h>

#include <algorithm>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <vector>

#include "cpu_backend/runtime/work_order.hpp"
#include "cpu_backend/scheduled.hpp"
#include "racecheck/events/access_log.hpp"
#include "racecheck/events/event_consumer.hpp"
#include "racecheck/events/host_access.hpp"

#define HERE __builtin_return_address(0)

extern "C" std::size_t __real_strlen(const char*);

namespace racecheck {
namespace {

namespace scheduled = cpu_backend::scheduled;

constinit std::optional<std::uint64_t> printing_thread;  // of the launch
constinit bool kernel_has_printed = false;               // since the host waited

constinit bool has_ended = false;

// What a program writes there is not compared.
std::FILE* opened(const char* function, const char* name, const char* mode) {
  if (accesses_by_runtime == 0 && !has_ended && *mode != 'r') {
    scheduled::used("output", "file", nullptr);
  }
  return reinterpret_cast<decltype(std::fopen)*>(dlsym(RTLD_NEXT, function))(name, mode);
}

void note_output(const void* from) {
  if (!scheduled::runs_by_decisions()) return;
  if (!running_thread) {
    if (kernel_has_printed || cpu_backend::work_order::is_in_callback()) {
      scheduled::used("output", "before_wait", nullptr);
    }
    if (is_second_host_thread()) scheduled::used("output", "host_thread", from);
    return;
  }
  const checker_works now;
  const std::uint64_t by = now.thread().name.key();
  if (consumer().has_several_works()) scheduled::used("output", "several_works", from);
  if (printing_thread.value_or(by) != by) scheduled::used("output", "several_threads", from);
  printing_thread = by;
  kernel_has_printed = true;
}

void note_output_to(std::FILE* to, const void* from) {
  if (to == stdout || to == stderr) note_output(from);
}

void host_reads(const void* begin, std::size_t bytes, const void* from) {
  if (!running_thread && bytes != 0) on_host_use(begin, bytes, from, false);
}

void host_writes(void* begin, std::size_t bytes, const void* from) {
  if (!running_thread && bytes != 0) on_host_use(begin, bytes, from, true);
}

// With its end.
void host_reads_text(const char* text, const void* from) {
  if (text) host_reads(text, __real_strlen(text) + 1, from);
}

// The texts that a format asks for (glibc's parse_printf_format() names the types). Of one that a
// precision may cut short, and which then need not have an end, the first character.
void host_reads_texts_of(const char* format, std::va_list of, const void* from) {
  if (running_thread || !std::strchr(format, 's')) return;
  constexpr std::size_t most = 64;
  int types[most] = {};
  const std::size_t number = parse_printf_format(format, most, types);
  const bool may_be_cut = std::strchr(format, '.') != nullptr;
  std::va_list values;
  va_copy(values, of);
  for (std::size_t i = 0; i < number && i < most; ++i) {
    const int type = types[i] & ~PA_FLAG_MASK;
    if ((types[i] & PA_FLAG_PTR) || type == PA_POINTER || type == PA_WSTRING) {
      (void)va_arg(values, void*);
    } else if (type == PA_STRING) {
      const char* const text = va_arg(values, const char*);
      if (text && may_be_cut) host_reads(text, 1, from);
      if (!may_be_cut) host_reads_text(text, from);
    } else if (type == PA_FLOAT || type == PA_DOUBLE) {
      if (types[i] & PA_FLAG_LONG_DOUBLE) {
        (void)va_arg(values, long double);
      } else {
        (void)va_arg(values, double);
      }
    } else if (types[i] & (PA_FLAG_LONG | PA_FLAG_LONG_LONG)) {
      (void)va_arg(values, long);
    } else {
      (void)va_arg(values, int);
    }
  }
  va_end(values);
}

// `printed` characters and their end, but for what does not fit. Returns the former.
int wrote(void* to, int printed, std::size_t most, const void* from) {
  if (printed >= 0) host_writes(to, std::min(most, static_cast<std::size_t>(printed) + 1), from);
  return printed;
}

}  // namespace

void launch_prints() { printing_thread.reset(); }

void output_has_come() { kernel_has_printed = false; }
void program_ends() {
  has_ended = true;
  if (kernel_has_printed) scheduled::used("output", "at_exit", nullptr);
}

}  // namespace racecheck

extern "C" {

int __real_puts(const char*);
int __real_putchar(int);
int __real_fputs(const char*, std::FILE*);
std::size_t __real_fwrite(const void*, std::size_t, std::size_t, std::FILE*);
std::size_t __real_fread(void*, std::size_t, std::size_t, std::FILE*);
char* __real_fgets(char*, int, std::FILE*);
char* __real_strcpy(char*, const char*);
char* __real_strncpy(char*, const char*, std::size_t);
int __real_vprintf(const char*, std::va_list);

// By the streams of the standard library.
std::size_t writes(const void*, std::size_t, std::size_t, std::FILE*) __asm__("fwrite");
std::size_t writes(const void* from, std::size_t bytes, std::size_t number, std::FILE* to) {
  using racecheck::accesses_by_runtime, racecheck::running_thread;
  if (!running_thread && accesses_by_runtime == 0) racecheck::note_output_to(to, HERE);
  static const auto next = reinterpret_cast<decltype(writes)*>(dlsym(RTLD_NEXT, "fwrite"));
  return next(from, bytes, number, to);
}
// By the names that the linker knows: a header may give one of them the other's.
std::FILE* opens(const char* name, const char* mode) __asm__("fopen");
std::FILE* opens(const char* name, const char* mode) {
  return racecheck::opened("fopen", name, mode);
}
std::FILE* opens_large(const char* name, const char* mode) __asm__("fopen64");
std::FILE* opens_large(const char* name, const char* mode) {
  return racecheck::opened("fopen64", name, mode);
}
int __wrap_vprintf(const char* format, std::va_list values) {
  racecheck::note_output(HERE);
  racecheck::host_reads_texts_of(format, values, HERE);
  return __real_vprintf(format, values);
}
int __wrap_puts(const char* text) {
  racecheck::note_output(HERE);
  racecheck::host_reads_text(text, HERE);
  return __real_puts(text);
}
int __wrap_putchar(int character) {
  racecheck::note_output(HERE);
  return __real_putchar(character);
}
int __wrap_fputs(const char* text, std::FILE* to) {
  racecheck::note_output_to(to, HERE);
  racecheck::host_reads_text(text, HERE);
  return __real_fputs(text, to);
}
std::size_t __wrap_fwrite(const void* from, std::size_t bytes, std::size_t number, std::FILE* to) {
  racecheck::note_output_to(to, HERE);
  racecheck::host_reads(from, bytes * number, HERE);
  return __real_fwrite(from, bytes, number, to);
}
std::size_t __wrap_fread(void* to, std::size_t bytes, std::size_t number, std::FILE* from) {
  racecheck::host_writes(to, bytes * number, HERE);
  return __real_fread(to, bytes, number, from);
}
char* __wrap_fgets(char* to, int most, std::FILE* from) {
  racecheck::host_writes(to, most > 0 ? static_cast<std::size_t>(most) : 0, HERE);
  return __real_fgets(to, most, from);
}
char* __wrap_strcpy(char* to, const char* from) {
  racecheck::host_reads_text(from, HERE);
  racecheck::host_writes(to, __real_strlen(from) + 1, HERE);
  return __real_strcpy(to, from);
}
char* __wrap_strncpy(char* to, const char* from, std::size_t bytes) {
  racecheck::host_reads(from, std::min(bytes, strnlen(from, bytes) + 1), HERE);
  racecheck::host_writes(to, bytes, HERE);
  return __real_strncpy(to, from, bytes);
}

// Functions with a format, by those that take its values as a list.
#define RACECHECK_PRINTS(name, parameters, format, print) \
  int __wrap_##name parameters {                          \
    std::va_list values;                                  \
    va_start(values, format);                             \
    racecheck::host_reads_texts_of(format, values, HERE); \
    const int printed = print;                            \
    va_end(values);                                       \
    return printed;                                       \
  }
RACECHECK_PRINTS(fprintf, (std::FILE * to, const char* format, ...), format,
                 (racecheck::note_output_to(to, HERE), std::vfprintf(to, format, values)))
RACECHECK_PRINTS(sprintf, (char* to, const char* format, ...), format,
                 racecheck::wrote(to, std::vsprintf(to, format, values), ~std::size_t{0}, HERE))
RACECHECK_PRINTS(snprintf, (char* to, std::size_t most, const char* format, ...), format,
                 racecheck::wrote(to, std::vsnprintf(to, most, format, values), most, HERE))
RACECHECK_PRINTS(printf, (const char* format, ...), format,
                 (racecheck::note_output(HERE), __real_vprintf(format, values)))
#undef RACECHECK_PRINTS

}  // extern "C"
