// SPDX-License-Identifier: MIT
// Cheat: the same, with a name that is put together by macros
// Exercise: 01.1
// Verdict: CE 0
// Says:
#define FOLDER(name) <01_vector_add/name/saxpy/saxpy.cu>
#define LETTERS exercis
#define WHOLE_(a, b) FOLDER(a b)
#include FOLDER(exercise\
s)
