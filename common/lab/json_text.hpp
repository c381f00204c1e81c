// SPDX-License-Identifier: MIT
// The JSON files that programs write: program_results::json() and chrome_trace(). Both need
// nlohmann_json when lab is built.
#pragma once

#include <string>

#include "lab/result_file.hpp"

namespace lab {

// What they begin with.
inline const file_kind report_file = {.mark = "{\n  \"program\": \""};
inline const file_kind trace_file = {.mark =
                                         "{\n  \"displayTimeUnit\": \"ms\",\n  \"traceEvents\": ["};

// Why this build cannot write JSON, one sentence; empty if it can. For file_option::unavailable.
std::string why_no_json();

}  // namespace lab
