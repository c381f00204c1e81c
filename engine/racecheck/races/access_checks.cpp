// SPDX-License-Identifier: MIT
#include "racecheck/races/access_checks.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>

#include "cpu_backend/scheduled.hpp"
#include "racecheck/events/places.hpp"

namespace racecheck {

bool conflict_check::is_morally_strong(const thread_state& by, cell_record made,
                                       cell_record other) const {
  if (!made.has(cell_record::is_atomic) || !other.has(cell_record::is_atomic)) return false;
  if (made.shape() != other.shape()) return false;
  return (made.within() == scope::device && other.within() == scope::device) ||
         clocks_.block_of(other.access_epoch()) == by.name.block;
}

void conflict_check::check_reads(const thread_state& by, const cell_access& now, operation what,
                                 cell_record read) {
  const block_state& running = blocks_.running();
  const auto check = [&](cell_record each, std::uint32_t block) {
    const bool is_atomic = each.has(cell_record::is_atomic);
    if (is_atomic && !(each.shape().mask() & now.mask)) return;
    if (is_morally_strong(by, now.record, each)) return;
    const bool is_ordered =
        each.access_epoch() < clocks_.launch_start()
            ? is_before(clocks_, running, by, each)
            : clocks_.before(running, by, {block, each.rank()}, each.access_epoch());
    if (is_ordered) return;
    findings_.add_race(by, now, what, each, is_atomic ? operation::atomic_load : operation::read);
  };
  if (history_.has_reads(read)) {
    // Threads that wait for a flag have all read it like this.
    const unsigned marks = now.record.marks();
    if (now.record.has(cell_record::is_atomic) && now.record.within() == scope::device &&
        history_.reads().all_have(read.number(), marks)) {
      return;
    }
    history_.reads().each_group(read.number(), [&](const read_group& group) {
      const bool is_behind_barrier =
          running.last_floor.empty() && group.first.access_epoch() <= running.floor;
      if (by.name.block == group.block && is_behind_barrier) return;
      for (std::uint64_t left = group.ranks; left != 0; left &= left - 1) {
        const auto nth = static_cast<unsigned>(std::countr_zero(left));
        check(group.first.with_rank(group.first.rank() + nth), group.block);
      }
    });
  } else if (!read.has(cell::has_reads) && !before(by, read)) {
    check(read, clocks_.block_of(read.access_epoch()));
  }
}

void conflict_check::note_update(const thread_state& by, const cell_access& now, operation what,
                                 cell_record read) {
  const auto note = [&](cell_record own) {
    if (is_atomic(what) && own.has(cell_record::is_atomic)) return;
    findings_.add_plain_update(
        {place_at(own.place()), place_at(now.record.place()), is_atomic(what)});
  };
  if (history_.has_reads(read)) {
    history_.reads().each_group(read.number(), [&](const read_group& group) {
      const std::uint32_t first = group.first.rank();
      if (group.block == by.name.block && by.name.rank >= first && by.name.rank < first + 64 &&
          group.ranks >> (by.name.rank - first) & 1) {
        note(group.first);
      }
    });
  } else if (!read.has(cell::has_reads) && read.access_epoch() >= clocks_.launch_start() &&
             read.rank() == by.name.rank &&
             clocks_.block_of(read.access_epoch()) == by.name.block) {
    note(read);
  }
}

void conflict_check::check_strong_writes(const thread_state& by, const cell_access& now,
                                         operation what, const location& at) {
  const atomic_locations& locations = history_.locations();
  const known& knows = clocks_.actual_knowledge(blocks_.running(), by).happened_before;
  const auto last_seen = [&] { return locations.last_seen(now.in, now.address, at); };
  const auto check = [&](const strong_record& each) {
    if (!(each.done.shape().mask() & now.mask) || is_morally_strong(by, now.record, each.done) ||
        before(by, each.done) || knows.observed.get().has_observed(each.seen)) {
      return;
    }
    findings_.add_race(by, now, what, each.done, operation::atomic_update);
  };
  if (at.last.has(cell_record::is_atomic)) check({at.last, last_seen()});
  const location_extension* extension = locations.find_extension(at);
  if (!extension) return;
  if (extension->last_of_another_block.has(cell_record::is_atomic)) {
    check(extension->of_another_block(last_seen()));
  }
  const location_details* more = locations.find_details(*extension);
  if (!more) return;
  // Two atomics of one shape at device scope never race, nor do two of one block.
  const bool of_one_shape = now.record.has(cell_record::is_atomic) && !at.has_two_shapes &&
                            now.record.shape() == at.shape;
  if (!of_one_shape || now.record.within() != scope::device) {
    for (const auto& [key, each] : more->earlier[number_of(scope::device)]) check(each);
  }
  if (!of_one_shape || more->has_two_blocks || more->block != by.name.block) {
    for (const auto& [key, each] : more->earlier[number_of(scope::block)]) check(each);
  }
}

void atomic_access_check::carry_volatile(thread_state& by, region& in, const std::byte* address,
                                         std::size_t bytes, place_index place, bool writes) {
  const access_shape shape(bytes, offset_in_cell(address));
  atomic_locations& locations = history_.locations();
  const object_number at = history_.make_location(in, in.cell_at(address), shape);
  const cell_record made(cell_record::stamp_of(by), place, cell_record::is_volatile);
  const unsigned passed = std::exchange(passed_, 0);
  locations.use_message(at, shape, [&](message& carries) {
    if (writes) {
      clocks_.strong_write(blocks_.running(), by, carries, scope::device, false, false);
      if (older_loads::active) older_.written(carries, made);
    } else {
      clocks_.strong_read(blocks_.running(), by, carries, scope::device, false, false, passed);
    }
  });
  if (writes && locations[at].shape == shape) locations[at].last = made;
  if (writes) forget_earlier(in, address, locations[at]);
}

void atomic_access_check::host_accesses(thread_state& by, region& in,
                                        const cpu_backend::observer::atomic_operation& done,
                                        bool is_volatile, place_index place) {
  const operation what = operation_of(done.kind);
  const access_shape shape(done.bytes, offset_in_cell(done.address));
  const object_number at = history_.make_location(in, in.cell_at(done.address), shape);
  block_state& host = blocks_.running();
  const bool reads = what != operation::atomic_store, updates = reads && writes(what);
  history_.locations().use_message(at, shape, [&](message& carries) {
    if (reads) clocks_.strong_read(host, by, carries, done.within, done.acquires, updates);
    if (writes(what)) {
      clocks_.strong_write(host, by, carries, done.within, done.releases, updates);
    }
  });
  location& written = history_.locations()[at];
  if (!writes(what)) return;
  if (written.shape == shape) {
    const unsigned marks =
        is_volatile ? cell_record::is_volatile : cell_record::marks_of_atomic(shape, done.within);
    written.last = cell_record(cell_record::stamp_of(by), place, marks);
  }
  forget_earlier(in, done.address, written);
}

void atomic_access_check::check_plain(thread_state& by, const cell_access& now, bool writes) {
  const operation what = writes ? operation::write : operation::read;
  atomic_locations& locations = history_.locations();
  const object_number number = now.checked.location();
  location& at = locations[number];
  conflicts_.check_strong_writes(by, now, what, at);
  if (!writes) return;
  log_.note_plain_write(by, now.in, now.address);
  // The atomic reads of a split cell are not among those of its bytes.
  if (now.checked.write.has(cell::is_split)) {
    conflicts_.check_reads(by, now, what, now.checked.read);
    if (now.mask == whole_cell) history_.drop_reads(now.checked.read);
  }
  carry_plain_write(by, now);
}

void atomic_access_check::carry_plain_write(const thread_state& by, const cell_access& now) {
  atomic_locations& locations = history_.locations();
  const object_number number = now.checked.location();
  location& at = locations[number];
  locations.forget_writes(at, locations.last_seen(now.in, now.address, at), now.mask);
  locations.use_messages(
      number, [&](message& carries) { clocks_.weak_write(blocks_.running(), by, carries); });
  at.last = cell_record(cell_record::stamp_of(by), now.record.place(), 0);
  forget_earlier(now.in, now.address, at);
  if (older_loads::active) {
    older_.forget(locations.last_seen(now.in, now.address, at).location);
  }
  // A volatile write says so itself, when it is done.
  if (!now.record.was_volatile()) {
    cpu_backend::scheduled::written_weakly(now.address, bytes_of_cell);
  }
}

void atomic_access_check::forget_earlier(const region& in, const std::byte* address,
                                         const location& at) {
  if (!cpu_backend::scheduled::runs_by_decisions()) return;  // Then nothing is kept.
  earlier_.forget(history_.locations().last_seen(in, address, at).location);
}

// How many writes a load that comes now is older than. It gets the newest value of a word that is
// accessed in two sizes, or has been written plainly: what is read there without order is a race.
unsigned atomic_access_check::pass_writes(const thread_state& by, region& in,
                                          const std::byte* address, std::size_t bytes) {
  if (!older_loads::active) return 0;
  const access_shape shape(bytes, offset_in_cell(address));
  atomic_locations& locations = history_.locations();
  for (const std::byte* each = address; each < address + bytes; each += bytes_of_cell) {
    cell& whole = in.cell_at(each);
    const location& at = locations[history_.make_location(in, whole, shape)];
    if (at.has_two_shapes || at.shape != shape || whole.write.has(cell::is_split)) return 0;
    const cell_record written = at.weak_write;
    if (written.access_epoch() >= clocks_.launch_start() && !written.was_volatile()) return 0;
  }
  unsigned passed = 0;
  locations.use_message(in.cell_at(address).location(), shape, [&](const message& last) {
    passed =
        older_.pass_writes(blocks_.running(), by, last, const_cast<std::byte*>(address), bytes);
  });
  // A thread that waits reads again, and must not count as one that waits in vain.
  if (passed != 0) cpu_backend::scheduled::memory_changed();
  return passed;
}

void atomic_access_check::check_weak_accesses(const thread_state& by, const cell_access& now,
                                              operation what) {
  cell& whole = now.checked;
  const auto check_reads = [&](cell_record reads) {
    if (!writes(what)) return;
    const std::uint64_t races = conflicts_.races();
    conflicts_.check_reads(by, now, what, reads);
    if (conflicts_.races() != races) [[unlikely]]
      conflicts_.note_update(by, now, what, reads);
  };
  if (!whole.write.has(cell::is_split) && now.mask == whole_cell) {
    conflicts_.check_weak_write(by, now, what, history_.weak_write_of(whole));
    check_reads(whole.read);
    return;
  }
  const split_cell& bytes = history_.split(now.in, whole);
  for (std::size_t byte = 0; byte < bytes_of_cell; ++byte) {
    if (!(now.mask >> byte & 1)) continue;
    const cell one = history_.records_of_byte(bytes, byte);
    conflicts_.check_weak_write(by, now, what, one.write);
    check_reads(one.read);
  }
  check_reads(whole.read);
}

void atomic_access_check::check(thread_state& by, region& in,
                                const cpu_backend::observer::atomic_operation& done,
                                place_index place) {
  const operation what = operation_of(done.kind);
  const bool reads = what != operation::atomic_store;
  const bool stores = writes(what);
  block_state& block = blocks_.running();
  atomic_locations& locations = history_.locations();
  const access_shape shape(done.bytes, offset_in_cell(done.address));
  const cell_record made(cell_record::stamp_of(by), place,
                         cell_record::marks_of_atomic(shape, done.within));
  // What the operation carries is the first cell's.
  const object_number first = history_.make_location(in, in.cell_at(done.address), shape);
  const std::optional<unsigned> decided = cpu_backend::scheduled::decided_write();
  const unsigned passed = std::exchange(passed_, 0);
  const auto read_now = [&] {
    locations.use_message(first, shape, [&](const message& carries) {
      const unsigned later = decided ? earlier_.writes_after(carries, *decided) : 0;
      if (later != 0) clocks_.stop_noting();
      if (later != 0 && !stores) log_.note_passed(later);
      const message& read = decided ? earlier_.read(carries, *decided) : carries;
      clocks_.strong_read(block, by, read, done.within, done.acquires, stores, passed);
    });
  };
  // An operation that acquires, or that reads and writes as one, is itself after what it has seen.
  const bool is_after_what_it_reads = done.acquires || stores;
  if (reads && is_after_what_it_reads) read_now();

  observation written;
  const std::byte* const end = done.address + done.bytes;
  for (const std::byte* address = done.address; address < end;) {
    cell& whole = in.cell_at(address);
    const object_number number = history_.make_location(in, whole, shape);
    location& at = locations[number];
    const cell_access now{in, whole, address, made, shape.mask(), done.address, done.bytes};
    check_weak_accesses(by, now, what);
    conflicts_.check_strong_writes(by, now, what, at);

    const strong_record before{at.last, locations.last_seen(in, address, at)};
    if (number == first) {
      if (reads && !is_after_what_it_reads) read_now();
      if (stores) {
        locations.use_message(first, shape, [&](message& carries) {
          const auto write_now = [&](message& of) {
            clocks_.strong_write(block, by, of, done.within, done.releases, reads);
          };
          if (decided) {
            earlier_.add(carries, *decided, write_now);
          } else {
            write_now(carries);
          }
          written = carries.last_write();
          if (older_loads::active) older_.written(carries, made);
        });
      }
    }
    if (stores) {
      whole.write.mark(now.mask);
      locations.keep_write(at, before, {made, written});
      if (now.mask == whole_cell) history_.note_write(whole, by, place);
    } else {
      history_.keep_read(block, by, in, made, whole.read);
    }
    address += bytes_of_cell - offset_in_cell(address);
  }
}

bool check_initialization(finding_collection& findings, const thread_state& by, region& in,
                          const std::byte* address, std::size_t bytes, place_number place) {
  const std::byte* const end = address + bytes;
  // Some of the bytes, with others: a structure's padding is read with its members.
  const auto is_unwritten = [&](const std::byte& byte) { return in.has_unwritten(&byte, 1); };
  static const bool explores = cpu_backend::scheduled::runs_by_decisions();
  if (explores && in.has_unwritten(address, bytes) && !std::all_of(address, end, is_unwritten)) {
    cpu_backend::scheduled::used("memory", "partly_unwritten", instruction_at(place));
  }
  const auto is_marked = [&](const std::byte& byte) {
    return (in.cell_at(&byte).write.marks() >> offset_in_cell(&byte) & 1) != 0;
  };
  if (std::any_of(address, end, is_marked)) return false;
  const auto first = static_cast<std::size_t>(address - in.begin);
  const bool by_host = std::any_of(
      in.written_by_host.begin(), in.written_by_host.end(),
      [&](const auto& range) { return first < range.second && first + bytes > range.first; });
  for (const std::byte* byte = address; byte < end; ++byte) {
    in.cell_at(byte).write.mark(1u << offset_in_cell(byte));  // once is enough
  }
  if (!by_host) {
    findings.add_misuse(mistake::unwritten_read, by.name, place, operation::read,
                        {&in, address, bytes, {}});
  }
  return !by_host;
}

// What nearly all accesses are: of whole cells, which hold one read and one write, and both are
// before what `by` does now. The functions return false, and have changed nothing, where there is
// more to do.
inline bool plain_access_check::is_after_all_of(const thread_state& by, epoch known_start,
                                                std::uint64_t stamp, const cell& of) const {
  const auto is_ordered = [&](cell_record other) {
    return other.has_stamp(stamp) || other.access_epoch() < known_start ||
           is_before(clocks_, blocks_.running(), by, other);
  };
  if (of.write.has(cell::is_split | cell::has_location) || of.read.has(cell::has_reads)) {
    return false;
  }
  return is_ordered(of.read) && is_ordered(of.write);
}

inline bool plain_access_check::read_whole_cell(const thread_state& by, epoch known_start,
                                                std::uint64_t stamp, place_index place, cell& of) {
  if (!is_after_all_of(by, known_start, stamp, of)) return false;
  of.read = cell_record(stamp, place, 0);
  return true;
}

inline bool plain_access_check::write_whole_cell(const thread_state& by, epoch known_start,
                                                 std::uint64_t stamp, place_index place, cell& of) {
  if (!is_after_all_of(by, known_start, stamp, of)) return false;
  // What is after this write is after all that the write itself is after.
  of.read = {};
  of.write = cell_record(stamp, place, cell::written_bytes);
  return true;
}

bool plain_access_check::check(std::span<const logged_access> logged) {
  const epoch known_start = clocks_.known_start();
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
      now.in->was_written = true;
      for (; done && at != end; ++at)
        done = write_whole_cell(by, known_start, stamp, now.place, *at);
    } else {
      done &= !now.in->starts_unwritten || at->write.has(1) || now.is_copy;
      for (; done && at != end; ++at)
        done = read_whole_cell(by, known_start, stamp, now.place, *at);
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
    const cell_record made(cell_record::stamp_of(*now.thread), now.place, 0);
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
  of.in->was_written |= of.writes;
  thread_state& by = *of.thread;
  region& in = *of.in;
  if (!of.writes && in.starts_unwritten && !of.is_copy) {
    check_initialization(findings_, by, in, of.address, of.bytes, place_at(of.place));
  }
  const cell_record made(cell_record::stamp_of(by), of.place, marks);
  const std::byte* const end = of.address + of.bytes;
  for (const std::byte* address = of.address; address < end;) {
    const std::size_t offset = offset_in_cell(address);
    const std::size_t here =
        std::min(bytes_of_cell - offset, static_cast<std::size_t>(end - address));
    const unsigned mask = ((1u << here) - 1) << offset;
    cell& whole = in.cell_at(address);
    history_.forget_earlier_launch(whole, true);
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
    if (of.writes && mask == whole_cell && whole.location() != 0) {
      history_.note_write(whole, by, of.place);
    }
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
