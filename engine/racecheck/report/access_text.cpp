// SPDX-License-Identifier: MIT
#include "racecheck/report/access_text.hpp"

#include <filesystem>

namespace racecheck {

std::string index_text(const char* what, const uint3& index) {
  std::string text = std::string(what) + ' ';
  if (index.y == 0 && index.z == 0) return text + std::to_string(index.x);
  return text + '(' + std::to_string(index.x) + ',' + std::to_string(index.y) + ',' +
         std::to_string(index.z) + ')';
}

std::string thread_text(const uint3& block, const uint3& thread) {
  return index_text("block", block) + ' ' + index_text("thread", thread);
}

std::string verb_of(const party& of) {
  const std::string verb = of.what == operation::atomic_update ? "updated"
                           : writes(of.what)                   ? "written"
                                                               : "read";
  const std::string manner = manner_of(of);
  return verb + (manner.empty() ? "" : ' ' + manner);
}

std::string doing_of(const party& of) {
  return of.what == operation::atomic_update ? "updates" : writes(of.what) ? "writes" : "reads";
}

std::string manner_of(const party& of) {
  if (of.is_volatile) return "(volatile)";
  if (of.has_thread_scope) return "atomically at thread scope";
  if (!is_atomic(of.what)) return "";
  return of.within == scope::block ? "atomically at block scope" : "atomically";
}

bool own_file::has(const source_line& at) const {
  if (path.empty() || at.file.empty()) return false;
  const auto whole = [](const std::string& file) {
    return std::filesystem::absolute(file).lexically_normal();
  };
  std::error_code unknown;
  return whole(path) == whole(at.file) || std::filesystem::equivalent(path, at.file, unknown);
}

std::string place_text(const source_line& at, const own_file& own) {
  if (at.file.empty()) return "a place that the compiler does not name";
  return own.has(at) ? line_text(at, own) : at.file + ':' + std::to_string(at.line);
}

std::string line_text(const source_line& at, const own_file& own) {
  if (at.file.empty()) return "that line";
  const bool is_counted_anew = own.has(at) && at.line >= own.first_line;
  return "line " + std::to_string(is_counted_anew ? at.line - own.first_line + 1 : at.line);
}

}  // namespace racecheck
