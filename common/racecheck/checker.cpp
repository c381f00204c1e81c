// SPDX-License-Identifier: MIT
#include "racecheck/checker.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

namespace racecheck {
namespace {

// How far past its end an access is still taken for one of the variable.
constexpr std::size_t past_a_shared_variable = 4096;
constexpr std::size_t most_shared_bytes = 227 * 1024;

// Sets of reads may take this and 12 bytes for each byte of memory: with its cells, which take 4,
// that makes 16.
constexpr std::size_t few_bytes_of_read_sets = std::size_t{64} << 20;

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
  const bool start_over[] = {clocks_.begin_launch(),          read_sets_.begin_launch(most_bytes),
                             locations_.begin_launch(),       extensions_.begin_launch(),
                             details_.begin_launch(),         split_cells_.begin_launch(),
                             records_of_bytes_.begin_launch()};
  if (std::find(std::begin(start_over), std::end(start_over), true) != std::end(start_over)) {
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

}  // namespace racecheck
