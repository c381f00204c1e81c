// SPDX-License-Identifier: MIT
// Runs a student's function on cases that another process has written, and writes what came out.
//
// The driver of an exercise is one line, and declares the function that the student writes:
//   void fullest_bin(const unsigned* values, std::size_t count, unsigned* bins, unsigned blocks);
//   int main(int argc, char** argv) {
//     return exercises::run(argc, argv, {exercises::function("fullest_bin", fullest_bin)});
//   }
#pragma once

#include <charconv>
#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace exercises {

// The case can't be run as it is written: the exercise's own mistake, never the student's.
class case_error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One argument of a call: an array in global memory, or a number.
struct argument {
  void* memory = nullptr;
  std::size_t element_bytes = 0;  // 0 for a number
  std::string number;
};

namespace detail {

template <class Number>
Number number_of(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw case_error("'" + text + "' is no number that the function's parameter can hold");
  }
  return value;
}

template <class Parameter>
Parameter converted(const argument& given) {
  if constexpr (std::is_pointer_v<Parameter>) {
    if (given.element_bytes != sizeof(std::remove_pointer_t<Parameter>)) {
      throw case_error("an array of " + std::to_string(given.element_bytes) +
                       " bytes per element is given for a pointer to elements of " +
                       std::to_string(sizeof(std::remove_pointer_t<Parameter>)));
    }
    return static_cast<Parameter>(given.memory);
  } else {
    static_assert(std::is_arithmetic_v<Parameter>, "arguments are pointers and numbers");
    if (given.element_bytes != 0) throw case_error("an array is given for a number");
    return number_of<Parameter>(given.number);
  }
}

template <class... Parameters, std::size_t... Index>
void call(void (*called)(Parameters...), const std::vector<argument>& given,
          std::index_sequence<Index...>) {
  if (given.size() != sizeof...(Parameters)) {
    throw case_error(std::to_string(given.size()) + " arguments are given for " +
                     std::to_string(sizeof...(Parameters)) + " parameters");
  }
  called(converted<Parameters>(given[Index])...);
}

}  // namespace detail

// A function of the student's: pointers are to arrays in global memory, the rest are numbers.
class function {
 public:
  template <class... Parameters>
  function(const char* name, void (*called)(Parameters...))
      : name_(name),
        called_(reinterpret_cast<void (*)()>(called)),
        call_(&call_as<Parameters...>) {}

  const char* name() const { return name_; }

  // Throws case_error if these are not the arguments that the function takes.
  void operator()(const std::vector<argument>& given) const { call_(called_, given); }

 private:
  template <class... Parameters>
  static void call_as(void (*called)(), const std::vector<argument>& given) {
    detail::call(reinterpret_cast<void (*)(Parameters...)>(called), given,
                 std::index_sequence_for<Parameters...>());
  }

  const char* name_;
  void (*called_)();
  void (*call_)(void (*)(), const std::vector<argument>&);
};

// PROGRAM CASES RESULTS [--time|--in-turn]: runs the cases of the file CASES in their order and
// writes RESULTS, whose forms case_file.hpp describes; after a CUDA error the device may be lost,
// so the cases end there. With --time each case is timed in the end; with --in-turn each is one
// call of the student's function and one of the course's solution, which must be linked, and both
// are timed. Returns 0 if all cases were run, 1 after a CUDA error, 2 if the files are not as they
// should be, 77 if there is no device.
int run(int argc, char** argv, std::initializer_list<function> functions);

}  // namespace exercises
