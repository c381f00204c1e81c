// SPDX-License-Identifier: MIT
// The command line: the options that a program was given, as text, and those that all programs of
// the course share.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "lab/output_files.hpp"

namespace lab {

// An option as --help prints it.
struct command_line_option {
  std::string name;  // "--threads"
  std::string help;  // "threads of a block [256]"
  std::string unit;  // What its value is called: "N", "FILE". Empty: it takes no value.
};

// What a program takes, beside --help.
struct command_line {
  std::string program;  // Its name.
  std::string summary;  // One line: what it does.
  std::vector<command_line_option> options;
};

// What the user asked for cannot be done. what() is one sentence without a full stop;
// run_program prints it and exits 2.
class usage_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Prints the help text and ends the program with 0 when thrown to run_program.
struct help_request {
  std::string text;
};

// The options that were given, by name, with their values as text. Every option may be given once.
// Throws usage_error (one sentence) for what is wrong, help_request for --help. In a build without
// CLI11 every option is wrong.
std::map<std::string, std::string> given_options(int argc, const char* const* argv,
                                                 const command_line& known);

// Why this build takes no options, one sentence; empty if it does.
std::string why_no_options();

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
  bool force = false;     // Files of another kind are replaced as well.
  bool wide = false;      // Every column of the table, however wide it becomes.

  // The program's own options, by name: "--size". Every one of them has its entry.
  std::map<std::string, std::uint64_t> numbers;
  std::map<std::string, std::string> choices;
  std::map<std::string, std::string> files;  // Empty: no file.

  bool wants(const std::string& name) const { return variant.empty() || variant == name; }
};

// Options that only some programs have.
struct number_option {
  std::string name;  // "--size"
  std::string help;  // "pixels of each side of the picture"
  std::uint64_t smallest = 0;
  std::uint64_t largest = 0;
  std::uint64_t by_default = 0;
};
struct choice_option {
  std::string name;                  // "--view"
  std::string help;                  // "part of the plane"
  std::vector<std::string> choices;  // The first one is the default.
};
// Names a file that the program is to write; run_program refuses it at once where it can't be.
struct file_option {
  std::string name;         // "--trace"
  std::string help;         // "also write ... to FILE"
  std::string unavailable;  // Why this build has no such file, one sentence; empty where it has.
  file_kind kind = {};      // How such files begin: another one is not replaced.
};

// What a program is, as its --help and its results print it.
struct program_description {
  std::string name;                   // "vector_add"
  std::string summary;                // One line: what it computes.
  std::vector<std::string> variants;  // What --variant may name, in the order of their rows.
  options defaults = {};
  std::vector<std::string> without = {};  // Shared options that mean nothing here: "--elements".
  std::vector<number_option> numbers = {};
  std::vector<choice_option> choices = {};
  std::vector<file_option> files = {};

  bool has(const std::string& shared_option) const;
};

// Reads the command line. Throws usage_error (one sentence) for what is wrong with it, help_request
// for --help. Every option may be given once; numbers are decimal, or a power of two as 2^29.
options parse_options(int argc, const char* const* argv, const program_description& description);

// `text` as a whole number in [smallest, largest]: decimal digits, or 2^N. Throws usage_error with
// a sentence that names `option` and the range.
std::uint64_t parse_whole_number(const std::string& option, const std::string& text,
                                 std::uint64_t smallest, std::uint64_t largest);

// `text` as the name of a file to write. Throws usage_error if it is empty, or for the reason that
// `unavailable` gives: why this build has no such file, one sentence; empty if it has.
std::string parse_file_name(const std::string& option, const std::string& text,
                            const std::string& unavailable);

// "one, two", for sentences that list what can be chosen.
std::string joined(const std::vector<std::string>& names);

}  // namespace lab
