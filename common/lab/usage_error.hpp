// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>

namespace lab {

// What the user asked for cannot be done. what() is one sentence without a full stop;
// run_program prints it and exits 2.
class usage_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace lab
