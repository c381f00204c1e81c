// SPDX-License-Identifier: MIT
// The functions of a single thread: integer intrinsics, arithmetic with a given rounding,
// conversions, bit casts, min and max, loads and stores with a cache hint. Each is compared with a
// reference that is computed in another way; where CUDA promises exact rounding, so does the
// comparison.
#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "checked_runtime/device_buffer.cuh"
#include "error_names.hpp"

namespace {

// Calls `Function::call` for every element, on the device. An argument list is one element of each
// input.
template <class Function, class Out, class... In>
__global__ void map_kernel(int n, Out* out, const In*... in) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = Function::call(in[i]...);
}

template <class Function, class... In>
auto map(const std::vector<In>&... in) {
  using result = typename Function::result;
  const std::size_t n = std::min({in.size()...});
  checked::device_buffer<result> out(n);
  // The inputs live until the call returns, and so until the copy below has waited for the kernel.
  [&](const auto&... buffers) {
    map_kernel<Function><<<static_cast<unsigned int>((n + 127) / 128), 128>>>(
        static_cast<int>(n), out.data(), buffers.data()...);
    REQUIRE(cudaGetLastError() == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  }(checked::device_buffer<In>(in)...);
  return out.to_host();
}

// A type with a static `call` for a device function: a kernel cannot take a function's name as
// such. The result's type is spelled out, because nvcc hides device functions from the compiler of
// host code.
#define DEVICE_FUNCTION(type, function)                     \
  struct call_##function {                                  \
    using result = type;                                    \
    template <class... Arguments>                           \
    static __device__ result call(Arguments... arguments) { \
      return function(arguments...);                        \
    }                                                       \
  }

enum class rounding { nearest, to_zero, up, down };

// The same for a function that there is for each rounding.
#define ROUNDED_FUNCTION(type, function)                    \
  template <rounding how>                                   \
  struct call_##function {                                  \
    using result = type;                                    \
    template <class... Arguments>                           \
    static __device__ result call(Arguments... arguments) { \
      if constexpr (how == rounding::nearest) {             \
        return function##_rn(arguments...);                 \
      } else if constexpr (how == rounding::to_zero) {      \
        return function##_rz(arguments...);                 \
      } else if constexpr (how == rounding::up) {           \
        return function##_ru(arguments...);                 \
      } else {                                              \
        return function##_rd(arguments...);                 \
      }                                                     \
    }                                                       \
  }

DEVICE_FUNCTION(int, __popc);
DEVICE_FUNCTION(int, __popcll);
DEVICE_FUNCTION(int, __clz);
DEVICE_FUNCTION(int, __clzll);
DEVICE_FUNCTION(int, __ffs);
DEVICE_FUNCTION(int, __ffsll);
DEVICE_FUNCTION(unsigned int, __brev);
DEVICE_FUNCTION(unsigned long long, __brevll);
DEVICE_FUNCTION(unsigned int, __byte_perm);
DEVICE_FUNCTION(int, __mul24);
DEVICE_FUNCTION(unsigned int, __umul24);
DEVICE_FUNCTION(int, __mulhi);
DEVICE_FUNCTION(unsigned int, __umulhi);
DEVICE_FUNCTION(long long, __mul64hi);
DEVICE_FUNCTION(unsigned long long, __umul64hi);
DEVICE_FUNCTION(unsigned int, __sad);
DEVICE_FUNCTION(unsigned int, __usad);
DEVICE_FUNCTION(int, __hadd);
DEVICE_FUNCTION(int, __rhadd);
DEVICE_FUNCTION(unsigned int, __uhadd);
DEVICE_FUNCTION(unsigned int, __urhadd);
DEVICE_FUNCTION(unsigned int, __funnelshift_l);
DEVICE_FUNCTION(unsigned int, __funnelshift_r);
DEVICE_FUNCTION(unsigned int, __funnelshift_lc);
DEVICE_FUNCTION(unsigned int, __funnelshift_rc);

DEVICE_FUNCTION(int, __float_as_int);
DEVICE_FUNCTION(unsigned int, __float_as_uint);
DEVICE_FUNCTION(float, __int_as_float);
DEVICE_FUNCTION(float, __uint_as_float);
DEVICE_FUNCTION(long long, __double_as_longlong);
DEVICE_FUNCTION(double, __longlong_as_double);
DEVICE_FUNCTION(int, __double2hiint);
DEVICE_FUNCTION(int, __double2loint);
DEVICE_FUNCTION(double, __hiloint2double);

ROUNDED_FUNCTION(float, __fadd);
ROUNDED_FUNCTION(float, __fsub);
ROUNDED_FUNCTION(float, __fmul);
ROUNDED_FUNCTION(float, __fmaf);
ROUNDED_FUNCTION(float, __fdiv);
ROUNDED_FUNCTION(float, __frcp);
ROUNDED_FUNCTION(float, __fsqrt);
DEVICE_FUNCTION(float, __frsqrt_rn);
ROUNDED_FUNCTION(double, __dadd);
ROUNDED_FUNCTION(double, __dmul);
DEVICE_FUNCTION(double, __fma_rn);

ROUNDED_FUNCTION(int, __float2int);
DEVICE_FUNCTION(unsigned int, __float2uint_rz);
DEVICE_FUNCTION(long long, __float2ll_rz);
DEVICE_FUNCTION(int, __double2int_rn);
DEVICE_FUNCTION(long long, __double2ll_rz);
DEVICE_FUNCTION(unsigned long long, __double2ull_rz);
ROUNDED_FUNCTION(float, __int2float);
ROUNDED_FUNCTION(float, __double2float);

DEVICE_FUNCTION(float, rsqrtf);
DEVICE_FUNCTION(float, __saturatef);
DEVICE_FUNCTION(long, min);
DEVICE_FUNCTION(long, max);

// Edge values and as many random ones, in a random order.
template <class Integer>
std::vector<Integer> integers(unsigned int seed) {
  using limits = std::numeric_limits<Integer>;
  std::vector<Integer> values = {limits::min(), limits::max(), limits::max() - 1};
  for (const int value : {0, 1, 2, 3, -1, -2, 0x12345678, 0x00ffffff, 0x01000000}) {
    values.push_back(static_cast<Integer>(value));
  }
  for (unsigned int bit = 0; bit < sizeof(Integer) * 8; ++bit) {
    values.push_back(static_cast<Integer>(1ull << bit));
  }
  std::mt19937_64 random(seed);
  while (values.size() < 2000) values.push_back(static_cast<Integer>(random()));
  std::shuffle(values.begin(), values.end(), random);
  return values;
}

// Significands that fill their type, with exponents close enough for results in double to be exact.
std::vector<float> floats(unsigned int seed, bool only_positive = false) {
  std::mt19937_64 random(seed);
  std::vector<float> values;
  while (values.size() < 4000) {
    const auto significand = static_cast<float>(0x800000 + random() % 0x800000);
    const bool negative = !only_positive && random() % 2;
    values.push_back(
        std::ldexp(negative ? -significand : significand, static_cast<int>(random() % 16) - 31));
  }
  return values;
}

std::vector<double> doubles(unsigned int seed) {
  std::mt19937_64 random(seed);
  std::vector<double> values;
  while (values.size() < 4000) {
    const auto significand = static_cast<double>((1ull << 52) + random() % (1ull << 52));
    values.push_back(std::ldexp(random() % 2 ? -significand : significand,
                                static_cast<int>(random() % 40) - 72));
  }
  return values;
}

// Is `got` what rounding to float in this direction makes of a number that differs from the double
// `close` by an amount of the sign of `rest`? `rest` must be less than half of a unit in close's
// last place, and 0 where `close` is exact.
bool is_rounded(float got, double close, double rest, rounding how) {
  const auto compare = [&](double bound) {  // of the true number with `bound`
    if (close != bound) return close < bound ? -1 : 1;
    return rest == 0 ? 0 : rest < 0 ? -1 : 1;
  };
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const float above = std::nextafter(got, infinity);
  const float below = std::nextafter(got, -infinity);
  switch (how) {
    case rounding::down:
      return compare(got) >= 0 && compare(above) < 0;
    case rounding::up:
      return compare(got) <= 0 && compare(below) > 0;
    case rounding::to_zero:
      return is_rounded(got, close, rest, compare(0) > 0 ? rounding::down : rounding::up);
    case rounding::nearest:
      break;
  }
  // Halfway points between floats are doubles. Of two equally near the even one counts.
  const int low = compare((static_cast<double>(got) + below) / 2);
  const int high = compare((static_cast<double>(got) + above) / 2);
  const bool even = std::bit_cast<std::uint32_t>(got) % 2 == 0;
  return (low > 0 || (low == 0 && even)) && (high < 0 || (high == 0 && even));
}

// The same for a double: `nearest` is the number rounded to nearest, `rest` what that left out.
double directed(double nearest, double rest, rounding how) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (how == rounding::to_zero) how = nearest > 0 ? rounding::down : rounding::up;
  if (how == rounding::down && rest < 0) return std::nextafter(nearest, -infinity);
  if (how == rounding::up && rest > 0) return std::nextafter(nearest, infinity);
  return nearest;
}

// The number of elements for which `matches(i)` does not hold.
template <class Matches>
std::size_t mismatches(std::size_t n, Matches matches) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < n; ++i) count += !matches(i);
  return count;
}

template <class T>
int bit_of(T value, unsigned int bit) {
  return static_cast<int>(static_cast<std::make_unsigned_t<T>>(value) >> bit & 1);
}

template <class Function, class Integer>
void check_bit_function(typename Function::result (*reference)(Integer)) {
  const std::vector<Integer> values = integers<Integer>(1);
  const auto got = map<Function>(values);
  CHECK(mismatches(values.size(), [&](std::size_t i) { return got[i] == reference(values[i]); }) ==
        0);
}

template <class Integer>
int count_ones(Integer value) {
  int ones = 0;
  for (unsigned int bit = 0; bit < sizeof value * 8; ++bit) ones += bit_of(value, bit);
  return ones;
}

template <class Integer>
int leading_zeros(Integer value) {
  int zeros = 0;
  for (unsigned int bit = sizeof value * 8; bit-- > 0 && !bit_of(value, bit);) ++zeros;
  return zeros;
}

template <class Integer>
int first_set(Integer value) {
  for (unsigned int bit = 0; bit < sizeof value * 8; ++bit) {
    if (bit_of(value, bit)) return static_cast<int>(bit) + 1;
  }
  return 0;
}

template <class Integer>
Integer reversed(Integer value) {
  Integer result = 0;
  for (unsigned int bit = 0; bit < sizeof value * 8; ++bit) {
    result = static_cast<Integer>(result << 1 | static_cast<Integer>(bit_of(value, bit)));
  }
  return result;
}

// The high word of the product, by schoolbook multiplication of half words.
std::uint64_t high_product(std::uint64_t x, std::uint64_t y) {
  const std::uint64_t low = 0xffffffff;
  const std::uint64_t middle = (x >> 32) * (y & low) + ((x & low) * (y & low) >> 32);
  const std::uint64_t other = (x & low) * (y >> 32) + (middle & low);
  return (x >> 32) * (y >> 32) + (middle >> 32) + (other >> 32);
}

// For two's complement, each negative factor takes the other one off the high word.
std::int64_t high_product(std::int64_t x, std::int64_t y) {
  std::uint64_t high = high_product(static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(y));
  if (x < 0) high -= static_cast<std::uint64_t>(y);
  if (y < 0) high -= static_cast<std::uint64_t>(x);
  return static_cast<std::int64_t>(high);
}

// Compares a rounded function with `is_right(how, got, arguments...)`, for each rounding.
template <template <rounding> class Function, class IsRight, class... In>
void check_rounded(IsRight is_right, const std::vector<In>&... in) {
  const auto check = [&](rounding how, const auto& got) {
    CHECK(mismatches(got.size(), [&](std::size_t i) { return is_right(how, got[i], in[i]...); }) ==
          0);
  };
  check(rounding::nearest, map<Function<rounding::nearest>>(in...));
  check(rounding::to_zero, map<Function<rounding::to_zero>>(in...));
  check(rounding::up, map<Function<rounding::up>>(in...));
  check(rounding::down, map<Function<rounding::down>>(in...));
}

// x * y + z is a double and a rest; the products of floats are exact doubles.
bool is_rounded_fused(rounding how, float got, double x, double y, double z) {
  const double product = x * y;
  const double sum = product + z;
  const double of_product = sum - z;  // Knuth's two-sum: the rest is exact
  return is_rounded(got, sum, (product - of_product) + (z - (sum - of_product)), how);
}

bool is_rounded_quotient(rounding how, float got, double x, double y) {
  const double quotient = x / y;
  return is_rounded(got, quotient, std::fma(-quotient, y, x) / y, how);
}

bool is_rounded_root(rounding how, float got, double x) {
  const double root = std::sqrt(x);
  return is_rounded(got, root, std::fma(-root, root, x), how);
}

bool is_rounded_sum(rounding how, double got, double x, double y) {
  const double sum = x + y;
  const double of_x = sum - y;  // Knuth's two-sum
  return got == directed(sum, (x - of_x) + (y - (sum - of_x)), how);
}

bool is_rounded_product(rounding how, double got, double x, double y) {
  return got == directed(x * y, std::fma(x, y, -(x * y)), how);
}

// What a compiler is tempted to fuse: a product and a sum that are both to be rounded, in each
// form.
struct uncontracted {
  using result = float;
  static __device__ float call(float x, float y, float z) { return __fadd_rn(__fmul_rn(x, y), z); }
};
struct uncontracted_product {
  using result = float;
  static __device__ float call(float x, float y, float z) { return __fmul_rn(x, y) + z; }
};
struct uncontracted_sum {
  using result = float;
  static __device__ float call(float x, float y, float z) { return __fadd_rn(x * y, z); }
};
struct uncontracted_difference {
  using result = double;
  static __device__ double call(double x, double y, double z) {
    return __dsub_rn(__dmul_rn(x, y), z);
  }
};

struct results_of_min_and_max {
  int from_ints[2];
  unsigned int from_mixed[2];
  long long from_longs[2];
  unsigned long long from_unsigned_longs[2];
  float from_floats[2];
  double from_doubles[2];
  float beside_nan[2];
};

__global__ void find_min_and_max(int minus_one, int five, float not_a_number,
                                 results_of_min_and_max* out) {
  const auto unsigned_five = static_cast<unsigned int>(five);
  out->from_ints[0] = min(minus_one, five);
  out->from_ints[1] = max(minus_one, five);
  out->from_mixed[0] = min(minus_one, unsigned_five);
  out->from_mixed[1] = max(minus_one, unsigned_five);
  out->from_longs[0] = min(static_cast<long long>(minus_one), static_cast<long long>(five));
  out->from_longs[1] = max(static_cast<long long>(minus_one), static_cast<long long>(five));
  out->from_unsigned_longs[0] = min(5ull, 6ull);
  out->from_unsigned_longs[1] = max(5ull, 6ull);
  out->from_floats[0] = min(1.5f, static_cast<float>(five));
  out->from_floats[1] = max(1.5f, static_cast<float>(five));
  out->from_doubles[0] = min(1.5f, static_cast<double>(five));
  out->from_doubles[1] = max(1.5, static_cast<double>(five));
  out->beside_nan[0] = min(not_a_number, 2.0f);
  out->beside_nan[1] = max(2.0f, not_a_number);
}

// Every element goes through all kinds of loads and stores with a hint, one after the other.
template <class T>
__global__ void copy_with_hints(const T* in, T* scratch, T* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= n) return;
  __stcs(scratch + i, __ldg(in + i));
  __stcg(out + i, __ldcg(scratch + i));
  __stwb(scratch + i, __ldca(out + i));
  __stwt(out + i, __ldcs(scratch + i));
  __stcs(scratch + i, __ldcv(out + i));
  out[i] = __ldlu(scratch + i);
}

template <class T>
void check_hints_of() {
  constexpr std::size_t n = 100;
  std::vector<unsigned char> bytes(n * sizeof(T));
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(3 * i + 1);
  const checked::device_buffer<unsigned char> in(bytes);
  checked::device_buffer<unsigned char> scratch(bytes.size());
  checked::device_buffer<unsigned char> out(bytes.size());
  copy_with_hints<<<1, 128>>>(reinterpret_cast<const T*>(in.data()),
                              reinterpret_cast<T*>(scratch.data()),
                              reinterpret_cast<T*>(out.data()), static_cast<int>(n));
  REQUIRE(cudaGetLastError() == cudaSuccess);
  CHECK(out.to_host() == bytes);
}
template <class... Types>
void check_hints() {
  (check_hints_of<Types>(), ...);
}

}  // namespace

TEST_CASE("counting and reversing bits") {
  check_bit_function<call___popc, unsigned int>(count_ones);
  check_bit_function<call___popcll, unsigned long long>(count_ones);
  check_bit_function<call___clz, int>(leading_zeros);
  check_bit_function<call___clzll, long long>(leading_zeros);
  check_bit_function<call___ffs, int>(first_set);
  check_bit_function<call___ffsll, long long>(first_set);
  check_bit_function<call___brev, unsigned int>(reversed);
  check_bit_function<call___brevll, unsigned long long>(reversed);
}

TEST_CASE("picking bytes and shifting across two words") {
  const auto x = integers<unsigned int>(4);
  const auto y = integers<unsigned int>(5);
  auto selector = integers<unsigned int>(6);
  for (unsigned int& each : selector) each &= 0x7777;
  const auto picked = map<call___byte_perm>(x, y, selector);
  CHECK(mismatches(x.size(), [&](std::size_t i) {
          unsigned int expected = 0;
          for (unsigned int to = 0; to < 4; ++to) {
            const unsigned int from = selector[i] >> (4 * to) & 7;
            const unsigned int word = from < 4 ? x[i] : y[i];
            expected += (word >> (8 * (from % 4)) & 0xff) << (8 * to);
          }
          return picked[i] == expected;
        }) == 0);

  std::vector<unsigned int> shift(x.size());
  for (std::size_t i = 0; i < shift.size(); ++i) shift[i] = static_cast<unsigned int>(i % 70);
  const auto left = map<call___funnelshift_l>(x, y, shift);
  const auto right = map<call___funnelshift_r>(x, y, shift);
  const auto left_clamped = map<call___funnelshift_lc>(x, y, shift);
  const auto right_clamped = map<call___funnelshift_rc>(x, y, shift);
  CHECK(mismatches(x.size(), [&](std::size_t i) {
          const std::uint64_t both = (std::uint64_t{y[i]} << 32) + x[i];
          const unsigned int wrapped = shift[i] % 32;
          const unsigned int clamped = std::min(shift[i], 32u);
          const auto high = [](std::uint64_t value) {
            return static_cast<unsigned int>(value >> 32);
          };
          return left[i] == high(both << wrapped) &&
                 right[i] == static_cast<unsigned int>(both >> wrapped) &&
                 left_clamped[i] == high(both << clamped) &&
                 right_clamped[i] == static_cast<unsigned int>(both >> clamped);
        }) == 0);
}

TEST_CASE("products of 24 bits and high halves of products") {
  const auto x = integers<int>(7);
  const auto y = integers<int>(8);
  const auto unsigned_x = integers<unsigned int>(7);
  const auto unsigned_y = integers<unsigned int>(8);
  const auto low_24 = [](int value) {  // sign-extended from bit 23
    const int low = value & 0xffffff;
    return static_cast<std::int64_t>(low >= 0x800000 ? low - 0x1000000 : low);
  };
  const auto mul24 = map<call___mul24>(x, y);
  const auto umul24 = map<call___umul24>(unsigned_x, unsigned_y);
  const auto mulhi = map<call___mulhi>(x, y);
  const auto umulhi = map<call___umulhi>(unsigned_x, unsigned_y);
  CHECK(mismatches(x.size(), [&](std::size_t i) {
          const std::uint64_t of_24 =
              std::uint64_t{unsigned_x[i] % 0x1000000} * (unsigned_y[i] % 0x1000000);
          return mul24[i] == static_cast<int>(low_24(x[i]) * low_24(y[i])) &&
                 umul24[i] == static_cast<unsigned int>(of_24) &&
                 mulhi[i] == static_cast<int>(std::int64_t{x[i]} * y[i] / 65536 / 65536 -
                                              (std::int64_t{x[i]} * y[i] % 4294967296 < 0)) &&
                 umulhi[i] ==
                     static_cast<unsigned int>(std::uint64_t{unsigned_x[i]} * unsigned_y[i] >> 32);
        }) == 0);

  const auto long_x = integers<long long>(9);
  const auto long_y = integers<long long>(10);
  const auto unsigned_long_x = integers<unsigned long long>(9);
  const auto unsigned_long_y = integers<unsigned long long>(10);
  const auto mul64hi = map<call___mul64hi>(long_x, long_y);
  const auto umul64hi = map<call___umul64hi>(unsigned_long_x, unsigned_long_y);
  CHECK(mismatches(long_x.size(), [&](std::size_t i) {
          return mul64hi[i] == high_product(std::int64_t{long_x[i]}, std::int64_t{long_y[i]}) &&
                 umul64hi[i] == high_product(std::uint64_t{unsigned_long_x[i]},
                                             std::uint64_t{unsigned_long_y[i]});
        }) == 0);
}

TEST_CASE("distances and means do not overflow") {
  const auto x = integers<int>(31);
  const auto y = integers<int>(32);
  const auto unsigned_x = integers<unsigned int>(31);
  const auto unsigned_y = integers<unsigned int>(32);
  const auto z = integers<unsigned int>(33);
  const auto sad = map<call___sad>(x, y, z);
  const auto usad = map<call___usad>(unsigned_x, unsigned_y, z);
  const auto hadd = map<call___hadd>(x, y);
  const auto rhadd = map<call___rhadd>(x, y);
  const auto uhadd = map<call___uhadd>(unsigned_x, unsigned_y);
  const auto urhadd = map<call___urhadd>(unsigned_x, unsigned_y);
  CHECK(mismatches(x.size(), [&](std::size_t i) {
          const std::int64_t a = x[i];
          const std::int64_t b = y[i];
          const std::int64_t c = unsigned_x[i];
          const std::int64_t d = unsigned_y[i];
          const auto floor_of_half = [](std::int64_t sum) {
            return (sum - (sum % 2 != 0 && sum < 0)) / 2;
          };
          return sad[i] == static_cast<unsigned int>(std::abs(a - b) + z[i]) &&
                 usad[i] == static_cast<unsigned int>(std::abs(c - d) + z[i]) &&
                 hadd[i] == floor_of_half(a + b) && rhadd[i] == floor_of_half(a + b + 1) &&
                 uhadd[i] == (c + d) / 2 && urhadd[i] == (c + d + 1) / 2;
        }) == 0);
}

TEST_CASE("bit casts keep every bit") {
  const auto words = integers<int>(41);
  std::vector<int> no_nan;  // a NaN may be made quiet on its way through a float
  for (const int word : words) {
    if (!std::isnan(std::bit_cast<float>(word))) no_nan.push_back(word);
  }
  const auto as_floats = map<call___int_as_float>(no_nan);
  CHECK(map<call___float_as_int>(as_floats) == no_nan);
  CHECK(mismatches(no_nan.size(), [&](std::size_t i) {
          return std::bit_cast<int>(as_floats[i]) == no_nan[i];
        }) == 0);
  const std::vector<unsigned int> unsigned_words(no_nan.begin(), no_nan.end());
  CHECK(map<call___float_as_uint>(map<call___uint_as_float>(unsigned_words)) == unsigned_words);

  std::vector<long long> long_words;
  for (const long long word : integers<long long>(42)) {
    if (!std::isnan(std::bit_cast<double>(word))) long_words.push_back(word);
  }
  const auto as_doubles = map<call___longlong_as_double>(long_words);
  CHECK(map<call___double_as_longlong>(as_doubles) == long_words);
  const auto high = map<call___double2hiint>(as_doubles);
  const auto low = map<call___double2loint>(as_doubles);
  CHECK(mismatches(long_words.size(), [&](std::size_t i) {
          return high[i] == static_cast<int>(long_words[i] >> 32) &&
                 low[i] == static_cast<int>(long_words[i] & 0xffffffff);
        }) == 0);
  CHECK(map<call___hiloint2double>(high, low) == as_doubles);
}

TEST_CASE("float arithmetic is rounded as its name says") {
  const std::vector<float> x = floats(11);
  const std::vector<float> y = floats(12);
  check_rounded<call___fadd>(
      [](rounding how, float got, double a, double b) { return is_rounded(got, a + b, 0, how); }, x,
      y);
  check_rounded<call___fsub>(
      [](rounding how, float got, double a, double b) { return is_rounded(got, a - b, 0, how); }, x,
      y);
  check_rounded<call___fmul>(
      [](rounding how, float got, double a, double b) { return is_rounded(got, a * b, 0, how); }, x,
      y);
  check_rounded<call___fmaf>(is_rounded_fused, floats(13), floats(14), floats(15));
  check_rounded<call___fdiv>(is_rounded_quotient, floats(16), floats(17));
  check_rounded<call___frcp>(
      [](rounding how, float got, double a) { return is_rounded_quotient(how, got, 1, a); },
      floats(18));
  check_rounded<call___fsqrt>(is_rounded_root, floats(19, true));
}

TEST_CASE("double arithmetic is rounded as its name says") {
  check_rounded<call___dadd>(is_rounded_sum, doubles(21), doubles(22));
  check_rounded<call___dmul>(is_rounded_product, doubles(23), doubles(24));

  const std::vector<double> x = doubles(25);
  const std::vector<double> y = doubles(26);
  std::vector<double> minus_product;
  for (std::size_t i = 0; i < x.size(); ++i) minus_product.push_back(-(x[i] * y[i]));
  const auto rest = map<call___fma_rn>(x, y, minus_product);
  CHECK(mismatches(x.size(), [&](std::size_t i) {
          return rest[i] == std::fma(x[i], y[i], minus_product[i]);
        }) == 0);
}

TEST_CASE("rounded products and sums are never fused") {
  // With a product's own rounded value taken off it nothing is left, unless the product was not
  // rounded.
  const std::vector<float> x = floats(51);
  const std::vector<float> y = floats(52);
  std::vector<float> minus_product;
  std::size_t fusing_shows = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    minus_product.push_back(-static_cast<float>(double{x[i]} * double{y[i]}));
    fusing_shows += std::fma(x[i], y[i], minus_product[i]) != 0;
  }
  REQUIRE(fusing_shows > x.size() / 2);
  const std::vector<float> zeros(x.size(), 0.0f);
  CHECK(map<uncontracted>(x, y, minus_product) == zeros);
  CHECK(map<uncontracted_product>(x, y, minus_product) == zeros);
  CHECK(map<uncontracted_sum>(x, y, minus_product) == zeros);

  const std::vector<double> a = doubles(53);
  const std::vector<double> b = doubles(54);
  std::vector<double> product;
  for (std::size_t i = 0; i < a.size(); ++i) product.push_back(a[i] * b[i]);
  CHECK(map<uncontracted_difference>(a, b, product) == std::vector<double>(a.size(), 0.0));
}

TEST_CASE("floats become integers as the name says, and the nearest one where none fits") {
  const float infinity = std::numeric_limits<float>::infinity();
  const float not_a_number = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {-2.5f, -1.5f,    -0.5f,         0.0f,      0.5f,
                                1.5f,  2.5f,     1.3f,          -1.7f,     3e9f,
                                -3e9f, infinity, 2147483520.0f, -infinity, not_a_number};
  const int most = std::numeric_limits<int>::max();
  const int least = std::numeric_limits<int>::min();
  CHECK(map<call___float2int<rounding::nearest>>(x) ==
        std::vector<int>{-2, -2, 0, 0, 0, 2, 2, 1, -2, most, least, most, 2147483520, least, 0});
  CHECK(map<call___float2int<rounding::to_zero>>(x) ==
        std::vector<int>{-2, -1, 0, 0, 0, 1, 2, 1, -1, most, least, most, 2147483520, least, 0});
  CHECK(map<call___float2int<rounding::up>>(x) ==
        std::vector<int>{-2, -1, 0, 0, 1, 2, 3, 2, -1, most, least, most, 2147483520, least, 0});
  CHECK(map<call___float2int<rounding::down>>(x) ==
        std::vector<int>{-3, -2, -1, 0, 0, 1, 2, 1, -2, most, least, most, 2147483520, least, 0});
  const unsigned int all = std::numeric_limits<unsigned int>::max();
  CHECK(map<call___float2uint_rz>(x) == std::vector<unsigned int>{0, 0, 0, 0, 0, 1, 2, 1, 0,
                                                                  3000000000u, 0, all, 2147483520u,
                                                                  0, 0});
  CHECK(map<call___float2ll_rz>(std::vector<float>{-1.5f, 1e10f, 1e30f, -1e30f}) ==
        std::vector<long long>{-1, 10000000000, std::numeric_limits<long long>::max(),
                               std::numeric_limits<long long>::min()});
  CHECK(map<call___double2int_rn>(std::vector<double>{-2.5, 3.5, 1e10, -1e10}) ==
        std::vector<int>{-2, 4, most, least});
  CHECK(map<call___double2ll_rz>(std::vector<double>{-2.9, 9007199254740993.0, 1e19, -1e19}) ==
        std::vector<long long>{-2, 9007199254740992, std::numeric_limits<long long>::max(),
                               std::numeric_limits<long long>::min()});
  CHECK(map<call___double2ull_rz>(std::vector<double>{-2.9, 1e19, 1e20}) ==
        std::vector<unsigned long long>{0, 10000000000000000000ull,
                                        std::numeric_limits<unsigned long long>::max()});
}

TEST_CASE("integers and doubles become floats as the name says") {
  const auto as_exact_one = [](rounding how, float got, double number) {
    return is_rounded(got, number, 0, how);
  };
  check_rounded<call___int2float>(as_exact_one, integers<int>(61));
  check_rounded<call___double2float>(as_exact_one, doubles(62));
}

TEST_CASE("reciprocal square roots are as close as CUDA promises") {
  const std::vector<float> x = floats(71, true);
  const auto rounded = map<call___frsqrt_rn>(x);
  const auto approximate = map<call_rsqrtf>(x);
  const auto steps = [](float a, float b) {
    return std::abs(static_cast<long long>(std::bit_cast<int>(a)) - std::bit_cast<int>(b));
  };
  // In double the root and the quotient are off by less than a thousandth of the distance to a
  // halfway point between floats, for every float (checked for all significands).
  CHECK(mismatches(x.size(), [&](std::size_t i) {
          return rounded[i] == static_cast<float>(1 / std::sqrt(double{x[i]}));
        }) == 0);
  // At most 2 units in the last place: CUDA C++ Programming Guide, "Standard Functions".
  CHECK(mismatches(x.size(),
                   [&](std::size_t i) { return steps(approximate[i], rounded[i]) <= 2; }) == 0);
}

TEST_CASE("saturation keeps a float within [0, 1] and makes 0 of a NaN") {
  const float infinity = std::numeric_limits<float>::infinity();
  const float not_a_number = std::numeric_limits<float>::quiet_NaN();
  CHECK(map<call___saturatef>(
            std::vector<float>{-infinity, -1, 0, 0.25f, 1, 1.5f, infinity, not_a_number}) ==
        std::vector<float>{0, 0, 0, 0.25f, 1, 1, 1, 0});
}

TEST_CASE("min and max: every pair of types, signs, and a NaN") {
  checked::device_buffer<results_of_min_and_max> out(1);
  find_min_and_max<<<1, 1>>>(-1, 5, std::numeric_limits<float>::quiet_NaN(), out.data());
  REQUIRE(cudaGetLastError() == cudaSuccess);
  const results_of_min_and_max got = out.to_host()[0];
  CHECK(got.from_ints[0] == -1);
  CHECK(got.from_ints[1] == 5);
  CHECK(got.from_mixed[0] == 5u);  // -1 counts as the largest unsigned number
  CHECK(got.from_mixed[1] == 0xffffffffu);
  CHECK(got.from_longs[0] == -1);
  CHECK(got.from_longs[1] == 5);
  CHECK(got.from_unsigned_longs[0] == 5);
  CHECK(got.from_unsigned_longs[1] == 6);
  CHECK(got.from_floats[0] == 1.5f);
  CHECK(got.from_floats[1] == 5.0f);
  CHECK(got.from_doubles[0] == 1.5);
  CHECK(got.from_doubles[1] == 5.0);
  CHECK(got.beside_nan[0] == 2.0f);
  CHECK(got.beside_nan[1] == 2.0f);

  const auto x = integers<long>(81);
  const auto y = integers<long>(82);
  const auto lesser = map<call_min>(x, y);
  const auto greater = map<call_max>(x, y);
  CHECK(mismatches(x.size(), [&](std::size_t i) {
          return lesser[i] == std::min(x[i], y[i]) && greater[i] == std::max(x[i], y[i]);
        }) == 0);
}

TEST_CASE("loads and stores with a cache hint move every byte of every type") {
  check_hints<char, signed char, unsigned char, short, unsigned short, int, unsigned int, long,
              unsigned long, long long, unsigned long long, float, double>();
  check_hints<char2, uchar2, short2, ushort2, int2, uint2, longlong2, ulonglong2, float2,
              double2>();
  check_hints<char4, uchar4, short4, ushort4, int4, uint4, float4>();
}
