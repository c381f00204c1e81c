// SPDX-License-Identifier: MIT
// Where in the student's source a call stands, taken by a default argument at the place of the
// call:
//   void __syncthreads(cpu_backend::place at = CPU_BACKEND_HERE);
#pragma once

#include <cstring>
#if __has_builtin(__builtin_COLUMN)
#define CPU_BACKEND_HERE \
  ::cpu_backend::place { __builtin_FILE(), __builtin_LINE(), __builtin_COLUMN() }
#else
#include <bit>
#include <source_location>
#define CPU_BACKEND_HERE __builtin_source_location()
#endif

namespace cpu_backend {

#if __has_builtin(__builtin_COLUMN)
struct place {
  const char* file_name = "";
  unsigned line_number = 0;
  unsigned column_number = 0;

  const char* file() const { return file_name; }
  unsigned line() const { return line_number; }
  unsigned column() const { return column_number; }
  // Equal for two calls at the same place; may differ for one place seen through two
  // instantiations.
  bool surely_same(const place& other) const {
    return line_number == other.line_number && column_number == other.column_number;
  }
};
#else
// g++ keeps a location as one pointer, so that a barrier pays one register for it. The macro is the
// bare built-in function, because g++ 12 takes the declaration's place for one inside braces.
struct place {
  const void* location = nullptr;

  place() = default;
  place(const void* source_location) : location(source_location) {}

  const char* file() const { return standard().file_name(); }
  unsigned line() const { return standard().line(); }
  unsigned column() const { return standard().column(); }
  bool surely_same(const place& other) const { return location == other.location; }

 private:
  std::source_location standard() const { return std::bit_cast<std::source_location>(location); }
};
#endif

inline bool operator==(const place& left, const place& right) {
  return left.surely_same(right) ||
         (left.line() == right.line() && left.column() == right.column() &&
          std::strcmp(left.file(), right.file()) == 0);
}

}  // namespace cpu_backend
