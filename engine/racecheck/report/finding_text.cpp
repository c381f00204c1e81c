// SPDX-License-Identifier: MIT
#include "racecheck/report/finding_text.hpp"

namespace racecheck {
namespace {

std::string index_text(const char* what, const uint3& index) {
  std::string text = std::string(what) + ' ';
  if (index.y == 0 && index.z == 0) return text + std::to_string(index.x);
  return text + '(' + std::to_string(index.x) + ',' + std::to_string(index.y) + ',' +
         std::to_string(index.z) + ')';
}

std::string who(const party& of) { return thread_text(of.block_index, of.thread_index); }

std::string access_lines(const party& of, const source_line& at) {
  std::string text = "  " + verb_of(of) + " by " + who(of) + " at " + place_text(at) + '\n';
  if (!at.text.empty()) text += "      " + at.text + '\n';
  return text;
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
  const source_line& published = found.is_hasty ? located.second : located.first;
  const source_line& observed = found.is_hasty ? located.first : located.second;
  if (lacks.barrier_before) {
    add("missing barrier before the atomic: " + index_text("block", found.publisher().block_index) +
        " signals through " + index_text("thread", found.releaser.thread_index) + release_place +
        ", and there is no barrier between " + line_text(published) +
        " and the fence or the release of that atomic: put __syncthreads() there");
  }
  const bool barrier_is_enough =
      same_block && found.memory == "shared memory" && (lacks.release || lacks.acquire);
  if (barrier_is_enough) {
    add("both threads are of one block: a __syncthreads() between the two accesses is enough, if "
        "all threads of the block come to it; else:");
  }
  if (lacks.release) {
    add("missing release: the atomic" + release_place +
        " publishes nothing that came before it: put __threadfence() before it, or use "
        "cuda::atomic_ref with memory_order_acq_rel");
  }
  if (lacks.acquire) {
    add("missing acquire: " + index_text("block", found.observer().block_index) +
        " saw the other's atomic" + acquire_place +
        ", and did not acquire: put __threadfence() after that atomic" +
        (lacks.only_by_fence
             ? " (an atomic that acquires is not enough: each thread of the other block has "
               "published its writes by a fence of its own)"
             : ", or use cuda::atomic_ref with memory_order_acq_rel"));
  }
  if (lacks.barrier_after) {
    add("missing barrier after the atomic: only the thread that executed the atomic" +
        acquire_place + " may rely on it: put __syncthreads() between it and " +
        line_text(observed));
  }
  if (lacks.syncwarp) {
    add("missing __syncwarp(): both threads are of one warp, but a warp's threads do not run in "
        "lock-step, and a shuffle or a vote does not order memory");
  }
  if (lacks.syncthreads) {
    add("missing __syncthreads(): both threads are of one block, and no barrier to which both come "
        "is between the two accesses");
  }
  if (located.also_between_blocks && (lacks.syncwarp || lacks.syncthreads)) {
    add("that is not enough: threads of different blocks race at these lines as well");
  }
  if (lacks.update) {
    add("missing atomic: each of the two threads reads the element, changes it and writes it back, "
        "so one of the two changes can be lost: use atomicAdd(), or the atomic function that fits, "
        "or one lock for both" +
        std::string(same_block ? ""
                               : "; threads of different blocks meet here, which no "
                                 "__syncthreads() can order"));
  }
  if (lacks.volatile_is_no_atomic) {
    add("volatile is no synchronisation: it orders nothing but what one thread does; use "
        "cuda::atomic_ref");
  }
  if (lacks.atomicity) {
    add(std::string("one access is atomic and the other is not: ") +
        (same_block && !barrier_is_enough
             ? "if one must come after the other, put __syncthreads() between them, because "
               "atomics alone don't order the two; otherwise make both atomic"
             : "make both atomic, or order them"));
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
  const bool is_unordered = lacks.syncwarp || lacks.syncthreads || !lacks.anything();
  if (is_unordered && found.first.what == operation::write &&
      found.second.what == operation::write) {
    add("it is a race even if both write the same value: the memory model gives a program with a "
        "race no meaning, and compilers rely on there being none: let one thread write, or use "
        "atomicExch()");
  }
  return text;
}

}  // namespace

std::string thread_text(const uint3& block, const uint3& thread) {
  return index_text("block", block) + ' ' + index_text("thread", thread);
}

std::string verb_of(const party& of) {
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

std::vector<std::string> diagnosis_of(const finding& found) {
  if (found.what == mistake::unwritten_read) return {"unwritten memory"};
  if (found.what == mistake::outside) return {"outside of the allocation"};
  std::vector<std::string> names = names_of(found.lacks);
  if (names.empty()) names.push_back("no synchronisation");
  return names;
}

std::vector<std::string> names_of(const missing& lacks) {
  std::vector<std::string> names;
  if (lacks.wider_scope) names.push_back("scope too narrow");
  if (lacks.barrier_before) names.push_back("missing barrier before the atomic");
  if (lacks.release) names.push_back("missing release");
  if (lacks.acquire) names.push_back("missing acquire");
  if (lacks.barrier_after) names.push_back("missing barrier after the atomic");
  if (lacks.syncwarp) names.push_back("missing __syncwarp()");
  if (lacks.syncthreads) names.push_back("missing __syncthreads()");
  if (lacks.update) names.push_back("missing atomic");
  if (lacks.volatile_is_no_atomic) names.push_back("volatile is no synchronisation");
  if (lacks.atomicity) names.push_back("plain mixed with atomic");
  if (lacks.unknown) names.push_back("not diagnosed");
  return names;
}

std::string line_text(const source_line& at) {
  return at.file.empty() ? "that line" : "line " + std::to_string(at.line);
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

}  // namespace racecheck
