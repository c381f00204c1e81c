// SPDX-License-Identifier: MIT
#include <string>

#include "cpu_backend/execution/diagnostic.hpp"
#include "racecheck/events/plain_poll.hpp"
#include "racecheck/events/sites.hpp"
#include "racecheck/report/access_text.hpp"

namespace racecheck {

void report(const plain_poll& poll, const cpu_backend::kernel_fault& stopped) {
  const source_line read = source_lines({place_of_site(poll.read)}).front();
  const source_line loop = cpu_backend::line_of(stopped.calls);
  const bool is_in_the_loop = !read.file.empty() && place_text(loop) == place_text(read);
  const bool is_the_loops = poll.reads_again || is_in_the_loop;
  cpu_backend::diagnostic record("plain_poll");
  record.add("block", stopped.block).add("thread", stopped.thread);
  record.add("poll", poll.reads_again ? "reads_again_and_again"
                     : is_in_the_loop ? "loops_without_reading"
                                      : "last_read_was_plain");
  record.add("at", read);
  cpu_backend::write_record(record);
  std::string text = cpu_backend::lines_of({record});
  if (!read.text.empty()) text += "      " + read.text + '\n';
  text += is_the_loops ? "  the loop " : "  if it waits for that value, its loop ";
  text += record.sentence("without_an_atomic") + '\n';
  cpu_backend::write_to_stderr(text);
}

}  // namespace racecheck
