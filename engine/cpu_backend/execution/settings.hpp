// SPDX-License-Identifier: MIT
// How a program of the CPU backend is to be run: what its variables LAB_... say, of which
// docs/internals/cpu-backend.md has the table.
//
// They are environment variables. With LAB_SETTINGS=stdin, what stands in standard input comes
// before them, as NAME=value with a zero byte after each, up to its end. That is read before any of
// the program's own code runs, so neither its environment nor its arguments tell one run from
// another.
#pragma once

#include <cstdint>

namespace cpu_backend {

// What this variable says; nullptr if nothing does.
const char* setting(const char* name);

// The whole number that it says; `otherwise` if nothing does. Anything else, also one below `least`
// or above `most`, ends the program with one sentence and status 2.
std::uint64_t number_setting(const char* name, std::uint64_t otherwise, std::uint64_t least,
                             std::uint64_t most = UINT64_MAX);

}  // namespace cpu_backend
