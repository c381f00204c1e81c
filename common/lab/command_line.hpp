// SPDX-License-Identifier: MIT
// Options that a program was started with, as text. The one place that knows CLI11.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

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

}  // namespace lab
