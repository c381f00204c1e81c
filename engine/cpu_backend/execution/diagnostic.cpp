// SPDX-License-Identifier: MIT
#include "cpu_backend/execution/diagnostic.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cpu_backend/execution/grid.hpp"
#include "cpu_backend/execution/settings.hpp"
#include "cpu_backend/execution/source_line.hpp"
#include "cpu_backend/execution/words.hpp"

namespace cpu_backend {

const char* const check_command = CPU_BACKEND_CHECK_COMMAND;

std::string quoted_in_json(std::string_view text) {
  constexpr std::size_t longest = 1000;  // a source may be one line of a megabyte
  std::string made = "\"";
  for (const char each : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(each);
    if (byte < 0x20 || byte == 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
      made += escaped;
    } else {
      if (each == '"' || each == '\\') made += '\\';
      made += each;
    }
  }
  return made + '"';
}

namespace {

std::string json_of(std::string_view file, unsigned line, std::string_view text) {
  std::string made = "{\"file\":" + quoted_in_json(file) + ",\"line\":" + std::to_string(line);
  if (!text.empty()) made += ",\"text\":" + quoted_in_json(text);
  return made + '}';
}

// "3" for "(3,0,0)".
std::string short_index(const std::string& index) {
  constexpr std::string_view no_more = ",0,0)";
  if (!index.ends_with(no_more)) return index;
  return index.substr(1, index.size() - 1 - no_more.size());
}

void say_unwritable(const char* path) {
  static std::atomic<bool> is_said = false;
  if (is_said.exchange(true)) return;
  std::fprintf(stderr, "LAB_DIAGNOSTICS: %s can't be written: %s\n", path, std::strerror(errno));
}

}  // namespace

diagnostic::diagnostic(const char* kind) : kind_(kind) {}

diagnostic& diagnostic::add(const char* name, std::string_view text) {
  fields_.push_back({name, std::string(text), quoted_in_json(text)});
  return *this;
}

diagnostic& diagnostic::add_number(const char* name, std::string digits) {
  fields_.push_back({name, digits, digits});
  return *this;
}

diagnostic& diagnostic::add(const char* name, double number) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%g", number);
  return add_number(name, digits);
}

diagnostic& diagnostic::add(const char* name, const uint3& index) {
  const std::string numbers =
      std::to_string(index.x) + ',' + std::to_string(index.y) + ',' + std::to_string(index.z);
  fields_.push_back({name, '(' + numbers + ')', '[' + numbers + ']'});
  return *this;
}

diagnostic& diagnostic::add(const char* name, const place& at) {
  fields_.push_back({name, std::string(at.file()) + ':' + std::to_string(at.line()),
                     json_of(at.file(), at.line(), "")});
  return *this;
}

diagnostic& diagnostic::add(const char* name, const source_line& at) {
  if (at.file.empty()) return *this;
  fields_.push_back(
      {name, at.file + ':' + std::to_string(at.line), json_of(at.file, at.line, at.text)});
  return *this;
}

const diagnostic::field* diagnostic::find(std::string_view name) const {
  for (const field& each : fields_) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

std::string diagnostic::word(std::string_view name, std::string_view form) const {
  const field* const found = find(name);
  if (!found) return "";
  if (form == "row") return sentence(found->words);
  if (form == "short") return short_index(found->words);
  if (form == "bytes") return found->words + (found->words == "1" ? " byte" : " bytes");
  return found->words;
}

std::string diagnostic::sentence(std::string_view code) const {
  const words::row* const row = words::find(code);
  return words::filled(
      row ? row->text : code, [&](std::string_view name) { return find(name) != nullptr; },
      [&](std::string_view name, std::string_view form) { return word(name, form); });
}

std::string diagnostic::json() const {
  std::string made = "{\"kind\":" + quoted_in_json(kind_);
  for (const field& each : fields_) {
    made += ",\"";
    made += each.name;
    made += "\":" + each.json;
  }
  return made + '}';
}

void write_record(const diagnostic& of) {
  const char* const path = setting("LAB_DIAGNOSTICS");
  if (!path || *path == '\0') return;
  // What is named may be a pipe without a reader.
  const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file < 0) return say_unwritable(path);
  static std::atomic<bool> is_cut_off = false;  // the last line, by a full disk
  const bool begins_anew = is_cut_off.exchange(false);
  std::string line(begins_anew ? "\n" : "");
  line += of.json() + '\n';
  if (write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    is_cut_off = true;
    say_unwritable(path);
  }
  close(file);
}

void report(const diagnostic& of) {
  write_record(of);
  std::fflush(stdout);  // what the program printed comes first
  write_to_stderr(of.sentence() + '\n');
}

void report_failure(const grid& about, diagnostic of, const std::string& more) {
  if (about.launched_at.line() != 0) of.add("launched_at", about.launched_at);
  write_record(of);
  std::fflush(stdout);
  write_to_stderr(of.sentence("kernel") + of.sentence() + (more.empty() ? "\n" : more));
}

diagnostic deadlock_of(const grid& of) {
  diagnostic made("deadlock");
  const std::uint64_t started = std::min(of.next_block.load(), of.total_blocks);
  const std::uint64_t left = of.total_blocks - started;
  if (left == 0) return made;
  made.add("blocks_not_started", left).add("next_block", of.index_at(started));
  return left == 1 ? made : made.add("more", left - 1);
}

std::string heading_of(const uint3& block) {
  return "  " + diagnostic("block").add("block", block).sentence() + ":\n";
}

std::string lines_of(const std::vector<diagnostic>& all) {
  std::string text;
  for (const diagnostic& each : all) text += "  " + each.sentence() + '\n';
  return text;
}

}  // namespace cpu_backend
