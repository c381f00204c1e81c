// SPDX-License-Identifier: MIT
#include "racecheck/report/finding_json.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "racecheck/report/finding_text.hpp"

namespace racecheck {
namespace {

using json = nlohmann::ordered_json;

// In the order of their enumerators.
constexpr std::array kinds = {"race", "unwritten", "outside"};
constexpr std::array operations = {"read", "write", "atomic_load", "atomic_store", "atomic_update"};
constexpr std::array scopes = {"block", "device", "thread"};
constexpr std::array causes = {"fence", "atomic", "barrier",
                               "warp_barrier"};  // as chain_step::kind

json json_of(const uint3& index) { return {index.x, index.y, index.z}; }

json json_of(const party& of, const source_line& at, const own_file& own) {
  return {{"access", verb_of(of)},
          {"does", doing_of(of)},
          {"manner", manner_of(of)},
          {"operation", operations[static_cast<std::size_t>(of.what)]},
          {"scope", scopes[of.has_thread_scope ? 2 : of.within == scope::device]},
          {"volatile", of.is_volatile},
          {"bytes", of.bytes},
          {"block", json_of(of.block_index)},
          {"thread", json_of(of.thread_index)},
          {"file", at.file},
          {"line", at.line},
          {"text", at.text},
          {"sentence", access_text(of, at, own)}};
}

// nullptr if it is not known.
json json_of(const witness& of, const source_line& at) {
  if (!of.known) return nullptr;
  return {{"thread", json_of(of.thread_index)},
          {"volatile", of.is_volatile},
          {"file", at.file},
          {"line", at.line}};
}

json json_of(const chain_step& cause, const source_line& at) {
  return {{"kind", causes[static_cast<std::size_t>(cause.what)]},
          {"by_the_second", cause.in_observers_block},
          {"file", at.file},
          {"line", at.line}};
}

json json_of(const diagnosis_set& codes) {
  json list = json::array();
  for (std::size_t i = 0; i < diagnosis_table.size(); ++i) {
    if (codes.has(static_cast<diagnosis>(i))) list.push_back(diagnosis_table[i].code);
  }
  return list;
}

json lacks_of(const located_finding& of, const drawn_chain::arrow& arrow) {
  json list = json::array();
  for (std::size_t i = 0; i < diagnosis_table.size(); ++i) {
    const diagnosis_row& row = diagnosis_table[i];
    const auto code = static_cast<diagnosis>(i);
    if (!arrow.lacks.has(code)) continue;
    if (*row.name) {
      list.push_back(
          {{"code", row.code}, {"name", row.name}, {"remedy", repair_of(code, of, arrow)}});
    } else if (!list.empty()) {
      list.back()["refined_by"] = row.code;
    }
  }
  return list;
}

json chain_json(const located_finding& of) {
  json made = {{"lanes", json::array()}, {"events", json::array()}, {"arrows", json::array()}};
  for (const drawn_chain::lane& each : of.chain.lanes) {
    made["lanes"].push_back(
        {{"roles", each.roles}, {"block", json_of(each.block)}, {"thread", json_of(each.thread)}});
  }
  for (const drawn_chain::event& each : of.chain.events) {
    made["events"].push_back({{"lane", each.lane},
                              {"kind", each.kind},
                              {"does", each.does},
                              {"file", each.location.file},
                              {"line", each.location.line},
                              {"text", each.location.text}});
  }
  for (const drawn_chain::arrow& each : of.chain.arrows) {
    made["arrows"].push_back({{"kind", each.kind},
                              {"from", each.from},
                              {"to", each.to},
                              {"updates_between", each.updates_between},
                              {"lacks", lacks_of(of, each)}});
  }
  return made;
}

// ---- And back

[[noreturn]] void refuse(const char* key, const char* wanted) {
  throw malformed_record(std::string("\"") + key + "\" is no " + wanted);
}

const json& value_at(const json& object, const char* key) {
  if (!object.is_object())
    throw malformed_record("there is no object that could have \"" + std::string(key) + '"');
  const auto found = object.find(key);
  if (found == object.end()) throw malformed_record("there is no \"" + std::string(key) + '"');
  return *found;
}

std::string text_at(const json& object, const char* key) {
  const json& value = value_at(object, key);
  if (!value.is_string()) refuse(key, "text");
  return value.get<std::string>();
}

bool flag_at(const json& object, const char* key) {
  const json& value = value_at(object, key);
  if (!value.is_boolean()) refuse(key, "true or false");
  return value.get<bool>();
}

unsigned small_number_at(const json& object, const char* key) {
  const std::uint64_t value = number_at(object, key);
  if (value > std::numeric_limits<unsigned>::max()) refuse(key, "number of 32 bits");
  return static_cast<unsigned>(value);
}

template <std::size_t size>
std::size_t word_at(const json& object, const char* key,
                    const std::array<const char*, size>& words) {
  const std::string text = text_at(object, key);
  const auto found = std::ranges::find(words, std::string_view(text));
  if (found == words.end()) refuse(key, "word that the checker writes there");
  return static_cast<std::size_t>(found - words.begin());
}

uint3 index_at(const json& object, const char* key) {
  const json& list = list_at(object, key);
  if (list.size() != 3) refuse(key, "index of three numbers");
  std::array<unsigned, 3> parts{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i] = small_number_at({{key, list[i]}}, key);
  }
  return {parts[0], parts[1], parts[2]};
}

source_line line_at(const json& object) {
  source_line made;
  made.file = text_at(object, "file");
  made.line = small_number_at(object, "line");
  if (object.contains("text")) made.text = text_at(object, "text");
  return made;
}

party party_of(const json& object) {
  party made;
  made.what = static_cast<operation>(word_at(object, "operation", operations));
  const std::size_t within = word_at(object, "scope", scopes);
  made.within = within == 0 ? scope::block : scope::device;
  made.has_thread_scope = within == 2;
  made.is_volatile = flag_at(object, "volatile");
  made.bytes = small_number_at(object, "bytes");
  made.block_index = index_at(object, "block");
  made.thread_index = index_at(object, "thread");
  return made;
}

void read_witness(const json& record, const char* key, witness& of, source_line& at) {
  const json& object = value_at(record, key);
  if (object.is_null()) return;
  of.known = true;
  of.is_volatile = flag_at(object, "volatile");
  of.thread_index = index_at(object, "thread");
  at = line_at(object);
}

void read_cause(const json& object, located_finding& of) {
  of.finding.cause.emplace();
  of.finding.cause->what = static_cast<chain_step::kind>(word_at(object, "kind", causes));
  of.finding.cause->in_observers_block = flag_at(object, "by_the_second");
  of.cause = line_at(object);
}

void read_older_load(const json& object, located_finding& of) {
  of.finding.older_load.emplace();
  of.finding.older_load->in_observers_block = flag_at(object, "by_the_second");
  of.finding.older_load->is_volatile = flag_at(object, "volatile");
  of.older_load = line_at(object);
}

diagnosis code_of(const json& text) {
  const auto row = std::ranges::find_if(diagnosis_table, [&](const diagnosis_row& each) {
    return text.is_string() && text.get_ref<const std::string&>() == each.code;
  });
  if (row == diagnosis_table.end()) throw malformed_record("there is no diagnosis of one code");
  return static_cast<diagnosis>(row - diagnosis_table.begin());
}

diagnosis_set codes_at(const json& object, const char* key) {
  diagnosis_set codes;
  for (const json& each : list_at(object, key)) codes.add(code_of(each));
  return codes;
}

drawn_chain chain_of_record(const json& record) {
  drawn_chain made;
  const json& chain = value_at(record, "chain");
  for (const json& each : list_at(chain, "lanes")) {
    drawn_chain::lane lane{{}, index_at(each, "block"), index_at(each, "thread")};
    for (const json& role : list_at(each, "roles")) {
      lane.roles.push_back(text_at({{"roles", role}}, "roles"));
    }
    made.lanes.push_back(std::move(lane));
  }
  for (const json& each : list_at(chain, "events")) {
    made.events.push_back({static_cast<std::size_t>(number_at(each, "lane")), text_at(each, "kind"),
                           text_at(each, "does"), line_at(each)});
    if (made.events.back().lane >= made.lanes.size()) refuse("lane", "number of one of the lanes");
  }
  for (const json& each : list_at(chain, "arrows")) {
    drawn_chain::arrow arrow;
    arrow.kind = text_at(each, "kind");
    arrow.from = static_cast<std::size_t>(number_at(each, "from"));
    arrow.to = static_cast<std::size_t>(number_at(each, "to"));
    arrow.updates_between = small_number_at(each, "updates_between");
    if (std::max(arrow.from, arrow.to) >= made.events.size()) {
      refuse("arrows", "list of arrows between the events");
    }
    for (const json& lack : list_at(each, "lacks")) {
      arrow.lacks.add(code_of(value_at(lack, "code")));
      if (lack.contains("refined_by")) arrow.lacks.add(code_of(lack["refined_by"]));
    }
    made.arrows.push_back(std::move(arrow));
  }
  return made;
}

}  // namespace

json json_of(const located_finding& of, const own_file& own) {
  const finding& found = of.finding;
  const bool is_race = found.what == mistake::race;
  json made = {{"kind", kinds[static_cast<std::size_t>(found.what)]},
               {"severity", found.is_strict() ? "strict" : "error"},
               {"codes", json_of(found.codes_to_tell())},
               {"diagnosis", names_of(found.codes_to_tell())},
               {"memory", found.memory},
               {"object", found.object},
               {"element", found.element.text},
               {"count", found.count}};
  if (found.element.in_dynamic_memory) {
    made["element_of_dynamic_memory"] = *found.element.in_dynamic_memory;
  }
  if (is_race) made["first"] = json_of(found.first, of.first, own);
  made["second"] = json_of(found.second, of.second, own);
  if (is_race) {
    made["releaser"] = json_of(found.releaser, of.releaser);
    made["acquirer"] = json_of(found.acquirer, of.acquirer);
    made["signals_too_early"] = found.is_hasty;
    if (found.older_load) {
      made["older_load"] = {{"by_the_second", found.older_load->in_observers_block},
                            {"volatile", found.older_load->is_volatile},
                            {"file", of.older_load.file},
                            {"line", of.older_load.line}};
    }
    if (found.cause) made["cause"] = json_of(*found.cause, of.cause);
  }
  made["heading"] = heading_of(of);
  made["advice"] = json::array();
  for (const auto& [code, sentence] : advice_of(of, own)) {
    made["advice"].push_back({{"code", row_of(code).code}, {"text", sentence}});
  }
  made["text"] = text_of(of, own);
  if (is_race) made["chain"] = chain_json(of);
  return made;
}

json json_of(const element_findings& of, std::uint64_t schedules, const own_file& own) {
  json made = json_of(of.shown, own);
  made["count"] = of.count;
  made["seed"] = of.shown.seed;
  made["seeds"] = of.seeds.size();
  for (const located_finding& each : of.lesser) {
    const diagnosis_set codes = each.finding.codes_to_tell();
    made["lesser"].push_back(
        {{"codes", json_of(codes)}, {"diagnosis", names_of(codes)}, {"count", each.finding.count}});
  }
  for (const auto& [first, second] : of.other_lines) {
    made["other_lines"].push_back({place_text(first), place_text(second)});
  }
  made["notes"] = notes_of(of, schedules, own);
  return made;
}

std::uint64_t number_at(const json& object, const char* key) {
  const json& value = value_at(object, key);
  if (!value.is_number_unsigned()) refuse(key, "whole number of 0 or more");
  return value.get<std::uint64_t>();
}

const json& list_at(const json& object, const char* key) {
  const json& value = value_at(object, key);
  if (!value.is_array()) refuse(key, "list");
  return value;
}

located_finding finding_of(const json& record, std::uint64_t seed) {
  located_finding made;
  finding& found = made.finding;
  found.what = static_cast<mistake>(word_at(record, "kind", kinds));
  found.memory = text_at(record, "memory");
  found.object = text_at(record, "object");
  found.element.text = text_at(record, "element");
  if (record.contains("element_of_dynamic_memory")) {
    found.element.in_dynamic_memory = number_at(record, "element_of_dynamic_memory");
  }
  found.count = number_at(record, "count");
  if (found.count == 0) refuse("count", "number of 1 or more");
  found.second = party_of(value_at(record, "second"));
  made.second = line_at(value_at(record, "second"));
  made.seed = seed;
  made.seeds = {seed};
  const diagnosis_set codes = codes_at(record, "codes");
  if (found.what == mistake::race) {
    found.first = party_of(value_at(record, "first"));
    made.first = line_at(value_at(record, "first"));
    found.lacks = codes.without({diagnosis::no_synchronisation});
    found.is_hasty = flag_at(record, "signals_too_early");
    read_witness(record, "releaser", found.releaser, made.releaser);
    read_witness(record, "acquirer", found.acquirer, made.acquirer);
    if (record.contains("older_load")) read_older_load(record["older_load"], made);
    if (record.contains("cause")) read_cause(record["cause"], made);
    made.chain = chain_of_record(record);
  }
  if (codes != found.codes_to_tell()) refuse("codes", "list of diagnoses of that kind");
  return made;
}

}  // namespace racecheck
