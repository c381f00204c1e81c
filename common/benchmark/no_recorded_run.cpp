// SPDX-License-Identifier: MIT
// Instead of recorded_run.cpp if nlohmann_json is not here: the command line refuses --json.
#include "benchmark/recorded_run.hpp"

#include <stdexcept>

#include "lab/json_text.hpp"

namespace benchmarks {

std::string json_of(const recorded_run&) { throw std::logic_error(lab::why_no_json()); }

}  // namespace benchmarks
