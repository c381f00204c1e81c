// SPDX-License-Identifier: MIT
// Instead of command_line.cpp if CLI11 is not here: the programs still run as their defaults say.
#include "lab/command_line.hpp"

namespace lab {

std::map<std::string, std::string> given_options(int argc, const char* const* argv,
                                                 const command_line&) {
  if (argc <= 1) return {};
  throw usage_error(std::string("'") + argv[1] + "' is not understood: " + why_no_options() +
                    ", and takes no options");
}

std::string why_no_options() { return "this build has no CLI11"; }

}  // namespace lab
