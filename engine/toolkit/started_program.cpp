// SPDX-License-Identifier: MIT
// Under `cudacheck -- make test` a program that nvcc has made asks to be run by cudacheck, with
// many schedules (engine/command/started_programs.py). Part of both forms of the library:
// TOOLKIT_FORM is its name.
#include <unistd.h>

#include <cstdlib>
#include <vector>

extern "C" {
// What an object of nvcc's asks for, which decides the form of the library that is linked; see
// make_toolkit.py.
extern const char cudacheck_runtime, cudacheck_checked_runtime, compiled_without_cudacheck;
const char cudacheck_runtime = 0;
#ifdef TOOLKIT_IS_CHECKED
const char cudacheck_checked_runtime = 0;
#else
const char compiled_without_cudacheck = 0;
#endif
// Of each object with device code; without any there is nothing to check.
[[gnu::weak]] extern const char* const cudacheck_objects[];
}

namespace {

[[gnu::constructor]] void run_by_cudacheck(int count, char** words, char**) {
  const char* const command = std::getenv("LAB_EACH_PROGRAM");
  if (!command || !*command || &cudacheck_objects == nullptr) return;
  char path[4096] = {};
  if (readlink("/proc/self/exe", path, sizeof path - 1) < 0) return;
  std::vector<const char*> all{command, TOOLKIT_FORM, path};
  for (int i = 1; i < count; ++i) all.push_back(words[i]);
  all.push_back(nullptr);
  execv(command, const_cast<char**>(all.data()));
}

}  // namespace
