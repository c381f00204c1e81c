// SPDX-License-Identifier: MIT
// Decoupled look-back: what all earlier tiles of a sequence combine to, found while those tiles are
// still being worked on, in one kernel.
// The idea is that of Duane Merrill and Michael Garland, "Single-pass Parallel Prefix Scan with
// Decoupled Look-back" (NVIDIA, 2016), the code is new: docs/sources.md.
#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <cuda/atomic>
#include <cuda/std/type_traits>

// With COURSE_ENABLE_ASSERTIONS a call stops the kernel with __trap(), unless all threads of the
// block make it, with the same argument. Otherwise nothing is checked. The course's headers agree
// on this.
#ifdef COURSE_ENABLE_ASSERTIONS
#define COURSE_ASSERT_SAME(argument)                              \
  do {                                                            \
    __shared__ decltype(argument) first;                          \
    if (thread_block::thread_rank() == 0) first = argument;       \
    __syncthreads();                                              \
    const int same = __syncthreads_count(argument == first);      \
    if (same != static_cast<int>(thread_block::size())) __trap(); \
  } while (false)
#define COURSE_ASSERT(condition) ((condition) ? void() : __trap())
#else
#define COURSE_ASSERT_SAME(argument)
#define COURSE_ASSERT(condition)
#endif

namespace course {
inline namespace v1 {

using cooperative_groups::thread_block;

// What a thread does between two polls: by default nothing. Where many threads poll for long, as
// beside other kernels, __nanosleep() leaves them more of the memory's bandwidth.
#ifndef COURSE_NO_DELAY
#define COURSE_NO_DELAY
struct no_delay {
  __device__ void operator()() const {}
};
#endif

// The tile that a block works on, and the number of the launch that it belongs to.
struct tile_ticket {
  unsigned tile;
  unsigned epoch;  // From 1 on; after 2^31 - 1 comes 1 again.
};

// What a tile has published.
enum class tile_state : unsigned {
  nothing,
  aggregate,  // What the tile's own elements combine to.
  prefix      // What the elements of this tile and of all earlier ones combine to.
};

// The status word of a tile: a tag and a value. The tag is 2 * epoch, plus 1 for a prefix. A tag of
// another epoch is left from an earlier launch and means nothing, so the words need no clearing.
// T is trivially copyable. All bytes 0: nothing published.
template <class T, bool fits_two_words = sizeof(T) <= 2 * sizeof(unsigned)>
class tile_status;

// Each half of the value is in a word of 64 bits of its own, with the tag; a value of at most 32
// bits has one. A word is stored and loaded as a whole, so who sees the same tag in both has the
// value that was published with it, and relaxed order is enough.
template <class T>
class tile_status<T, true> {
 public:
  __device__ void publish(unsigned epoch, tile_state state, T value) {
    unsigned halves[count] = {};
    memcpy(halves, &value, sizeof(T));
    const unsigned long long tag = 2ULL * epoch + (state == tile_state::prefix ? 1 : 0);
    for (unsigned i = 0; i < count; ++i) {
      word(i).store(tag << 32 | halves[i], cuda::memory_order_relaxed);
    }
  }

  // Sets *value, unless it returns `nothing`.
  __device__ tile_state read(unsigned epoch, T* value) {
    unsigned halves[count];
    unsigned tags[count];
    for (unsigned i = 0; i < count; ++i) {
      const unsigned long long word_now = word(i).load(cuda::memory_order_relaxed);
      halves[i] = static_cast<unsigned>(word_now);
      tags[i] = static_cast<unsigned>(word_now >> 32);
    }
    const unsigned tag = tags[0];
    // Between the two stores of a prefix, its first half stands beside the aggregate's second one.
    if (tag / 2 != epoch || tags[count - 1] != tag) return tile_state::nothing;
    memcpy(value, halves, sizeof(T));
    return tag % 2 == 1 ? tile_state::prefix : tile_state::aggregate;
  }

  // Nothing is published, in any epoch.
  __device__ void clear() {
    for (unsigned i = 0; i < count; ++i) word(i).store(0, cuda::memory_order_relaxed);
  }

 private:
  static constexpr unsigned count = sizeof(T) <= sizeof(unsigned) ? 1 : 2;

  __device__ cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> word(unsigned i) {
    return cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>(words_[i]);
  }

  unsigned long long words_[count];
};

// A value of more than 64 bits is stored first, and the tag after it. The prefix has a place of its
// own: another block may still be reading the aggregate.
template <class T>
class tile_status<T, false> {
 public:
  __device__ void publish(unsigned epoch, tile_state state, T value) {
    (state == tile_state::prefix ? prefix_ : aggregate_) = value;
    // Release: the value, which a thread that sees this tag will read.
    tag().store(2 * epoch + (state == tile_state::prefix ? 1 : 0), cuda::memory_order_release);
  }

  // Sets *value, unless it returns `nothing`.
  __device__ tile_state read(unsigned epoch, T* value) {
    // Acquire: the value that was stored before this tag.
    const unsigned tag_now = tag().load(cuda::memory_order_acquire);
    if (tag_now / 2 != epoch) return tile_state::nothing;
    *value = tag_now % 2 == 1 ? prefix_ : aggregate_;
    return tag_now % 2 == 1 ? tile_state::prefix : tile_state::aggregate;
  }

  // Nothing is published, in any epoch.
  __device__ void clear() { tag().store(0, cuda::memory_order_relaxed); }

 private:
  __device__ cuda::atomic_ref<unsigned, cuda::thread_scope_device> tag() {
    return cuda::atomic_ref<unsigned, cuda::thread_scope_device>(tag_);
  }

  unsigned tag_;
  T aggregate_;
  T prefix_;
};

// `value` of lane `from` of the warp, all of whose lanes call it. For any trivially copyable T,
// word by word: __shfl_sync moves built-in types only.
template <class T>
__device__ T value_of_lane(T value, unsigned from) {
  constexpr unsigned word_count = (sizeof(T) + sizeof(unsigned) - 1) / sizeof(unsigned);
  unsigned words[word_count] = {};
  memcpy(words, &value, sizeof(T));
#pragma unroll
  for (unsigned i = 0; i < word_count; ++i) words[i] = __shfl_sync(0xffffffff, words[i], from);
  memcpy(&value, words, sizeof(T));
  return value;
}

// A kernel's access to the tiles' status words; copied into kernels by value. It owns nothing.
//
// In each launch:
// - take_ticket or take_tile numbers the tiles 0, 1, 2, ... in the order in which blocks ask. The
//   launch takes exactly `tickets` of them, which all calls name, from 1 to 2^32 - 1. Numbers at
//   the end may stand for no tile: a block that takes tiles until none is left gets one of these.
//   Between a ticket and the call below a block waits for no other one.
// - For each tile one of the functions exclusive_prefix...() is called once, the same one for all.
//   It waits for earlier tiles only. Their blocks have started, because they have their tickets,
//   and a block that has started goes on. A number that a block has before it starts, as blockIdx,
//   does not promise that.
// The memory:
// - bytes(tiles) bytes of global memory, aligned as by cudaMalloc, for launches of up to `tiles`
//   tiles. init() was called before the first launch. A launch that ended leaves them ready for the
//   next one, with any number of tiles up to `tiles`, and any number of times; replays of a graph
//   too.
// - No other thread touches them meanwhile. Launches that can overlap have memory of their own. So
//   have programmatic dependent launches that take tickets before they have waited.
// - After a launch that died or took another number of tickets, call init().
// Errors: a tile in fixed order that meets one that is not, or the other way round, stops the
// kernel with __trap(), where its prefix would be wrong. Another number of tickets may do so, but
// mostly goes unnoticed: this launch or the next one goes wrong, or waits for ever. With
// COURSE_ENABLE_ASSERTIONS a tile number beyond the memory stops the kernel, and so does a tile
// that publishes twice, and take_tile with arguments that differ.
//
// `operation` combines two values, the earlier one on the left, into one. It is associative, and
// need be neither commutative nor have an identity.
template <class T, class Delay = no_delay>
class look_back {
  static_assert(cuda::std::is_trivially_copyable<T>::value,
                "values travel between blocks and between lanes byte by byte");

 public:
  __host__ __device__ static constexpr size_t bytes(unsigned tiles) {
    return line + tiles * sizeof(tile_status<T>);
  }

  __host__ __device__ look_back(void* memory, unsigned tiles)
      : statuses_(reinterpret_cast<tile_status<T>*>(static_cast<char*>(memory) + line)),
        counter_(static_cast<unsigned long long*>(memory)),
        tiles_(tiles) {}

#ifndef __CUDACC_RTC__
  // For the host: sets all bytes to 0, in `stream`, and does not wait. A graph can hold it.
  cudaError_t init(cudaStream_t stream) const {
    return cudaMemsetAsync(counter_, 0, bytes(tiles_), stream);
  }
#endif

  // The next tile, for any one thread.
  __device__ tile_ticket take_ticket(unsigned tickets) const {
    // The upper half counts launches, the lower half this launch's tickets.
    const cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> counter(*counter_);
    const unsigned long long before = counter.fetch_add(1, cuda::memory_order_relaxed);
    const unsigned tile = static_cast<unsigned>(before);
    const unsigned epoch = static_cast<unsigned>(before >> 32) + 1;
    if (tile >= tickets || epoch > largest_epoch) __trap();
    // So that no tag is left when its epoch comes again. The ticket's own tile has not published,
    // and none from `tickets` on will.
    if (epoch % epochs_between_clears == 0) {
      for (size_t i = tile; i < tiles_; i += tickets) statuses_[i].clear();
    }
    // No block takes another ticket in this launch: ready for the next one.
    if (tile == tickets - 1) {
      const unsigned long long launches = epoch < largest_epoch ? epoch : 0;
      counter.store(launches << 32, cuda::memory_order_relaxed);
    }
    return {tile, epoch};
  }

  // The next tile, the same for all threads of the block, which all call it, at the same place.
  // A barrier for them before and after.
  __device__ tile_ticket take_tile(unsigned tickets) const {
    COURSE_ASSERT_SAME(tickets);
    __shared__ tile_ticket taken;
    __syncthreads();  // All have read the one before.
    if (thread_block::thread_rank() == 0) taken = take_ticket(tickets);
    __syncthreads();  // The ticket is there.
    return taken;
  }

  // Returns whether there are tiles before mine.tile, and sets *before to what they combine to; of
  // tile 0 it stays as it is. Publishes what this tile contributes: at once `aggregate`, which its
  // own elements combine to, and as soon as it is known the prefix that includes them.
  // - The 32 lanes of one warp call it, with the same arguments, but `before` is each lane's own;
  //   all get the result. The warp is a whole one of a block of one to three dimensions.
  // - It orders no other memory, neither between the tiles nor between the lanes.
  // How aggregates are grouped depends on when other blocks publish: where `operation` rounds, the
  // last bits may be different in each run.
  template <class Operation>
  __device__ bool exclusive_prefix(tile_ticket mine, T aggregate, Operation operation,
                                   T* before) const {
    const bool is_first_lane = thread_block::thread_rank() % lanes == 0;
    if (mine.tile == 0) {
      if (is_first_lane) publish(mine, tile_state::prefix, aggregate);
      return false;
    }
    if (is_first_lane) publish(mine, tile_state::aggregate, aggregate);
    unsigned newest = mine.tile - 1;
    window seen = wait_for_window(mine.epoch, newest, aggregate);
    T prefix = combine(seen, operation);
    while (!seen.ends_in_prefix) {
      if (newest < lanes) __trap();  // Tile 0 has published an aggregate, in fixed order.
      newest -= lanes;
      seen = wait_for_window(mine.epoch, newest, aggregate);
      const T earlier = combine(seen, operation);
      // Not in the other lanes: what they have is not next to each other.
      if (is_first_lane) prefix = operation(earlier, prefix);
    }
    if (is_first_lane) publish(mine, tile_state::prefix, operation(prefix, aggregate));
    *before = value_of_lane(prefix, 0);
    return true;
  }

  // The same by one thread, which looks at one tile after the other.
  template <class Operation>
  __device__ bool exclusive_prefix_by_one_thread(tile_ticket mine, T aggregate, Operation operation,
                                                 T* before) const {
    if (mine.tile == 0) {
      publish(mine, tile_state::prefix, aggregate);
      return false;
    }
    publish(mine, tile_state::aggregate, aggregate);
    unsigned tile = mine.tile - 1;
    T prefix = aggregate;  // wait_for() sets it; a T may have no default constructor.
    tile_state state = wait_for(mine.epoch, tile, &prefix);
    while (state != tile_state::prefix) {
      T earlier = aggregate;  // As above.
      if (tile-- == 0) __trap();
      state = wait_for(mine.epoch, tile, &earlier);
      prefix = operation(earlier, prefix);
    }
    publish(mine, tile_state::prefix, operation(prefix, aggregate));
    *before = prefix;
    return true;
  }

  // The same by one warp, and the same bits in every run, also where `operation` rounds: the tiles
  // are grouped by 32, whenever they publish. Only the last tile of a group publishes a prefix, and
  // the tiles of the next group take no other one. Its price: they wait for that one, also where a
  // later prefix would be there.
  template <class Operation>
  __device__ bool exclusive_prefix_in_fixed_order(tile_ticket mine, T aggregate,
                                                  Operation operation, T* before) const {
    const unsigned earlier_of_group = mine.tile % lanes;
    const unsigned lane = thread_block::thread_rank() % lanes;
    const bool is_last_of_group = earlier_of_group == lanes - 1;
    if (lane == 0 && !is_last_of_group) publish(mine, tile_state::aggregate, aggregate);
    T prefix = aggregate;
    if (earlier_of_group > 0) {
      if (lane < earlier_of_group) {
        const tile_state state = wait_for(mine.epoch, mine.tile - 1 - lane, &prefix);
        if (state != tile_state::aggregate) __trap();
      }
      prefix = combine({prefix, earlier_of_group, false}, operation);
    }
    if (lane == 0 && mine.tile >= lanes) {
      T before_group = aggregate;
      const tile_state state =
          wait_for(mine.epoch, mine.tile - earlier_of_group - 1, &before_group);
      if (state != tile_state::prefix) __trap();
      prefix = earlier_of_group > 0 ? operation(before_group, prefix) : before_group;
    }
    if (lane == 0 && is_last_of_group) {
      publish(mine, tile_state::prefix, operation(prefix, aggregate));
    }
    if (mine.tile == 0) return false;
    *before = value_of_lane(prefix, 0);
    return true;
  }

 private:
  static constexpr unsigned lanes = 32;
  static constexpr unsigned whole_warp = 0xffffffff;
  static constexpr unsigned largest_epoch = (1U << 31) - 1;
  static constexpr unsigned epochs_between_clears = 1U << 29;
  static constexpr size_t line = 128;  // The counter has a line of the cache for itself.

  // What one warp sees of `count` tiles: lane 0 of the newest, the last lane of the oldest one.
  struct window {
    T value;
    unsigned count;
    bool ends_in_prefix;  // The oldest value is a prefix; the others are aggregates.
  };

  __device__ void publish(tile_ticket mine, tile_state state, const T& value) const {
    COURSE_ASSERT(mine.tile < tiles_);
    COURSE_ASSERT(!has_published(mine, state, value));
    statuses_[mine.tile].publish(mine.epoch, state, value);
  }

  // Whether the tile has published as much already, or more.
  __device__ bool has_published(tile_ticket mine, tile_state state, T value) const {
    return statuses_[mine.tile].read(mine.epoch, &value) >= state;
  }

  // Waits until `tile` has published something.
  __device__ tile_state wait_for(unsigned epoch, unsigned tile, T* value) const {
    for (Delay delay;; delay()) {
      const tile_state state = statuses_[tile].read(epoch, value);
      if (state != tile_state::nothing) return state;
    }
  }

  // Waits until all tiles from `newest` back to `newest` - 31 have published. Those before a prefix
  // have done so: it was made of theirs. A lane without a tile keeps `value`, whatever it is; tile
  // 0 publishes a prefix, so that no window needs that lane.
  __device__ window wait_for_window(unsigned epoch, unsigned newest, const T& value) const {
    const unsigned lane = thread_block::thread_rank() % lanes;
    window seen = {value, 0, false};
    tile_state state = tile_state::nothing;
    if (lane <= newest) state = wait_for(epoch, newest - lane, &seen.value);
    const unsigned prefixes = __ballot_sync(whole_warp, state == tile_state::prefix);
    seen.ends_in_prefix = prefixes != 0;
    seen.count = seen.ends_in_prefix ? __ffs(static_cast<int>(prefixes)) : lanes;
    return seen;
  }

  // The whole window's, in lane 0. Each step combines neighbours, the earlier one on the left.
  template <class Operation>
  __device__ T combine(window seen, Operation operation) const {
    const unsigned lane = thread_block::thread_rank() % lanes;
    T value = seen.value;
#pragma unroll
    for (unsigned delta = 1; delta < lanes; delta *= 2) {
      const T earlier = value_of_lane(value, (lane + delta) % lanes);
      if (lane + delta < seen.count) value = operation(earlier, value);
    }
    return value;
  }

  tile_status<T>* statuses_;
  unsigned long long* counter_;
  unsigned tiles_;  // That there is memory for.
};

}  // namespace v1
}  // namespace course
