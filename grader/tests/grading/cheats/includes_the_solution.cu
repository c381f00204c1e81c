// SPDX-License-Identifier: MIT
// Cheat: the solution is included from where it is in the course
// Exercise: 01.1
// Verdict: CE 0
// Says: exercises
#include "01_vector_add/exercises/saxpy/saxpy.cu"
