// SPDX-License-Identifier: MIT
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "02_shared_memory_dot_product/reduction_cases.cuh"
#include "benchmark/comparison.hpp"
#include "benchmark/exact_vectors.cuh"
#include "benchmark/results.hpp"
#include "benchmark/session.hpp"
#include "lab/check.cuh"
#include "lab/reference.hpp"

namespace {

using benchmarks::benchmark_case;
using benchmarks::role;

std::optional<std::string> nothing_wrong() { return std::nullopt; }

benchmark_case named(const std::string& name, role part, std::function<void(std::size_t)> run) {
  return {.name = name, .part = part, .bytes = 0, .run = std::move(run), .wrong = nothing_wrong};
}

// Between the two events of a turn. Where other programs use the device too, it may be late: it has
// to have come to the first event before the wait begins, or it comes to both of them after it.
void wait_between_events(int milliseconds) {
  CUDA_CHECK(cudaDeviceSynchronize());
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

// So long that a turn is one call.
void long_call() { wait_between_events(1); }

std::vector<std::string> names_of(const std::vector<benchmarks::comparison_row>& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.push_back(row.name);
  return names;
}

}  // namespace

TEST_CASE("a case that is wrong from the start is never timed") {
  int calls = 0;
  benchmark_case wrong = named("wrong", role::variant, [&](std::size_t) { ++calls; });
  wrong.wrong = [] { return std::optional<std::string>("got 1, not 2"); };
  const auto result = benchmarks::compare(
      {wrong, named("right", role::variant, [](std::size_t) { long_call(); })}, 1, 3);
  CHECK(calls == 0);
  CHECK(names_of(result.rows) == std::vector<std::string>{"right"});
  REQUIRE(result.wrong.size() == 1);
  CHECK(result.wrong.front().name == "wrong");
  CHECK(result.wrong.front().what == "got 1, not 2");
}

TEST_CASE("a case that is wrong at the end has no row") {
  int checks = 0;
  benchmark_case wrong = named("wrong at last", role::variant, [](std::size_t) { long_call(); });
  wrong.wrong = [&]() -> std::optional<std::string> {
    if (++checks == 1) return std::nullopt;
    return "got 1, not 2";
  };
  const auto result = benchmarks::compare({wrong}, 1, 3);
  CHECK(checks == 2);
  CHECK(result.rows.empty());
  CHECK(result.wrong.size() == 1);
}

TEST_CASE("every case has its turn in every round, forward and backward in alternation") {
  std::string order;
  const auto notes = [&](char letter) {
    return named(std::string(1, letter), role::variant, [&order, letter](std::size_t) {
      order += letter;
      long_call();
    });
  };
  const auto result = benchmarks::compare({notes('a'), notes('b'), notes('c')}, 1, 4);
  REQUIRE(result.rows.size() == 3);
  for (const auto& row : result.rows) {
    CHECK(row.time.runs == 4);
    CHECK(row.time.calls_in_a_row == 1);
  }
  // What comes before the rounds only tells how long a call is.
  REQUIRE(order.size() >= 12);
  CHECK(order.substr(order.size() - 12) == "abccbaabccba");
}

TEST_CASE("calls take the inputs in turn") {
  std::vector<std::size_t> inputs;
  const auto result = benchmarks::compare(
      {named("notes", role::variant, [&](std::size_t input) { inputs.push_back(input); })}, 3, 2);
  REQUIRE(result.rows.size() == 1);
  REQUIRE(result.rows.front().time.calls_in_a_row > 1);
  for (std::size_t call = 0; call < inputs.size(); ++call) {
    if (inputs[call] != call % 3) FAIL("call " << call << " took input " << inputs[call]);
  }
}

TEST_CASE("of a run that makes several calls the time is that of one of them") {
  benchmark_case graph =
      named("ten calls", role::variant, [](std::size_t) { wait_between_events(20); });
  graph.calls_of_run = 10;
  const auto result = benchmarks::compare({graph}, 1, 3);
  REQUIRE(result.rows.size() == 1);
  CHECK(result.rows.front().time.calls_in_a_row == 10);
  CHECK(result.rows.front().time.minimum_ms >= 2);
  CHECK(result.rows.front().time.minimum_ms < 20);
}

TEST_CASE("a variant's time is compared with that of each peer and of the floor") {
  const auto waits = [](const char* name, role part, int milliseconds) {
    return named(name, part, [=](std::size_t) { wait_between_events(milliseconds); });
  };
  const auto result =
      benchmarks::compare({waits("slow", role::variant, 30), waits("fast", role::peer, 3),
                           waits("copy", role::ceiling, 1), waits("empty", role::floor, 1)},
                          1, 3);
  REQUIRE(result.rows.size() == 4);
  const auto& ratios = result.rows.front().ratios;
  REQUIRE(ratios.size() == 2);
  CHECK(ratios[0].to == "fast");
  CHECK(ratios[0].median > 2);  // 10, but for a busy machine.
  CHECK(ratios[0].lower_quartile <= ratios[0].median);
  CHECK(ratios[0].median <= ratios[0].upper_quartile);
  CHECK(ratios[1].to == "empty");
  CHECK(result.rows[1].ratios.empty());
}

TEST_CASE("the sums, dot products and minima of the vectors are those of their elements") {
  constexpr std::size_t count = 5 * benchmarks::grain;
  const benchmarks::exact_vectors<float> data(count, 7);
  std::vector<float> a(count);
  std::vector<float> b(count);
  CUDA_CHECK(cudaMemcpy(a.data(), data.a(0), count * sizeof(float), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaMemcpy(b.data(), data.b(0), count * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(std::count(a.begin(), a.end(), 0.0F) == 0);
  CHECK(std::count(b.begin(), b.end(), 0.0F) == 0);
  CHECK(a != b);
  for (std::size_t first = 0; first < count; first += benchmarks::grain) {
    for (std::size_t n = benchmarks::grain; first + n <= count; n += benchmarks::grain) {
      const std::vector<std::int64_t> some_a(a.begin() + std::ptrdiff_t(first),
                                             a.begin() + std::ptrdiff_t(first + n));
      const std::vector<std::int64_t> some_b(b.begin() + std::ptrdiff_t(first),
                                             b.begin() + std::ptrdiff_t(first + n));
      CHECK(data.sum_of_a(first, n) == lab::exact_sum<std::int64_t>(some_a));
      CHECK(data.dot(first, n) == lab::exact_dot<std::int64_t>(some_a, some_b));
      CHECK(data.minimum_of_a(first, n) == *std::min_element(some_a.begin(), some_a.end()));
    }
  }
  CHECK_THROWS_AS(data.sum_of_a(1, benchmarks::grain), std::invalid_argument);
  CHECK_THROWS_AS(benchmarks::exact_vectors<float>(1, 7), std::invalid_argument);
}

TEST_CASE("a right result that a float cannot hold is refused") {
  CHECK(benchmarks::exactly<float>(-(std::int64_t{1} << 24)) == -16'777'216.0F);
  CHECK_THROWS_AS(benchmarks::exactly<float>((std::int64_t{1} << 24) + 1), std::logic_error);
}

TEST_CASE("a reduction that is wrong for one input is wrong") {
  const benchmarks::exact_vectors<double> data(4 * benchmarks::grain, 7);
  const benchmarks::placement where = {
      .elements = 2 * benchmarks::grain, .data = "memory", .inputs = 2};
  const auto task = benchmarks::sum_task(data, where);
  const auto sums_off_by = [&](double difference) {
    return [&, difference](std::size_t input) {
      const auto right = data.sum_of_a(where.first(input), where.elements);
      return static_cast<double>(right) + (input == 1 ? difference : 0);
    };
  };
  CHECK(task.on_host("right", role::variant, sums_off_by(0)).wrong() == std::nullopt);
  const auto wrong = task.on_host("wrong", role::variant, sums_off_by(1)).wrong();
  REQUIRE(wrong.has_value());
  CHECK(wrong->find("input 1: got ") == 0);
  // One that writes nothing the second time leaves the poison, not the result of the first time.
  std::size_t calls = 0;
  const benchmark_case idle =
      task.on_device("idle", role::variant, [&](std::size_t input, double* result) {
        const double right = sums_off_by(0)(input);
        if (++calls > where.inputs) return;
        CUDA_CHECK(cudaMemcpy(result, &right, sizeof right, cudaMemcpyHostToDevice));
      });
  CHECK(idle.wrong() == std::nullopt);
  CHECK(idle.wrong().has_value());
}

TEST_CASE("a copy is checked byte by byte, onto poison") {
  const benchmarks::exact_vectors<float> data(2 * benchmarks::grain, 7);
  lab::device_buffer<float> to(data.size());
  constexpr std::size_t bytes = benchmarks::grain * sizeof(float);
  const benchmark_case copy =
      benchmarks::device_to_device_copy(data.a(0), to.data(), bytes, bytes, 2);
  CHECK(copy.wrong() == std::nullopt);
  CHECK(copy.bytes == 2 * bytes);
}

TEST_CASE("inputs in turn take twice the cache; small ones are measured in the cache, too") {
  const benchmarks::benchmark_options options = {.smallest = 1 << 10, .largest = 1 << 16};
  const benchmarks::device_facts device = {.name = "some device", .cache_bytes = 1 << 16};
  std::ostringstream text;
  benchmarks::results found(device, 3, text);
  benchmarks::session run(options, device, found);
  const auto places = run.placements("01", "some task", 4, 4);
  REQUIRE(places.size() == 7 + 4);  // 2^10 to 2^16; up to 2^13 floats fit twice.
  for (const auto& each : places) {
    if (each.data == "memory") {
      CHECK(each.inputs * each.elements * 4 >= 2 * device.cache_bytes);
      CHECK((each.inputs - 1) * each.elements * 4 < 2 * device.cache_bytes);
    } else {
      CHECK(each.data == "cache");
      CHECK(each.inputs == 1);
      CHECK(2 * each.elements * 4 <= device.cache_bytes);
    }
  }
  CHECK(benchmarks::longest(places) == 1 << 16);
}

TEST_CASE("a size for which memory is short is left out, and said to be") {
  const benchmarks::benchmark_options options = {.smallest = 1 << 10, .largest = 1 << 11};
  const benchmarks::device_facts device = {.name = "some device", .cache_bytes = 0};
  std::ostringstream text;
  benchmarks::results found(device, 3, text);
  benchmarks::session run(options, device, found);
  CHECK(run.placements("01", "some task", 4, std::uint64_t{1} << 40).empty());
  CHECK(text.str().find("01 some task: no 2048 elements: it needs ") != std::string::npos);
}

TEST_CASE("results are right only where something was measured and nothing was wrong") {
  std::ostringstream text;
  benchmarks::results found({.name = "some device"}, 3, text);
  CHECK_FALSE(found.right());
  const benchmarks::comparison_description of = {
      .chapter = "04", .task = "sum", .type = "float", .elements = 1024, .data = "memory"};
  benchmarks::comparison_result result;
  result.rows.push_back({.name = "last_block",
                         .part = role::variant,
                         .bytes = 4096,
                         .time = lab::summarize({1, 2, 3}),
                         .ratios = {}});
  found.add(of, result);
  CHECK(found.right());
  result.wrong.push_back({"shared_flag", "got 1, not 2"});
  found.add(of, result);
  CHECK_FALSE(found.right());
  CHECK(text.str().find("shared_flag is WRONG: got 1, not 2") != std::string::npos);
}
