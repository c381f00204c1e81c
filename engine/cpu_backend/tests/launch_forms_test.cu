// SPDX-License-Identifier: MIT
// Every way to write a kernel launch reaches the kernel, with its own configuration and arguments.
#include "launch_forms.cuh"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <string>

#include "checked_runtime/check.cuh"
#include "checked_runtime/device_buffer.cuh"

using namespace launch_forms;

namespace {

std::string in_words(dim3 blocks, dim3 threads_a_block, unsigned threads, long long value) {
  const auto size = [](dim3 of) {
    return std::to_string(of.x) + "x" + std::to_string(of.y) + "x" + std::to_string(of.z);
  };
  return size(blocks) + " blocks of " + size(threads_a_block) + ", " + std::to_string(threads) +
         " threads ran, value " + std::to_string(value);
}

// What a kernel that is launched once must have seen.
std::string launched(dim3 blocks, dim3 threads_a_block, long long value) {
  const unsigned block = threads_a_block.x * threads_a_block.y * threads_a_block.z;
  return in_words(blocks, threads_a_block, blocks.x * blocks.y * blocks.z * block, value);
}

// Where one launch leaves its observation.
class observer {
 public:
  observer() : memory_(1) { *memory_.data() = {}; }

  observation* data() { return memory_.data(); }

  const observation& observed() {
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());
    return *memory_.data();
  }
  std::string seen() {
    return in_words(observed().blocks, observed().threads_a_block, observed().threads,
                    observed().value);
  }

 private:
  checked::managed_buffer<observation> memory_;
};

extern __shared__ int dynamic_values[];

// Observes the sum 0 + 1 + ... + (count - 1), added up from dynamic shared memory.
__global__ void sum_in_shared_memory(observation* seen, int count) {
  dynamic_values[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  long long sum = 0;
  for (int i = 0; i < count; ++i) sum += dynamic_values[i];
  observe(seen, sum);
}

__global__ void overloaded(observation* seen, int value) { observe(seen, value); }
__global__ void overloaded(observation* seen, double value) {
  observe(seen, static_cast<long long>(value * 1000));
}

__global__ void with_default(observation* seen, int value = 7) { observe(seen, value); }

__global__ void record_pointer(observation* seen, const int* pointer) {
  observe(seen, pointer == nullptr ? 1 : 2);
}

template <class... Values>
__global__ void record_sum(observation* seen, Values... values) {
  observe(seen, (0 + ... + values));
}

namespace outer::inner {
__global__ void record_in_a_namespace(observation* seen, int value) { observe(seen, value + 1); }
}  // namespace outer::inner

// Neither of the two members can be bound to a reference to int.
struct limits {
  static const int most = 11;  // declared, but defined nowhere
  unsigned bits : 3;
};

// Converts to int, counts how often, and can't be copied.
class convertible {
 public:
  convertible() = default;
  convertible(const convertible&) = delete;
  operator int() { return ++conversions_; }

 private:
  int conversions_ = 0;
};

using kernel_pointer = void (*)(observation*, int);
kernel_pointer chosen_kernel(bool in_a_namespace) {
  return in_a_namespace ? outer::inner::record_in_a_namespace : record;
}
template <class T>
auto typed_kernel() {
  return record_typed<T>;
}

template <class T>
struct launcher {
  kernel_pointer kernel = record;

  template <int Extra>
  void typed(observation* seen) {
    record_typed<T, Extra><<<1, 2>>>(seen, T{3});
  }
  template <class U>
  void pointer(observation* seen, U value) {
    this->kernel<<<2, 1>>>(seen, value);
  }
};

template <class T>
void launch_in_a_template(observation* seen, unsigned blocks) {
  record_typed<T, static_cast<int>(sizeof(wrapped<wrapped<T>>) > 3)><<<blocks, 2>>>(seen, T{1});
}

// The fold expression launches one kernel for each number.
template <int... Numbers>
void launch_for_each(observation** all) {
  (record_typed<int, Numbers><<<Numbers, 1>>>(all[Numbers], Numbers), ...);
}

#define LAUNCH(kernel, blocks, threads, ...) kernel<<<(blocks), (threads)>>>(__VA_ARGS__)
#define LAUNCH_ONE_THREAD(kernel, ...) LAUNCH(kernel, 1, 1, __VA_ARGS__)
#define TWO_BLOCKS 2
// clang-format takes '<<<' for comparisons here.
// clang-format off
#define BEGIN_CONFIGURATION <<<
#define END_CONFIGURATION >>>
// clang-format on

}  // namespace

TEST_CASE("launch: configurations of one to four arguments") {
  observer one, two, three, four, five;
  record<<<3>>>(one.data(), 1);
  CHECK(one.seen() == launched(3, 1, 1));
  record<<<dim3(2, 3, 4), dim3(4, 3, 2)>>>(two.data(), 2);
  CHECK(two.seen() == launched({2, 3, 4}, {4, 3, 2}, 2));
  sum_in_shared_memory<<<1, 32, 32 * sizeof(int)>>>(three.data(), 32);
  CHECK(three.seen() == launched(1, 32, 496));

  cudaStream_t stream;
  CUDA_CHECK(cudaStreamCreate(&stream));
  sum_in_shared_memory<<<1, 64, 64 * sizeof(int), stream>>>(four.data(), 64);
  CUDA_CHECK(cudaStreamSynchronize(stream));
  CHECK(four.seen() == launched(1, 64, 2016));
  CUDA_CHECK(cudaStreamDestroy(stream));
  record<<<1, 1, 0, NULL>>>(five.data(), 5);
  CHECK(five.seen() == launched(1, 1, 5));
}

TEST_CASE("launch: from a header") {
  observer plain, in_template;
  launch_forms::launch_in_a_header(plain.data());
  CHECK(plain.seen() == launched(2, 3, 4));
  launch_forms::launch_in_a_header_template(in_template.data(), 5LL);
  CHECK(in_template.seen() == launched({2, 2}, 3, 508));
}

TEST_CASE("launch: from a template") {
  observer of_char, of_double, member, member_pointer;
  launch_in_a_template<char>(of_char.data(), 3);
  CHECK(of_char.seen() == launched(3, 2, 111));
  launch_in_a_template<double>(of_double.data(), 4);
  CHECK(of_double.seen() == launched(4, 2, 118));
  launcher<short> launches;
  launches.typed<6>(member.data());
  CHECK(member.seen() == launched(1, 2, 362));
  launches.pointer(member_pointer.data(), 8);
  CHECK(member_pointer.seen() == launched(2, 1, 8));
}

TEST_CASE("launch: from a fold expression") {
  observer one, two, three;
  observation* all[] = {nullptr, one.data(), two.data(), three.data()};
  launch_for_each<1, 2, 3>(all);
  CHECK(one.seen() == launched(1, 1, 114));
  CHECK(two.seen() == launched(2, 1, 224));
  CHECK(three.seen() == launched(3, 1, 334));
}

TEST_CASE("launch: from a lambda") {
  observer captured, of_int, of_char, returned;
  const int blocks = 2;
  const auto plain = [&](int value) { record<<<blocks, 3>>>(captured.data(), value); };
  plain(4);
  CHECK(captured.seen() == launched(2, 3, 4));

  const auto generic = [](observation* seen, auto value) {
    record_typed<decltype(value), 5><<<dim3(sizeof(value)), 1>>>(seen, value);
  };
  generic(of_int.data(), 2);
  CHECK(of_int.seen() == launched(4, 1, 254));
  generic(of_char.data(), 'A');
  CHECK(of_char.seen() == launched(1, 1, 6551));

  [&] { return record<<<1, 1>>>(returned.data(), 6); }();
  CHECK(returned.seen() == launched(1, 1, 6));
}

TEST_CASE("launch: from a macro") {
  observer through, twice, with_commas, parts, in_a_check, over_lines;
  LAUNCH(record, TWO_BLOCKS, 3, through.data(), 4);
  CHECK(through.seen() == launched(2, 3, 4));
  LAUNCH_ONE_THREAD(record, twice.data(), 5);
  CHECK(twice.seen() == launched(1, 1, 5));
  LAUNCH((record_typed<int, 6>), 1, (product<2, 3>::value), with_commas.data(), 7);
  CHECK(with_commas.seen() == launched(1, 6, 764));
  record BEGIN_CONFIGURATION TWO_BLOCKS, number<2> END_CONFIGURATION(parts.data(), 8);
  CHECK(parts.seen() == launched(2, 2, 8));
  REQUIRE_NOTHROW(record<<<1, 2>>>(in_a_check.data(), 9));
  CHECK(in_a_check.seen() == launched(1, 2, 9));
  // clang-format off
  REQUIRE_NOTHROW(
      LAUNCH(record,
             (dim3(1,
                   2)),
             3,
             over_lines.data(),
             10));
  // clang-format on
  CHECK(over_lines.seen() == launched({1, 2}, 3, 10));
}

TEST_CASE("launch: brackets and commas in template arguments") {
  observer comma, nested, comparison, shift;
  record_typed<long long, product<2, 3>::value><<<1, 1>>>(comma.data(), 4);
  CHECK(comma.seen() == launched(1, 1, 468));
  record_typed<wrapped<wrapped<int>>><<<1, 1>>>(nested.data(), wrapped<wrapped<int>>{{5}});
  CHECK(nested.seen() == launched(1, 1, 524));
  record_typed<int, (3 > 2)><<<1, 1>>>(comparison.data(), 6);
  CHECK(comparison.seen() == launched(1, 1, 614));
  record_typed<int, 1 << 2><<<1, 1>>>(shift.data(), 7);
  CHECK(shift.seen() == launched(1, 1, 744));
}

// clang-format does not know all of these for launches.
// clang-format off
TEST_CASE("launch: brackets and commas in the configuration") {
  observer one, two, three, four, five, six, seven, eight;
  record<<<product<2, 3>::value, number<4> >>>(one.data(), 1);
  CHECK(one.seen() == launched(6, 4, 1));
  record<<<dim3(size_of<wrapped<wrapped<int>>>(1)), wrapped<wrapped<wrapped<int>>>::value>>>(
      two.data(), 2);
  CHECK(two.seen() == launched(24, 24, 2));
  record<<<size_of<wrapped<wrapped<int>>>(2), 1>>>(three.data(), 3);
  CHECK(three.seen() == launched(48, 1, 3));
  const int n = 64;
  record<<<n >> 3, n>>5>>>(four.data(), 4);
  CHECK(four.seen() == launched(8, 2, 4));
  record<<<n < 3 ? 5 : 6, (n > 3) ? 7 : 8>>>(five.data(), 5);
  CHECK(five.seen() == launched(6, 7, 5));
  const observation* none = nullptr;
  const dim3 size(3, 2);
  const dim3* pointer = &size;
  record<<<pointer->x, none == nullptr && n >= 3 ? pointer->y : 9>>>(six.data(), 6);
  CHECK(six.seen() == launched(3, 2, 6));
  record<<<[&](int a, int b) -> int { return a > b ? a : b; }(2, 3), 1>>>(seven.data(), 7);
  CHECK(seven.seen() == launched(3, 1, 7));
  record<<<{2, 3}, {4, 5}>>>(eight.data(), 8);
  CHECK(eight.seen() == launched({2, 3}, {4, 5}, 8));
}
// clang-format on

TEST_CASE("launch: template arguments deduced from the kernel's arguments") {
  observer of_int, of_double, partly, several;
  record_typed<<<1, 1>>>(of_int.data(), 2);
  CHECK(of_int.seen() == launched(1, 1, 204));
  record_typed<<<1, 1>>>(of_double.data(), 3.0);
  CHECK(of_double.seen() == launched(1, 1, 308));
  record_sum<long long><<<1, 1>>>(partly.data(), 4, 5);
  CHECK(partly.seen() == launched(1, 1, 9));
  record_sum<<<1, 1>>>(several.data(), 1, 2LL, '\3', 1'000);
  CHECK(several.seen() == launched(1, 1, 1006));
}

TEST_CASE("launch: overloads and default arguments") {
  observer of_int, of_double, cast, c_cast, by_default, given;
  overloaded<<<1, 1>>>(of_int.data(), 2);
  CHECK(of_int.seen() == launched(1, 1, 2));
  overloaded<<<1, 1>>>(of_double.data(), 2.5);
  CHECK(of_double.seen() == launched(1, 1, 2500));
  static_cast<void (*)(observation*, double)>(overloaded)<<<1, 1>>>(cast.data(), 3);
  CHECK(cast.seen() == launched(1, 1, 3000));
  ((kernel_pointer)overloaded)<<<1, 1>>>(c_cast.data(), 4);
  CHECK(c_cast.seen() == launched(1, 1, 4));
  with_default<<<1, 1>>>(by_default.data());
  CHECK(by_default.seen() == launched(1, 1, 7));
  with_default<<<1, 1>>>(given.data(), 8);
  CHECK(given.seen() == launched(1, 1, 8));
}

TEST_CASE("launch: the kernel is an expression") {
  observer variable, dereferenced, table_entry, chosen, called, of_template, qualified, leading;
  const kernel_pointer kernel = outer::inner::record_in_a_namespace;
  kernel<<<1, 1>>>(variable.data(), 1);
  CHECK(variable.seen() == launched(1, 1, 2));
  (*kernel)<<<1, 1>>>(dereferenced.data(), 2);
  CHECK(dereferenced.seen() == launched(1, 1, 3));
  const kernel_pointer table[] = {record, kernel};
  table[1 > 0]<<<1, 1>>>(table_entry.data(), 3);
  CHECK(table_entry.seen() == launched(1, 1, 4));
  (variable.observed().value > 100 ? kernel : record)<<<1, 1>>>(chosen.data(), 4);
  CHECK(chosen.seen() == launched(1, 1, 4));
  chosen_kernel(true)<<<1, 1>>>(called.data(), 5);
  CHECK(called.seen() == launched(1, 1, 6));
  typed_kernel<short>()<<<1, 1>>>(of_template.data(), 6);
  CHECK(of_template.seen() == launched(1, 1, 602));
  outer::inner::record_in_a_namespace<<<1, 1>>>(qualified.data(), 7);
  CHECK(qualified.seen() == launched(1, 1, 8));
  ::launch_forms::record<<<1, 1>>>(leading.data(), 8);
  CHECK(leading.seen() == launched(1, 1, 8));
}

TEST_CASE("launch: as part of a statement or an expression") {
  observer in_if, in_else, never, in_for, in_case, first, second, left, right, cast;
  const bool yes = in_if.observed().value == 0;
  if (yes) record<<<1, 1>>>(in_if.data(), 1);
  if (!yes)
    record<<<1, 1>>>(never.data(), 2);
  else
    record<<<1, 1>>>(in_else.data(), 3);
  CHECK(in_if.seen() == launched(1, 1, 1));
  CHECK(in_else.seen() == launched(1, 1, 3));
  REQUIRE(never.observed().threads == 0);
  for (int i = 0; i < 3; ++i) record<<<1, 1>>>(in_for.data(), i);
  REQUIRE(in_for.observed().threads == 3);
  switch (in_for.observed().threads) {
    case 3:
      record<<<1, 1>>>(in_case.data(), 4);
      break;
    default:
      FAIL();
  }
  CHECK(in_case.seen() == launched(1, 1, 4));
  // clang-format off
  record<<<1, 1>>>(first.data(), 5); record<<<2, 1>>>(second.data(), 6);
  // clang-format on
  CHECK(first.seen() == launched(1, 1, 5));
  CHECK(second.seen() == launched(2, 1, 6));
  const int value = (record<<<1, 1>>>(left.data(), 7), 8);
  CHECK(left.seen() == launched(1, 1, 7));
  yes ? record<<<1, 1>>>(right.data(), value) : record<<<1, 1>>>(never.data(), 9);
  CHECK(right.seen() == launched(1, 1, 8));
  (void)record<<<1, 1>>>(cast.data(), 10);
  CHECK(cast.seen() == launched(1, 1, 10));
  REQUIRE(never.observed().threads == 0);
}

TEST_CASE("launch: arguments are passed by value") {
  observer of_constant, of_bits, of_null, of_variable, of_lambda;
  const limits some{5};
  record<<<1, 1>>>(of_constant.data(), limits::most);
  CHECK(of_constant.seen() == launched(1, 1, 11));
  record<<<1, 1>>>(of_bits.data(), some.bits);
  CHECK(of_bits.seen() == launched(1, 1, 5));
  record_pointer<<<1, 1>>>(of_null.data(), NULL);
  CHECK(of_null.seen() == launched(1, 1, 1));
  int changed = 1;
  record<<<1, 1>>>(of_variable.data(), changed);
  changed = 2;
  CHECK(of_variable.seen() == launched(1, 1, 1));
  record<<<1, 1>>>(of_lambda.data(), [](int a, int b) { return a > b ? a : b; }(3, 4));
  CHECK(of_lambda.seen() == launched(1, 1, 4));
}

TEST_CASE("launch: arguments are converted once, by the host") {
  observer of_object, of_double, of_zero;
  convertible object;
  record<<<2, 3>>>(of_object.data(), object);
  CHECK(of_object.seen() == launched(2, 3, 1));
  REQUIRE(object == 2);
  const double fraction = 3.75;
  record<<<1, 1>>>(of_double.data(), fraction);
  CHECK(of_double.seen() == launched(1, 1, 3));
  record_pointer<<<1, 1>>>(of_zero.data(), 0);
  CHECK(of_zero.seen() == launched(1, 1, 1));
}
