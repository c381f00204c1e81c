// SPDX-License-Identifier: MIT
#include "benchmark_options.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <map>
#include <set>

#include "lab/options.hpp"

namespace benchmarks {

namespace {

constexpr std::uint64_t smallest_size = std::uint64_t{1} << 10;
constexpr std::uint64_t largest_size = std::uint64_t{1} << 32;

// In a quick run: what launching costs, where one launch or two matters, and bandwidth.
constexpr int quick_exponents[] = {10, 16, 20, 24, 29};
constexpr std::uint32_t quick_rounds = 7;

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string help(const std::vector<std::string>& chapters) {
  return "Times the chapters' variants beside the libraries' functions, in turn, and checks every "
         "result.\n\n"
         "  --chapter NN     one chapter only: " +
         joined(chapters) +
         "\n"
         "  --quick          fewer sizes, and 7 rounds\n"
         "  --rounds N       timed rounds, at least 3 [21]\n"
         "  --smallest N     smallest number of elements, a power of two [2^10]\n"
         "  --largest N      largest number of elements, a power of two [2^30]\n"
         "  --cache N        bytes of the last-level cache, beyond which inputs are rotated\n"
         "                   [what the device says]\n"
         "  --json FILE      also write the results to FILE\n\n"
         "Numbers are decimal, or powers of two such as 2^29.\n"
         "Exit status: 0 all right, 1 a wrong result or a failure at run time, 2 wrong usage,\n"
         "77 no usable device.\n";
}

std::uint64_t power_of_two(const std::string& option, const std::string& text) {
  const std::uint64_t value = lab::parse_whole_number(option, text, smallest_size, largest_size);
  if (!std::has_single_bit(value)) {
    throw lab::usage_error(option + " must be a power of two, not '" + text + "'");
  }
  return value;
}

}  // namespace

benchmark_options parse_benchmark_options(int argc, const char* const* argv,
                                          const std::vector<std::string>& chapters) {
  benchmark_options options;
  bool rounds_are_given = false;
  const std::map<std::string, std::function<void(const std::string&)>> with_value = {
      {"--chapter",
       [&](const std::string& value) {
         if (std::find(chapters.begin(), chapters.end(), value) == chapters.end()) {
           throw lab::usage_error("there is no benchmark of chapter '" + value + "'; there are " +
                                  joined(chapters));
         }
         options.chapter = value;
       }},
      {"--rounds",
       [&](const std::string& value) {
         options.rounds =
             static_cast<std::uint32_t>(lab::parse_whole_number("--rounds", value, 3, 10'000));
         rounds_are_given = true;
       }},
      {"--smallest",
       [&](const std::string& value) { options.smallest = power_of_two("--smallest", value); }},
      {"--largest",
       [&](const std::string& value) { options.largest = power_of_two("--largest", value); }},
      {"--cache",
       [&](const std::string& value) {
         options.cache_bytes = lab::parse_whole_number("--cache", value, 0, std::uint64_t{1} << 40);
       }},
      {"--json", [&](const std::string& value) {
         if (value.empty()) throw lab::usage_error("--json needs the name of a file");
         options.json_file = value;
       }}};

  std::set<std::string> given;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--help") throw lab::help_request{help(chapters)};
    const auto option = with_value.find(word);
    if (option == with_value.end() && word != "--quick") {
      throw lab::usage_error("'" + word + "' is not understood; --help lists the options");
    }
    if (!given.insert(word).second) throw lab::usage_error(word + " is given more than once");
    if (option == with_value.end()) {
      options.quick = true;
    } else if (i + 1 == argc) {
      throw lab::usage_error(word + " needs a value");
    } else {
      option->second(argv[++i]);
    }
  }
  if (options.quick && !rounds_are_given) options.rounds = quick_rounds;
  if (options.smallest > options.largest) {
    throw lab::usage_error("--smallest is larger than --largest");
  }
  return options;
}

std::vector<std::size_t> chosen_sizes(const benchmark_options& options) {
  std::vector<std::size_t> sizes;
  for (int exponent = 10; exponent <= 32; ++exponent) {
    const std::size_t size = std::size_t{1} << exponent;
    const bool wanted =
        !options.quick || std::find(std::begin(quick_exponents), std::end(quick_exponents),
                                    exponent) != std::end(quick_exponents);
    if (wanted && size >= options.smallest && size <= options.largest) sizes.push_back(size);
  }
  return sizes;
}

}  // namespace benchmarks
