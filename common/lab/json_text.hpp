// SPDX-License-Identifier: MIT
// The JSON files that programs write: program_results::json() and chrome_trace(). Both need
// nlohmann_json when lab is built.
#pragma once

#include <string>

namespace lab {

// Why this build cannot write JSON, one sentence; empty if it can. For file_option::unavailable.
std::string why_no_json();

}  // namespace lab
