// SPDX-License-Identifier: MIT
#include "racecheck/events/time_limit.hpp"

#include <unistd.h>

namespace racecheck {

constinit time_limit time_of_program;

void time_limit::stop_for_good() {
  has_stopped_.store(true);
  for (;;) pause();
}

}  // namespace racecheck
