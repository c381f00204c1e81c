// SPDX-License-Identifier: MIT
#include "racecheck/report/finding_json.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

template <>
struct nlohmann::adl_serializer<uint3> {
  static void to_json(ordered_json& to, const uint3& index) { to = {index.x, index.y, index.z}; }
  static void from_json(const ordered_json& from, uint3& index) {
    index = {from.at(0), from.at(1), from.at(2)};
  }
};

namespace racecheck {

using json = nlohmann::ordered_json;

// The words for enumerators, in their order. (A report is made when the program's destructors have
// run: no table may have one.)
enum class scope_word { block, device, thread };
constexpr auto words_of(scope_word) { return std::array{"block", "device", "thread"}; }
constexpr auto words_of(mistake) {
  return std::array{"race",         "unwritten", "outside",   "constant", "local",
                    "local_atomic", "lane",      "read_only", "barriers", "unwritten_use"};
}
constexpr auto words_of(operation) {
  return std::array{"read", "write", "atomic_load", "atomic_store", "atomic_update"};
}
constexpr auto words_of(chain_step::kind) {
  return std::array{"fence", "atomic", "barrier", "warp_barrier"};
}
constexpr auto words_of(cpu_backend::work_kind) {
  return std::array{"kernel", "copy", "fill", "allocation", "release", "callback", "host"};
}
constexpr auto& words_of(diagnosis) { return diagnosis_codes; }

template <class Word>
concept has_words = requires(Word of) {
  words_of(of);
};

void to_json(json& to, has_words auto word) { to = words_of(word)[static_cast<std::size_t>(word)]; }
template <has_words Word>
void from_json(const json& from, Word& word) {
  const auto& words = words_of(word);
  const auto known = std::ranges::find(words, std::string_view(from.get_ref<const std::string&>()));
  if (known == std::end(words)) throw malformed_record("a word is none of the checker's");
  word = static_cast<Word>(known - std::begin(words));
}
void to_json(json& to, const diagnosis_set& codes) { to = all_of(codes); }
void from_json(const json& from, diagnosis_set& codes) {
  codes = {};
  for (const json& each : from) codes.add(each.get<diagnosis>());
}

namespace {

const json& value_at(const json& object, const char* key) {
  if (!object.is_object())
    throw malformed_record("there is no object that could have \"" + std::string(key) + '"');
  const auto found = object.find(key);
  if (found == object.end()) throw malformed_record("there is no \"" + std::string(key) + '"');
  return *found;
}

void demand(bool is_right, const char* key) {
  if (!is_right)
    throw malformed_record(std::string("\"") + key + "\" is not what the checker writes");
}

// ---- A record's fields are listed once, and both the writer and the reader go over the list

class writer {
 public:
  writer(json& to, const own_file& own) : to_(to), own_(own) { to_ = json::object(); }

  template <class T>
  void operator()(const char* key, const T& value) {
    to_[key] = value;
  }
  template <class Fields>
  void object(const char* key, Fields fields) {
    writer inside(to_[key], own_);
    fields(inside);
  }
  template <class T>
  void optional(const char* key, std::optional<T>& value) {
    if (value) (*this)(key, *value);
  }
  template <class T, class Fields>
  void optional(const char* key, std::optional<T>& value, Fields fields) {
    if (value) object(key, [&](writer& in) { fields(in, *value); });
  }
  template <class T, class Fields>
  void list(const char* key, std::vector<T>& values, Fields fields) {
    to_[key] = json::array();
    for (T& each : values) {
      writer inside(to_[key].emplace_back(), own_);
      fields(inside, each);
    }
  }
  bool is_null(const char* key, bool is_known) {
    if (!is_known) to_[key] = nullptr;
    return !is_known;
  }
  // Texts, which are made of the other fields, and are not read.
  template <class Make>
  void made(const char* key, Make make) {
    to_[key] = make(own_);
  }
  // With the words for it.
  void lacks(const drawn_chain::arrow& of, const finding& race) {
    json& list = to_["lacks"] = json::array();
    for (const diagnosis code : all_of(of.lacks)) {
      const auto names = names_of({code});
      if (!names.empty()) {
        list.push_back(
            {{"code", code}, {"name", names.front()}, {"remedy", repair_of(code, race, of)}});
      } else if (!list.empty()) {
        list.back()["refined_by"] = code;
      }
    }
  }

 private:
  json& to_;
  const own_file& own_;
};

class reader {
 public:
  explicit reader(const json& from) : from_(from) {}

  // No other number or word than that which is written for what was read.
  template <class T>
  void operator()(const char* key, T& to) {
    const json& value = value_at(from_, key);
    demand(!value.is_number() || value.is_number_unsigned(), key);
    try {
      value.get_to(to);
    } catch (const json::exception&) {
      demand(false, key);
    }
    demand(json(to) == value, key);
  }
  template <class Fields>
  void object(const char* key, Fields fields) {
    reader inside(value_at(from_, key));
    fields(inside);
  }
  template <class T>
  void optional(const char* key, std::optional<T>& to) {
    if (from_.contains(key)) (*this)(key, to.emplace());
  }
  template <class T, class Fields>
  void optional(const char* key, std::optional<T>& to, Fields fields) {
    if (from_.contains(key)) object(key, [&](reader& in) { fields(in, to.emplace()); });
  }
  template <class T, class Fields>
  void list(const char* key, std::vector<T>& to, Fields fields) {
    for (const json& each : list_at(from_, key)) {
      reader inside(each);
      fields(inside, to.emplace_back());
    }
  }
  bool is_null(const char* key, bool) { return value_at(from_, key).is_null(); }
  template <class Make>
  void made(const char*, Make) {}
  void lacks(drawn_chain::arrow& to, const finding&) {
    for (const json& lack : list_at(from_, "lacks")) {
      reader inside(lack);
      diagnosis code{};
      std::optional<diagnosis> refinement;
      inside("code", code);
      inside.optional("refined_by", refinement);
      to.lacks.add(code);
      if (refinement) to.lacks.add(*refinement);
    }
  }

 private:
  const json& from_;
};

void place(auto& in, source_line& at) {
  in("file", at.file);
  in("line", at.line);
}

void work(auto& in, racing_work& of) {
  in.made("words", [&](const own_file&) { return work_text(of); });
  in("kind", of.kind);
  in("name", of.name);
  in("stream", of.stream);
  place(in, of.at);
}

void access(auto& in, racing_access& of) {
  in.made("access", [&](const own_file&) { return verb_of(of); });
  in.made("does", [&](const own_file&) { return doing_of(of); });
  in.made("manner", [&](const own_file&) { return manner_of(of); });
  in("operation", of.what);
  scope_word within = of.has_thread_scope         ? scope_word::thread
                      : of.within == scope::block ? scope_word::block
                                                  : scope_word::device;
  in("scope", within);
  of.within = within == scope_word::block ? scope::block : scope::device;
  of.has_thread_scope = within == scope_word::thread;
  in("volatile", of.is_volatile);
  in("bytes", of.bytes);
  in("block", of.block_index);
  in("thread", of.thread_index);
  place(in, of.at);
  in("text", of.at.text);
  in.optional("work", of.work, [](auto& inside, racing_work& its) { work(inside, its); });
  in.made("sentence", [&](const own_file& own) { return access_text(of, own); });
}

void operation_of_signal(auto& in, const char* key, synchronizing_operation& of) {
  of.known = !in.is_null(key, of.known);
  if (!of.known) return;
  in.object(key, [&](auto& inside) {
    inside("thread", of.thread_index);
    inside("volatile", of.is_volatile);
    place(inside, of.at);
  });
}

void chain_of_race(auto& in, finding& of) {
  drawn_chain& chain = of.drawn;
  in.list("lanes", chain.lanes, [](auto& inside, drawn_chain::lane& lane) {
    inside("roles", lane.roles);
    inside("block", lane.block);
    inside("thread", lane.thread);
    inside("work", lane.work);
  });
  in.list("events", chain.events, [&](auto& inside, drawn_chain::event& event) {
    inside("lane", event.lane);
    demand(event.lane < chain.lanes.size(), "lane");
    inside("kind", event.kind);
    inside("does", event.does);
    place(inside, event.location);
    inside("text", event.location.text);
  });
  in.list("arrows", chain.arrows, [&](auto& inside, drawn_chain::arrow& arrow) {
    inside("kind", arrow.kind);
    inside("from", arrow.from);
    inside("to", arrow.to);
    demand(std::max(arrow.from, arrow.to) < chain.events.size(), "arrows");
    inside("updates_between", arrow.updates_between);
    inside.lacks(arrow, of);
  });
}

void fields(auto& in, finding& of) {
  in("kind", of.what);
  const bool is_race = of.what == mistake::race;
  in.made("severity", [&](const own_file&) { return of.is_strict() ? "strict" : "error"; });
  diagnosis_set codes = of.codes_to_tell();
  in("codes", codes);
  if (is_race) of.lacks = codes.without({diagnosis::no_synchronisation});
  demand(codes == of.codes_to_tell(), "codes");
  in.made("diagnosis", [&](const own_file&) { return names_of(codes); });
  in("memory", of.memory);
  in("object", of.object);
  in("element", of.element.text);
  in("count", of.count);
  demand(of.count != 0, "count");
  in.optional("element_of_dynamic_memory", of.element.in_dynamic_memory);
  if (of.has_two_accesses()) in.object("first", [&](auto& inside) { access(inside, of.first); });
  in.object("second", [&](auto& inside) { access(inside, of.second); });
  if (is_race) {
    operation_of_signal(in, "releaser", of.releaser);
    operation_of_signal(in, "acquirer", of.acquirer);
    in("signals_too_early", of.signals_early);
    in("in_two_branches", of.in_two_branches);
    in.optional("older_load", of.older_load, [](auto& inside, chain_step& load) {
      inside("by_the_second", load.in_observers_block);
      inside("volatile", load.is_volatile);
      place(inside, load.at);
    });
    in.optional("cause", of.cause, [](auto& inside, chain_step& cause) {
      inside("kind", cause.what);
      inside("by_the_second", cause.in_observers_block);
      place(inside, cause.at);
    });
  }
  in.made("heading", [&](const own_file&) { return heading_of(of); });
  in.made("advice", [&](const own_file& own) {
    json advice = json::array();
    for (const auto& [code, sentence] : advice_of(of, own)) {
      advice.push_back({{"code", code}, {"text", sentence}});
    }
    return advice;
  });
  in.made("text", [&](const own_file& own) { return text_of(of, own); });
  if (is_race) in.object("chain", [&](auto& inside) { chain_of_race(inside, of); });
}

}  // namespace

json json_of(finding of, const own_file& own) {
  json made;
  writer in(made, own);
  fields(in, of);
  return made;
}

json json_of(const element_findings& of, std::uint64_t schedules, const own_file& own) {
  json made = json_of(of.shown, own);
  made["count"] = of.count;
  made["seed"] = of.shown.seed;
  made["seeds"] = of.seeds.size();
  for (const finding& each : of.lesser) {
    json& lesser = made["lesser"].emplace_back();
    writer in(lesser, own);
    in("codes", each.codes_to_tell());
    in("diagnosis", names_of(each.codes_to_tell()));
    in("count", each.count);
  }
  for (const auto& [first, second] : of.other_lines) {
    made["other_lines"].push_back({place_text(first), place_text(second)});
  }
  made["notes"] = notes_of(of, schedules, own);
  return made;
}

std::uint64_t number_at(const json& object, const char* key) {
  std::uint64_t number = 0;
  reader in(object);
  in(key, number);
  return number;
}

const json& list_at(const json& object, const char* key) {
  const json& value = value_at(object, key);
  demand(value.is_array(), key);
  return value;
}

finding finding_of(const json& record, std::uint64_t seed) {
  finding made;
  made.seed = seed;
  made.seeds = {seed};
  reader in(record);
  fields(in, made);
  return made;
}

}  // namespace racecheck
