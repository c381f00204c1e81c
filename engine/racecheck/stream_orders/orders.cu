// SPDX-License-Identifier: MIT
// Performs one program of streams and events, its arguments: oracle.py says what they mean. All
// that step N does stands in the line STEP(N), so that a report's lines are the steps.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

constexpr int most_steps = 16;
constexpr int most_words = 66;  // one for each pair of 12 steps

struct step {
  char kind = 0;
  int stream = 0;
  int event = 0;
  bool writes = false;
  int count = 0;
  int words[most_words] = {};
};

step steps[most_steps];
cudaStream_t streams[3];
cudaEvent_t events[most_steps];
int* words;  // pinned
// What each step has for itself: pinned, of the device, and pageable.
int* own_words;
int (*on_device)[2];
int* to_be_freed[most_steps];
int pageable[most_steps];

[[noreturn]] void give_up(const char* why) {
  std::fprintf(stderr, "orders: %s\n", why);
  std::exit(2);
}

void demand(cudaError_t error) {
  if (error != cudaSuccess) give_up(cudaGetErrorString(error));
}

void until_ready(auto query) {
  cudaError_t answer = cudaErrorNotReady;
  while (answer == cudaErrorNotReady) answer = query();
  demand(answer);
}

step parsed(const char* text) {
  step made{.kind = *text++};
  const auto is_one_of = [&](const char* kinds) {
    return std::strchr(kinds, made.kind) != nullptr;
  };
  const auto number = [&](int end) {
    char* rest = nullptr;
    const long value = std::strtol(text, &rest, 10);
    if (rest == text || value < 0 || value >= end) give_up("a number is missing, or out of range");
    text = rest;
    return static_cast<int>(value);
  };
  if (is_one_of("kcfbrwSQ")) made.stream = number(3);
  if (is_one_of("rw") && *text++ != '.') give_up("an event is missing");
  if (is_one_of("rwER")) made.event = number(most_steps);
  if (is_one_of("kcfbhmz")) {
    made.writes = *text == 'w';
    if (!made.writes && *text != 'r') give_up("an access is missing");
    do {
      ++text;
      made.words[made.count++] = number(most_words);
    } while (*text == '.' && made.count < most_words);
  }
  if (*text) give_up("a step has more than its kind can have");
  return made;
}

}  // namespace

#define EACH_WORD(of) for (int i = 0; i < (of).count; ++i)
#define ACCESS(of, word, own) (of).writes ? void((word) = 1) : void((own) = (word))
#define TO(word) s.writes ? (word) : on_device[n]
#define FROM(word) s.writes ? on_device[n] : (word), sizeof(int)
#define STEP(number)                                                                           \
  __global__ void kernel_##number(step s, int* to, int* own) {                                 \
    EACH_WORD(s) ACCESS(s, to[s.words[i]], own[number]);                                       \
  }                                                                                            \
  void callback_##number(void*) {                                                              \
    EACH_WORD(steps[number])                                                                   \
    ACCESS(steps[number], words[steps[number].words[i]], own_words[number]);                   \
  }                                                                                            \
  void perform_##number() {                                                                    \
    constexpr int n = number;                                                                  \
    const step& s = steps[n];                                                                  \
    const cudaStream_t in = streams[s.stream];                                                 \
    if (s.kind == 'k') kernel_##number<<<1, 1, 0, in>>>(s, words, own_words);                  \
    if (s.kind == 'b') demand(cudaLaunchHostFunc(in, callback_##number, nullptr));             \
    if (s.kind == 'h') callback_##number(nullptr);                                             \
    EACH_WORD(s) {                                                                             \
      int* const word = words + s.words[i];                                                    \
      if (s.kind == 'c') demand(cudaMemcpyAsync(TO(word), FROM(word), cudaMemcpyDefault, in)); \
      if (s.kind == 'f') demand(cudaMemsetAsync(word, 1, sizeof(int), in));                    \
      if (s.kind == 'm') demand(cudaMemcpy(TO(word), FROM(word), cudaMemcpyDefault));          \
      if (s.kind == 'z') demand(cudaMemset(word, 1, sizeof(int)));                             \
    }                                                                                          \
    if (s.kind == 'd')                                                                         \
      demand(cudaMemcpy(on_device[n], on_device[n] + 1, sizeof(int), cudaMemcpyDefault));      \
    if (s.kind == 'p')                                                                         \
      demand(cudaMemcpy(on_device[n], pageable + n, sizeof(int), cudaMemcpyDefault));          \
    if (s.kind == 'o')                                                                         \
      demand(cudaMemcpy(pageable + n, on_device[n], sizeof(int), cudaMemcpyDefault));          \
    if (s.kind == 'r') demand(cudaEventRecord(events[s.event], in));                           \
    if (s.kind == 'w') demand(cudaStreamWaitEvent(in, events[s.event]));                       \
    if (s.kind == 'S') demand(cudaStreamSynchronize(in));                                      \
    if (s.kind == 'E') demand(cudaEventSynchronize(events[s.event]));                          \
    if (s.kind == 'Q') until_ready([&] { return cudaStreamQuery(in); });                       \
    if (s.kind == 'R') until_ready([&] { return cudaEventQuery(events[s.event]); });           \
    if (s.kind == 'D') demand(cudaDeviceSynchronize());                                        \
    if (s.kind == 'F') demand(cudaFree(to_be_freed[n]));                                       \
  }

STEP(0)
STEP(1)
STEP(2)
STEP(3)
STEP(4)
STEP(5)
STEP(6)
STEP(7)
STEP(8)
STEP(9)
STEP(10)
STEP(11)
STEP(12)
STEP(13)
STEP(14)
STEP(15)

int main(int count, char** arguments) {
  constexpr void (*perform[most_steps])() = {
      perform_0, perform_1, perform_2,  perform_3,  perform_4,  perform_5,  perform_6,  perform_7,
      perform_8, perform_9, perform_10, perform_11, perform_12, perform_13, perform_14, perform_15,
  };
  // A server of runs has arguments to spare.
  while (count > 2 && arguments[count - 1] == std::string_view("-")) --count;
  if (count < 3 || count > 2 + most_steps) give_up("a program is needed, of up to 16 steps");
  for (int n = 0; n < count - 2; ++n) steps[n] = parsed(arguments[n + 2]);
  if (std::string_view(arguments[1]).size() != 2) give_up("two streams are needed");
  for (int i = 1; i <= 2; ++i) {
    const char letter = arguments[1][i - 1];
    if (letter != 'B' && letter != 'N' && letter != 'P') give_up("a stream is one of B, N and P");
    const unsigned flags = letter == 'N' ? cudaStreamNonBlocking : cudaStreamDefault;
    streams[i] = cudaStreamPerThread;
    if (letter != 'P') demand(cudaStreamCreateWithFlags(&streams[i], flags));
  }
  for (cudaEvent_t& each : events) demand(cudaEventCreate(&each));
  for (int*& each : to_be_freed) demand(cudaMalloc(&each, sizeof(int)));
  demand(cudaMallocHost(&words, most_words * sizeof(int)));
  demand(cudaMallocHost(&own_words, most_steps * sizeof(int)));
  demand(cudaMalloc(&on_device, most_steps * sizeof(*on_device)));
  demand(cudaMemset(on_device, 0, most_steps * sizeof(*on_device)));
  std::memset(words, 0, most_words * sizeof(int));
  // The checker demands that a kernel accesses something, and not each program has one.
  step reads_a_word{.count = 1};
  kernel_0<<<1, 1>>>(reads_a_word, words, own_words);
  demand(cudaDeviceSynchronize());
  for (int n = 0; n < count - 2; ++n) perform[n]();
  demand(cudaDeviceSynchronize());
}
