// SPDX-License-Identifier: MIT
// What the race test has found so far, with names for the memory, the threads and the blocks.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "cpu_backend/observer.hpp"
#include "racecheck/memory/cell.hpp"
#include "racecheck/memory/shadow.hpp"
#include "racecheck/order/launch_clocks.hpp"
#include "racecheck/races/finding.hpp"
#include "racecheck/races/resident_blocks.hpp"
#include "racecheck/races/synchronization_log.hpp"

namespace racecheck {

// One cell's share of an access.
struct cell_access {
  region& in;
  cell& checked;
  const std::byte* address;
  cell_record record;  // what is remembered of it
  unsigned mask;       // the cell's bytes
  // The whole access.
  const std::byte* begin;
  std::size_t bytes;
};

// "global memory", ...
std::string describe_memory(const region& in);
struct described_object {
  std::string text;  // "element 17 of ..."
  element_name element;
};
// `address` lies in the region.
described_object describe_object(const region& in, const std::byte* address,
                                 std::size_t access_bytes);
// How far before its begin or past its end; an access next to the region, or that ends past it.
std::string describe_outside(const region& near, const std::byte* address,
                             std::size_t access_bytes);

// Whether at least one of the two is an atomic whose scope is too narrow for the other's thread: no
// order in between would be needed if it were wider.
bool lacks_scope_by_kind(const racing_access& earlier, const racing_access& later);

// What is missing between two accesses that race: the smallest repair under which they would have
// been ordered. `earlier` was in epoch `earlier_at`; `later` is what `by`, a thread of `block`,
// does now. Where assumptions were given up, `log` is asked for one way between the two. `word` is
// the location of what they access, as the log has it.
diagnosis_set diagnose(launch_clocks& clocks, const synchronization_log& log,
                       const block_state& block, const thread_state& by,
                       const racing_access& earlier, epoch earlier_at, const racing_access& later,
                       std::uint32_t word);

// With the names of its kernel and its stream.
racing_work name_of(const noted_work& of);
// Else it copies a structure, of which only its bytes are known.
constexpr bool is_of_one_element(std::size_t bytes) {
  return std::has_single_bit(bytes) && bytes <= 16;
}
void name_object(finding& of, described_object as);

// What a misuse is about: memory, or something with a name. Of an access outside of memory the
// region that it begins or ends outside of.
struct misused {
  const region* in = nullptr;
  const std::byte* address = nullptr;
  std::size_t bytes = 0;
  std::string name;  // of a parameter, if it is memory
};

// One finding for each pair of places and each diagnosis.
class finding_collection {
 public:
  finding_collection(launch_clocks& clocks, const resident_blocks& blocks,
                     const synchronization_log& log)
      : clocks_(clocks), blocks_(blocks), log_(log) {}

  // The access `now` by `by`, a thread of the running block, races with `earlier`.
  void add_race(const thread_state& by, const cell_access& now, operation now_is,
                cell_record earlier, operation earlier_is);
  // One at this place was none.
  void take_back_unwritten_read(place_number place);
  // There an atomic of thread scope stands, whose accesses are plain ones.
  void note_thread_scope(place_number place) { of_thread_scope_.insert(place); }
  // The host uses what a copy has brought from memory that nothing has written.
  void add_unwritten_use(place_number place);
  // Two threads of a block come to a barrier by two calls, or by two copies of one.
  void add_two_barriers(thread_name first, place_number first_place, thread_name second,
                        place_number place);
  // What is no race. `write`: that of the launch, of a load that promises that there is none.
  void add_misuse(mistake what, thread_name by, place_number place, operation how,
                  const misused& of, const cell_record* write = nullptr);

  // A race was found, and by these two instructions its thread reads an element and then writes it.
  void add_plain_update(const plain_update& update) { updates_.insert(update); }

  std::vector<finding> all() const;
  const std::set<plain_update>& plain_updates() const { return updates_; }
  // How often something was found that was not known before, or was taken back.
  std::uint64_t changes() const { return changes_ + updates_.size(); }
  // How many races were found.
  std::uint64_t races() const { return races_; }
  void forget() {
    findings_.clear();
    ++changes_;
  }

 private:
  // The accesses are of two works that may run at the same time.
  void add_race_of_works(const cell_access& now, operation now_is, cell_record earlier,
                         operation earlier_is, const launch_clocks::two_works& works);
  bool tells_by_atomics(const thread_state& by, const cell_access& now, operation now_is,
                        cell_record earlier, operation earlier_is) const;
  uint3 index_of_thread(std::uint32_t block, std::uint32_t rank) const;
  racing_access describe(cell_record of, operation what) const;
  racing_access describe(thread_name thread, place_number place, operation what) const;
  void add(finding found);

  // What a diagnosis depends on: where it is the same again, so is the diagnosis.
  struct race_key {
    cell_record earlier;
    thread_name later;
    unsigned marks = 0;
    std::uint64_t operations = 0;

    bool operator==(const race_key&) const = default;
  };
  struct findings_at {  // a pair of places
    std::vector<finding> all;
    race_key latest;
    std::size_t of_latest = 0;
    std::uint64_t diagnosed = 0;
    std::set<std::uint32_t> later_blocks;           // of those that were
    std::optional<synchronization_log::way> early;  // the last one that was searched
    std::uint64_t searched = 0;
    std::set<std::uint32_t> blocks_searched;
  };
  static constexpr std::uint64_t most_diagnosed = 4096, few_diagnosed = 16;
  static constexpr std::size_t most_blocks = 256;

  std::optional<synchronization_log::way> find_early_way(findings_at& in,
                                                         const racing_access& earlier,
                                                         epoch earlier_at, const thread_state& by);
  std::optional<synchronization_log::way> find_other_way(const racing_access& earlier,
                                                         epoch earlier_at,
                                                         const racing_access& later,
                                                         bool may_be_late) const;
  void name_lock(finding& of, epoch earlier_at, const thread_state& by) const;
  void name_way(finding& of, const synchronization_log::way& by) const;
  static finding* find_same(findings_at& in, const diagnosis_set& lacks,
                            const racing_access& earlier, const racing_access& later);
  bool is_told_apart(findings_at& in, std::uint32_t later_block, bool by_log);
  std::uint32_t location_of(const cell_access& now, cell_record atomic,
                            const racing_access& by) const;
  finding* find_untold(findings_at& in, const thread_state& by, const racing_access& earlier,
                       epoch earlier_at);

  launch_clocks& clocks_;
  const resident_blocks& blocks_;
  const synchronization_log& log_;
  std::map<std::tuple<mistake, place_number, place_number>, findings_at> findings_;
  std::set<plain_update> updates_;
  std::set<place_number> of_thread_scope_;
  std::uint64_t races_ = 0;
  std::uint64_t changes_ = 0;
};

}  // namespace racecheck
