// SPDX-License-Identifier: MIT
// The race test: each access against what the shadow remembers, with the clocks of the launch.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "cpu_backend/observer.hpp"
#include "racecheck/access_log.hpp"
#include "racecheck/finding.hpp"
#include "racecheck/launch_clocks.hpp"
#include "racecheck/read_sets.hpp"
#include "racecheck/shadow.hpp"
#include "racecheck/synchronization.hpp"

namespace racecheck {

class checker {
 public:
  static checker& instance();

  // ---- What the backend tells.
  void launch_begins(const cpu_backend::observer::launch& now);
  void launch_ends(bool failed);
  void block_begins(const cpu_backend::observer::block& begun);
  void block_ends();
  void block_runs(unsigned multiprocessor);
  void block_pauses() { block_ = nullptr; }
  // Returns whose accesses are checked from here on.
  thread_state* thread_runs(unsigned rank) { return &block_->clocks.threads[rank]; }
  void shared_variable_appears(const cpu_backend::observer::shared_variable& variable);
  void barrier_arrives(thread_state& by, bool orders_memory);
  void barrier_opens();
  // By __syncwarp().
  void lanes_meet(unsigned first_rank, unsigned lanes);
  void grid_barrier_arrives(thread_state& by);
  void grid_barrier_passes(thread_state& by);
  void fenced(thread_state& by, scope within, bool sequentially_consistent);
  void atomic_done(thread_state& by, const cpu_backend::observer::atomic_operation& done,
                   place_number place);
  shadow_memory& memory() { return memory_; }

  // ---- What the instrumentation tells: plain accesses of the running block's threads.
  // Returns whether one of them writes.
  bool check(std::span<const logged_access> logged);
  // A volatile one. Whether it was a write to memory that other threads can reach.
  bool volatile_access(thread_state& by, const std::byte* address, std::size_t bytes,
                       site_number site, bool writes);
  // An access that begins in no region: whether it is next to one, which is reported.
  bool outside_any_region(thread_state& by, const std::byte* address, std::size_t bytes,
                          place_number place, operation what);
  void outside(thread_state& by, const std::byte* address, std::size_t bytes, place_number place,
               operation what);

  // ---- What the report asks for.
  std::vector<finding> findings() const;
  // For tests that run many programs in one process.
  void forget_findings() { findings_.clear(); }
  std::uint64_t accesses() const { return accesses_; }
  std::uint64_t launches() const { return launches_; }
  std::uint64_t failed_launches() const { return failed_launches_; }
  // Reads of words that other threads had read, too, and which there was no room to remember.
  std::uint64_t forgotten_reads() const { return read_sets_.forgotten(); }
  bool launch_runs() const { return launch_runs_; }

 private:
  struct witnesses {
    witness released;
    witness acquired;
  };
  struct resident_block {
    block_state clocks;
    std::vector<region> shared_memory;
    bool barrier_orders_memory = true;
    witnesses* seen = nullptr;  // once there are some
  };
  struct access {  // one cell's share of an access
    region& in;
    cell& checked;
    const std::byte* address;
    cell_record made;  // what is remembered of it
    unsigned mask;     // the cell's bytes
  };

  bool before(const thread_state& by, thread_name thread, epoch at) const {
    return clocks_.before(block_->clocks, by, thread, at);
  }
  bool before(const thread_state& by, cell_record other) const {
    const epoch at = other.at();
    return at < clocks_.launch_start() || before(by, {clocks_.block_of(at), other.rank()}, at);
  }
  bool is_after_all_of(const thread_state& by, std::uint64_t stamp, const cell& of) const;
  bool read_whole_cell(const thread_state& by, std::uint64_t stamp, site_number site, cell& of);
  bool write_whole_cell(const thread_state& by, std::uint64_t stamp, site_number site, cell& of);
  void check_cells(thread_state& by, const logged_access& of, unsigned marks);
  void use_cell(thread_state& by, const access& now, bool writes, cell_record& write,
                cell_record& read);
  void use_byte(thread_state& by, const access& now, bool writes, std::size_t byte);

  // ---- What stands elsewhere: see cell.hpp.
  void forget_earlier_launch(cell& of);
  void forget_all(cell& of);
  cell_record& weak_write_of(cell& of);
  split_cell& split(region& in, cell& whole);
  cell bytes_cell(const split_cell& of, std::size_t byte) const;

  bool has_reads(cell_record read) const {
    return read.has(cell::has_reads) && read_sets_.has(read.number());
  }
  void drop_reads(cell_record& read);
  void keep_read(const thread_state& by, region& in, cell_record made, cell_record& read);
  void check_reads(thread_state& by, const access& now, cell_record read, operation what);

  // ---- Atomics.
  object_number location_of(const cell& of) const {
    return of.write.has(cell::has_location) ? of.write.number() : 0;
  }
  object_number make_location(region& in, cell& of, access_shape shape);
  location_extension& extension_of(location& of);
  location_details& details_of(location& of);
  location_details* find_details(const location& of);
  std::uint32_t message_number(object_number at, access_shape shape) const;
  template <class Use>
  void use_message(object_number at, access_shape shape, Use use);
  observation last_seen(const access& now, const location& at) const;
  bool is_morally_strong(const thread_state& by, cell_record made, cell_record other) const;
  void check_strong_writes(thread_state& by, const access& now, const location& at, operation what);
  void keep_strong_write(location& at, const strong_record& before, const strong_record& made);
  void keep_besides(location& at, const strong_record& last);
  void forget_last_of_another_block(location& at);
  void forget_strong_writes(const access& now, location& at);
  void use_atomics(thread_state& by, const access& now, bool writes);
  void check_written(thread_state& by, region& in, const std::byte* address, std::size_t bytes,
                     place_number place);

  access_record record(cell_record of) const;
  party describe(const access_record& of, operation what, scope within) const;
  // Of an atomic its scope, too.
  party describe(cell_record of, operation what) const {
    const bool narrow = is_atomic(what) && of.within() == scope::block;
    return describe(record(of), what, narrow ? scope::block : scope::device);
  }
  void race(thread_state& by, const access& now, const party& earlier, epoch earlier_at,
            const party& later);
  missing diagnose(const thread_state& by, const party& earlier, epoch earlier_at,
                   const party& later);
  void add(finding found);
  void forget_block_memory(resident_block& of);

  launch_clocks clocks_;
  shadow_memory memory_;
  read_sets read_sets_;
  numbered_table<location> locations_;
  numbered_table<location_extension> extensions_;
  numbered_table<location_details> details_;
  numbered_table<split_cell> split_cells_;
  numbered_table<records_of_bytes> records_of_bytes_;
  std::unordered_map<unsigned, resident_block> blocks_;  // by multiprocessor
  resident_block* block_ = nullptr;
  std::unordered_map<std::uint32_t, witnesses> witnesses_;  // by block
  dim3 grid_size_{};
  dim3 block_size_{};
  std::map<std::tuple<mistake, place_number, place_number>, finding> findings_;
  std::uint64_t accesses_ = 0;
  std::uint64_t launches_ = 0;
  std::uint64_t failed_launches_ = 0;
  bool launch_runs_ = false;
};

}  // namespace racecheck
