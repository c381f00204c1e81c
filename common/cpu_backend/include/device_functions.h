// SPDX-License-Identifier: MIT
// The functions of a single thread that CUDA C++ has without an include.
#pragma once

#include <math.h>
#include <stdlib.h>

#include "cpu_backend/bit_casts.hpp"
#include "cpu_backend/cache_hints.hpp"
#include "cpu_backend/conversions.hpp"
#include "cpu_backend/integer_functions.hpp"
#include "cpu_backend/math_functions.hpp"
#include "cpu_backend/minimum_maximum.hpp"
#include "cpu_backend/rounding.hpp"
