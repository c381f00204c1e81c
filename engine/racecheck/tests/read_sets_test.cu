// SPDX-License-Identifier: MIT
// The sets of reads that cells share, against a map that has every thread's last read of each kind.
#include "racecheck/memory/read_sets.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

#include "racecheck/races/checker.hpp"

namespace {

using namespace racecheck;

constexpr std::size_t much_room = std::size_t{1} << 30;

cell_record read_by(unsigned rank, epoch at, place_index place = 1, unsigned marks = 0) {
  thread_state thread;
  thread.name.rank = rank;
  thread.current_epoch = at;
  return {cell_record::stamp_of(thread), place, marks};
}

// A cell, which is read by one thread after the other.
class read_cell {
 public:
  explicit read_cell(read_sets& sets) : sets_(sets) {}
  ~read_cell() {
    if (reads_.has(cell::has_reads)) sets_.drop(reads_.number());
  }
  read_cell(const read_cell&) = delete;
  read_cell& operator=(const read_cell&) = delete;

  void read(std::uint32_t block, cell_record made) {
    reads_ = reads_ == cell_record{} ? made : sets_.add(reads_, block_, made, block);
    block_ = block;
  }
  void read_by_all(std::uint32_t block, unsigned threads, epoch at) {
    for (unsigned rank = 0; rank < threads; ++rank) read(block, read_by(rank, at));
  }
  cell_record reads() const { return reads_; }

 private:
  read_sets& sets_;
  cell_record reads_;
  std::uint32_t block_ = 0;  // that has read last
};

using thread_and_kind = std::tuple<std::uint32_t, unsigned, unsigned>;  // block, rank, marks

std::map<thread_and_kind, epoch> last_reads(const read_sets& sets, cell_record reads) {
  std::map<thread_and_kind, epoch> found;
  sets.each_group(reads.number(), [&](const read_group& group) {
    for (unsigned i = 0; i < 64; ++i) {
      if (!(group.ranks >> i & 1)) continue;
      epoch& last = found[{group.block, group.first.rank() + i, group.first.marks()}];
      last = std::max(last, group.first.access_epoch());
    }
  });
  return found;
}

__device__ int sum_of(const int* data) {
  int sum = 0;
  for (int i = 0; i < 64; ++i) sum += data[i];
  return sum;
}
__global__ void read_by_all(const int* data, int* sums) {
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum_of(data);
}
__global__ void read_by_all_and_written(int* data, int* sums) {
  if (blockIdx.x == 3 && threadIdx.x == 0) data[5] = 1;
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum_of(data);
}

}  // namespace

TEST_CASE("a set has the last read of every thread and kind") {
  std::mt19937 random(20251120);
  read_sets sets;
  sets.begin_launch(much_room);
  const std::vector<unsigned> kinds = {
      0, cell_record::is_volatile,
      cell_record::marks_of_atomic(access_shape(4, 0), cpu_backend::observer::scope::device)};
  for (int round = 0; round < 30; ++round) {
    // Two that are read alike, so that they share, and one that is read a little differently.
    read_cell one(sets), same(sets), other(sets);
    std::map<thread_and_kind, epoch> expected, expected_of_other;
    epoch now = 1;
    for (int i = 0; i < 600; ++i) {
      if (random() % 8 == 0) ++now;
      const std::uint32_t block = random() % 3 * 5;
      const unsigned rank = random() % 4 != 0 ? random() % 130 : random() % 1024;
      const unsigned marks = kinds[random() % (round % 3 + 1)];
      const cell_record made =
          read_by(rank, now, static_cast<place_index>(1 + random() % 2), marks);
      one.read(block, made);
      same.read(block, made);
      expected[{block, rank, marks}] = now;
      if (random() % 8 == 0) continue;
      other.read(block, made);
      expected_of_other[{block, rank, marks}] = now;
    }
    CHECK(last_reads(sets, one.reads()) == expected);
    CHECK(last_reads(sets, same.reads()) == expected);
    CHECK(last_reads(sets, other.reads()) == expected_of_other);
  }
  CHECK(sets.bytes() == 0);
}

TEST_CASE("a set has all threads of a block but one, and then that one, too") {
  std::mt19937 random(20251120);
  read_sets sets;
  sets.begin_launch(much_room);
  std::vector<unsigned> ranks(256);
  std::iota(ranks.begin(), ranks.end(), 0u);
  for (const unsigned missing : {0u, 63u, 64u, 130u, 255u}) {
    read_cell cell(sets);
    std::map<thread_and_kind, epoch> expected;
    std::shuffle(ranks.begin(), ranks.end(), random);
    for (const unsigned rank : ranks) {
      if (rank == missing) continue;
      cell.read(2, read_by(rank, 5));
      expected[{2, rank, 0}] = 5;
    }
    CHECK(last_reads(sets, cell.reads()) == expected);
    cell.read(2, read_by(missing, 5));
    expected[{2, missing, 0}] = 5;
    CHECK(last_reads(sets, cell.reads()) == expected);
    CHECK(sets.bytes() < 100);  // all of them in one piece
    cell.read(3, read_by(1, 6));
    expected[{3, 1, 0}] = 6;
    CHECK(last_reads(sets, cell.reads()) == expected);
  }
}

TEST_CASE("cells that were read alike in different orders share one set") {
  read_sets sets;
  sets.begin_launch(much_room);
  {
    read_cell one(sets), other(sets);
    for (const std::uint32_t block : {0u, 1u, 2u}) one.read_by_all(block, 256, 10 + block);
    for (const std::uint32_t block : {2u, 0u, 1u}) other.read_by_all(block, 256, 10 + block);
    one.read(7, read_by(3, 20));
    other.read(7, read_by(3, 20));
    CHECK(one.reads() == other.reads());
    // One node for each block's list of all threads, and one for each fork.
    CHECK(sets.bytes() < 1000);
    CHECK(last_reads(sets, one.reads()).size() == 3 * 256 + 1);
  }
  CHECK(sets.bytes() == 0);
}

TEST_CASE("all reads of a set have certain marks, or not") {
  read_sets sets;
  sets.begin_launch(much_room);
  const unsigned atomic =
      cell_record::marks_of_atomic(access_shape(4, 0), cpu_backend::observer::scope::device);
  read_cell flag(sets);
  for (const std::uint32_t block : {0u, 1u, 2u}) {
    for (unsigned rank = 0; rank < 70; ++rank) flag.read(block, read_by(rank, 5, 1, atomic));
  }
  CHECK(sets.all_have(flag.reads().number(), atomic));
  flag.read(1, read_by(2, 5));
  CHECK(!sets.all_have(flag.reads().number(), atomic));
  flag.read(3, read_by(2, 6, 1, atomic));
  CHECK(!sets.all_have(flag.reads().number(), atomic));
}

TEST_CASE("without room the last read is left, and the others are counted") {
  read_sets sets;
  sets.begin_launch(0);
  read_cell first(sets), second(sets);
  for (unsigned rank = 0; rank < 2; ++rank) first.read(0, read_by(rank, 5));
  REQUIRE(first.reads().has(cell::has_reads));
  CHECK(sets.forgotten() == 0);
  second.read(0, read_by(8, 5));
  second.read(0, read_by(9, 5));
  CHECK(second.reads() == read_by(9, 5));
  CHECK(sets.forgotten() == 1);
}

TEST_CASE("a write of what all threads read is found") {
  constexpr unsigned blocks = 4, threads = 256;
  int* data = nullptr;
  int* sums = nullptr;
  REQUIRE(cudaMalloc(&data, 64 * sizeof(int)) == cudaSuccess);
  REQUIRE(cudaMalloc(&sums, blocks * threads * sizeof(int)) == cudaSuccess);
  REQUIRE(cudaMemset(data, 0, 64 * sizeof(int)) == cudaSuccess);
  checker& of = checker::instance();
  read_by_all<<<blocks, threads>>>(data, sums);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(of.findings().empty());
  read_by_all_and_written<<<blocks, threads>>>(data, sums);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(!of.findings().empty());
  for (const finding& each : of.findings())
    CHECK(each.object == "allocation 1, element 5 (4 bytes each) of 256 bytes");
  of.forget_findings();
  REQUIRE(cudaFree(data) == cudaSuccess);
  REQUIRE(cudaFree(sums) == cudaSuccess);
}
