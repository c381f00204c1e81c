// SPDX-License-Identifier: MIT
// What a line of the source is said to change.
#include "racecheck/report/changed_variables.hpp"

#include <catch2/catch_test_macros.hpp>
#include <set>
#include <string>

namespace {

using racecheck::variables_changed_by;
using names = std::set<std::string>;

}  // namespace

TEST_CASE("an element or what a pointer points to is updated") {
  for (const char* line :
       {"bins[k] += 1;", "bins[k]++;", "++bins[k];", "bins[values[i + 1]] <<= 2;", "*bins *= 2;",
        "(*bins)++;", "++*bins;", "if (k < 5) ++bins[k];", "if (k < 5) *bins -= k;",
        "else *bins |= 1;", "bins->most ^= 3;", "sum = bins[k]++;", "bins[k][j].x--;  // k = 1",
        "for (int k = 0; k < 5; ++k) bins[k] += k;", "k += 2) bins[k]++;"}) {
    CAPTURE(line);
    CHECK(variables_changed_by(line).updated_elements == names{"bins"});
    CHECK(variables_changed_by(line).stored_elements.empty());
  }
}

TEST_CASE("a variable is updated, and is no element") {
  for (const char* line : {"total += bins[k];", "++total;", "total--;",
                           "if (bins[k] == 1) total++;", "if (bins[k] <= 1) ++total;"}) {
    CAPTURE(line);
    CHECK(variables_changed_by(line).updated == names{"total"});
    CHECK(variables_changed_by(line).updated_elements.empty());
    CHECK(variables_changed_by(line).stored_elements.empty());
  }
}

TEST_CASE("an element is stored") {
  for (const char* line : {"for (unsigned e = first; e < 256; e += step) bins[e] = table[e];",
                           "bins[k] = bins[k] + 1;", "*bins = 1;", "bins->most = 1;",
                           "int* next = values; *bins = 1;", "if (table[k] != 0) bins[k] = 1;"}) {
    CAPTURE(line);
    CHECK(variables_changed_by(line).updated.empty());
    CHECK(variables_changed_by(line).stored_elements == names{"bins"});
  }
}

TEST_CASE("one line can do both") {
  const auto changed = variables_changed_by("if (counts[k]++ < 5) bins[k] = 1;");
  CHECK(changed.updated_elements == names{"counts"});
  CHECK(changed.stored_elements == names{"bins"});
}

TEST_CASE("a line may change nothing, or be a part of something") {
  for (const char* line : {"", "}", "for (int k = 0; k < 5; k++) {", "for (int k = 0; k < 5;",
                           "k += step) {", "return bins[k];  // sum += 1",
                           "if (bins[k] >= 2) return;", "x * bins[k]", "++", "=", "))(("}) {
    CAPTURE(line);
    CHECK(variables_changed_by(line).updated.empty());
    CHECK(variables_changed_by(line).stored_elements.empty());
  }
}
