// SPDX-License-Identifier: MIT
// What each write of a word hands over, for runs by decisions
// (cpu_backend/scheduled/decisions.hpp): there an atomic may read from a write that is not the last
// one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "racecheck/order/thread_state.hpp"

namespace racecheck {

class earlier_messages {
 public:
  void begin_launch() { words_.clear(); }
  // What `last`, the message of the last write, was until now is that of the first one from here
  // on.
  void forget(std::uint32_t location) { words_.erase(location); }

  // The message of write number `write`, and whether that is the last one executed.
  const message& read(const message& last, unsigned write) { return word_of(last).by_write[write]; }
  bool is_last(const message& last, unsigned write) {
    return write + 1 == word_of(last).by_write.size();
  }
  // Adds a write, which make(message&) makes of the message of number `after`; `last` is its
  // message then.
  template <class Make>
  void add(message& last, unsigned after, Make make) {
    word& at = word_of(last);
    message made = copy_of(at.by_write[after]);
    make(made);
    // No two chains have one number.
    if (made.position == 0) made.chain = at.last_chain + 1;
    at.last_chain = std::max(at.last_chain, made.chain);
    last = copy_of(made);
    at.by_write.push_back(std::move(made));
  }

 private:
  struct word {
    std::vector<message> by_write;
    std::uint32_t last_chain = 0;
  };

  // The clocks of such a run know the program as it stands.
  static message copy_of(const message& from) { return racecheck::copy_of(from, 1); }
  word& word_of(const message& last) {
    word& at = words_[last.location];
    if (at.by_write.empty()) {
      at.by_write.push_back(copy_of(last));
      at.last_chain = last.chain;
    }
    return at;
  }

  std::unordered_map<std::uint32_t, word> words_;  // by location
};

}  // namespace racecheck
