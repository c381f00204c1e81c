// SPDX-License-Identifier: MIT
#include "lab/command_line.hpp"

#include <cstdlib>

// Not all of <CLI/CLI.hpp>: it takes twice as long to compile.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace lab {

std::map<std::string, std::string> given_options(int argc, const char* const* argv,
                                                 const command_line& known) {
  CLI::App app(known.summary, known.program);
  app.footer(
      "Numbers are decimal, or powers of two such as 2^29.\n"
      "Exit status: 0 all right, 1 a wrong result or a failure at run time, 2 wrong usage,\n"
      "77 no usable device.");
  app.allow_extras();  // So that the sentence about them is ours.

  // All values are read as text: CLI11 would accept a number such as 1e30 or -1 for some types, and
  // its own sentences name neither range nor unit.
  std::vector<const CLI::Option*> options;
  for (const command_line_option& each : known.options) {
    if (each.unit.empty()) {
      options.push_back(app.add_flag(each.name, each.help));
    } else {
      options.push_back(app.add_option(each.name, CLI::callback_t(), each.help)
                            ->type_name(each.unit)
                            ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
                            ->expected(1)
                            ->allow_extra_args(false));
    }
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    throw help_request{app.help()};
  } catch (const CLI::ArgumentMismatch& error) {
    // "--seed: 1 required N missing": only the name is fit for print.
    const std::string words = error.what();
    throw usage_error(words.substr(0, words.find(':')) + " needs a value");
  } catch (const CLI::ParseError& error) {
    throw usage_error(error.what());
  }
  if (const std::vector<std::string> unknown = app.remaining(); !unknown.empty()) {
    // lab has started it, and says as what.
    const char* const typed = std::getenv("LAB_TYPED_COMMAND");
    throw usage_error("'" + unknown.front() + "' is not understood; " +
                      (typed ? typed : known.program) + " --help lists the options");
  }
  std::map<std::string, std::string> given;
  for (const CLI::Option* option : options) {
    const std::string& name = option->get_name();
    if (option->count() > 1) throw usage_error(name + " is given more than once");
    if (option->count() == 1) given[name] = option->results().front();
  }
  return given;
}

std::string why_no_options() { return ""; }

}  // namespace lab
