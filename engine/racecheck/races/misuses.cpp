// SPDX-License-Identifier: MIT
#include "racecheck/races/misuses.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>
#include <vector>

#include "cpu_backend/scheduled.hpp"

namespace racecheck {

using cpu_backend::scheduled::device_variable;

void misuse_check::check_variable(const thread_state& by, const region& in,
                                  const std::byte* address, std::size_t bytes, place_number place,
                                  operation what) {
  if (in.what != region::kind::variable || !writes(what)) return;
  if (cpu_backend::scheduled::device_variable_at(address) != device_variable::constant) return;
  findings_.add_misuse(mistake::written_constant, by.name, place, what, {&in, address, bytes, {}});
}

bool misuse_check::check_local(const thread_state& by, const std::byte* address, place_number place,
                               operation what) {
  if (!cpu_backend::scheduled::is_local(address)) return false;
  const bool is_own = cpu_backend::scheduled::is_own_local(address);
  if (is_own && !is_atomic(what)) return false;
  findings_.add_misuse(is_own ? mistake::atomic_on_local : mistake::local_of_another, by.name,
                       place, what, {.name = "a local variable"});
  return true;
}

void misuse_check::note_read_only_load(const thread_state& by, const std::byte* address,
                                       std::size_t bytes, place_number place) {
  const std::byte* const first = address - offset_in_cell(address);
  for (const std::byte* at = first; at < address + bytes; at += bytes_of_cell) {
    if (loads_.size() == most_loads) return;
    loads_.try_emplace(at, read_only_load{by.name, place});
  }
}

void misuse_check::note_read_only_parameter(const std::byte* pointer, const char* name) {
  region* const in = memory_.find(pointer);
  const auto is_same = [&](const parameter& other) { return other.in == in && other.name == name; };
  if (in && std::ranges::none_of(parameters_, is_same)) parameters_.push_back({in, name});
}

// What was read there after the launch had written it, by lines that name the parameter: which do
// is known when the lines are (report/locating.cpp).
void misuse_check::check_parameter(const parameter& of) {
  std::set<std::pair<place_index, place_index>> known;
  const std::size_t most = std::min<std::size_t>(of.in->bytes, most_loads * bytes_of_cell);
  for (const std::byte* at = of.in->begin; at < of.in->begin + most; at += bytes_of_cell) {
    const cell& there = of.in->cell_at(at);
    const cell_record write = history_.last_write_of(there), read = one_reader(there);
    if (write.access_epoch() < clocks_.launch_start() ||
        read.access_epoch() < clocks_.launch_start() ||
        !known.insert({read.place(), write.place()}).second) {
      continue;
    }
    findings_.add_misuse(
        mistake::read_only_load, {clocks_.block_of(read.access_epoch()), read.rank()},
        place_at(read.place()), operation::read, {of.in, at, bytes_of_cell, of.name}, &write);
  }
}

// Since the cell's last write.
cell_record misuse_check::one_reader(const cell& of) const {
  if (!of.read.has(cell::has_reads)) return of.read;
  cell_record one;
  if (!history_.has_reads(of.read)) return one;
  history_.reads().each_group(of.read.number(), [&](const read_group& group) {
    const auto first = static_cast<unsigned>(std::countr_zero(group.ranks));
    one = group.first.with_rank(group.first.rank() + first);
  });
  return one;
}

void misuse_check::end_launch() {
  // Mostly nothing has written what is promised to be read only.
  for (const parameter& each : parameters_) {
    if (each.in->was_written) check_parameter(each);
  }
  for (const parameter& each : parameters_) each.in->was_written = false;
  parameters_.clear();
  std::vector<const std::byte*> in_order;
  for (const auto& each : loads_) in_order.push_back(each.first);
  std::ranges::sort(in_order);
  for (const std::byte* at : in_order) {
    const read_only_load& load = loads_.at(at);
    const region* const in = memory_.find(at);
    if (!in) continue;
    const cell_record write = history_.last_write_of(in->cell_at(at));
    if (write.access_epoch() < clocks_.launch_start()) continue;
    findings_.add_misuse(mistake::read_only_load, load.by, load.place, operation::read,
                         {in, at, bytes_of_cell, {}}, &write);
  }
  loads_.clear();
}

}  // namespace racecheck
