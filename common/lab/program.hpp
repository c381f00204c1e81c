// SPDX-License-Identifier: MIT
// The frame of every program: command line, device, results, exit status.
#pragma once

#include <functional>
#include <string>

#include "lab/options.hpp"
#include "lab/program_results.hpp"

namespace lab {

enum exit_status : int {
  exit_right = 0,
  exit_wrong = 1,  // A wrong result, or a failure at run time.
  exit_usage = 2,
  exit_no_device = 77,  // The number that Meson counts as a skipped test.
};

// Reads the command line, refuses what cannot work (wrong options, an unwritable --json, no device)
// before any work is done, calls `body`, which adds its results, then prints the
// verdict and writes the --json file. Returns the exit status for main(). What `body` throws
// becomes a sentence, as in exit_status_of.
int run_program(int argc, const char* const* argv, const program_description& description,
                const std::function<void(const options&, program_results&)>& body);

// The exit status that `body` returns. What it throws becomes one sentence on standard error, after
// the program's name, and an exit status: usage_error and std::invalid_argument 2, everything else
// (cuda_error, std::bad_alloc, ...) 1; help_request prints its text, 0.
int exit_status_of(const std::string& name, const std::function<int()>& body);

}  // namespace lab
