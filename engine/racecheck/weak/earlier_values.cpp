// SPDX-License-Identifier: MIT
#include "racecheck/weak/earlier_values.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace racecheck {
namespace {

object_number& last_write_of(const word_access& at) {
  if (!at.in.last_writes) {
    // Pages that no write touches cost nothing.
    at.in.last_writes =
        static_cast<object_number*>(std::calloc(at.in.words(), sizeof(object_number)));
    if (!at.in.last_writes) {
      std::fprintf(stderr, "weak: no memory to remember what was in %zu bytes\n", at.in.bytes);
      std::exit(1);
    }
  }
  return at.in.last_writes[at.in.index_of(at.address)];
}

}  // namespace

void earlier_values::begin_launch(shadow_memory& memory) {
  if (!writes_.begin_launch()) return;
  memory.each_region([](region& each) {
    if (each.last_writes) std::memset(each.last_writes, 0, each.words() * sizeof(object_number));
  });
}

void earlier_values::forget(region& of) {
  if (!of.last_writes) return;
  for (std::size_t i = 0; i < of.words(); ++i) remove_from(of.last_writes[i]);
}

void earlier_values::add(const word_access& at, std::uint64_t stamp, site_number site,
                         std::uint32_t before, epoch known_to_all) {
  object_number& last = last_write_of(at);
  unsigned older = 0;
  if (writes_.has(last)) {
    write& newest = writes_[last];
    if (newest.record.has_stamp(stamp)) {
      // The same thread once more: as if it had written all of it at once.
      const std::uint32_t added = bits_of(at.mask & ~newest.mask());
      newest.before = (newest.before & ~added) | (before & added);
      newest.record = cell_record(stamp, site, newest.record.marks() | at.mask);
      return;
    }
    if (newest.record.access_epoch() <= known_to_all && (newest.mask() & ~at.mask) == 0) {
      remove_from(last);
      last = 0;
    } else if (older_writes(newest) == largest_count) {
      remove_oldest(last);
      older = largest_count;
    } else {
      older = older_writes(newest) + 1;
    }
  } else {
    last = 0;
  }
  const object_number number = writes_.add();
  writes_[number] = {cell_record(stamp, site, older << count_shift | at.mask), before, last};
  last = number;
}

void earlier_values::remove_from(object_number first) {
  while (writes_.has(first)) {
    const object_number older = writes_[first].older;
    writes_.remove(first);
    first = older;
  }
}

void earlier_values::remove_oldest(object_number newest) {
  object_number* link = &newest;
  while (writes_[*link].older != 0) link = &writes_[*link].older;
  writes_.remove(*link);
  *link = 0;
}

}  // namespace racecheck
