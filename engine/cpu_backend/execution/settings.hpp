// SPDX-License-Identifier: MIT
// How a program of the CPU backend is to be run: what its variables LAB_... say.
//
// They are environment variables. With LAB_SETTINGS=stdin, what stands in standard input comes
// before them, as NAME=value with a zero byte after each, up to its end. That is read before any of
// the program's own code runs, so neither its environment nor its arguments tell one run from
// another.
#pragma once

namespace cpu_backend {

// What this variable says; nullptr if nothing does.
const char* setting(const char* name);

}  // namespace cpu_backend
