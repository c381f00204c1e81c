// SPDX-License-Identifier: MIT
// Places of accesses in fewer bits than a place_number has: numbered as kernels come to them.
#pragma once

#include "racecheck/events/places.hpp"
#include "racecheck/memory/cell.hpp"

namespace racecheck {

// 0 if the numbers are used up.
site_number site_of(place_number place);
// Of the instruction before `return_address`.
site_number site_of(const void* return_address);

// 0 if unknown.
place_number place_of_site(site_number site);

}  // namespace racecheck
