// SPDX-License-Identifier: MIT
// Precompiled once for a library: to read these headers takes longer than to compile most sources.
// Every source names what it uses all the same, and compiles with -Db_pch=false.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>
