// SPDX-License-Identifier: MIT
// Instead of json_text.cpp if nlohmann_json is not here. Nothing calls the last two: the command
// line refuses their files.
#include "lab/json_text.hpp"

#include <stdexcept>
#include <vector>

#include "lab/program_results.hpp"
#include "lab/work_trace.hpp"

namespace lab {

std::string why_no_json() { return "this build has no nlohmann_json"; }

std::string program_results::json() const { throw std::logic_error(why_no_json()); }

std::string chrome_trace(const std::vector<work_trace>&) { throw std::logic_error(why_no_json()); }

}  // namespace lab
