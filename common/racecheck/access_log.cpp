// SPDX-License-Identifier: MIT
#include "racecheck/access_log.hpp"

#include <unordered_map>
#include <vector>

#include "cpu_backend/multiprocessor.hpp"
#include "racecheck/checker.hpp"

namespace racecheck {

constinit access_log plain_accesses;

namespace {

// Number 0 is that of no instruction, and of all that come when the numbers are used up.
struct site_numbers {
  std::unordered_map<place_number, site_number> numbers;
  std::vector<place_number> places{0};
};
site_numbers& sites() {
  static site_numbers& known = *new site_numbers;
  return known;
}

}  // namespace

site_number access_log::number_of(place_number place) {
  site_numbers& known = sites();
  if (const auto found = known.numbers.find(place); found != known.numbers.end()) {
    return found->second;
  }
  if (known.places.size() > cell_record::most_sites) return 0;
  const auto number = static_cast<site_number>(known.places.size());
  known.places.push_back(place);
  known.numbers.emplace(place, number);
  return number;
}

place_number access_log::place_of(site_number number) const { return sites().places[number]; }

void access_log::check() {
  const checker_works now;
  const unsigned count = count_;
  count_ = 0;
  if (checker::instance().check({logged_.data(), count})) {
    cpu_backend::this_multiprocessor->changed_memory();
  }
}

void access_log::find(access_site& site, const std::byte* address, std::size_t bytes,
                      const void* from, bool writes) {
  const checker_works now;
  shadow_memory& memory = checker::instance().memory();
  if (site.from != from) site.number = number_of(from);
  site.from = from;
  site.in = memory.find(address);
  bool lasts = false;  // whichever block runs
  if (site.in) {
    site.last = {site.in->begin, site.in->bytes};
    lasts = !site.in->is_shared_memory();
  } else if (shadow_memory::is_built_in(address)) {
    site.last = {address, 1};
    lasts = true;
  } else if (checker::instance().outside_any_region(now.thread(), address, bytes,
                                                    place_of(site.number),
                                                    writes ? operation::write : operation::read)) {
    site.last = {};
  } else {
    site.last = memory.nothing_around(address);
  }
  site.changes = lasts ? &memory.lasting_changes() : &memory.changes();
  site.changes_then = *site.changes;
}

std::size_t access_log::leaves_its_region(const std::byte* address, std::size_t bytes,
                                          std::size_t left, const void* from, bool writes) {
  const checker_works now;
  checker::instance().outside(now.thread(), address, bytes, place_of(number_of(from)),
                              writes ? operation::write : operation::read);
  return left;
}

}  // namespace racecheck
