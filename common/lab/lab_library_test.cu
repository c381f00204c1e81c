// SPDX-License-Identifier: MIT
// Tests of what the chapters' tests lean on.
#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "lab/check.cuh"
#include "lab/device.hpp"
#include "lab/device_buffer.cuh"
#include "lab/exact_data.hpp"
#include "lab/options.hpp"
#include "lab/output_files.hpp"
#include "lab/program.hpp"
#include "lab/reference.hpp"
#include "lab/timing.cuh"
#include "lab/trace.cuh"
#include "lab/work_trace.hpp"
#include "testing/poisoned_output.cuh"

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

// A folder of its own, gone at the end.
class temporary_folder {
 public:
  temporary_folder() {
    std::string name = std::filesystem::temp_directory_path() / "lab_library_test.XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::ptrdiff_t file_count() const {
    return std::distance(std::filesystem::directory_iterator(path_), {});
  }

 private:
  std::filesystem::path path_;
};

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

__global__ void write_one(int* place) { *place = 1; }

}  // namespace

TEST_CASE("CUDA_CHECK names file, line, call, words and error") {
  CHECK_NOTHROW(CUDA_CHECK(cudaSuccess));
  CHECK_THROWS_MATCHES(
      CUDA_CHECK(cudaSetDevice(-1)), lab::cuda_error,
      MessageMatches(ContainsSubstring("lab_library_test.cu:") &&
                     ContainsSubstring("cudaSetDevice(-1)") &&
                     ContainsSubstring(cudaGetErrorString(cudaErrorInvalidDevice)) &&
                     ContainsSubstring("cudaErrorInvalidDevice")));
  // The error is reported once, and no later check finds it again.
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("a device buffer copies, fills and moves") {
  std::vector<int> values(1000);
  std::iota(values.begin(), values.end(), 0);
  lab::device_buffer<int> buffer(values);
  CHECK(buffer.size() == 1000);
  CHECK(buffer.to_host() == values);
  CHECK(buffer.to_host(998, 2) == std::vector<int>{998, 999});
  buffer.copy_from(std::vector<int>{7, 8}, 10);
  CHECK(buffer.to_host(9, 4) == std::vector<int>{9, 7, 8, 12});

  int* const memory = buffer.data();
  lab::device_buffer<int> moved(std::move(buffer));
  CHECK(moved.data() == memory);
  CHECK(buffer.data() == nullptr);
  lab::device_buffer<int> assigned;
  assigned = std::move(moved);
  CHECK(assigned.data() == memory);
  CHECK(assigned.size() == 1000);

  assigned.fill_bytes(0xff);
  CHECK(assigned.to_host() == std::vector<int>(1000, -1));
  CHECK(lab::device_buffer<int>(0).data() == nullptr);
  CHECK(lab::device_buffer<int>(0).to_host().empty());
}

TEST_CASE("a device buffer refuses what cannot be") {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  CHECK_THROWS_AS(lab::device_buffer<double>(most / 8 + 1), std::length_error);
  CHECK_THROWS_MATCHES(
      lab::device_buffer<char>(std::size_t{1} << 50), lab::cuda_error,
      MessageMatches(ContainsSubstring("1125899906842624 bytes of device memory")));
  CHECK(cudaGetLastError() == cudaSuccess);
  lab::device_buffer<int> buffer(10);
  CHECK_THROWS_AS(buffer.to_host(9, 2), std::out_of_range);
  CHECK_THROWS_AS(buffer.to_host(11, 0), std::out_of_range);
  CHECK_THROWS_AS(buffer.to_host(1, most), std::out_of_range);
  CHECK_THROWS_AS(buffer.copy_from(std::vector<int>(2), 9), std::out_of_range);
}

TEST_CASE("a poisoned output notices writes outside it") {
  for (const std::size_t offset : {0, 1, 3}) {
    testing::poisoned_output<int> output(100, offset);
    CHECK(output.overrun() == std::nullopt);
    write_one<<<1, 1>>>(output.data());
    write_one<<<1, 1>>>(output.data() + 99);
    CHECK(output.overrun() == std::nullopt);
    write_one<<<1, 1>>>(output.data() + 100);
    CHECK(output.overrun() == "element 100 was written, outside an output of 100");
    output.poison();
    write_one<<<1, 1>>>(output.data() - 1);
    CHECK(output.overrun() == "element -1 was written, outside an output of 100");
  }
}

TEST_CASE("timing takes the median of the runs that were asked for") {
  CHECK(lab::summarize({3, 1, 2}).median_ms == 2);
  CHECK(lab::summarize({4, 1, 2, 10}).median_ms == 3);
  CHECK(lab::summarize({5, 1, 4, 2, 3}).lower_quartile_ms == 2);
  CHECK(lab::summarize({5, 1, 4, 2, 3}).upper_quartile_ms == 4);
  CHECK(lab::summarize({4, 1, 2, 10}).lower_quartile_ms == 1.75);
  CHECK(lab::summarize({7}).upper_quartile_ms == 7);
  CHECK(lab::summarize({4, 1, 2, 10}).minimum_ms == 1);
  CHECK(lab::summarize({4, 1, 2, 10}).maximum_ms == 10);
  CHECK(lab::gigabytes_per_second(3'000'000'000, 1000) == 3);
  CHECK(lab::gigabytes_per_second(1, 0) == 0);
  int calls = 0;
  const lab::timing time = lab::time_runs([&calls] { ++calls; }, 5, 3);
  CHECK(calls == 3 + 5 * time.calls_in_a_row);
  CHECK(time.runs == 5);
  CHECK(time.minimum_ms >= 0);
  CHECK(time.minimum_ms <= time.median_ms);
  CHECK(time.median_ms <= time.maximum_ms);

  // Half a millisecond a run, from 1 to 1,000 calls.
  CHECK(lab::calls_in_a_row(0) == 1000);
  CHECK(lab::calls_in_a_row(0.0004) == 1000);
  CHECK(lab::calls_in_a_row(0.0625) == 8);
  CHECK(lab::calls_in_a_row(0.3) == 1);
  CHECK(lab::calls_in_a_row(1e6) == 1);
}

TEST_CASE("numbers of the command line are exact or refused") {
  const auto parse = [](const std::string& text) {
    return lab::parse_whole_number("--threads", text, 1, 1024);
  };
  CHECK(parse("1") == 1);
  CHECK(parse("1024") == 1024);
  CHECK(parse("2^10") == 1024);
  for (const char* text : {"0", "1025", "-1", "+1", " 1", "1 ", "", "1e3", "0x10", "2^", "2^-1",
                           "2^11", "2^64", "18446744073709551617", "garbage"}) {
    CAPTURE(text);
    CHECK_THROWS_MATCHES(
        parse(text), lab::usage_error,
        MessageMatches(ContainsSubstring("--threads must be a whole number from 1 to 1024, not '" +
                                         std::string(text) + "'")));
  }
}

TEST_CASE("the results' JSON holds what was printed") {
  if (!lab::why_no_json().empty()) SKIP(lab::why_no_json());
  const lab::program_description program = {
      .name = "name", .summary = "a \"summary\"", .variants = {"one", "two"}};
  std::ostringstream out;
  lab::program_results results(program, {}, {.name = "a\tGPU\\", .multiprocessors = 3}, out);
  CHECK(out.str().empty());
  CHECK_FALSE(results.right());  // Nothing was checked.
  results.compare("sum", 1'234'567, 1'234'567);
  CHECK(results.right());
  results.add({.variant = "one",
               .blocks = 5,
               .threads = 6,
               .time = lab::summarize({2}),
               .bytes = 8'000'000,
               .wrong = std::nullopt});
  CHECK(results.right());
  results.add({.variant = "two",
               .blocks = 5,
               .threads = 6,
               .time = lab::summarize({2}),
               .bytes = 8'000'000,
               .wrong = "element 1 is 2, not 3"});
  CHECK_FALSE(results.right());
  results.finish();
  CHECK_THAT(out.str(), ContainsSubstring("1,234,567, right") && ContainsSubstring("4.0  right") &&
                            ContainsSubstring("WRONG: element 1 is 2, not 3") &&
                            ContainsSubstring("1 of 3 results are WRONG"));
  CHECK_THAT(results.json(), ContainsSubstring(R"("name":"a\tGPU\\")") &&
                                 ContainsSubstring(R"("got":1234567)") &&
                                 ContainsSubstring(R"("gigabytes_per_second":4.0,"right":true)") &&
                                 ContainsSubstring(R"("wrong":"element 1 is 2, not 3")") &&
                                 ContainsSubstring("\"right\": false\n}"));
  CHECK(lab::with_separators(0) == "0");
  CHECK(lab::with_separators(-123) == "-123");
  CHECK(lab::with_separators(-123'456) == "-123,456");
  CHECK(lab::with_separators(25'725'848'529'920) == "25,725,848,529,920");
}

TEST_CASE("a program's own options are read, and refused, as the shared ones are") {
  if (!lab::why_no_options().empty()) SKIP(lab::why_no_options());
  const lab::program_description program = {
      .name = "name",
      .summary = "summary",
      .variants = {"one", "two"},
      .without = {"--elements", "--seed"},
      .numbers =
          {{.name = "--size", .help = "help", .smallest = 1, .largest = 64, .by_default = 8}},
      .choices = {{.name = "--view", .help = "help", .choices = {"near", "far"}}},
      .files = {{.name = "--trace", .help = "help", .unavailable = {}},
                {.name = "--image", .help = "help", .unavailable = "there is no paint"}}};
  const auto parse = [&program](std::vector<const char*> words) {
    words.insert(words.begin(), "name");
    return lab::parse_options(static_cast<int>(words.size()), words.data(), program);
  };
  const lab::options defaults = parse({});
  CHECK(defaults.numbers == std::map<std::string, std::uint64_t>{{"--size", 8}});
  CHECK(defaults.choices == std::map<std::string, std::string>{{"--view", "near"}});
  CHECK(defaults.files == std::map<std::string, std::string>{{"--trace", ""}, {"--image", ""}});

  const lab::options chosen = parse({"--size", "2^6", "--view", "far", "--trace", "t.json",
                                     "--threads", "32", "--blocks", "7", "--variant", "two"});
  CHECK(chosen.numbers.at("--size") == 64);
  CHECK(chosen.choices.at("--view") == "far");
  CHECK(chosen.files.at("--trace") == "t.json");
  CHECK(chosen.threads == 32);
  CHECK(chosen.blocks == 7);
  CHECK(chosen.variant == "two");

  const auto refuses = [&parse](const std::vector<const char*>& words, const char* sentence) {
    CAPTURE(words.front());
    CHECK_THROWS_MATCHES(parse(words), lab::usage_error,
                         MessageMatches(ContainsSubstring(sentence)));
  };
  for (const char* size : {"0", "65", "-1", "1e3", ""}) {
    refuses({"--size", size}, "--size must be a whole number from 1 to 64, not '");
  }
  refuses({"--size", "1", "--size", "2"}, "--size is given more than once");
  refuses({"--size"}, "--size needs a value");
  refuses({"--view", "middle"}, "--view must be one of near, far, not 'middle'");
  refuses({"--trace", ""}, "--trace needs the name of a file");
  refuses({"--image", "i.png"}, "--image cannot be used: there is no paint");
  refuses({"--trace", "f", "--json", "f"}, "--trace and --json name the same file");
  refuses({"--elements", "8"}, "'--elements' is not understood");
  refuses({"--seed", "8"}, "'--seed' is not understood");
}

TEST_CASE("the results show a program's own options, notes and schedules") {
  const lab::program_description program = {
      .name = "name",
      .summary = "summary",
      .variants = {"one"},
      .without = {"--elements", "--seed"},
      .numbers = {{.name = "--size", .help = "", .smallest = 1, .largest = 9999, .by_default = 1}},
      .choices = {{.name = "--view", .help = "", .choices = {"near", "far"}}}};
  lab::options chosen;
  chosen.numbers = {{"--size", 4096}};
  chosen.choices = {{"--view", "far"}};
  std::ostringstream out;
  lab::program_results results(program, chosen, {.name = "GPU", .multiprocessors = 2}, out);
  results.note("3 of 5 blocks were launched");
  CHECK_FALSE(results.right());  // A note is no result.
  results.add({.variant = "one",
               .blocks = 5,
               .threads = 6,
               .time = lab::summarize({2}),
               .bytes = 0,
               .wrong = std::nullopt});
  results.add(lab::work_trace{.variant = "one",
                              .events = {{.begin_ns = 1'000'000, .end_ns = 3'000'000}},
                              .multiprocessors = 2,
                              .slots = 1});
  CHECK_THAT(out.str(),
             ContainsSubstring("\nsize: 4,096, view: far, timed runs: 10\n") &&
                 ContainsSubstring("\n3 of 5 blocks were launched\n") &&
                 ContainsSubstring(" -  right") &&
                 ContainsSubstring("schedule of one: 1 items in 2.0000 ms, busy 50.0 %"));
  if (!lab::why_no_json().empty()) SKIP(lab::why_no_json());
  CHECK_THAT(results.json(), ContainsSubstring(R"("size":4096,"view":"far")") &&
                                 ContainsSubstring("3 of 5 blocks were launched") &&
                                 ContainsSubstring(R"("makespan_ms":2.0,"busy_fraction":0.5)"));
}

TEST_CASE("a schedule's makespan, busy fraction and rows follow from its events") {
  // Multiprocessor 0 has two items at the same time, in two slots; item 3 was never recorded.
  const lab::work_trace run = {.variant = "a \"name\"",
                               .events = {{1000, 3000, 0, 7},
                                          {2000, 5000, 0, 8},
                                          {3000, 4000, 0, 7},
                                          {},
                                          {1500, 2500, 1, 9},
                                          {6000, 9000, 0, 8}},
                               .multiprocessors = 2,
                               .slots = 2};
  CHECK(lab::makespan_ms(run) == 0.008);
  CHECK(lab::busy_fraction(run) == Catch::Approx(10.0 / 32));
  std::vector<std::pair<std::size_t, std::uint32_t>> items_and_slots;
  for (const lab::recorded_item& each : lab::recorded_items(run)) {
    items_and_slots.emplace_back(each.item, each.slot);
  }
  // By their begin; block 8 goes on in its own slot, although the other one is free too.
  CHECK(items_and_slots == decltype(items_and_slots){{0, 0}, {4, 0}, {1, 1}, {2, 0}, {5, 1}});

  const lab::work_trace nothing = {.variant = "", .events = {{}}, .multiprocessors = 2, .slots = 1};
  CHECK(lab::makespan_ms(nothing) == 0);
  CHECK(lab::busy_fraction(nothing) == 0);
  CHECK(lab::recorded_items(nothing).empty());

  if (!lab::why_no_json().empty()) SKIP(lab::why_no_json());
  const std::string trace = lab::chrome_trace({run});
  CHECK_THAT(trace, ContainsSubstring(R"("args":{"name":"a \"name\""})") &&
                        ContainsSubstring(R"("name":"SM 0, slot 1")") &&
                        ContainsSubstring(R"("name":"item 1","cat":"item","ph":"X","pid":0,)"
                                          R"("tid":1,"ts":1.0,"dur":3.0,"args":{"block":8})") &&
                        ContainsSubstring(R"("makespan_ms":0.008,"busy_fraction":0.3125)"));
}

namespace {

__global__ void note_places(std::uint32_t* multiprocessors, std::uint64_t* times) {
  if (threadIdx.x != 0) return;
  const std::uint64_t before = lab::device_nanoseconds();
  multiprocessors[blockIdx.x] = lab::current_multiprocessor();
  times[2 * blockIdx.x] = before;
  times[2 * blockIdx.x + 1] = lab::device_nanoseconds();
}

}  // namespace

TEST_CASE("a kernel knows its multiprocessor and the time") {
  constexpr unsigned blocks = 500;
  lab::device_buffer<std::uint32_t> multiprocessors(blocks);
  lab::device_buffer<std::uint64_t> times(2 * blocks);
  std::uint64_t end_of_last_launch = 0;
  for (int run = 0; run < 2; ++run) {
    note_places<<<blocks, 32>>>(multiprocessors.data(), times.data());
    CUDA_CHECK(cudaGetLastError());
    const std::vector<std::uint32_t> places = multiprocessors.to_host();
    const auto count = static_cast<std::uint32_t>(lab::describe_device().multiprocessors);
    CHECK(std::all_of(places.begin(), places.end(), [=](std::uint32_t n) { return n < count; }));
    const std::vector<std::uint64_t> clock = times.to_host();
    for (unsigned block = 0; block < blocks; ++block) {
      REQUIRE(clock[2 * block] > 0);
      REQUIRE(clock[2 * block] >= end_of_last_launch);
      REQUIRE(clock[2 * block] <= clock[2 * block + 1]);
    }
    end_of_last_launch = *std::max_element(clock.begin(), clock.end());
  }
}

TEST_CASE("a picture becomes a PNG, or a sentence says why not") {
  const lab::image picture = {.width = 2, .height = 1, .pixels = {255, 0, 0, 0, 0, 255}};
  if (!lab::why_no_png().empty()) {
    CHECK_THAT(lab::why_no_png(), ContainsSubstring("libpng"));
    CHECK_THROWS_AS(lab::png(picture), std::runtime_error);
    return;
  }
  const std::string contents = lab::png(picture);
  // PNG specification, sections 5.2 and 11.2.2: signature, then IHDR with width and height, 8 bits,
  // colour type 2 (red, green, blue).
  REQUIRE(contents.size() > 33);
  CHECK(contents.substr(0, 8) == "\x89PNG\r\n\x1a\n");
  CHECK(contents.substr(12, 4) == "IHDR");
  CHECK(contents.substr(16, 10) == std::string("\0\0\0\2\0\0\0\1\x08\2", 10));
  CHECK(contents.substr(contents.size() - 8, 4) == "IEND");
  CHECK_THROWS_AS(lab::png({.width = 0, .height = 0, .pixels = {}}), std::runtime_error);
}

TEST_CASE("a result file is written whole or not at all") {
  const temporary_folder folder;
  const auto path = folder.path() / "report.json";
  const lab::result_file file(path, {});
  file.require_writable();
  CHECK(folder.file_count() == 0);  // The trial leaves nothing behind.
  file.write("first");
  CHECK(contents(path) == "first");
  file.write("second");
  CHECK(contents(path) == "second");
  CHECK(folder.file_count() == 1);

  // Nothing is written through a link.
  const auto link = folder.path() / "link";
  std::filesystem::create_symlink(path, link);
  CHECK_THROWS_AS(lab::result_file(link, {}).require_writable(), lab::usage_error);
  CHECK_THROWS_AS(lab::result_file(link, {}).write("third"), std::runtime_error);
  CHECK(std::filesystem::is_symlink(link));
  CHECK(contents(path) == "second");

  for (const auto& refused :
       {folder.path(), folder.path() / "no" / "folder", std::filesystem::path("/dev/null")}) {
    CAPTURE(refused.string());
    CHECK_THROWS_MATCHES(lab::result_file(refused, {}).require_writable(), lab::usage_error,
                         MessageMatches(ContainsSubstring("cannot write '" + refused.string())));
  }
  CHECK_THROWS_AS(lab::result_file(folder.path() / "no" / "folder", {}).write("x"),
                  std::runtime_error);

  // A pipe stays a pipe.
  const auto pipe = folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_AS(lab::result_file(pipe, {}).require_writable(), lab::usage_error);
  CHECK_THROWS_AS(lab::result_file(pipe, {}).write("x"), std::runtime_error);
  CHECK(std::filesystem::is_fifo(pipe));
}

TEST_CASE("a result file replaces only what it can tell for one of its kind") {
  const temporary_folder folder;
  const auto path = folder.path() / "file";
  const lab::file_kind kind = {.mark = "kind", .place = 2};
  for (const std::string content : {"", "a kind of file", "a kind"}) {
    CAPTURE(content);
    write(path, content);
    lab::result_file(path, kind).require_writable();
  }
  for (const std::string content : {"kind", "a kin", "a", "a thesis"}) {
    CAPTURE(content);
    write(path, content);
    CHECK_THROWS_MATCHES(lab::result_file(path, kind).require_writable(), lab::usage_error,
                         MessageMatches(ContainsSubstring("of another kind is there")));
    CHECK_THROWS_AS(lab::result_file(path, kind).write("x"), std::runtime_error);
    CHECK(contents(path) == content);
  }
  lab::result_file(path, kind, true).write("x");
  CHECK(contents(path) == "x");

  // What lab writes is told for its own.
  if (lab::why_no_png().empty()) {
    write(path, lab::png({.width = 1, .height = 1, .pixels = {1, 2, 3}}));
    lab::result_file(path, lab::image_file).require_writable();
  }
  if (lab::why_no_json().empty()) {
    write(path, lab::chrome_trace({}));
    lab::result_file(path, lab::trace_file).require_writable();
  }
}

TEST_CASE("the exact data is exact") {
  for (const std::size_t count : {1UL, 2UL, 1000UL, (1UL << 24) - 1}) {
    const std::int64_t m = lab::exact_dot_magnitude(count);
    CHECK(m >= 1);
    CHECK(static_cast<std::int64_t>(count) * m * m < lab::exact_in_float);
  }
  CHECK_THROWS_AS(lab::exact_dot_magnitude(1UL << 24), std::invalid_argument);

  // Both ends and the middle occur, and nothing else; a prefix does not depend on the length.
  const auto values = lab::small_integers<int>(1000, 2, 5);
  for (int wanted = -2; wanted <= 2; ++wanted) {
    CHECK(std::find(values.begin(), values.end(), wanted) != values.end());
  }
  CHECK(*std::min_element(values.begin(), values.end()) == -2);
  CHECK(*std::max_element(values.begin(), values.end()) == 2);
  CHECK(
      std::equal(values.begin(), values.begin() + 10, lab::small_integers<int>(10, 2, 5).begin()));
  CHECK(values != lab::small_integers<int>(1000, 2, 6));

  const auto [a, b] = lab::cancelling_vectors<float>(10'000, 3);
  const lab::sum_reference reference = lab::compensated_dot<float>(a, b);
  CHECK(std::fabs(reference.value) < 1e-4 * reference.absolute);
}

TEST_CASE("the references are right where other sums are not") {
  using wide = std::vector<std::int64_t>;
  constexpr std::int64_t large = std::int64_t{1} << 40;
  CHECK(lab::exact_dot<std::int64_t>(wide{large, large, 3}, wide{large, -large, 5}) == 15);
  CHECK_THROWS_AS(lab::exact_dot<std::int64_t>(wide{large}, wide{large}), std::overflow_error);
  // 2^80 + 1 - 2^80: plain long double loses the 1.
  const std::vector<double> a = {std::ldexp(1.0, 40), 1, std::ldexp(-1.0, 40)};
  const std::vector<double> b = {std::ldexp(1.0, 40), 1, std::ldexp(1.0, 40)};
  CHECK(lab::compensated_dot<double>(a, b).value == 1);
  CHECK(lab::compensated_dot<double>(a, b).absolute == std::ldexp(1.0, 81));

  CHECK(lab::exact_sum<std::int64_t>(wide{large, 3, -large}) == 3);
  CHECK_THROWS_AS(lab::exact_sum<std::int64_t>(wide{std::int64_t{1} << 62, std::int64_t{1} << 62}),
                  std::overflow_error);
  const std::vector<double> sum_with_loss = {std::ldexp(1.0, 80), 1, std::ldexp(-1.0, 80)};
  CHECK(lab::compensated_sum<double>(sum_with_loss).value == 1);
  CHECK(lab::compensated_sum<double>(sum_with_loss).absolute == std::ldexp(1.0, 81));

  // gamma_1 = u / (1 - u).
  const double u = std::ldexp(1.0, -24);
  CHECK(lab::sum_error_bound<float>(1, {.value = 0, .absolute = 1}) == u / (1 - u));
  CHECK_THROWS_AS(lab::sum_error_bound<float>(std::uint64_t{1} << 24, {}), std::invalid_argument);

  const std::vector<float> got = {1, std::nanf("")};
  CHECK(lab::first_difference<float>(got, std::vector<float>{1, std::nanf("")}).has_value());
  CHECK(lab::first_difference<float>(std::vector<float>{1, 5}, std::vector<float>{1, 4}) ==
        "element 1 is 5, not 4");
  CHECK_FALSE(lab::first_difference<float>(std::vector<float>{1}, std::vector<float>{1}));
}
