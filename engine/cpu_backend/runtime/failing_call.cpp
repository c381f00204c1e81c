// SPDX-License-Identifier: MIT
#include "cpu_backend/runtime/failing_call.hpp"

#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "cpu_backend/execution/call_stack.hpp"
#include "cpu_backend/execution/diagnostic.hpp"
#include "cpu_backend/execution/settings.hpp"
#include "cpu_backend/form.hpp"
#include "cpu_backend/observer.hpp"

namespace cpu_backend {
namespace {

constexpr std::uint64_t none = 0;

std::uint64_t read_number() {
  const char* const text = setting("LAB_FAIL_CALL");
  if (!text) return none;
  const std::string_view digits = text;
  std::uint64_t number = none;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
  if (error != std::errc() || end != digits.end() || number == none) {
    std::fprintf(stderr, "LAB_FAIL_CALL must be a whole number of 1 or more, not \"%s\".\n", text);
    std::exit(2);
  }
  return number;
}

}  // namespace

cudaError_t begin_call(const char* function) {
  observer::runtime_called(function);
  form::called(function);
  static const std::uint64_t failing = read_number();
  static std::atomic<std::uint64_t> calls = 0;
  if (failing == none || ++calls != failing) return cudaSuccess;
  diagnostic made("made_to_fail");
  report(made.add("function", function).add("at", line_of(call_stack::here())));
  return cudaErrorUnknown;
}

}  // namespace cpu_backend
