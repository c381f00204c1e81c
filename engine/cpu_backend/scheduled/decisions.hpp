// SPDX-License-Identifier: MIT
// A run by a list of decisions in place of a seed: before each strong access (an atomic, a volatile
// one) and each sequentially consistent fence all threads of all blocks have come to their next one
// or wait, and the list says whose is next. What happened is written down, for the program that
// makes the next list.
//   LAB_PROVE_DECISIONS=FILE  the list: "block.thread", one per strong access and such fence, or
//                             "block.thread/n": the access gets the value of the n-th write of its
//                             word in this launch (0: what was there before), or, if it only
//                             stores, has its place in the word's coherence order just after that
//                             one. Without n it is the last one of that order. After the list's
//                             end that thread goes on that can and has had the fewest turns: so
//                             few of them look for what another one is still to write. Before all
//                             of them there may be "launch:block,block", as in 2:0,3: in the
//                             process's second launch blocks 0 and 3 start, and no other one. Else
//                             all blocks start.
//   LAB_PROVE_TRACE=FILE      what happened goes there
//   LAB_PROVE_PLACES=1        with the place of each use: that takes time
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "cpu_backend/execution/source_line.hpp"
#include "cpu_backend/observer.hpp"

namespace cpu_backend {

class decisions {
 public:
  using thread_name = std::pair<std::uint64_t, unsigned>;  // the block's number, the thread's rank

  // nullptr unless this process runs by a list.
  static decisions* active();

  void launch_begins(std::uint64_t blocks, std::uint64_t threads, bool cooperative);
  // `left`: a hash of what kernels have written so far, as it is now.
  void launch_ends(std::uint64_t left);
  // Whether the block starts, in this launch.
  bool starts(std::uint64_t block) const;
  // Whose strong access is next. Ends the process if the list names a thread that is not there.
  thread_name next(const std::vector<thread_name>& parked);
  // The thread has come to a strong access; `state` is what it holds, or 0. If it has looked at
  // this word from the same state before, and has written nothing since, then a round of a loop
  // has found nothing, and the thread does not go on: in another execution the read that it had
  // there gets another value.
  void comes_to(thread_name by, const void* address, std::uint64_t state);
  bool waits(thread_name thread) const;
  // All that the thread has seen in its last round is the last write of its word: so would the next
  // round's reads be.
  bool waits_in_vain(thread_name thread) const;
  // A thread of the block has written plainly.
  void changed(std::uint64_t block) {
    std::erase_if(strong_reads_, [&](const auto& each) { return each.first.first == block; });
  }
  // The thread accesses memory now: it finds there what was decided.
  void access_begins(const void* address, std::size_t bytes, std::uint64_t block);
  // Which write of the word that is, while the access lasts.
  unsigned decided_write() const { return chosen_; }
  // It has happened. `state`: as comes_to() had it. `order`: as it is written down.
  void accessed(thread_name by, const void* address, std::size_t bytes, observer::access kind,
                bool changed_memory, std::uint64_t state, const char* order);
  void fenced(thread_name by, observer::fence_kind kind, bool at_block_scope);
  // A write that is no atomic one, to memory that strong accesses have used: no thread gets what
  // was there before.
  void written_weakly(const void* address, std::size_t bytes, std::uint64_t block);
  // At the block's barrier, and then all have come that have not returned.
  void arrives(thread_name by) { arrived_[by.first].push_back(by.second); }
  void barrier_opened(std::uint64_t block);
  void lanes_met(std::uint64_t block, unsigned first, unsigned lanes, bool orders_memory);
  // All blocks have come to the grid's barrier, each with its first thread.
  void grid_barrier_opened();
  // All blocks that have started are done, and others have not started.
  void started_ones_ended();
  // The block waits, and nothing that it waits for will happen.
  void waits_for_ever(std::uint64_t block);
  // No thread goes on, and some have read what was overwritten: no execution ends so.
  void stopped_early();
  // The host, a copy or another launch changes memory: a launch that waits may go on then, in
  // orders that are not explored.
  void others_change_memory(bool now = true) { others_changed_memory_ = now; }
  void waiting_launch_goes_on() {
    if (others_changed_memory_) refuse("waits_for_others");
  }
  // Something of this kind was done, as form::used() has it. From any host thread.
  void used(const char* kind, const char* name, const place* at, const void* from);
  // As form::has_waited() and form::notifies() have it.
  void has_waited(thread_name by, const void* word, const void* old, std::size_t bytes,
                  const place& at);
  void notifies(thread_name by, const void* word, bool all);
  // Ends the process, because of what is not explored.
  [[noreturn]] void refuse(const char* why);

 private:
  // Memory, and where: -1 is global memory, else the number of the block whose shared memory it is.
  using word_name = std::pair<std::int64_t, const std::byte*>;
  using value = std::vector<std::byte>;
  struct write {
    value is;
    thread_name by;
    unsigned same_as;  // this one; of an update that changed nothing the write whose value it kept
  };
  struct word {
    std::size_t bytes = 0;
    std::vector<write> writes;    // in the order in which they were executed; 0: the first value
    std::vector<unsigned> order;  // coherence order
  };
  struct strong_read {
    const std::byte* address;
    std::uint64_t state;
    word_name at;
    unsigned seen;  // which write, as same_as has it
  };
  struct strong_reads {
    std::vector<strong_read> since_change;
    bool waits = false;
    std::size_t round_begins = 0;
  };
  struct use {
    const char* kind;
    const char* name;
    place at;
    call_stack calls;  // if there is no place
  };
  struct notified_wait {
    word_name of;
    value old;      // what it has waited to see changed
    unsigned seen;  // the write that it then saw
    place at;
  };
  struct notification {
    word_name of;
    unsigned after;  // the thread's last write of the word
    bool all;
  };
  struct decision {
    thread_name thread;
    std::optional<unsigned> write;
  };

  decisions() = default;
  void open();
  bool read_started(const char* word);
  void write_uses();
  bool take_notification(const notified_wait& wait);
  void print_value(const std::byte* begin, std::size_t bytes);
  static word_name name_of(const void* address, std::uint64_t block);
  word& word_at(const word_name& name, std::size_t bytes);

  std::vector<decision> list_;
  std::size_t made_ = 0;
  std::map<thread_name, unsigned> turns_;  // in this launch
  std::FILE* trace_ = nullptr;
  std::uint64_t launch_ = 0;          // its number, from 1 on
  std::uint64_t limited_launch_ = 0;  // in which not all blocks start; 0: none
  std::set<std::uint64_t> started_;   // the blocks that start in that one
  std::map<thread_name, strong_reads> strong_reads_;
  std::map<word_name, word> words_;
  std::map<std::uint64_t, std::vector<unsigned>> arrived_;  // at each block's barrier
  std::vector<notified_wait> notified_waits_;               // in this launch, as the next one
  std::vector<notification> notifications_;
  bool others_changed_memory_ = false;
  bool launch_was_left_ = false;  // not all of its threads have come to their end
  unsigned chosen_ = 0;
  std::mutex uses_mutex_;
  std::set<std::pair<const char*, const char*>> known_uses_;  // kind and name: each pointer once
  std::vector<use> uses_;                                     // that are not written yet
};

}  // namespace cpu_backend
