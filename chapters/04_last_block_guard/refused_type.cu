// SPDX-License-Identifier: MIT
// Must not compile: the partial results have a copy constructor, so copying their bytes is not
// enough. last_block_misuse_test.py looks for the sentence that says so.
#include "04_last_block_guard/fast_last_block_guard.cuh"

struct counted {
  counted() = default;
  counted(const counted& other) : value(other.value) {}
  int value;
};

__global__ void merge(counted* partials, unsigned* counter) {
  course::merge_in_last_block(counted{}, partials, counter,
                              [](const counted*, unsigned long long) {});
}

int main() { merge<<<1, 1>>>(nullptr, nullptr); }
