// SPDX-License-Identifier: MIT
// The command line that all programs of the course share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/usage_error.hpp"

namespace lab {

// The most that --elements takes: 2^40, some trillion. It keeps every product of a count and an
// element's size far below 2^63.
inline constexpr std::uint64_t largest_element_count = std::uint64_t{1} << 40;

// CUDA's own limits on a launch.
inline constexpr std::uint32_t largest_block = 1024;
inline constexpr std::uint32_t largest_grid = 0x7fffffff;

// What the command line says, after all checks. The values here are the defaults where a program
// names no others.
struct options {
  std::uint64_t elements = std::uint64_t{1} << 20;
  std::uint32_t threads = 256;
  std::optional<std::uint32_t> blocks;  // Not given: each variant chooses its own grid.
  std::uint32_t repeat = 10;
  std::uint64_t seed = 1;
  std::string variant;    // Empty: all variants.
  std::string json_file;  // Empty: no file.

  bool wants(const std::string& name) const { return variant.empty() || variant == name; }
};

// What a program is, as its --help and its report print it.
struct program_description {
  std::string name;                   // "vector_add"
  std::string summary;                // One line: what it computes.
  std::vector<std::string> variants;  // What --variant may name, in the order of the report.
  options defaults = {};
};

// Prints the help text and ends the program with 0 when thrown to run_program.
struct help_request {
  std::string text;
};

// Reads the command line. Throws usage_error (one sentence) for what is wrong with it, help_request
// for --help. Every option may be given once; numbers are decimal, or a power of two as 2^29.
options parse_options(int argc, const char* const* argv, const program_description& description);

// `text` as a whole number in [smallest, largest]: decimal digits, or 2^N. Throws usage_error with
// a sentence that names `option` and the range.
std::uint64_t parse_whole_number(const std::string& option, const std::string& text,
                                 std::uint64_t smallest, std::uint64_t largest);

}  // namespace lab
