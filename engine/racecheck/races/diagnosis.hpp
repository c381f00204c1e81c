// SPDX-License-Identifier: MIT
// What is missing between two accesses that race: the smallest repair under which they would have
// been ordered.
#pragma once

#include <cstdint>

#include "racecheck/order/launch_clocks.hpp"
#include "racecheck/races/finding.hpp"
#include "racecheck/races/synchronization_log.hpp"

namespace racecheck {

// Whether at least one of the two is an atomic whose scope is too narrow for the other's thread: no
// order in between would be needed if it were wider.
bool lacks_scope_by_kind(const party& earlier, const party& later);

// `earlier` was in epoch `earlier_at`; `later` is what `by`, a thread of `block`, does now.
// Where assumptions were given up, `log` is asked for one way between the two. `word` is the
// location of what they access, as the log has it.
diagnosis_set diagnose(launch_clocks& clocks, const synchronization_log& log,
                       const block_state& block, const thread_state& by, const party& earlier,
                       epoch earlier_at, const party& later, std::uint32_t word);

}  // namespace racecheck
