// SPDX-License-Identifier: MIT
// How the course's JSON files are laid out. Needs nlohmann_json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lab {

// An object as text that ends in a line feed: a line for each member, and where a member is an
// array a line for each of its elements, so that a change shows the row that has changed.
std::string json_lines(const nlohmann::ordered_json& object);

// `value` to so many significant digits: what is beyond them is noise, and a file twice as long.
double rounded(double value, int digits);

}  // namespace lab
