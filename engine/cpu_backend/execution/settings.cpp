// SPDX-License-Identifier: MIT
#include "cpu_backend/execution/settings.hpp"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace cpu_backend {
namespace {

using settings = std::map<std::string, std::string, std::less<>>;

std::string read_standard_input() {
  std::string text;
  char part[4096];
  for (;;) {
    const ssize_t size = read(STDIN_FILENO, part, sizeof part);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return text;
    text.append(part, static_cast<std::size_t>(size));
  }
}

settings read_settings() {
  settings made;
  const char* const from = std::getenv("LAB_SETTINGS");
  if (!from || std::string_view(from) != "stdin") return made;
  const std::string text = read_standard_input();
  for (std::size_t begin = 0, end; (end = text.find('\0', begin)) != text.npos; begin = end + 1) {
    const std::string_view each(text.data() + begin, end - begin);
    const std::size_t sign = each.find('=');
    if (sign != each.npos) made.emplace(each.substr(0, sign), each.substr(sign + 1));
  }
  return made;
}

const settings& handed_over() {
  // Never destroyed: the report at the program's end asks for some.
  static const settings& all = *new settings(read_settings());
  return all;
}

// Before the program's own static objects, which could read standard input as well.
[[gnu::constructor(150)]] void take_settings() { handed_over(); }

}  // namespace

const char* setting(const char* name) {
  const auto found = handed_over().find(name);
  return found == handed_over().end() ? std::getenv(name) : found->second.c_str();
}

std::uint64_t number_setting(const char* name, std::uint64_t otherwise, std::uint64_t least,
                             std::uint64_t most) {
  const char* const text = setting(name);
  if (!text) return otherwise;
  const std::string_view digits = text;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error == std::errc() && end == digits.data() + digits.size() && number >= least &&
      number <= most) {
    return number;
  }
  const std::string range = most == UINT64_MAX
                                ? "of " + std::to_string(least) + " or more"
                                : "from " + std::to_string(least) + " to " + std::to_string(most);
  std::fprintf(stderr, "%s must be a whole number %s, not \"%s\".\n", name, range.c_str(), text);
  std::exit(2);
}

}  // namespace cpu_backend
