// SPDX-License-Identifier: MIT
// What nearly every test of a .cu includes, precompiled once for all of them where g++ compiles
// them. Every test names what it uses all the same, and compiles without this, as with nvcc and
// clang.
#define CATCH_CONFIG_ENABLE_OPTIONAL_STRINGMAKER
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
