// SPDX-License-Identifier: MIT
#include <cstdio>
#include <string>

#include "racecheck/events/plain_poll.hpp"
#include "racecheck/events/sites.hpp"
#include "racecheck/report/finding_text.hpp"
#include "racecheck/report/located_finding.hpp"

namespace racecheck {

void report(const plain_poll& poll, const cpu_backend::kernel_fault& stopped) {
  const source_line read = source_lines({place_of_site(poll.read)}).front();
  const source_line loop = cpu_backend::line_of(stopped.calls);
  const std::string who = thread_text(stopped.block, stopped.thread);
  const std::string where = place_text(read);
  const bool is_in_the_loop = !read.file.empty() && place_text(loop) == where;
  std::string text = "  ";
  std::string what = "the loop polls";
  if (poll.reads_again) {
    text += who + " reads one place in memory again and again, by plain reads at " + where;
  } else if (is_in_the_loop) {
    text += who + " loops at " + where + ", and the loop does not read memory again";
  } else {
    text += "the last read of " + who + " was a plain one, at " + where;
    what = "if it waits for that value, its loop polls";
  }
  text += '\n';
  if (!read.text.empty()) text += "      " + read.text + '\n';
  text += "  " + what +
          " without an atomic, so it need never see what another thread writes: read by "
          "cuda::atomic_ref, or by volatile with a fence\n";
  std::fputs(text.c_str(), stderr);
}

}  // namespace racecheck
