// SPDX-License-Identifier: MIT
// merge_reports [--own-file FILE [--first-line N]]
//
// Makes one report out of what the runs of a program have found with several seeds. Reads a line of
// JSON for each run, {"seed": N, "findings": [...]}, with the findings of its report, and writes
// the list of what they come to. FILE is the one file that the reader of the texts knows, of which
// line N is the first one; its lines are called "line 12" then.
//
// Exits with 2 and one sentence if the lines are not what programs under the race checker write.
#include <charconv>
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "racecheck/report/finding_json.hpp"
#include "racecheck/report/merging.hpp"

namespace racecheck {
namespace {

using json = nlohmann::ordered_json;

constexpr int exit_malformed = 2;

struct wrong_use : std::runtime_error {
  using std::runtime_error::runtime_error;
};

own_file own_file_of(const std::vector<std::string_view>& words) {
  own_file own;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const std::string_view value = i + 1 < words.size() ? words[i + 1] : "";
    if (words[i] == "--own-file" && !value.empty()) {
      own.path = value;
    } else if (words[i] == "--first-line") {
      const auto [end, error] =
          std::from_chars(value.data(), value.data() + value.size(), own.first_line);
      if (error != std::errc() || end != value.data() + value.size() || own.first_line == 0) {
        throw wrong_use("--first-line takes a whole number of 1 or more");
      }
    } else {
      throw wrong_use("usage: merge_reports [--own-file FILE [--first-line N]]");
    }
  }
  return own;
}

void add_findings_of(const std::string& line, std::vector<finding>& to) {
  const json run = json::parse(line, nullptr, false);
  if (run.is_discarded()) throw malformed_record("it is no JSON");
  const std::uint64_t seed = number_at(run, "seed");
  for (const json& each : list_at(run, "findings")) to.push_back(finding_of(each, seed));
}

void merge_runs(std::istream& in, std::ostream& out, const own_file& own) {
  std::vector<finding> findings;
  std::uint64_t runs = 0;
  for (std::string line; std::getline(in, line); ++runs) {
    try {
      add_findings_of(line, findings);
    } catch (const malformed_record& problem) {
      throw malformed_record("the report of run " + std::to_string(runs + 1) +
                             " is none of the checker's: " + problem.what());
    }
  }
  json merged = json::array();
  for (const element_findings& each : merge_by_element(merge_by_lines(std::move(findings)))) {
    merged.push_back(json_of(each, runs, own));
  }
  out << merged.dump(-1, ' ', false, json::error_handler_t::replace) << '\n' << std::flush;
}

}  // namespace
}  // namespace racecheck

int main(int count, char** words) {
  std::ios::sync_with_stdio(false);
  try {
    racecheck::merge_runs(std::cin, std::cout, racecheck::own_file_of({words + 1, words + count}));
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "merge_reports: %s\n", problem.what());
    return racecheck::exit_malformed;
  }
  return std::cout ? 0 : 1;
}
