// SPDX-License-Identifier: MIT
#include "racecheck/checker.hpp"

#include <algorithm>
#include <bit>

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
  locations_.clear();
  split_cells_.clear();
  witnesses_.clear();
  const bool epochs_start_over = clocks_.begin_launch();
  const bool sets_start_over = read_sets_.begin_launch();
  if (epochs_start_over || sets_start_over) memory_.forget_accesses();
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
      cell& old = each.cells[i];
      if (old.write.has(cell::has_location)) locations_.erase(old);
      drop_reads(old);
      if (old.write.has(cell::is_split)) {
        if (split_cell* split = split_cells_.find(old)) {
          for (cell& each : split->bytes) drop_reads(each);
        }
        split_cells_.erase(old);
      }
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
          of.is_volatile()};
}

// The cell for one byte. From then on the cell is split, and all accesses go to its bytes' cells.
cell& checker::cell_of_byte(region& in, cell& whole, std::size_t byte) {
  split_cell* split = whole.write.has(cell::is_split) ? split_cells_.find(whole) : nullptr;
  if (!split) {
    in.has_marked_cells = true;
    split = &split_cells_.at(whole);
    if (has_reads(whole)) {
      read_sets_.share(whole.read_set(), bytes_of_cell - 1);
    } else if (whole.read.has(cell::has_reads)) {
      whole.read = {};
    }
    for (cell& each : split->bytes) {
      each = whole;
      each.write.unmark(each.write.marks());
    }
    whole.read = {};
    whole.write.mark(cell::is_split);
  }
  return split->bytes[byte];
}

template <class Check>
void checker::each_cell(const logged_access& of, bool is_volatile, Check check) {
  const std::byte* address = of.address;
  const std::byte* const end = address + of.bytes;
  while (address < end) {
    const std::size_t offset = offset_in_cell(address);
    const std::size_t here =
        std::min(bytes_of_cell - offset, static_cast<std::size_t>(end - address));
    cell& whole = of.in->cell_at(address);
    const unsigned mask = ((1u << here) - 1) << offset;
    const access now{*of.in, whole, address, of.site, is_volatile, mask};
    if (whole.write.has(cell::is_split) && !split_cells_.find(whole)) {
      whole.write.unmark(cell::is_split);  // an earlier launch's
    }
    if (mask == whole_cell && !whole.write.has(cell::is_split)) {
      check(now, whole, mask);
    } else {
      for (std::size_t byte = offset; byte < offset + here; ++byte) {
        check(now, cell_of_byte(*of.in, whole, byte), 1u << byte);
      }
    }
    address += here;
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
  of.read = cell_record(stamp, site, false, 0);
  return true;
}

inline bool checker::write_whole_cell(const thread_state& by, std::uint64_t stamp, site_number site,
                                      cell& of) {
  if (!is_after_all_of(by, stamp, of)) return false;
  // What is after this write is after all that the write itself is after.
  of.read = {};
  of.write = cell_record(stamp, site, false, cell::written_bytes);
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
    if (!done) [[unlikely]] {
      now.writes ? write(by, now, false) : read(by, now, false);
    }
  }
  return writes;
}

void checker::read(thread_state& by, const logged_access& now, bool is_volatile) {
  if (now.in->starts_unwritten) {
    check_written(by, *now.in, now.address, now.bytes, plain_accesses.place_of(now.site));
  }
  each_cell(now, is_volatile,
            [&](const access& here, cell& of, unsigned) { read_cell(by, here, of); });
}

void checker::write(thread_state& by, const logged_access& now, bool is_volatile) {
  each_cell(now, is_volatile, [&](const access& here, cell& of, unsigned mask) {
    write_cell(by, here, of);
    here.checked.write.mark(mask);
  });
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
  const logged_access now{&by, address, in, bytes, site, stores};
  constexpr bool is_volatile = true;
  stores ? write(by, now, is_volatile) : read(by, now, is_volatile);
  message& carries = location_of(*in, in->cell_at(address), true)->carries(offset_in_cell(address));
  if (stores) {
    clocks_.strong_write(block_->clocks, by, carries, scope::device, false, false);
  } else {
    clocks_.strong_read(block_->clocks, by, carries, scope::device, false, false);
  }
  return stores;
}

void checker::read_cell(thread_state& by, const access& now, cell& of) {
  if (!before(by, of.write)) [[unlikely]] {
    race(by, now, describe(of.write, operation::write), of.write.at(),
         describe(by, now, operation::read));
  }
  if (now.checked.write.has(cell::has_location)) [[unlikely]] {
    if (location* at = location_of(now.in, now.checked, false)) {
      check_strong_records(by, now, *at, describe(by, now, operation::read), bytes_of_cell, 0);
    }
  }
  keep_read(by, now, of);
}

void checker::drop_reads(cell& of) {
  if (has_reads(of)) read_sets_.drop(of.read_set());
  of.read = {};
}

void checker::keep_read(thread_state& by, const access& now, cell& of) {
  const std::uint64_t stamp = cell_record::stamp_of(by);
  const cell_record made(stamp, now.site, now.is_volatile, 0);
  if (has_reads(of)) {
    if (read_sets_.last(of.read_set()).has_stamp(stamp)) return;
    of.read = cell::reads_of_set(read_sets_.add(of.read_set(), by.name.block, made));
  } else if (of.read.has(cell::has_reads) || before(by, of.read)) {
    of.read = made;
  } else {
    now.in.has_marked_cells = true;
    of.read = cell::reads_of_set(
        read_sets_.make(clocks_.block_of(of.read.at()), of.read, by.name.block, made));
  }
}

void checker::check_reads(thread_state& by, const access& now, const cell& of, const party& me) {
  const auto check = [&](const access_record& read) {
    if (before(by, read)) return;
    race(by, now, describe(read, operation::read, scope::device), read.at, me);
  };
  if (has_reads(of)) {
    for (const read_group& group : read_sets_.groups(of.read_set())) {
      if (by.name.block == group.block && group.at <= block_->clocks.floor) continue;
      for (std::uint64_t left = group.ranks; left != 0; left &= left - 1) {
        const auto rank = group.first_rank() + static_cast<unsigned>(std::countr_zero(left));
        check({group.at,
               {group.block, rank},
               plain_accesses.place_of(group.site),
               group.is_volatile});
      }
    }
  } else if (!of.read.has(cell::has_reads) && !before(by, of.read)) {
    check(record(of.read));
  }
}

// What is after this write is after all that the write itself is after, so the reads are forgotten.
void checker::write_cell(thread_state& by, const access& now, cell& of) {
  if (!before(by, of.write)) [[unlikely]] {
    race(by, now, describe(of.write, operation::write), of.write.at(),
         describe(by, now, operation::write));
  }
  if (of.read.has(cell::has_reads) || !before(by, of.read)) {
    check_reads(by, now, of, describe(by, now, operation::write));
  }
  drop_reads(of);
  if (now.checked.write.has(cell::has_location)) [[unlikely]] {
    if (location* at = location_of(now.in, now.checked, false)) {
      check_strong_records(by, now, *at, describe(by, now, operation::write), bytes_of_cell, 0);
      for (auto& each : at->loads) each.clear();
      for (auto& each : at->updates) each.clear();
      for (auto& each : at->messages) {
        if (each) clocks_.weak_write(by, *each);
      }
    }
  }
  of.write = cell_record(cell_record::stamp_of(by), now.site, now.is_volatile, of.write.marks());
}

// ---- Atomics

location* checker::location_of(region& in, cell& of, bool create) {
  location* found = of.write.has(cell::has_location) ? locations_.find(of) : nullptr;
  if (!found && create) {
    found = &locations_.at(of);
    found->number = ++locations_made_;
    of.write.mark(cell::has_location);
    in.has_marked_cells = true;
  } else if (!found) {
    of.write.unmark(cell::has_location);  // an earlier launch's
  }
  return found;
}

void checker::check_strong_records(thread_state& by, const access& now, location& at,
                                   const party& me, unsigned bytes, unsigned offset) {
  const bool strong = is_atomic(me.what);
  const known& knows = clocks_.strict_knowledge(block_->clocks, by).now;
  const auto check = [&](const strong_records& records, scope within, operation what) {
    for (const auto& [key, each] : records) {
      if (!(each.mask & now.mask)) continue;
      if (strong) {
        const bool same_bytes = each.bytes == bytes && each.offset == offset;
        const bool both_include = each.done.thread.block == by.name.block ||
                                  (within == scope::device && me.within == scope::device);
        if (same_bytes && both_include) continue;
      }
      if (before(by, each.done)) continue;
      if (what == operation::atomic_update &&
          knows.observed.has_observed(
              {at.carries(each.offset).location, each.chain, each.position})) {
        continue;
      }
      race(by, now, describe(each.done, what, within), each.done.at, me);
    }
  };
  // Two accesses of equal size at device scope never race.
  const bool skips_device = strong && me.within == scope::device && !at.has_two_sizes;
  // Nor do any two of one block.
  const bool skips_block = strong && !at.has_two_sizes &&
                           (!at.has_block || (!at.has_two_blocks && at.block == by.name.block));
  for (const scope within : {scope::device, scope::block}) {
    if (within == scope::device && skips_device) continue;
    if (within == scope::block && skips_block) continue;
    check(at.updates[number_of(within)], within, operation::atomic_update);
    if (writes(me.what)) check(at.loads[number_of(within)], within, operation::atomic_load);
  }
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
  witnesses& seen = witnesses_[by.name.block];
  if (stores) seen.released = {true, by.name.rank, place};
  if (reads) seen.acquired = {true, by.name.rank, place};

  // An operation that acquires, or that reads and writes as one, is itself after what it has seen.
  const auto read_now = [&] {
    message& carries =
        location_of(*in, in->cell_at(done.address), true)->carries(offset_in_cell(done.address));
    clocks_.strong_read(block_->clocks, by, carries, done.within, done.acquires, stores);
  };
  const bool is_after_what_it_reads = done.acquires || stores;
  if (reads && is_after_what_it_reads) read_now();

  // The race test is for each cell; what the operation carries is the first cell's.
  const std::byte* const end = done.address + done.bytes;
  for (const std::byte* address = done.address; address < end;) {
    const unsigned offset = offset_in_cell(address);
    const unsigned here =
        std::min<unsigned>(bytes_of_cell - offset, static_cast<unsigned>(end - address));
    cell& whole = in->cell_at(address);
    const unsigned mask = ((1u << here) - 1) << offset;
    constexpr site_number no_site = 0;
    const access now{*in, whole, address, no_site, false, mask};
    const access_record mine{by.now, by.name, place, false};
    const party me = describe(mine, what, done.within);
    const auto check_weak = [&](const cell& of) {
      if (!before(by, of.write)) {
        race(by, now, describe(of.write, operation::write), of.write.at(), me);
      }
      if (stores) check_reads(by, now, of, me);
    };
    const bool split = whole.write.has(cell::is_split) && split_cells_.find(whole);
    if (split || mask != whole_cell) {
      for (unsigned byte = offset; byte < offset + here; ++byte) {
        check_weak(cell_of_byte(*in, whole, byte));
      }
    } else {
      check_weak(whole);
    }
    if (stores) whole.write.mark(mask);

    location& at = *location_of(*in, whole, true);
    if (at.bytes == 0) {
      at.bytes = static_cast<std::uint8_t>(done.bytes);
      at.offset = static_cast<std::uint8_t>(offset);
    } else if (at.bytes != done.bytes || at.offset != offset) {
      at.has_two_sizes = true;
    }
    check_strong_records(by, now, at, me, done.bytes, offset);
    if (done.within == scope::block) {
      at.has_two_blocks |= at.has_block && at.block != by.name.block;
      at.has_block = true;
      at.block = by.name.block;
    }
    strong_record made{mine,
                       static_cast<std::uint8_t>(done.bytes),
                       static_cast<std::uint8_t>(offset),
                       static_cast<std::uint8_t>(mask),
                       0,
                       0};
    if (address == done.address) {
      if (reads && !is_after_what_it_reads) read_now();
      if (stores) {
        message& carries = at.carries(offset);
        clocks_.strong_write(block_->clocks, by, carries, done.within, done.releases, reads);
        made.chain = carries.chain;
        made.position = carries.position;
      }
    }
    (stores ? at.updates : at.loads)[number_of(done.within)].insert_or_assign(by.name.key(), made);
    address += here;
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

party checker::describe(const thread_state& by, const access& now, operation what) const {
  return describe(
      access_record{by.now, by.name, plain_accesses.place_of(now.site), now.is_volatile}, what,
      scope::device);
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
