// SPDX-License-Identifier: MIT
#include "racecheck/races/plain_access_check.hpp"

#include <algorithm>
#include <cstdint>

#include "racecheck/events/sites.hpp"
#include "racecheck/races/initialization_check.hpp"

namespace racecheck {
// What nearly all accesses are: of whole cells, which hold one read and one write, and both are
// before what `by` does now. The functions return false, and have changed nothing, where there is
// more to do.
inline bool plain_access_check::is_after_all_of(const thread_state& by, epoch launch_start,
                                                std::uint64_t stamp, const cell& of) const {
  const auto is_ordered = [&](cell_record other) {
    return other.has_stamp(stamp) || other.access_epoch() < launch_start ||
           is_before(clocks_, blocks_.running(), by, other);
  };
  if (of.write.has(cell::is_split | cell::has_location) || of.read.has(cell::has_reads)) {
    return false;
  }
  return is_ordered(of.read) && is_ordered(of.write);
}

inline bool plain_access_check::read_whole_cell(const thread_state& by, epoch launch_start,
                                                std::uint64_t stamp, site_number site, cell& of) {
  if (!is_after_all_of(by, launch_start, stamp, of)) return false;
  of.read = cell_record(stamp, site, 0);
  return true;
}

inline bool plain_access_check::write_whole_cell(const thread_state& by, epoch launch_start,
                                                 std::uint64_t stamp, site_number site, cell& of) {
  if (!is_after_all_of(by, launch_start, stamp, of)) return false;
  // What is after this write is after all that the write itself is after.
  of.read = {};
  of.write = cell_record(stamp, site, cell::written_bytes);
  return true;
}

bool plain_access_check::check(std::span<const logged_access> logged) {
  const epoch launch_start = clocks_.launch_start();
  bool writes = false;
  for (const logged_access& now : logged) {
    const thread_state& by = *now.thread;
    const std::uint64_t stamp = cell_record::stamp_of(by);
    writes |= now.writes;
    const auto bits = reinterpret_cast<std::uintptr_t>(now.address) | now.bytes;
    cell* at = &now.in->cell_at(now.address);
    bool done = bits % bytes_of_cell == 0 && now.in->is_in_one_row(now.address, now.bytes);
    const cell* const end = at + now.bytes / bytes_of_cell;
    if (now.writes) {
      for (; done && at != end; ++at)
        done = write_whole_cell(by, launch_start, stamp, now.site, *at);
    } else {
      done &= !now.in->starts_unwritten || at->write.has(1);
      for (; done && at != end; ++at)
        done = read_whole_cell(by, launch_start, stamp, now.site, *at);
    }
    // It does no harm to cells that are done already: the same access once more.
    if (!done) [[unlikely]]
      check_cells(now, 0);
  }
  return writes;
}

bool plain_access_check::carry_writes(std::span<const logged_access> logged) {
  bool writes = false;
  for (const logged_access& now : logged) {
    if (!now.writes) continue;
    writes = true;
    if (!now.in->has_marked_cells) continue;
    const cell_record made(cell_record::stamp_of(*now.thread), now.site, 0);
    each_word(*now.in, now.address, now.bytes, [&](const word_access& word) {
      cell& whole = now.in->cell_at(word.address);
      history_.forget_earlier_launch(whole);
      if (whole.location() == 0) return;
      atomics_.carry_plain_write(
          *now.thread, {*now.in, whole, word.address, made, word.mask, now.address, now.bytes});
    });
  }
  return writes;
}

void plain_access_check::check_cells(const logged_access& of, unsigned marks) {
  thread_state& by = *of.thread;
  region& in = *of.in;
  if (!of.writes && in.starts_unwritten) {
    check_initialization(findings_, by, in, of.address, of.bytes, place_of_site(of.site));
  }
  const cell_record made(cell_record::stamp_of(by), of.site, marks);
  const std::byte* const end = of.address + of.bytes;
  for (const std::byte* address = of.address; address < end;) {
    const std::size_t offset = offset_in_cell(address);
    const std::size_t here =
        std::min(bytes_of_cell - offset, static_cast<std::size_t>(end - address));
    const unsigned mask = ((1u << here) - 1) << offset;
    cell& whole = in.cell_at(address);
    history_.forget_earlier_launch(whole);
    const cell_access now{in, whole, address, made, mask, of.address, of.bytes};
    if (whole.location() != 0) atomics_.check_plain(by, now, of.writes);
    if (mask == whole_cell && !whole.write.has(cell::is_split)) {
      use_cell(by, now, of.writes, history_.weak_write_of(whole), whole.read);
    } else {
      for (std::size_t byte = offset; byte < offset + here; ++byte) {
        use_byte(by, {in, whole, address, made, 1u << byte, of.address, of.bytes}, of.writes, byte);
      }
    }
    if (of.writes) whole.write.mark(mask);
    address += here;
  }
}

void plain_access_check::use_cell(thread_state& by, const cell_access& now, bool writes,
                                  cell_record& write, cell_record& read) {
  const operation what = writes ? operation::write : operation::read;
  const std::uint64_t races = findings_.races();
  conflicts_.check_weak_write(by, now, what, write);
  if (!writes) {
    history_.keep_read(blocks_.running(), by, now.in, now.record, read);
    return;
  }
  // What is after this write is after all that the write itself is after, so what was done to the
  // cell before is forgotten.
  if (read.has(cell::has_reads) || !conflicts_.before(by, read)) {
    conflicts_.check_reads(by, now, what, read);
  }
  if (findings_.races() != races) [[unlikely]]
    conflicts_.note_update(by, now, what, read);
  history_.drop_reads(read);
  const unsigned marks_of_cell = write.marks() & cell::written_bytes;
  write = now.record;
  write.mark(marks_of_cell);
}

void plain_access_check::use_byte(thread_state& by, const cell_access& now, bool writes,
                                  std::size_t byte) {
  split_cell& bytes = history_.split(now.in, now.checked);
  cell one = history_.records_of_byte(bytes, byte);
  use_cell(by, now, writes, one.write, one.read);
  history_.set_records_of_byte(bytes, byte, one, writes);
}

}  // namespace racecheck
