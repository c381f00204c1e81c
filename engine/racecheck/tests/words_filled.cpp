// SPDX-License-Identifier: MIT
// What C++ makes of words.inc, for words_test.py: `words_filled` prints each row with its gaps
// filled, and `words_filled findings` what the rows of diagnoses may ask of a finding.
#include <cstdio>
#include <string>
#include <string_view>

#include "cpu_backend/execution/words.hpp"
#include "racecheck/report/finding_text.hpp"

namespace {

std::string filled(const words::row& row, bool has_fields) {
  return words::filled(
      row.text, [&](std::string_view) { return has_fields; },
      [](std::string_view name, std::string_view form) {
        return '<' + std::string(name) + '|' + std::string(form) + '>';
      });
}

}  // namespace

int main(int count, char**) {
  if (count == 1) {
    for (const words::row& each : words::table) {
      std::printf("%s\t%s\t%s\n", std::string(each.code).c_str(), filled(each, true).c_str(),
                  filled(each, false).c_str());
    }
    return 0;
  }
  const racecheck::finding any;
  for (const auto& [name, holds] : racecheck::conditions_of(any)) std::puts(name.data());
  for (const auto& [name, word] : racecheck::values_of(any, {})) std::puts(name.data());
}
