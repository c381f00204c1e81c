// SPDX-License-Identifier: MIT
#include "cpu_backend/form.hpp"

#include <algorithm>
#include <thread>

namespace cpu_backend::form {

int default_number_of_sms() {
  return std::max(static_cast<int>(std::thread::hardware_concurrency()), 4);
}

}  // namespace cpu_backend::form
