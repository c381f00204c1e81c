// SPDX-License-Identifier: MIT
#include "racecheck/races/atomic_access_check.hpp"

#include <optional>
#include <utility>

#include "cpu_backend/scheduled.hpp"

namespace racecheck {

void atomic_access_check::carry_volatile(thread_state& by, region& in, const std::byte* address,
                                         std::size_t bytes, site_number site, bool writes) {
  const access_shape shape(bytes, offset_in_cell(address));
  atomic_locations& locations = history_.locations();
  const object_number at = history_.make_location(in, in.cell_at(address), shape);
  const cell_record made(cell_record::stamp_of(by), site, cell_record::is_volatile);
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
  at.last = cell_record(cell_record::stamp_of(by), now.record.site(), 0);
  forget_earlier(now.in, now.address, at);
  if (older_loads::active) {
    older_.forget(locations.last_seen(now.in, now.address, at).location);
  }
  // Of a volatile write it is said when it is done.
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
  // Whoever waits looks again, and must not count as one that waits in vain.
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
                                site_number site) {
  const operation what = operation_of(done.kind);
  const bool reads = what != operation::atomic_store;
  const bool stores = writes(what);
  block_state& block = blocks_.running();
  atomic_locations& locations = history_.locations();
  const access_shape shape(done.bytes, offset_in_cell(done.address));
  const cell_record made(cell_record::stamp_of(by), site,
                         cell_record::marks_of_atomic(shape, done.within));
  // What the operation carries is the first cell's.
  const object_number first = history_.make_location(in, in.cell_at(done.address), shape);
  const std::optional<unsigned> decided = cpu_backend::scheduled::decided_write();
  const unsigned passed = std::exchange(passed_, 0);
  const auto read_now = [&] {
    locations.use_message(first, shape, [&](const message& carries) {
      if (decided && !earlier_.is_last(carries, *decided)) clocks_.stop_noting();
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
    } else {
      history_.keep_read(block, by, in, made, whole.read);
    }
    address += bytes_of_cell - offset_in_cell(address);
  }
}

}  // namespace racecheck
