// SPDX-License-Identifier: MIT
#include "runner/case_file.hpp"

#include <limits>
#include <map>
#include <sstream>

#include "runner/runner.hpp"

namespace exercises {
namespace {

const std::map<std::string, array_kind> kinds = {
    {"given", array_kind::given},       {"updated", array_kind::updated},
    {"refilled", array_kind::refilled}, {"kept", array_kind::kept},
    {"returned", array_kind::returned}, {"scratch", array_kind::scratch},
};

bool comes_with_bytes(array_kind kind) {
  return kind != array_kind::returned && kind != array_kind::scratch;
}

// The rest of a line after its first word and the space after that.
std::string rest_of(std::istringstream& words) {
  std::string text;
  words.get();
  std::getline(words, text);
  return text;
}

std::vector<std::byte> read_bytes(const case_argument& array, std::ifstream& file) {
  std::vector<std::byte> bytes(array.size());
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file) throw case_error("the bytes of " + array.text + " end too soon");
  return bytes;
}

case_argument read_array(array_kind kind, std::istringstream& words, std::ifstream& file) {
  case_argument array;
  array.kind = kind;
  if (!(words >> array.element_bytes >> array.elements) || array.element_bytes == 0 ||
      array.elements > std::numeric_limits<std::size_t>::max() / array.element_bytes) {
    throw case_error("an array without its size");
  }
  array.text = rest_of(words);
  if (comes_with_bytes(kind)) array.bytes = read_bytes(array, file);
  return array;
}

void read_again(std::vector<case_argument>& arguments, std::istringstream& words,
                std::ifstream& file) {
  std::size_t place = 0;
  if (!(words >> place) || place >= arguments.size()) throw case_error("'again' without its array");
  arguments[place].again = read_bytes(arguments[place], file);
}

case_argument read_numbers(std::istringstream& words) {
  case_argument argument;
  for (std::string number; words >> number;) argument.numbers.push_back(number);
  if (argument.numbers.empty()) throw case_error("'number' without a number");
  return argument;
}

loaded_by_launch read_loaded(std::istringstream& words) {
  loaded_by_launch loaded;
  if (!(words >> loaded.drawn_from)) throw case_error("'loaded' without a number");
  for (std::uint64_t number = 0; words >> number;) loaded.pieces.push_back(number);
  return loaded;
}

}  // namespace

std::vector<exercise_case> read_cases(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  if (!std::getline(file, line) || line != "cases 1") {
    throw case_error(path + " is no file of cases");
  }
  std::vector<exercise_case> cases;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "case") {
      cases.push_back({.name = rest_of(words), .arguments = {}, .loaded = {}, .function = {}});
    } else if (cases.empty()) {
      throw case_error("'" + line + "' before the first case");
    } else if (word == "number") {
      cases.back().arguments.push_back(read_numbers(words));
    } else if (word == "again") {
      read_again(cases.back().arguments, words, file);
    } else if (word == "watch_loads") {
      cases.back().watches_loads = true;
    } else if (word == "loaded") {
      cases.back().loaded.push_back(read_loaded(words));
    } else if (word == "call") {
      if (!(words >> cases.back().function >> cases.back().launches)) {
        throw case_error("'" + line + "' does not say how often");
      }
    } else if (const auto kind = kinds.find(word); kind != kinds.end()) {
      cases.back().arguments.push_back(read_array(kind->second, words, file));
    } else {
      throw case_error("'" + line + "' is no line of a case");
    }
  }
  return cases;
}

result_writer::result_writer(const std::string& path) : file_(path, std::ios::binary) {
  if (!file_) throw case_error(path + " can't be written");
}

void result_writer::line(const std::string& text) {
  file_ << text << '\n';
  flush();
}

void result_writer::array(std::size_t argument, const std::vector<std::byte>& bytes) {
  file_ << "array " << argument << ' ' << bytes.size() << '\n';
  file_.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
  flush();
}

void result_writer::printed(const std::string& text) {
  file_ << "printed " << text.size() << '\n' << text;
  flush();
}

void result_writer::flush() {
  if (!file_.flush()) throw case_error("the results can't be written: is the disk full?");
}

}  // namespace exercises
