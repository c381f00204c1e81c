// SPDX-License-Identifier: MIT
// What the checker has found, with names: of the memory, the threads and the blocks.
#include <algorithm>

#include "racecheck/checker.hpp"
#include "racecheck/places.hpp"

namespace racecheck {
namespace {

uint3 index_of(std::uint64_t number, const dim3& size) {
  const std::uint64_t row = number / size.x;
  return {static_cast<unsigned>(number % size.x), static_cast<unsigned>(row % size.y),
          static_cast<unsigned>(row / size.y)};
}

}  // namespace

party checker::describe(const access_record& of, operation what, scope within) const {
  party made;
  made.what = what;
  made.within = within;
  made.is_volatile = of.is_volatile;
  made.thread = of.thread;
  made.block_index = index_of(of.thread.block, grid_size_);
  made.thread_index = index_of(of.thread.rank, block_size_);
  made.place = of.place;
  return made;
}

namespace {

// "... [with Type = int [32]]" by g++, "... [Type = int[32]]" by clang.
std::string element_type(std::string text) {
  const auto equals = text.find("Type = ");
  if (equals == std::string::npos) return "";
  text = text.substr(equals + 7);
  if (const auto end = text.find_first_of(";"); end != std::string::npos) text.resize(end);
  if (!text.empty() && text.back() == ']') text.pop_back();
  return text;
}

// The number of elements in the first dimension, and what one has in bytes.
std::size_t elements_of(const std::string& type) {
  const auto open = type.find('[');
  return open == std::string::npos ? 0 : std::stoul(type.substr(open + 1));
}

std::string describe_memory(const region& in) {
  switch (in.what) {
    case region::kind::shared:
    case region::kind::dynamic_shared:
      return "shared memory";
    case region::kind::managed:
      return "managed memory";
    case region::kind::pinned:
      return "pinned host memory";
    default:
      return "global memory";
  }
}

std::string describe_object(const region& in, const std::byte* address, std::size_t access_bytes) {
  const auto offset = static_cast<std::size_t>(address - in.begin);
  const auto bytes_text = [&](std::size_t at, std::size_t of) {
    std::string text = "byte " + std::to_string(at) + " of " + std::to_string(of);
    if (access_bytes > 1 && at % access_bytes == 0) {
      text = "element " + std::to_string(at / access_bytes) + " (" + std::to_string(access_bytes) +
             " bytes each) of " + std::to_string(of) + " bytes";
    }
    return text;
  };
  switch (in.what) {
    case region::kind::shared: {
      const std::string type = element_type(in.type);
      const std::size_t elements = elements_of(type);
      if (elements == 0) return in.name + " (" + type + ")";
      return in.name + "[" + std::to_string(offset / (in.bytes / elements)) + "] (" + type + ")";
    }
    case region::kind::dynamic_shared:
      return "the launch's dynamic shared memory, " + bytes_text(offset, in.bytes);
    case region::kind::variable: {
      const variable_name variable = find_variable(address);
      if (variable.name.empty()) return "a variable of the program";
      std::string text = variable.name;
      if (variable.bytes > access_bytes) text += ", " + bytes_text(variable.offset, variable.bytes);
      return text;
    }
    default:
      return "allocation " + std::to_string(in.number) + ", " + bytes_text(offset, in.bytes);
  }
}

}  // namespace

void checker::race(thread_state& by, const access& now, const party& earlier, epoch earlier_at,
                   const party& later) {
  finding found;
  found.first = earlier;
  found.second = later;
  if (const auto known = findings_.find({mistake::race, earlier.place, later.place});
      known != findings_.end()) {
    ++known->second.count;
    // A barrier of the warp would not do where two threads of different warps race, too.
    finding& first_found = known->second;
    if (first_found.lacks.syncwarp && !same_warp(earlier, later)) {
      first_found.first = earlier;
      first_found.second = later;
      first_found.object = describe_object(now.in, now.address, bytes_of_cell);
      first_found.lacks.syncwarp = false;
      first_found.lacks.syncthreads = true;
    }
    return;
  }
  found.memory = describe_memory(now.in);
  found.object = describe_object(now.in, now.address, bytes_of_cell);
  found.lacks = diagnose(by, earlier, earlier_at, later);
  if (const auto of = witnesses_.find(earlier.thread.block); of != witnesses_.end()) {
    found.releaser = of->second.released;
  }
  if (const auto of = witnesses_.find(later.thread.block); of != witnesses_.end()) {
    found.acquirer = of->second.acquired;
  }
  add(std::move(found));
}

void checker::check_written(thread_state& by, region& in, const std::byte* address,
                            std::size_t bytes, place_number place) {
  const std::byte* const end = address + bytes;
  if (in.cell_at(address).write.marks() >> offset_in_cell(address) & 1) [[likely]]
    return;
  bool unwritten = true;
  for (const std::byte* byte = address; byte < end && unwritten; ++byte) {
    const cell& whole = in.cell_at(byte);
    if (whole.write.marks() >> offset_in_cell(byte) & 1) unwritten = false;
  }
  if (!unwritten) return;
  const auto first = static_cast<std::size_t>(address - in.begin);
  const bool by_host = std::any_of(
      in.written_by_host.begin(), in.written_by_host.end(),
      [&](const auto& range) { return first < range.second && first + bytes > range.first; });
  for (const std::byte* byte = address; byte < end; ++byte) {
    in.cell_at(byte).write.mark(1u << offset_in_cell(byte));  // once is enough
  }
  if (by_host) return;
  finding found;
  found.what = mistake::unwritten_read;
  found.second =
      describe(access_record{by.now, by.name, place, false}, operation::read, scope::device);
  found.memory = describe_memory(in);
  found.object = describe_object(in, address, std::min<std::size_t>(bytes, 8));
  add(std::move(found));
}

void checker::outside(thread_state& by, const std::byte* address, std::size_t bytes,
                      place_number place, operation what) {
  ++accesses_;
  finding found;
  found.what = mistake::outside;
  access_record made;
  made.thread = by.name;
  made.place = place;
  found.second = describe(made, what, scope::device);
  const region* near = memory_.find_surrounding(address);
  if (region* in = memory_.find(address)) near = in;
  if (!near) return;
  found.memory = describe_memory(*near);
  const auto offset = address - near->begin;
  const auto size = static_cast<std::ptrdiff_t>(near->bytes);
  if (near->what == region::kind::shared) {
    found.object = describe_object(*near, address, bytes);
    add(std::move(found));
    return;
  }
  const std::string name = near->what == region::kind::dynamic_shared
                               ? "the launch's dynamic shared memory"
                               : "allocation " + std::to_string(near->number);
  const std::ptrdiff_t past_end = offset + static_cast<std::ptrdiff_t>(bytes) - size;
  found.object = name + " of " + std::to_string(near->bytes) + " bytes: " +
                 (offset < 0 ? std::to_string(-offset) + " bytes before its begin"
                             : std::to_string(past_end) + " bytes past its end");
  add(std::move(found));
}

void checker::add(finding found) {
  const auto [entry, is_new] =
      findings_.try_emplace({found.what, found.first.place, found.second.place}, found);
  if (!is_new) ++entry->second.count;
}

std::vector<finding> checker::findings() const {
  std::vector<finding> all;
  for (const auto& [key, each] : findings_) all.push_back(each);
  return all;
}

}  // namespace racecheck
