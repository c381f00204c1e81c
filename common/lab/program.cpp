// SPDX-License-Identifier: MIT
#include "lab/program.hpp"

#include <exception>
#include <iostream>
#include <new>
#include <stdexcept>

#include "cpu_backend/execution/diagnostic.hpp"
#include "lab/command_line.hpp"
#include "lab/device.hpp"
#include "lab/json_text.hpp"
#include "lab/result_file.hpp"

namespace lab {

namespace {

int checked_run(int argc, const char* const* argv, const program_description& description,
                const std::function<void(const options&, program_results&)>& body) {
  const options chosen = parse_options(argc, argv, description);
  for (const file_option& each : description.files) {
    const std::string& path = chosen.files.at(each.name);
    if (!path.empty()) result_file(path, each.kind, chosen.force).require_writable();
  }
  std::optional<result_file> json;
  if (!chosen.json_file.empty()) {
    json.emplace(chosen.json_file, report_file, chosen.force).require_writable();
  }
  if (const auto reason = why_no_device()) {
    std::cerr << description.name << ": " << *reason << '\n';
    return exit_no_device;
  }
  program_results results(description, chosen, describe_device(), std::cout);
  body(chosen, results);
  results.finish();
  if (json) json->write(results.json());
  if (!std::cout) throw std::runtime_error("cannot write the report to standard output");
  return results.right() ? exit_right : exit_wrong;
}

}  // namespace

int exit_status_of(const std::string& name, const std::function<int()>& body) {
  const auto fail = [&name](const char* sentence, exit_status status) -> int {
    std::cout.flush();
    std::cerr << name << ": " << cpu_backend::without_controls(sentence) << '\n';
    return status;
  };
  try {
    return body();
  } catch (const help_request& help) {
    std::cout << help.text;
    return exit_right;
  } catch (const usage_error& error) {
    return fail(error.what(), exit_usage);
  } catch (const std::invalid_argument& error) {
    return fail(error.what(), exit_usage);
  } catch (const std::bad_alloc&) {
    return fail("the host has not enough memory for so many elements", exit_wrong);
  } catch (const std::exception& error) {
    return fail(error.what(), exit_wrong);
  }
}

int run_program(int argc, const char* const* argv, const program_description& description,
                const std::function<void(const options&, program_results&)>& body) {
  return exit_status_of(description.name,
                        [&] { return checked_run(argc, argv, description, body); });
}

}  // namespace lab
