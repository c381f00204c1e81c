// SPDX-License-Identifier: MIT
#include "cpu_backend/execution/failure_message.hpp"

#include <cstdio>

#include "cpu_backend/execution/grid.hpp"

namespace cpu_backend {
namespace {

std::string describe_index(const char* what, const uint3& index) {
  return std::string(what) + " (" + std::to_string(index.x) + "," + std::to_string(index.y) + "," +
         std::to_string(index.z) + ")";
}

}  // namespace

std::string describe(const place& at) {
  return std::string(at.file()) + ":" + std::to_string(at.line());
}

std::string describe(const uint3& thread) { return describe_index("thread", thread); }

std::string describe_block(const uint3& block) { return describe_index("block", block); }

void print_failure(const grid& about, const std::string& message) {
  const bool place_known = about.launched_at.line() != 0;
  std::string text = place_known ? "kernel launched at " + describe(about.launched_at) : "kernel";
  text += ": " + message;
  if (text.back() != '\n') text += '\n';
  std::fflush(stdout);  // what the kernel printed comes first
  std::fputs(text.c_str(), stderr);
}

}  // namespace cpu_backend
