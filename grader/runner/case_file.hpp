// SPDX-License-Identifier: MIT
// The two files between the judge, which makes cases and looks at results, and the program that
// runs them.
//
// Cases, text lines, with an array's bytes right after its line:
//   cases 1                             the version
//   case 1,000 values, 4 blocks of 64   its name; then its arguments, in the function's order:
//   number 1000
//   number 8 5                          8 at the first launch, 5 at the second, 8 at the third
//   given 4 1000 values                 bytes per element, elements, name; its bytes follow
//   updated 4 17 bins                   the same, and its content is wanted after each launch
//   refilled 4 64 partials              the same, but what is left there is no result
//   kept 4 1 arrived                    the same, but the next launch finds what the last one left
//   returned 4 17 bins                  no bytes: filled with 0xa5 before each launch; wanted
//   scratch 4 17 partials               no bytes: filled with 0xa5 once
//   again 0                             in every second launch argument 0, which is `given`,
//                                       `updated` or `refilled`, has the bytes that follow
//   watch_loads                         the race checker reports which bytes each launch loads
//   loaded 77 1 0 4000 2 0 68           in an earlier run the next launch has loaded bytes 0 to
//                                       3,999 of allocation 1 and 0 to 67 of allocation 2: all
//                                       others are changed meanwhile, to bytes drawn from 77
//   call fullest_bin 2                  the function, and how often it is called; if the student
//                                       writes a whole program, its name: it is run once, and the
//                                       numbers are the words after it on its command line
// Results:
//   case 0
//   launch 0                            then, for each array that is wanted, its argument's place:
//   array 2 68                          and its size in bytes; its bytes follow
//   changed 0                           a `given` array was written to
//   error cudaErrorIllegalAddress an illegal memory access was encountered
//   microseconds 12.5                   the median of timed calls, if that was asked for
//   nanoseconds 15000 14000             of the student's call and of the solution's, in turn
//   done                                at the end of a case
// A program has, instead of launches and done:
//   printed 27                          the size of what it has printed, whose bytes follow
//   returned 0                          its exit code
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace exercises {

enum class array_kind { number, given, updated, refilled, kept, returned, scratch };

struct case_argument {
  array_kind kind = array_kind::number;
  std::string text;                  // the array's name
  std::vector<std::string> numbers;  // one for each launch, from the first again after the last
  std::size_t element_bytes = 0;
  std::size_t elements = 0;
  std::vector<std::byte> bytes;  // of an array that comes with its content
  std::vector<std::byte> again;  // those of every second launch, if they are others

  std::size_t size() const { return element_bytes * elements; }
  const std::vector<std::byte>& bytes_of(std::size_t launch) const {
    return again.empty() || launch % 2 == 0 ? bytes : again;
  }
};

struct loaded_by_launch {
  std::uint64_t drawn_from = 0;
  std::vector<std::uint64_t> pieces;  // three numbers each, as above
};

struct exercise_case {
  std::string name;
  std::vector<case_argument> arguments;
  bool watches_loads = false;
  std::vector<loaded_by_launch> loaded;
  std::string function;
  int launches = 1;
};

// All cases of the file. Throws case_error if it is not in the form above.
std::vector<exercise_case> read_cases(const std::string& path);

// Writes results as they come, so that those before a crash are there.
class result_writer {
 public:
  // Throws case_error if the file can't be written.
  explicit result_writer(const std::string& path);

  void line(const std::string& text);
  void array(std::size_t argument, const std::vector<std::byte>& bytes);
  void printed(const std::string& text);

 private:
  void flush();

  std::ofstream file_;
};

}  // namespace exercises
