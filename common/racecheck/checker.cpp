// SPDX-License-Identifier: MIT
#include "racecheck/checker.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>

#include "racecheck/places.hpp"

namespace racecheck {
namespace {

constexpr unsigned whole_cell = 0xf;

// How far past its end an access is still taken for one of the variable.
constexpr std::size_t past_a_shared_variable = 4096;
constexpr std::size_t most_shared_bytes = 227 * 1024;

uint3 index_of(std::uint64_t number, const dim3& size) {
  const std::uint64_t row = number / size.x;
  return {static_cast<unsigned>(number % size.x), static_cast<unsigned>(row % size.y),
          static_cast<unsigned>(row / size.y)};
}

unsigned offset_in_cell(const std::byte* address) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(address) % bytes_of_cell);
}

// Sets of reads may take this and 12 bytes for each byte of memory: with its cells, which take 4,
// that makes 16.
constexpr std::size_t few_bytes_of_read_sets = std::size_t{64} << 20;

constexpr unsigned number_of(scope within) { return within == scope::device ? 0 : 1; }

}  // namespace

checker& checker::instance() {
  // Never destroyed: it reports after main().
  static checker& the_checker = *new checker;
  return the_checker;
}

// ---- Launches and blocks

void checker::launch_begins(const cpu_backend::observer::launch& now) {
  ++launches_;
  launch_runs_ = true;
  grid_size_ = now.blocks;
  block_size_ = now.threads;
  witnesses_.clear();
  const std::size_t most_bytes = few_bytes_of_read_sets + 12 * memory_.bytes();
  // All of them, whatever one of them says.
  if (clocks_.begin_launch() | read_sets_.begin_launch(most_bytes) | locations_.begin_launch() |
      extensions_.begin_launch() | details_.begin_launch() | split_cells_.begin_launch() |
      records_of_bytes_.begin_launch()) {
    memory_.forget_accesses();
  }
  memory_.shared_memory_changed();
}

void checker::launch_ends(bool failed) {
  failed_launches_ += failed;
  launch_runs_ = false;
  for (auto& [number, block] : blocks_) forget_block_memory(block);
  blocks_.clear();
  block_ = nullptr;
}

void checker::block_begins(const cpu_backend::observer::block& begun) {
  resident_block& block = blocks_[begun.multiprocessor];
  forget_block_memory(block);
  block.index = begun.index;
  block.seen = nullptr;
  clocks_.begin_block(block.clocks, static_cast<std::uint32_t>(begun.number),
                      block_size_.x * block_size_.y * block_size_.z);
  if (begun.dynamic_shared_bytes != 0) {
    region& dynamic = block.shared_memory.emplace_back();
    dynamic.begin = begun.dynamic_shared_memory;
    dynamic.bytes = begun.dynamic_shared_bytes;
    dynamic.what = region::kind::dynamic_shared;
    dynamic.starts_unwritten = true;
    dynamic.surrounding_bytes = most_shared_bytes - dynamic.bytes;
    shadow_memory::give_cells(dynamic);
    memory_.shared_memory_changed();
  }
}

void checker::block_ends() {
  forget_block_memory(*block_);
  memory_.use_shared_memory_of(nullptr);
}

void checker::block_runs(unsigned multiprocessor) {
  block_ = &blocks_[multiprocessor];
  memory_.use_shared_memory_of(&block_->shared_memory);
}

void checker::forget_block_memory(resident_block& of) {
  for (region& each : of.shared_memory) {
    for (std::size_t i = 0; each.has_marked_cells && i < each.cell_count; ++i) {
      forget_all(each.cells[i]);
    }
    shadow_memory::take_cells(each);
  }
  of.shared_memory.clear();
  memory_.shared_memory_changed();
}

void checker::shared_variable_appears(const cpu_backend::observer::shared_variable& variable) {
  region& appeared = block_->shared_memory.emplace_back();
  appeared.begin = variable.address;
  appeared.bytes = variable.bytes;
  appeared.what = region::kind::shared;
  appeared.name = variable.name;
  appeared.type = variable.type;
  appeared.starts_unwritten = true;
  appeared.surrounding_bytes = past_a_shared_variable;
  shadow_memory::give_cells(appeared);
  memory_.shared_memory_changed();
}

// ---- Synchronisation

void checker::barrier_arrives(thread_state& by, bool orders_memory) {
  block_->clocks.arrived.push_back(by.name.rank);
  block_->barrier_orders_memory = orders_memory;
}

void checker::barrier_opens() {
  if (block_->barrier_orders_memory) clocks_.barrier(block_->clocks);
  block_->clocks.arrived.clear();
}

void checker::lanes_meet(unsigned first_rank, unsigned lanes) {
  clocks_.warp_barrier(block_->clocks, first_rank, lanes);
}

void checker::grid_barrier_arrives(thread_state& by) {
  clocks_.grid_barrier_arrives(block_->clocks, by);
}

void checker::grid_barrier_passes(thread_state& by) {
  clocks_.grid_barrier_passes(block_->clocks, by);
}

void checker::fenced(thread_state& by, scope within, bool sequentially_consistent) {
  clocks_.fence(block_->clocks, by, within, sequentially_consistent);
}

// ---- Cells

access_record checker::record(cell_record of) const {
  return {of.at(),
          {clocks_.block_of(of.at()), of.rank()},
          plain_accesses.place_of(of.site()),
          of.was_volatile()};
}

void checker::forget_earlier_launch(cell& of) {
  const bool is_earlier = of.write.has(cell::has_location) ? !locations_.has(of.write.number())
                          : of.write.has(cell::is_split)   ? !split_cells_.has(of.write.number())
                                                           : false;
  if (is_earlier) of.write = cell_record::of_number(0, of.write.marks() & cell::written_bytes);
}

void checker::forget_all(cell& of) {
  forget_earlier_launch(of);
  drop_reads(of.read);
  if (of.write.has(cell::is_split)) {
    const object_number number = weak_write_of(of).number();
    const split_cell bytes = split_cells_[number];
    if (bytes.reads != 0) {
      for (cell_record& each : records_of_bytes_[bytes.reads]) drop_reads(each);
      records_of_bytes_.remove(bytes.reads);
    }
    if (bytes.writes != 0) records_of_bytes_.remove(bytes.writes);
    split_cells_.remove(number);
  }
  if (const object_number at = location_of(of)) {
    if (const object_number extension = locations_[at].extension) {
      if (extensions_[extension].details != 0) details_.remove(extensions_[extension].details);
      extensions_.remove(extension);
    }
    locations_.remove(at);
  }
  of.write = {};
}

cell_record& checker::weak_write_of(cell& of) {
  const object_number at = location_of(of);
  return at != 0 ? locations_[at].weak_write : of.write;
}

// From here on each byte has records of its own, which begin as those of all.
split_cell& checker::split(region& in, cell& whole) {
  cell_record& write = weak_write_of(whole);
  if (whole.write.has(cell::is_split)) return split_cells_[write.number()];
  in.has_marked_cells = true;
  const object_number number = split_cells_.add();
  split_cell& bytes = split_cells_[number];
  const auto give_all = [&](object_number& to, cell_record record) {
    to = records_of_bytes_.add();
    records_of_bytes_[to].fill(record);
  };
  if (write.at() >= clocks_.launch_start()) {
    cell_record each = write;
    each.unmark(cell::written_bytes);
    give_all(bytes.writes, each);
  }
  if (has_reads(whole.read)) {
    read_sets_.share(whole.read.number(), bytes_of_cell - 1);
    give_all(bytes.reads, whole.read);
  } else if (!whole.read.has(cell::has_reads) && whole.read.at() >= clocks_.launch_start()) {
    give_all(bytes.reads, whole.read);
  }
  whole.read = {};
  write = cell_record::of_number(number, write.marks() & cell::written_bytes);
  whole.write.mark(cell::is_split);
  return bytes;
}

cell checker::bytes_cell(const split_cell& of, std::size_t byte) const {
  cell one;
  if (of.writes != 0) one.write = records_of_bytes_[of.writes][byte];
  if (of.reads != 0) one.read = records_of_bytes_[of.reads][byte];
  return one;
}

void checker::use_byte(thread_state& by, const access& now, bool writes, std::size_t byte) {
  split_cell& bytes = split(now.in, now.checked);
  cell one = bytes_cell(bytes, byte);
  use_cell(by, now, writes, one.write, one.read);
  const auto keep = [&](object_number& all, cell_record changed) {
    if (all == 0 && changed == cell_record{}) return;
    if (all == 0) all = records_of_bytes_.add();
    records_of_bytes_[all][byte] = changed;
  };
  keep(bytes.writes, one.write);
  keep(bytes.reads, one.read);
  if (writes && bytes.reads != 0 && records_of_bytes_[bytes.reads] == records_of_bytes{}) {
    records_of_bytes_.remove(bytes.reads);
    bytes.reads = 0;
  }
}

// ---- Plain accesses

// Whether the cell holds one read and one write, and both are before what `by` does now.
inline bool checker::is_after_all_of(const thread_state& by, std::uint64_t stamp,
                                     const cell& of) const {
  const cell_record last = of.read;
  if (of.write.has(cell::is_split | cell::has_location) || last.has(cell::has_reads)) return false;
  if (!last.has_stamp(stamp) && !before(by, last)) return false;
  return of.write.has_stamp(stamp) || before(by, of.write);
}

// What nearly all accesses are: of whole cells, which hold one read and one write, and these are
// ordered. Returns false, and has changed nothing, where there is more to do.
inline bool checker::read_whole_cell(const thread_state& by, std::uint64_t stamp, site_number site,
                                     cell& of) {
  if (!is_after_all_of(by, stamp, of)) return false;
  of.read = cell_record(stamp, site, 0);
  return true;
}

inline bool checker::write_whole_cell(const thread_state& by, std::uint64_t stamp, site_number site,
                                      cell& of) {
  if (!is_after_all_of(by, stamp, of)) return false;
  // What is after this write is after all that the write itself is after.
  of.read = {};
  of.write = cell_record(stamp, site, cell::written_bytes);
  return true;
}

bool checker::check(std::span<const logged_access> logged) {
  accesses_ += logged.size();
  bool writes = false;
  for (const logged_access& now : logged) {
    thread_state& by = *now.by;
    const std::uint64_t stamp = cell_record::stamp_of(by);
    writes |= now.writes;
    const auto bits = reinterpret_cast<std::uintptr_t>(now.address) | now.bytes;
    cell* at = &now.in->cell_at(now.address);
    bool done = bits % bytes_of_cell == 0 && now.in->is_in_one_row(now.address, now.bytes);
    const cell* const end = at + now.bytes / bytes_of_cell;
    if (now.writes) {
      for (; done && at != end; ++at) done = write_whole_cell(by, stamp, now.site, *at);
    } else {
      done &= !now.in->starts_unwritten || at->write.has(1);
      for (; done && at != end; ++at) done = read_whole_cell(by, stamp, now.site, *at);
    }
    // It does no harm to cells that are done already: the same access once more.
    if (!done) [[unlikely]]
      check_cells(by, now, 0);
  }
  return writes;
}

void checker::check_cells(thread_state& by, const logged_access& of, unsigned marks) {
  region& in = *of.in;
  if (!of.writes && in.starts_unwritten) {
    check_written(by, in, of.address, of.bytes, plain_accesses.place_of(of.site));
  }
  const cell_record made(cell_record::stamp_of(by), of.site, marks);
  const std::byte* const end = of.address + of.bytes;
  for (const std::byte* address = of.address; address < end;) {
    const std::size_t offset = offset_in_cell(address);
    const std::size_t here =
        std::min(bytes_of_cell - offset, static_cast<std::size_t>(end - address));
    const unsigned mask = ((1u << here) - 1) << offset;
    cell& whole = in.cell_at(address);
    forget_earlier_launch(whole);
    const access now{in, whole, address, made, mask};
    if (location_of(whole) != 0) use_atomics(by, now, of.writes);
    if (mask == whole_cell && !whole.write.has(cell::is_split)) {
      use_cell(by, now, of.writes, weak_write_of(whole), whole.read);
    } else {
      for (std::size_t byte = offset; byte < offset + here; ++byte) {
        use_byte(by, {in, whole, address, made, 1u << byte}, of.writes, byte);
      }
    }
    if (of.writes) whole.write.mark(mask);
    address += here;
  }
}

void checker::use_cell(thread_state& by, const access& now, bool writes, cell_record& write,
                       cell_record& read) {
  const operation what = writes ? operation::write : operation::read;
  if (!before(by, write)) [[unlikely]] {
    race(by, now, describe(write, operation::write), write.at(), describe(now.made, what));
  }
  if (!writes) {
    keep_read(by, now.in, now.made, read);
    return;
  }
  // What is after this write is after all that the write itself is after, so what was done to the
  // cell before is forgotten.
  if (read.has(cell::has_reads) || !before(by, read)) check_reads(by, now, read, what);
  drop_reads(read);
  const unsigned marks_of_cell = write.marks() & cell::written_bytes;
  write = now.made;
  write.mark(marks_of_cell);
}

bool checker::outside_any_region(thread_state& by, const std::byte* address, std::size_t bytes,
                                 place_number place, operation what) {
  const region* near = memory_.find_surrounding(address);
  if (!near) return false;
  if (!near->holds(address)) outside(by, address, bytes, place, what);
  return true;
}

// For the race test a volatile access is like any other. But it can carry synchronisation, as a
// relaxed atomic of the whole system.
bool checker::volatile_access(thread_state& by, const std::byte* address, std::size_t bytes,
                              site_number site, bool stores) {
  const operation what = stores ? operation::write : operation::read;
  region* in = memory_.find(address);
  if (!in) {
    outside_any_region(by, address, bytes, plain_accesses.place_of(site), what);
    return false;
  }
  ++accesses_;
  const auto left = in->bytes - static_cast<std::size_t>(address - in->begin);
  if (bytes > left) {
    outside(by, address, bytes, plain_accesses.place_of(site), what);
    bytes = left;
  }
  check_cells(by, {&by, address, in, bytes, site, stores}, cell_record::is_volatile);
  const access_shape shape(bytes, offset_in_cell(address));
  const object_number at = make_location(*in, in->cell_at(address), shape);
  const cell_record made(cell_record::stamp_of(by), site, cell_record::is_volatile);
  use_message(at, shape, [&](message& carries) {
    if (stores) {
      clocks_.strong_write(block_->clocks, by, carries, scope::device, false, false);
    } else {
      clocks_.strong_read(block_->clocks, by, carries, scope::device, false, false);
    }
  });
  if (stores && locations_[at].shape == shape) locations_[at].last = made;
  return stores;
}

void checker::drop_reads(cell_record& read) {
  if (has_reads(read)) read_sets_.drop(read.number());
  read = {};
}

void checker::keep_read(const thread_state& by, region& in, cell_record made, cell_record& read) {
  const auto is_of_launch = [&] { return read.at() >= clocks_.launch_start(); };
  // What races with an atomic read races with a plain one as well, but not the other way round.
  const auto may_replace = [&] {
    return (!made.has(cell_record::is_atomic) || made.marks() == read.marks()) && before(by, read);
  };
  if (has_reads(read)) {
    read = read_sets_.add(read, 0, made, by.name.block);
  } else if (read.has(cell::has_reads) || !is_of_launch() || may_replace()) {
    read = made;
  } else {
    in.has_marked_cells = true;
    read = read_sets_.add(read, clocks_.block_of(read.at()), made, by.name.block);
  }
}

void checker::check_reads(thread_state& by, const access& now, cell_record read, operation what) {
  const auto check = [&](cell_record each, std::uint32_t block) {
    const bool is_atomic = each.has(cell_record::is_atomic);
    if (is_atomic && !(each.shape().mask() & now.mask)) return;
    if (is_morally_strong(by, now.made, each)) return;
    if (before(by, {block, each.rank()}, each.at())) return;
    race(by, now, describe(each, is_atomic ? operation::atomic_load : operation::read), each.at(),
         describe(now.made, what));
  };
  if (has_reads(read)) {
    // Threads that wait for a flag have all read it like this.
    const unsigned marks = now.made.marks();
    if (now.made.has(cell_record::is_atomic) && now.made.within() == scope::device &&
        read_sets_.all_have(read.number(), marks)) {
      return;
    }
    read_sets_.each_group(read.number(), [&](const read_group& group) {
      if (by.name.block == group.block && group.first.at() <= block_->clocks.floor) return;
      for (std::uint64_t left = group.ranks; left != 0; left &= left - 1) {
        const auto nth = static_cast<unsigned>(std::countr_zero(left));
        check(group.first.with_rank(group.first.rank() + nth), group.block);
      }
    });
  } else if (!read.has(cell::has_reads) && !before(by, read)) {
    check(read, clocks_.block_of(read.at()));
  }
}

// ---- Atomics

object_number checker::make_location(region& in, cell& of, access_shape shape) {
  forget_earlier_launch(of);
  if (const object_number known = location_of(of)) return known;
  const object_number made = locations_.add();
  if (locations_.index_of(made) >> (32 - access_shape::bits) != 0) {
    std::fputs("racecheck: one launch uses more than 2^28 words by atomics\n", stderr);
    std::exit(1);
  }
  in.has_marked_cells = true;
  location& at = locations_[made];
  at.shape = shape;
  at.weak_write = of.write;
  at.weak_write.unmark(cell::written_bytes | cell::is_split);
  of.write =
      cell_record::of_number(made, of.write.marks() & (cell::written_bytes | cell::is_split));
  of.write.mark(cell::has_location);
  return made;
}

location_extension& checker::extension_of(location& of) {
  if (of.extension == 0) of.extension = extensions_.add();
  return extensions_[of.extension];
}

location_details& checker::details_of(location& of) {
  object_number& number = extension_of(of).details;
  if (number == 0) number = details_.add();
  return details_[number];
}

location_details* checker::find_details(const location& of) {
  if (of.extension == 0) return nullptr;
  const object_number number = extensions_[of.extension].details;
  return number == 0 ? nullptr : &details_[number];
}

std::uint32_t checker::message_number(object_number at, access_shape shape) const {
  return locations_.index_of(at) << access_shape::bits | shape.code();
}

// The usual message has all of its parts in its location.
template <class Use>
void checker::use_message(object_number number, access_shape shape, Use use) {
  location& at = locations_[number];
  if (shape != at.shape) {
    at.has_two_shapes = true;
    auto& others = details_of(at).messages;
    auto found = std::find_if(others.begin(), others.end(),
                              [&](const auto& each) { return each.first == shape; });
    if (found == others.end()) {
      found = others.emplace(found, shape, message{});
      found->second.location = message_number(number, shape);
    }
    use(found->second);
    return;
  }
  message carries;
  carries.location = message_number(number, shape);
  carries.chain = at.chain;
  carries.position = at.position;
  carries.written = at.chain != 0;
  if (carries.written) {
    carries.strong = at.last.marks() != 0;
    carries.within = at.last.has(cell_record::is_atomic) ? at.last.within() : scope::device;
    carries.writer = {clocks_.block_of(at.last.at()), at.last.rank()};
  }
  if (location_details* more = find_details(at)) carries.in = std::move(more->handed_over);
  use(carries);
  at.chain = carries.chain;
  at.position = carries.position;
  if (carries.in) details_of(at).handed_over = std::move(carries.in);
}

// What has to be seen to have seen the last strong write of a location. Of an atomic that takes
// several cells the first one's location knows.
observation checker::last_seen(const access& now, const location& at) const {
  const std::size_t bytes = std::max(at.shape.bytes(), bytes_of_cell);
  const std::byte* const first =
      now.address - reinterpret_cast<std::uintptr_t>(now.address) % bytes;
  return {message_number(location_of(now.in.cell_at(first)), at.shape), at.chain, at.position};
}

bool checker::is_morally_strong(const thread_state& by, cell_record made, cell_record other) const {
  if (!made.has(cell_record::is_atomic) || !other.has(cell_record::is_atomic)) return false;
  if (made.shape() != other.shape()) return false;
  return (made.within() == scope::device && other.within() == scope::device) ||
         clocks_.block_of(other.at()) == by.name.block;
}

void checker::check_strong_writes(thread_state& by, const access& now, const location& at,
                                  operation what) {
  const known& knows = clocks_.strict_knowledge(block_->clocks, by).now;
  const auto check = [&](const strong_record& each) {
    if (!(each.done.shape().mask() & now.mask) || is_morally_strong(by, now.made, each.done) ||
        before(by, each.done) || knows.observed.has_observed(each.seen)) {
      return;
    }
    race(by, now, describe(each.done, operation::atomic_update), each.done.at(),
         describe(now.made, what));
  };
  if (at.last.has(cell_record::is_atomic)) check({at.last, last_seen(now, at)});
  if (at.extension == 0) return;
  const location_extension& extension = extensions_[at.extension];
  if (extension.last_of_another_block.has(cell_record::is_atomic)) {
    observation seen = last_seen(now, at);
    seen.position = extension.position;
    check({extension.last_of_another_block, seen});
  }
  if (extension.details == 0) return;
  const location_details& more = details_[extension.details];
  // Two atomics of one shape at device scope never race, nor do two of one block.
  const bool of_one_shape =
      now.made.has(cell_record::is_atomic) && !at.has_two_shapes && now.made.shape() == at.shape;
  if (!of_one_shape || now.made.within() != scope::device) {
    for (const auto& [key, each] : more.earlier[number_of(scope::device)]) check(each);
  }
  if (!of_one_shape || more.has_two_blocks || more.block != by.name.block) {
    for (const auto& [key, each] : more.earlier[number_of(scope::block)]) check(each);
  }
}

// `before`: what the location's last write was before.
void checker::keep_strong_write(location& at, const strong_record& before,
                                const strong_record& made) {
  if (made.done.shape() != at.shape) {
    at.has_two_shapes = true;
    keep_besides(at, made);
    return;
  }
  if (before.done.has(cell_record::is_atomic)) {
    const bool same_scope = before.done.within() == made.done.within();
    const bool same_block = clocks_.block_of(before.done.at()) == clocks_.block_of(made.done.at());
    if (!same_scope || before.seen.chain != made.seen.chain) {
      // A thread's store stands for its earlier ones, and for what these had seen.
      const bool same_thread = same_block && before.done.rank() == made.done.rank();
      if (!same_scope || !same_thread) keep_besides(at, before);
      forget_last_of_another_block(at);
    } else if (!same_block) {
      location_extension& extension = extension_of(at);
      extension.last_of_another_block = before.done;
      extension.position = before.seen.position;
    }
  }
  at.last = made.done;
  at.chain = made.seen.chain;
  at.position = made.seen.position;
}

// The location's chain, which ends with `last`, is not the last one any more.
void checker::keep_besides(location& at, const strong_record& last) {
  location_details& more = details_of(at);
  const auto keep = [&](const strong_record& kept) {
    const thread_name thread{clocks_.block_of(kept.done.at()), kept.done.rank()};
    strong_records& all = more.earlier[number_of(kept.done.within())];
    if (kept.done.within() == scope::block) {
      if (all.empty()) {
        more.block = thread.block;
        more.has_two_blocks = false;
      }
      more.has_two_blocks |= more.block != thread.block;
    }
    all.insert_or_assign(thread.key() << access_shape::bits | kept.done.shape().code(), kept);
  };
  keep(last);
  const location_extension& extension = extensions_[at.extension];
  if (last.done.shape() != at.shape || !extension.last_of_another_block.has(cell_record::is_atomic))
    return;
  observation seen = last.seen;
  seen.position = extension.position;
  keep({extension.last_of_another_block, seen});
}

void checker::forget_last_of_another_block(location& at) {
  if (at.extension != 0) extensions_[at.extension].last_of_another_block = {};
}

// A plain write of all bytes that an atomic wrote takes its place.
void checker::forget_strong_writes(const access& now, location& at) {
  const auto is_covered = [&](cell_record done) { return !(done.shape().mask() & ~now.mask); };
  if (at.last.has(cell_record::is_atomic) && !is_covered(at.last)) {
    keep_besides(at, {at.last, last_seen(now, at)});
  }
  forget_last_of_another_block(at);
  if (location_details* more = find_details(at)) {
    for (strong_records& each : more->earlier) {
      std::erase_if(each, [&](const auto& record) { return is_covered(record.second.done); });
    }
  }
}

// A plain or volatile access of a cell that atomics have used.
void checker::use_atomics(thread_state& by, const access& now, bool writes) {
  const operation what = writes ? operation::write : operation::read;
  const object_number number = location_of(now.checked);
  location& at = locations_[number];
  check_strong_writes(by, now, at, what);
  if (!writes) return;
  // The atomic reads of a split cell are not among those of its bytes.
  if (now.checked.write.has(cell::is_split)) {
    check_reads(by, now, now.checked.read, what);
    if (now.mask == whole_cell) drop_reads(now.checked.read);
  }
  forget_strong_writes(now, at);
  if (location_details* more = find_details(at)) {
    for (auto& [shape, carries] : more->messages) {
      clocks_.weak_write(block_->clocks, by, carries);
    }
  }
  use_message(number, at.shape,
              [&](message& carries) { clocks_.weak_write(block_->clocks, by, carries); });
  at.last = cell_record(cell_record::stamp_of(by), now.made.site(), 0);
}

void checker::atomic_done(thread_state& by, const cpu_backend::observer::atomic_operation& done,
                          place_number place) {
  region* in = memory_.find(done.address);
  const bool reads = done.kind != cpu_backend::observer::access::store;
  const bool stores = done.kind != cpu_backend::observer::access::load;
  const operation what = !stores  ? operation::atomic_load
                         : !reads ? operation::atomic_store
                                  : operation::atomic_update;
  if (!in) {
    outside_any_region(by, done.address, done.bytes, place, what);
    return;
  }
  ++accesses_;
  if (reads && in->starts_unwritten) check_written(by, *in, done.address, done.bytes, place);
  if (!block_->seen) block_->seen = &witnesses_[by.name.block];
  if (stores) block_->seen->released = {true, by.name.rank, place};
  if (reads) block_->seen->acquired = {true, by.name.rank, place};

  const access_shape shape(done.bytes, offset_in_cell(done.address));
  const cell_record made(cell_record::stamp_of(by), plain_accesses.number_of(place),
                         cell_record::marks_of_atomic(shape, done.within));
  // What the operation carries is the first cell's.
  const object_number first = make_location(*in, in->cell_at(done.address), shape);
  const auto read_now = [&] {
    use_message(first, shape, [&](const message& carries) {
      clocks_.strong_read(block_->clocks, by, carries, done.within, done.acquires, stores);
    });
  };
  // An operation that acquires, or that reads and writes as one, is itself after what it has seen.
  const bool is_after_what_it_reads = done.acquires || stores;
  if (reads && is_after_what_it_reads) read_now();

  observation written;
  const std::byte* const end = done.address + done.bytes;
  for (const std::byte* address = done.address; address < end;) {
    cell& whole = in->cell_at(address);
    const object_number number = make_location(*in, whole, shape);
    location& at = locations_[number];
    const access now{*in, whole, address, made, shape.mask()};
    const auto check_weak = [&](cell_record write, cell_record read) {
      if (!before(by, write)) {
        race(by, now, describe(write, operation::write), write.at(), describe(made, what));
      }
      if (stores) check_reads(by, now, read, what);
    };
    if (whole.write.has(cell::is_split) || now.mask != whole_cell) {
      const split_cell& bytes = split(*in, whole);
      for (std::size_t byte = 0; byte < bytes_of_cell; ++byte) {
        if (!(now.mask >> byte & 1)) continue;
        const cell one = bytes_cell(bytes, byte);
        check_weak(one.write, one.read);
      }
      if (stores) check_reads(by, now, whole.read, what);
    } else {
      check_weak(weak_write_of(whole), whole.read);
    }
    check_strong_writes(by, now, at, what);

    const strong_record before{at.last, last_seen(now, at)};
    if (number == first) {
      if (reads && !is_after_what_it_reads) read_now();
      if (stores) {
        use_message(first, shape, [&](message& carries) {
          clocks_.strong_write(block_->clocks, by, carries, done.within, done.releases, reads);
          written = carries.last_write();
        });
      }
    }
    if (stores) {
      whole.write.mark(now.mask);
      keep_strong_write(at, before, {made, written});
    } else {
      keep_read(by, *in, made, whole.read);
    }
    address += bytes_of_cell - offset_in_cell(address);
  }
}

// ---- What is found

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
