// SPDX-License-Identifier: MIT
#include "cpu_backend/scheduled/forked_runs.hpp"

#include <dirent.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cpu_backend/runtime/runtime_call.hpp"

namespace cpu_backend {
namespace {

const pid_t started = getpid();

// A child has the thread alone that forks. Only the one that the observer's time limit has, if any,
// is not missed.
bool has_threads_of_its_own() {
  DIR* const folder = opendir("/proc/self/task");
  if (!folder) return true;
  int threads = 0;
  while (const dirent* each = readdir(folder)) threads += each->d_name[0] != '.';
  closedir(folder);
  return threads > 2;
}

int open_process(pid_t number) { return static_cast<int>(syscall(SYS_pidfd_open, number, 0)); }

int status_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

void say(int answer, int number) {
  const std::string line = std::to_string(number) + '\n';
  (void)!send(answer, line.data(), line.size(), MSG_NOSIGNAL);
}

struct request {
  std::string settings;
  int input = -1, output = -1, answer = -1;
};

// False at the end of what is asked.
bool receive(int asked, request& made) {
  made = {};
  made.settings.resize(1 << 16);
  iovec text{made.settings.data(), made.settings.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(3 * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t size = 0;
  while ((size = recvmsg(asked, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
  }
  const cmsghdr* const passed = CMSG_FIRSTHDR(&message);
  if (size < 0 || !passed || passed->cmsg_len != CMSG_LEN(3 * sizeof(int))) return false;
  int descriptors[3];
  std::memcpy(descriptors, CMSG_DATA(passed), sizeof descriptors);
  made.settings.resize(static_cast<std::size_t>(size));
  made.input = descriptors[0];
  made.output = descriptors[1];
  made.answer = descriptors[2];
  return true;
}

struct run {
  pid_t child;
  int ended, answer;
};

// The child, and all of its session: it may not have begun that yet.
void end(const run& of) {
  kill(-of.child, SIGKILL);
  kill(of.child, SIGKILL);
}

// The program's own, if the first of all begins its runs.
std::span<char*> arguments;

// A variable, or with a number as its name an argument.
void set(const std::string& name, const char* value) {
  const std::size_t number = std::strtoul(name.c_str(), nullptr, 10);
  if (number == 0) {
    setenv(name.c_str(), value, 1);
  } else if (number < arguments.size()) {
    arguments[number] = strdup(value);
  }
}

void begin_child(int asked, const request& given, const std::vector<run>& others) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // A child that never ends would outlive its parent.
  setsid();
  dup2(given.input, STDIN_FILENO);
  dup2(given.output, STDOUT_FILENO);
  dup2(given.output, STDERR_FILENO);
  for (const int each : {asked, given.input, given.output, given.answer}) close(each);
  for (const run& each : others) {
    close(each.ended);
    close(each.answer);
  }
  for (std::size_t begin = 0, end; (end = given.settings.find('\0', begin)) != std::string::npos;
       begin = end + 1) {
    const std::string each = given.settings.substr(begin, end - begin);
    const std::size_t sign = each.find('=');
    if (sign != each.npos) set(each.substr(0, sign), each.c_str() + sign + 1);
  }
}

// Returns in each child; the process itself ends here.
void serve(int asked) {
  std::vector<run> runs;
  for (;;) {
    std::vector<pollfd> events{{asked, POLLIN, 0}};
    for (const run& each : runs) {
      events.push_back({each.ended, POLLIN, 0});
      events.push_back({each.answer, POLLIN, 0});
    }
    if (poll(events.data(), events.size(), -1) < 0 && errno != EINTR) break;
    for (std::size_t at = runs.size(); at-- > 0;) {
      const run each = runs[at];
      const bool has_ended = events[2 * at + 1].revents != 0;
      if (has_ended || events[2 * at + 2].revents != 0) end(each);
      if (!has_ended) continue;
      say(each.answer, status_of(each.child));
      close(each.ended);
      close(each.answer);
      runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(at));
    }
    if (events[0].revents == 0) continue;
    request given;
    if (!receive(asked, given)) break;
    const pid_t child = fork_with_device();
    if (child == 0) return begin_child(asked, given, runs);
    if (child > 0) {
      say(given.answer, child);
      runs.push_back({child, open_process(child), given.answer});
    } else {
      close(given.answer);
    }
    close(given.input);
    close(given.output);
  }
  for (const run& each : runs) end(each);
  // The C library's would tell the observer.
  syscall(SYS_exit_group, 0);
}

// The socket that this variable names, with `ready` written to it; -1 if it is not there, or the
// kernel is older than Linux 5.3. A program that this one starts is not to serve it as well.
int socket_of(const char* variable) {
  const char* const number = std::getenv(variable);
  const int asked = number ? std::atoi(number) : -1;
  unsetenv(variable);
  if (asked < 0) return -1;
  const int itself = open_process(getpid());
  if (itself < 0) return -1;
  close(itself);
  constexpr std::string_view ready = "ready";
  return send(asked, ready.data(), ready.size(), MSG_NOSIGNAL) < 0 ? -1 : asked;
}

// The first of all: before settings are taken, and the observer knows its seed.
[[gnu::constructor(101)]] void fork_runs(int argc, char** argv) {
  arguments = {argv, static_cast<std::size_t>(argc)};
  if (const int asked = socket_of("LAB_RUNS"); asked >= 0) serve(asked);
}

}  // namespace

void fork_runs_at_launch() {
  if (!std::getenv("LAB_RUNS_AT_LAUNCH")) return;
  if (getpid() != started || has_threads_of_its_own()) return;
  const int asked = socket_of("LAB_RUNS_AT_LAUNCH");
  if (asked < 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  serve(asked);
}

}  // namespace cpu_backend
