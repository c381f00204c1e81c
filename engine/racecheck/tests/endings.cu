// SPDX-License-Identifier: MIT
// Hosts that end in many ways after a kernel with a race: endings_test.py holds that it is
// reported.
//   endings NAME       runs one
#include <cuda_runtime.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <thread>

__global__ void add_one(int* total) { *total += 1; }

// Each block has an element of its own.
__global__ void add_one_each(int* totals) { totals[blockIdx.x] += 1; }

void launch(void (*kernel)(int*), int launches = 1) {
  int* totals = nullptr;
  if (cudaMallocManaged(&totals, 2 * sizeof *totals) != cudaSuccess) std::exit(77);
  std::memset(totals, 0, 2 * sizeof *totals);
  for (int i = 0; i < launches; ++i) kernel<<<2, 1>>>(totals);
  if (cudaDeviceSynchronize() != cudaSuccess) std::exit(77);
}

void race() { launch(add_one); }

char* volatile nowhere = nullptr;

sigjmp_buf before_fault;

void store_nowhere() { *nowhere = 1; }

int recurse(int depth) {
  volatile char all[4096];
  all[0] = static_cast<char>(depth);
  return depth == 0 ? 0 : recurse(depth - 1) + all[0];
}

struct aborts_late {
  bool is_asked_to = false;
  ~aborts_late() {
    if (is_asked_to) std::abort();
  }
} static_object;

void become(const char* program, const char* argument) {
  execl(program, program, argument, nullptr);
}

struct ending {
  const char* name;
  void (*run)();
  bool comes_after_a_race = true;
};

const ending endings[] = {
    {"return", [] {}},
    {"abort", [] { std::abort(); }},
    {"exception", [] { throw std::runtime_error("wrong"); }},
    {"terminate", [] { std::terminate(); }},
    {"bad_store", store_nowhere},
    {"bad_store_in_a_thread", [] { std::thread(store_nowhere).join(); }},
    {"bad_text",  // The thread holds the lock of stderr then.
     [] { std::fprintf(stderr, "%s\n", nowhere + 8); }},
    {"stack_overflow", [] { recurse(1 << 30); }},
    {"freed_twice",
     [] {
       void* volatile memory = std::malloc(100'000);
       std::free(memory);
       std::free(memory);
     }},
    {"abort_in_a_destructor", [] { static_object.is_asked_to = true; }},
    {"exit_in_atexit", [] { std::atexit([] { std::exit(0); }); }},
    {"_Exit", [] { std::_Exit(0); }},
    {"_exit", [] { _exit(0); }},
    {"quick_exit", [] { std::quick_exit(0); }},
    {"system_call", [] { syscall(SYS_exit_group, 0); }},
    {"exec", [] { become("/bin/true", ""); }},
    {"exec_of_itself", [] { become("/proc/self/exe", "no_race"); }},
    {"endless_loop",
     [] {
       for (;;) pause();
     }},
    {"children_without_a_kernel",
     [] {
       if (fork() == 0) _exit(0);
       if (vfork() == 0) _exit(0);
       while (wait(nullptr) > 0) {
       }
     }},
    {"pthread_exit", [] { pthread_exit(nullptr); }},
    {"SIGHUP", [] { raise(SIGHUP); }},
    {"SIGINT", [] { raise(SIGINT); }},
    {"SIGKILL", [] { raise(SIGKILL); }},
    {"SIGPIPE", [] { raise(SIGPIPE); }},
    {"SIGTERM", [] { raise(SIGTERM); }},
    {"SIGUSR1", [] { raise(SIGUSR1); }},
    {"no_race", [] { launch(add_one_each); }, false},
    {"SIGKILL_at_once", [] { raise(SIGKILL); }, false},
    {"no_race_and_SIGKILL",
     [] {
       launch(add_one_each, 100);
       raise(SIGKILL);
     },
     false},
    {"late_race_and_SIGKILL",
     [] {
       launch(add_one_each, 100);
       race();
       raise(SIGKILL);
     },
     false},
    {"race_in_a_child",
     [] {
       if (fork() == 0) {
         race();
         _exit(0);
       }
       wait(nullptr);
       launch(add_one_each);
     },
     false},
    {"race_in_a_child_and_SIGKILL",
     [] {
       if (fork() == 0) {
         race();
         raise(SIGKILL);
       }
       wait(nullptr);
     },
     false},
    {"handled_fault",
     [] {
       signal(SIGSEGV, [](int) { siglongjmp(before_fault, 1); });
       if (sigsetjmp(before_fault, 1) == 0) store_nowhere();
       launch(add_one_each);
     },
     false},
};

int main(int count, char** words) {
  for (const ending& each : endings) {
    if (count != 2 || std::strcmp(each.name, words[1]) != 0) continue;
    if (each.comes_after_a_race) race();
    each.run();
    return 0;
  }
  std::fprintf(stderr, "endings: there is no such case\n");
  return 2;
}
