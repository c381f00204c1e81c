// SPDX-License-Identifier: MIT
#include "racecheck/report.hpp"

#include <cstdio>
#include <map>
#include <tuple>

namespace racecheck {
namespace {

std::string index_text(const char* what, const uint3& index) {
  std::string text = std::string(what) + ' ';
  if (index.y == 0 && index.z == 0) return text + std::to_string(index.x);
  return text + '(' + std::to_string(index.x) + ',' + std::to_string(index.y) + ',' +
         std::to_string(index.z) + ')';
}

std::string who(const party& of) {
  return index_text("block", of.block_index) + ' ' + index_text("thread", of.thread_index);
}

std::string verb(const party& of) {
  const std::string scope_text = of.within == scope::block ? " at block scope" : "";
  switch (of.what) {
    case operation::read:
      return of.is_volatile ? "read (volatile)" : "read";
    case operation::write:
      return of.is_volatile ? "written (volatile)" : "written";
    case operation::atomic_load:
      return "read atomically" + scope_text;
    case operation::atomic_store:
      return "written atomically" + scope_text;
    default:
      return "updated atomically" + scope_text;
  }
}

std::string place_text(const source_line& at) {
  if (at.file.empty()) return "a place that the compiler does not name";
  return at.file + ':' + std::to_string(at.line);
}

std::string access_lines(const party& of, const source_line& at) {
  std::string text = "  " + verb(of) + " by " + who(of) + " at " + place_text(at) + '\n';
  if (!at.text.empty()) text += "      " + at.text + '\n';
  return text;
}

std::string line_text(const source_line& at) {
  return at.file.empty() ? "that line" : "line " + std::to_string(at.line);
}

// What is missing, and what to do about it.
std::string advice_of(const located_finding& located) {
  const finding& found = located.found;
  const missing& lacks = found.lacks;
  std::string text;
  const auto add = [&](const std::string& sentence) { text += "  " + sentence + '\n'; };
  const bool same_block = found.first.thread.block == found.second.thread.block;
  const std::string release_place =
      found.releaser.known ? " at " + place_text(located.releaser) : "";
  const std::string acquire_place =
      found.acquirer.known ? " at " + place_text(located.acquirer) : "";

  if (lacks.wider_scope) {
    const party* narrow =
        is_atomic(found.first.what) && found.first.within == scope::block     ? &found.first
        : is_atomic(found.second.what) && found.second.within == scope::block ? &found.second
                                                                              : nullptr;
    if (narrow) {
      const source_line& at = narrow == &found.first ? located.first : located.second;
      add("scope too narrow: the atomic at " + place_text(at) +
          " is atomic for the threads of its own block only, and the other thread is in another "
          "block: use device scope");
    } else {
      add("scope too narrow: an atomic or a fence between the two has block scope, and the "
          "threads are in two blocks: use device scope");
    }
  }
  if (lacks.barrier_before) {
    add("missing barrier before the atomic: " + index_text("block", found.first.block_index) +
        " signals through thread " + std::to_string(found.releaser.rank) + release_place +
        ", and there is no barrier between " + line_text(located.first) +
        " and the fence or the release of that atomic: put __syncthreads() there");
  }
  if (lacks.release) {
    add("missing release: the atomic" + release_place +
        " publishes nothing that came before it: put __threadfence() before it, or use "
        "cuda::atomic_ref with memory_order_acq_rel");
  }
  if (lacks.acquire) {
    add("missing acquire: " + index_text("block", found.second.block_index) +
        " saw the other's atomic" + acquire_place +
        ", and did not acquire: put __threadfence() after that atomic, or use cuda::atomic_ref "
        "with memory_order_acq_rel");
  }
  if (lacks.barrier_after) {
    add("missing barrier after the atomic: only the thread that executed the atomic" +
        acquire_place + " may rely on it: put __syncthreads() between it and " +
        line_text(located.second));
  }
  if (lacks.syncwarp) {
    add("missing __syncwarp(): both threads are of one warp, but a warp's threads do not run in "
        "lock-step, and a shuffle or a vote does not order memory");
  }
  if (lacks.syncthreads) {
    add("missing __syncthreads(): both threads are of one block, and no barrier is between the "
        "two accesses");
  }
  if (lacks.volatile_is_no_atomic) {
    add("volatile is no synchronisation: it orders nothing but what one thread does; use "
        "cuda::atomic_ref");
  }
  if (lacks.atomicity) {
    add("one access is atomic and the other is not: make both atomic, or order them");
  }
  if (lacks.unknown) {
    add("the two are not ordered; what is missing was not worked out, because the launch has too "
        "many atomics: try it with fewer threads");
  }
  if (!lacks.anything()) {
    add(same_block ? "no synchronisation between the two"
                   : "no synchronisation between the two blocks: nothing that one of them does "
                     "tells the other that it may go on");
  }
  return text;
}

}  // namespace

std::vector<std::string> diagnosis_of(const finding& found) {
  if (found.what == mistake::unwritten_read) return {"unwritten memory"};
  if (found.what == mistake::outside) return {"outside of the allocation"};
  const missing& lacks = found.lacks;
  std::vector<std::string> names;
  if (lacks.wider_scope) names.push_back("scope too narrow");
  if (lacks.barrier_before) names.push_back("missing barrier before the atomic");
  if (lacks.release) names.push_back("missing release");
  if (lacks.acquire) names.push_back("missing acquire");
  if (lacks.barrier_after) names.push_back("missing barrier after the atomic");
  if (lacks.syncwarp) names.push_back("missing __syncwarp()");
  if (lacks.syncthreads) names.push_back("missing __syncthreads()");
  if (lacks.volatile_is_no_atomic) names.push_back("volatile is no synchronisation");
  if (lacks.atomicity) names.push_back("plain mixed with atomic");
  if (lacks.unknown) names.push_back("not diagnosed");
  if (names.empty()) names.push_back("no synchronisation");
  return names;
}

std::vector<located_finding> locate(const std::vector<finding>& findings) {
  std::vector<place_number> places;
  for (const finding& each : findings) {
    places.insert(places.end(),
                  {each.first.place, each.second.place, each.releaser.place, each.acquirer.place});
  }
  const std::vector<source_line> lines = source_lines(places);
  using key = std::tuple<mistake, std::string, std::string>;
  std::map<key, std::size_t> known;
  std::vector<located_finding> all;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    located_finding now{findings[i], lines[4 * i], lines[4 * i + 1], lines[4 * i + 2],
                        lines[4 * i + 3]};
    std::string first = place_text(now.first);
    std::string second = place_text(now.second);
    if (second < first) std::swap(first, second);
    const auto [entry, is_new] = known.try_emplace({now.found.what, first, second}, all.size());
    if (is_new) {
      all.push_back(std::move(now));
      continue;
    }
    located_finding& same = all[entry->second];
    now.found.count += same.found.count;
    if (same.found.lacks.syncwarp && now.found.lacks.syncthreads) same = now;
    same.found.count = now.found.count;
  }
  return all;
}

std::string text_of(const located_finding& located) {
  const finding& found = located.found;
  if (found.what == mistake::unwritten_read) {
    return "unwritten " + found.memory + " on " + found.object + '\n' +
           access_lines(found.second, located.second) +
           "  nothing has written it: it holds what was left there by chance\n";
  }
  if (found.what == mistake::outside) {
    return "access outside of " + found.memory + ": " + found.object + '\n' +
           access_lines(found.second, located.second);
  }
  return "race (" + found.memory + ") on " + found.object + '\n' +
         access_lines(found.first, located.first) + access_lines(found.second, located.second) +
         advice_of(located);
}

std::string json_string(const std::string& text) {
  std::string quoted = "\"";
  for (const char each : text) {
    if (each == '"' || each == '\\') {
      quoted += '\\';
      quoted += each;
    } else if (static_cast<unsigned char>(each) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", each);
      quoted += code;
    } else {
      quoted += each;
    }
  }
  return quoted + '"';
}

std::string json_of(const located_finding& located) {
  const finding& found = located.found;
  const auto party_json = [](const party& of, const source_line& at) {
    const auto index_json = [](const uint3& index) {
      return '[' + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " +
             std::to_string(index.z) + ']';
    };
    return "{\"access\": " + json_string(verb(of)) + ", \"block\": " + index_json(of.block_index) +
           ", \"thread\": " + index_json(of.thread_index) + ", \"file\": " + json_string(at.file) +
           ", \"line\": " + std::to_string(at.line) + ", \"text\": " + json_string(at.text) + '}';
  };
  static const std::map<mistake, std::string> names = {{mistake::race, "race"},
                                                       {mistake::unwritten_read, "unwritten"},
                                                       {mistake::outside, "outside"}};
  std::string diagnosis;
  for (const std::string& each : diagnosis_of(found)) {
    diagnosis += (diagnosis.empty() ? "" : ", ") + json_string(each);
  }
  const bool lenient = found.what == mistake::race && found.lacks.only_acquire();
  std::string text = "{\"kind\": " + json_string(names.at(found.what)) +
                     ", \"severity\": " + json_string(lenient ? "strict" : "error") +
                     ", \"memory\": " + json_string(found.memory) +
                     ", \"object\": " + json_string(found.object) + ", \"diagnosis\": [" +
                     diagnosis + "], \"count\": " + std::to_string(found.count);
  if (found.what == mistake::race) {
    text += ", \"first\": " + party_json(found.first, located.first);
  }
  return text + ", \"second\": " + party_json(found.second, located.second) +
         ", \"text\": " + json_string(text_of(located)) + '}';
}

}  // namespace racecheck
