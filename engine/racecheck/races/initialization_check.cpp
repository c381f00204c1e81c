// SPDX-License-Identifier: MIT
#include "racecheck/races/initialization_check.hpp"

#include <algorithm>

namespace racecheck {

bool check_initialization(finding_collection& findings, const thread_state& by, region& in,
                          const std::byte* address, std::size_t bytes, place_number place) {
  const std::byte* const end = address + bytes;
  if (in.cell_at(address).write.marks() >> offset_in_cell(address) & 1) [[likely]]
    return false;
  bool unwritten = true;
  for (const std::byte* byte = address; byte < end && unwritten; ++byte) {
    const cell& whole = in.cell_at(byte);
    if (whole.write.marks() >> offset_in_cell(byte) & 1) unwritten = false;
  }
  if (!unwritten) return false;
  const auto first = static_cast<std::size_t>(address - in.begin);
  const bool by_host = std::any_of(
      in.written_by_host.begin(), in.written_by_host.end(),
      [&](const auto& range) { return first < range.second && first + bytes > range.first; });
  for (const std::byte* byte = address; byte < end; ++byte) {
    in.cell_at(byte).write.mark(1u << offset_in_cell(byte));  // once is enough
  }
  if (!by_host) findings.add_unwritten_read(by, in, address, bytes, place);
  return !by_host;
}

}  // namespace racecheck
