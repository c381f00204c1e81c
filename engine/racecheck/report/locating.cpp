// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "racecheck/report/changed_variables.hpp"
#include "racecheck/report/finding_text.hpp"
#include "racecheck/report/merging.hpp"

namespace racecheck {
namespace {

// Whether both lines change one variable by `+=`, `++` and the like: the compiler may do the reads
// of two such lines at once.
bool update_the_same(const changed_variables& left, const changed_variables& right) {
  return std::ranges::any_of(left.updated,
                             [&](const std::string& name) { return right.updated.contains(name); });
}

// Whether a line changes elements, all of them by `+=`, `++` and the like.
bool only_updates(const changed_variables& by_line) {
  return !by_line.updated_elements.empty() && by_line.stored_elements.empty();
}

// Where threads read an element and write it back: the instructions, and the lines of those that
// write. The compiler may have made several of one line.
struct updates {
  std::set<place_number> places;
  std::set<std::string> lines;

  bool contain(const racing_access& of) const {
    return places.contains(of.place) ||
           (of.what == operation::write && lines.contains(place_text(of.at)));
  }
};

// Pairs of lines of one file at which a thread reads an element plainly, and then changes it by an
// atomic. (If the read comes after the atomic in the source, a loop has come round: it is not what
// the atomic was meant to go by.)
using checks = std::set<std::pair<std::string, std::string>>;

checks find_checks(const std::set<plain_update>& all) {
  std::vector<place_number> places;
  for (const plain_update& each : all) {
    if (each.is_atomic) places.insert(places.end(), {each.read, each.write});
  }
  const std::vector<source_line> lines = source_lines(places);
  checks found;
  for (std::size_t read = 0; read < lines.size(); read += 2) {
    const source_line &check = lines[read], &change = lines[read + 1];
    if (!check.file.empty() && check.file == change.file && check.line <= change.line) {
      found.insert({place_text(check), place_text(change)});
    }
  }
  return found;
}

// Lines at which two threads write one element, and whether they are of two blocks.
using two_writers = std::map<std::string, bool>;

two_writers find_two_writers(const std::vector<finding>& all) {
  two_writers found;
  for (const finding& each : all) {
    const std::string line = place_text(each.first.at);
    if (each.what == mistake::race && each.first.what == operation::write &&
        each.second.what == operation::write && line == place_text(each.second.at)) {
      found[line] |= each.is_between_blocks();
    }
  }
  return found;
}

constexpr unsigned most_lines_of_a_condition = 2;

// As in `if (!visited[v])`, and on the next line `visited[v] = 1`.
bool is_checked_and_set(const source_line& read, const source_line& write) {
  const std::set<std::string> places = variables_changed_by(write.text).stored_places;
  const std::string_view condition = condition_after("if", read.text);
  return read.file == write.file && read.line <= write.line &&
         write.line - read.line <= most_lines_of_a_condition &&
         std::ranges::any_of(places, [&](const std::string& each) {
           return condition.find(each) != std::string_view::npos;
         });
}

// Whether what the one line reads decides what the other one, which comes after it, writes.
bool decides(const source_line& read, const source_line& write) {
  const changed_variables by_read = variables_changed_by(read.text);
  return std::ranges::any_of(by_read.assigned,
                             [&](const std::string& name) { return has_name(write.text, name); }) ||
         (has_name(read.text, "if") && write.line - read.line <= most_lines_of_a_condition);
}

// The updates on one line, or on two that change the element. A thread may also write what it has
// read at another line for another purpose: in a loop, for the next round.
updates find_updates(const std::set<plain_update>& all, const two_writers& writers) {
  std::vector<place_number> places;
  for (const plain_update& each : all) {
    if (!each.is_atomic) places.insert(places.end(), {each.read, each.write});
  }
  const std::vector<source_line> lines = source_lines(places);
  updates found;
  for (std::size_t i = 0; i < places.size(); i += 2) {
    const source_line &read = lines[i], &write = lines[i + 1];
    const auto race = writers.find(place_text(write));
    // Where no two threads write one element, each has its own: the others only read it.
    if (race == writers.end()) continue;
    const changed_variables by_write = variables_changed_by(write.text);
    const bool is_one_line = !read.file.empty() && place_text(read) == place_text(write);
    const bool is_over_two_lines =
        read.file == write.file && read.line < write.line && (race->second || decides(read, write));
    const bool updates_it = is_one_line || is_over_two_lines ||
                            update_the_same(variables_changed_by(read.text), by_write);
    if (updates_it) found.places.insert(places[i]);
    if (updates_it || only_updates(by_write)) {
      found.places.insert(places[i + 1]);
      found.lines.insert(place_text(write));
    }
  }
  return found;
}

constexpr diagnosis_set lost_update = {diagnosis::missing_atomic};

// Two updates that nothing orders: a barrier, even of the grid, would not be what is missing.
void name_update(finding& of, const updates& known) {
  constexpr diagnosis_set of_no_order = {diagnosis::missing_syncwarp,
                                         diagnosis::missing_syncthreads, diagnosis::not_diagnosed};
  constexpr diagnosis_set of_volatile = {diagnosis::volatile_is_no_synchronisation};
  const diagnosis_set rest = of.lacks.without(of_no_order).without(of_volatile);
  const bool are_updates = (known.contain(of.first) && known.contain(of.second)) ||
                           is_checked_and_set(of.reader().at, of.writer().at);
  if (of.what != mistake::race || !rest.empty() || is_atomic(of.first.what) || !are_updates) return;
  of.lacks = of.lacks.without(of_no_order);
  of.lacks.add(diagnosis::missing_atomic);
}

// "s->" of "s->count"; nothing if it is no member.
std::string_view holder_of(std::string_view member) {
  const std::size_t end = member.find_last_of(".>");
  return end == member.npos ? "" : member.substr(0, end + 1);
}

// The names of a source's `extern __shared__` arrays.
std::set<std::string> dynamic_arrays(const std::string& path) {
  std::set<std::string> names;
  std::ifstream source(path);
  for (std::string line; std::getline(source, line);) {
    const std::size_t declared = line.find("extern __shared__");
    const std::size_t end = line.find('[', declared);
    if (declared == line.npos || end == line.npos) continue;
    const std::size_t begin = line.find_last_of(" *&", end) + 1;
    names.insert(line.substr(begin, end - begin));
  }
  return names;
}

// Two names for the same bytes: nothing has to be ordered then, but told apart.
void name_shared_bytes(finding& of) {
  constexpr diagnosis_set of_no_order = {diagnosis::missing_syncwarp,
                                         diagnosis::missing_syncthreads};
  const changed_variables first = variables_changed_by(of.first.at.text);
  const changed_variables second = variables_changed_by(of.second.at.text);
  if (of.what != mistake::race || is_atomic(of.first.what) || is_atomic(of.second.what) ||
      !of.lacks.without(of_no_order).empty() || first.stored_places.size() != 1 ||
      second.stored_places.size() != 1 || first.stored_places == second.stored_places) {
    return;
  }
  const std::string_view holder = holder_of(*first.stored_places.begin());
  const bool both_write = writes(of.first.what) && writes(of.second.what);
  if (!holder.empty() && holder == holder_of(*second.stored_places.begin())) {
    // To write a bit-field is to read its neighbours, too.
    of.lacks = {diagnosis::members_of_one_word};
  } else if (both_write && of.element.in_dynamic_memory &&
             first.stored_elements != second.stored_elements) {
    const std::set<std::string> arrays = dynamic_arrays(of.first.at.file);
    if (arrays.contains(*first.stored_elements.begin()) &&
        arrays.contains(*second.stored_elements.begin())) {
      of.lacks = {diagnosis::arrays_at_one_address};
    }
  }
}

// Whether the line takes a lock, as far as its text tells: it puts a 1 where it expects a 0, until
// that has been the case.
bool takes_a_lock(std::string_view line) {
  const auto has = [&](std::string_view part) { return line.find(part) != line.npos; };
  const bool exchanges = has("0, 1)") || has("exchange(1") || has("test_and_set") ||
                         (has("atomicExch") && has(", 1)"));
  return exchanges && has_name(line, "while");
}

// Whether a thread waits at this line, by a loop whose condition has a plain read.
bool waits_plainly(std::string_view line) {
  const std::string_view condition = condition_after("while", line);
  const auto has = [&](std::string_view part) { return condition.find(part) != line.npos; };
  return !condition.empty() && !has(".load(") && !has(".test(") && !has("atomic");
}

bool has_letter(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char each) { return std::isalpha(each) != 0; });
}

// Whether the one line's condition is about an element that the other line sets to a constant.
bool checks_a_flag(const source_line& read, const source_line& write) {
  const std::string_view condition = condition_after("if", read.text);
  return std::ranges::any_of(
      variables_changed_by(write.text).stored_places, [&](const std::string& place) {
        const std::size_t stored = write.text.find(place);
        const std::size_t equals = write.text.find('=', stored);
        const std::size_t end = write.text.find(';', stored);
        if (stored == std::string::npos || equals == std::string::npos || end < equals)
          return false;
        const std::string value = write.text.substr(equals + 1, end - equals - 1);
        const bool is_word = value == " true" || value == " false";
        return condition.find(place) != condition.npos && (is_word || !has_letter(value));
      });
}

// Whether the atomic uses the same index as the element that the other line stores: keys[slot] for
// values[slot].
bool has_the_same_index(std::string_view atomic, std::string_view store) {
  return std::ranges::any_of(
      variables_changed_by(store).stored_places, [&](const std::string& place) {
        const std::size_t index = place.find('[');
        return index != std::string::npos && has_letter(place.substr(index)) &&
               atomic.find(place.substr(index)) != atomic.npos;
      });
}

// Where the line's last atomic begins; npos if it has none.
std::size_t last_atomic_of(std::string_view line) {
  std::size_t last = line.npos;
  for (const std::string_view each : {"atomic", ".store(", ".exchange(", ".fetch_"}) {
    const std::size_t at = line.rfind(each);
    if (at != line.npos && (last == line.npos || at > last)) last = at;
  }
  return last;
}

// What the line's last atomic changes, as it stands there: "ref(*flag)" of ref(*flag).store(1), and
// "flag" of atomicAdd(flag, 1).
std::string_view operand_of_atomic(std::string_view line) {
  const std::size_t at = last_atomic_of(line);
  if (at == line.npos) return "";
  const bool is_member = line[at] == '.';
  const std::size_t before = is_member ? line.find_last_of(" ;{}", at) : line.find('(', at);
  const std::size_t end = is_member ? at : line.find(',', at);
  const std::size_t begin = before == line.npos ? 0 : before + 1;
  return end == line.npos || end < begin ? "" : line.substr(begin, end - begin);
}

// Whether more accesses stand on the line after its last atomic.
bool goes_on_after_its_atomic(std::string_view line) {
  const std::size_t last = last_atomic_of(line);
  const std::size_t end = last == line.npos ? last : line.find(';', last);
  return end != line.npos && line.find_first_of("[*>", end) != line.npos;
}

// Whether a barrier of the block stands between an access and an atomic, by their lines or, if they
// share one, by its text.
bool is_barrier_between(const source_line& access, const source_line& barrier,
                        const source_line& atomic) {
  if (access.file != barrier.file || barrier.file != atomic.file) return false;
  if (access.line < barrier.line && barrier.line < atomic.line) return true;
  const std::size_t at = access.text.find("__syncthreads");
  const std::size_t last = last_atomic_of(access.text);
  return access.line == barrier.line && barrier.line == atomic.line && at != std::string::npos &&
         last != std::string_view::npos && at < last;
}

// The next line after this one, of the same branch, that has the word, without its comment; empty
// if there is none near.
std::string next_line_with(std::string_view word, const source_line& after) {
  constexpr unsigned most_lines = 16;
  std::ifstream source(after.file);
  unsigned number = 0;
  for (std::string line; std::getline(source, line) && number < after.line + most_lines;) {
    if (++number <= after.line) continue;
    line.resize(std::min(line.size(), line.find("//")));
    if (has_name(line, "else") || line.starts_with('}')) break;  // and the function's end
    if (line.find(word) != line.npos) return line;
  }
  return "";
}

// Whether the word that has signalled is written once more after the one access, and read once
// more after the other one, as that of a seqlock is.
bool is_in_a_seqlock(const source_line& published, const source_line& observed,
                     const source_line& signal) {
  const std::string_view word = operand_of_atomic(signal.text);
  if (word.empty()) return false;
  const std::string again = next_line_with(word, published);
  return operand_of_atomic(again) == word && !takes_a_lock(again) &&
         !next_line_with(word, observed).empty();
}

// What a thread does after its own signal: whether the source has it in this order, and whether the
// signal is one.
void name_late_access(finding& of) {
  constexpr diagnosis_set late = {diagnosis::write_after_signal, diagnosis::access_after_release};
  if (of.lacks.common_with(late).empty()) return;
  const source_line& published = of.publisher().at;
  const source_line& observed = of.observer().at;
  // A loop that comes round does its release before the next round's accesses.
  const bool is_later_in_source =
      published.file == of.releaser.at.file &&
      (published.line > of.releaser.at.line ||
       (published.line == of.releaser.at.line && goes_on_after_its_atomic(published.text)));
  // A thread that fetches by an atomic has not asked for what another one has fetched.
  const std::string& acquiring = of.acquirer.at.text;
  const bool only_loads = of.cause && (of.cause->does == operation::atomic_load ||
                                       acquiring.find(", 0)") != std::string::npos);
  const bool is_asked_for = of.cause && observed.file == of.acquirer.at.file &&
                            observed.line >= of.acquirer.at.line &&
                            (only_loads || has_the_same_index(of.releaser.at.text, published.text));
  if (!is_later_in_source || (of.lacks.has(diagnosis::write_after_signal) && !is_asked_for)) {
    of.forget_way();
    of.signals_early = false;
  } else if (is_in_a_seqlock(published, observed, of.releaser.at)) {
    of.lacks = {diagnosis::read_between_two_signals};
  }
  of.cause.reset();
}

// What the lines say of a plain access that meets an atomic one.
void name_plain_access(finding& of, const checks& known) {
  if (!of.lacks.has(diagnosis::plain_mixed_with_atomic)) return;
  const racing_access &plain = of.plain_one(), &atomic = of.atomic_one();
  of.lacks.add(diagnosis::plain_look_before_atomic,
               known.contains({place_text(plain.at), place_text(atomic.at)}));
  if (plain.what != operation::write) return;
  const changed_variables by_plain = variables_changed_by(plain.at.text);
  const bool opens_a_lock = takes_a_lock(atomic.at.text);
  of.lacks.add(diagnosis::lock_opened_by_plain_store, opens_a_lock);
  of.lacks.add(diagnosis::plain_store_beside_updates,
               !opens_a_lock && atomic.what == operation::atomic_update &&
                   !by_plain.stored_elements.empty() && by_plain.updated_elements.empty());
}

// A flag that is set and read plainly. One that is set under a lock is checked again there, which
// is no lost update.
void name_plain_flag(finding& of) {
  const bool reads_first = of.first.what == operation::read;
  const bool is_set_under_lock =
      of.cause && of.cause->in_observers_block == reads_first && takes_a_lock(of.cause->at.text);
  if (of.what == mistake::race && of.is_between_blocks() &&
      reads_first != (of.second.what == operation::read) &&
      of.lacks.without(is_set_under_lock ? lost_update : diagnosis_set()).empty() &&
      (waits_plainly(of.reader().at.text) || checks_a_flag(of.reader().at, of.writer().at))) {
    of.lacks = {diagnosis::plain_flag};
  }
}

// Whether what was found on the way is what the source says: the lock that only one of two updates
// holds, and the barrier before a release.
void name_cause(finding& of) {
  if (!of.cause) return;
  const bool has_barrier = of.cause->what == chain_step::kind::barrier &&
                           is_barrier_between(of.publisher().at, of.cause->at, of.releaser.at);
  if (has_barrier && of.lacks.has(diagnosis::missing_barrier_before)) {
    // Then what has signalled belongs to the round before, and its reader has not waited.
    of.forget_way();
  } else if (!of.lacks.without(lost_update).empty()) {
    return;
  } else if (takes_a_lock(of.cause->at.text)) {
    of.lacks = {diagnosis::lock_on_one_side};
  } else {
    of.cause.reset();
  }
}

// Calls what(place_number, source_line&) for each of the finding's places.
template <class What>
void each_place(finding& of, What what) {
  for (racing_access* each : {&of.first, &of.second}) what(each->place, each->at);
  for (synchronizing_operation* each : {&of.releaser, &of.acquirer}) what(each->place, each->at);
  for (std::optional<chain_step>* each : {&of.older_load, &of.cause}) {
    if (*each) what((*each)->place, (*each)->at);
  }
  for (chain_step& each : of.between.steps) what(each.place, each.at);
}

}  // namespace

std::vector<finding> locate(std::vector<finding> all, const std::set<plain_update>& plain_updates,
                            std::uint64_t seed) {
  std::vector<place_number> places;
  for (finding& each : all) {
    each_place(each, [&](place_number place, source_line&) { places.push_back(place); });
  }
  const std::vector<source_line> lines = source_lines(places);
  auto line = lines.begin();
  for (finding& each : all) {
    each_place(each, [&](place_number, source_line& at) { at = *line++; });
    each.seed = seed;
    each.seeds = {seed};
  }
  const updates known_updates = find_updates(plain_updates, find_two_writers(all));
  const checks known_checks = find_checks(plain_updates);
  for (finding& each : all) {
    name_update(each, known_updates);
    name_shared_bytes(each);
    name_late_access(each);
    name_plain_access(each, known_checks);
    name_plain_flag(each);
    name_cause(each);
    if (each.what == mistake::race) each.drawn = chain_of(each);
  }
  return merge_by_lines(std::move(all));
}

}  // namespace racecheck
