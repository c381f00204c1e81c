// SPDX-License-Identifier: MIT
#include "racecheck/events/sites.hpp"

#include <unordered_map>
#include <vector>

namespace racecheck {
namespace {

// Number 0 is that of no instruction, and of all that come when the numbers are used up.
struct known_sites {
  std::unordered_map<place_number, site_number> numbers;
  std::vector<place_number> places{0};
};
known_sites& sites() {
  static known_sites& known = *new known_sites;
  return known;
}

}  // namespace

site_number site_of(place_number place) {
  known_sites& known = sites();
  if (const auto found = known.numbers.find(place); found != known.numbers.end()) {
    return found->second;
  }
  if (known.places.size() > cell_record::most_sites) return 0;
  const auto number = static_cast<site_number>(known.places.size());
  known.places.push_back(place);
  known.numbers.emplace(place, number);
  return number;
}

site_number site_of(const void* return_address) { return site_of(place_of(return_address)); }

place_number place_of_site(site_number site) { return sites().places[site]; }

}  // namespace racecheck
