# SPDX-License-Identifier: MIT
"""Where lab writes, how it shows progress, and what it says when a build fails or is interrupted."""

import contextlib
import io
import os
import re
import shlex
import socket
import subprocess
import sys
import time
from unittest import mock

import pytest

from engine.command import output
from engine.command.build_folder import NinjaLog, settings_of
from engine.command.compiler_messages import readable, with_plain_launches, without_own_warnings
from engine.command.errors import nearest
from engine.command.output import Progress
from lab_runs import interrupt, needs_racecheck, on_a_terminal, started, without_progress
from lab_tool.chapters import all_chapters, next_chapter, options_in_lesson
from test_setup import captured
from this_build import BUILD, ROOT

COMMAND = [sys.executable, str(ROOT / "lab")]

HELLO = '#include <cstdio>\nint main() { std::puts("hello"); }\n'


class FakeTerminal(io.StringIO):
    def isatty(self):
        return True


# stdout carries what was asked for, and nothing else.


@pytest.mark.parametrize("closed", (">&-", "2>&-", ">&- 2>&-"))
def test_a_closed_stream_is_nowhere(closed):
    command = f"{shlex.join(COMMAND)} exercises {closed}"
    result = captured(["sh", "-c", command])
    assert result.returncode == 0, result.stderr
    assert "Traceback" not in result.stderr


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "hello.cu").write_text(HELLO, encoding="utf-8")
    return tmp_path


def run_hello(folder, *words):
    command = [*COMMAND, "run", "hello.cu", "--build", str(BUILD), *words]
    return captured(command, cwd=folder, timeout=300)


@pytest.mark.parametrize("words", [[], ["--verbose"]], ids=["quiet", "verbose"])
def test_the_programs_output_alone_is_on_stdout(folder, words):
    result = run_hello(folder, *words)
    assert (result.returncode, result.stdout) == (0, "hello\n")
    assert result.stderr.endswith("Next: ./lab racecheck hello.cu\n")


def test_quiet_by_default_and_commands_under_verbose(folder):
    run_hello(folder)
    assert run_hello(folder).stderr == "Next: ./lab racecheck hello.cu\n"
    assert re.search(r"\A\$ ninja ", run_hello(folder, "--verbose").stderr)


@pytest.mark.parametrize("typed", ([], ["--", "2"]), ids=["as_it_is", "with_options"])
def test_a_file_of_a_lesson_is_checked_next_with_the_lessons_options(typed):
    file = "chapters/04_last_block_guard/naive_last_block_guard.cu"
    command = [*COMMAND, "run", "--build", str(BUILD), str(ROOT / file), *typed]
    result = captured(command)
    following = result.stderr.splitlines()[-1]
    assert following.startswith("Next: ./lab racecheck "), result.stderr
    assert following.endswith(f"{file} -- 1"), following


def test_a_lessons_options_keep_the_words_that_were_given():
    file = ROOT / "chapters/08_look_back_scan/naive_look_back_scan.cu"
    assert options_in_lesson("racecheck", file, ["--", "20", "tickets"]) == ["--", "1", "tickets"]
    assert options_in_lesson("racecheck", file, []) == ["--", "1"]
    assert options_in_lesson("racecheck", file, ["--", "other"]) is None


@needs_racecheck
@pytest.mark.parametrize(
    "words", (["run"], ["racecheck", "--seeds", "1"]), ids=lambda words: words[0]
)
def test_after_a_refusal_nothing_is_next(words):
    command = [*COMMAND, *words, "04", "--build", str(BUILD), "--", "--elements", "2^40"]
    result = captured(command, timeout=300)
    assert (result.returncode, "Next: " in result.stderr) == (1, False), result


def test_after_the_last_chapter_come_the_exercises():
    first, *_, last = all_chapters()
    assert next_chapter(last) is None
    assert next_chapter(first).number == "02"


def test_the_same_on_a_terminal(folder):
    run_hello(folder)
    command = [*COMMAND, "run", "hello.cu", "--build", str(BUILD)]
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1"}
    text, code = on_a_terminal(command, environment, folder)
    assert (text, code) == ("hello\r\nNext: ./lab racecheck hello.cu\r\n", 0)
    del environment["NO_COLOR"]
    text, code = on_a_terminal(command, environment, folder)
    assert "\x1b[1mNext:\x1b[0m" in text


def test_compiler_messages_without_commands_or_escapes(folder):
    (folder / "hello.cu").write_text("int main() { return unknown_name; }\n")
    result = run_hello(folder)
    assert (result.returncode, result.stdout) == (1, "")
    assert "hello.cu:1" in result.stderr.replace("hello.cu(1)", "hello.cu:1")
    assert "$ " not in result.stderr
    assert "\x1b" not in result.stderr


def test_a_mistake_in_a_launch_has_its_line_and_no_mark_beyond_it(folder):
    line = "int main() { kernel<<<1, 1>>>(unknown_name); }"
    (folder / "hello.cu").write_text(f"__global__ void kernel(int) {{}}\n{line}\n")
    result = run_hello(folder)
    assert "unknown_name" in result.stderr
    shown = [text.rstrip() for text in result.stderr.splitlines() if " | " in text]
    assert max(map(len, shown), default=0) <= len(f"    2 | {line}")
    for column in re.findall(r"hello\.cu:2:(\d+): ", result.stderr):
        assert int(column) <= len(line)


def test_arguments_that_do_not_fit_a_launch(folder):
    settings = settings_of(BUILD)
    if settings["backend"] != "cpu" or "clang" in settings["compiler"]:
        pytest.skip("these are messages of g++")
    lines = LAUNCHES.splitlines()
    (folder / "hello.cu").write_text(LAUNCHES)
    text = re.sub("[\u2018\u2019]", "'", run_hello(folder).stderr)
    assert "cpu_backend" not in text
    assert "launch.hpp" not in text
    assert not re.search(r"hello\.cu:[3-9]:\d+:", text)
    for number, reason in (
        (5, "argument 1: invalid conversion from 'const float*' to 'float*'"),
        (6, "too few arguments to function 'void kernel(float*, int)'"),
        (7, "too many arguments to function 'void kernel(float*, int)'"),
        (8, "candidate expects 2 arguments, 1 provided"),
    ):
        misfit = "the arguments of this launch do not fit the kernel's parameters"
        assert f"hello.cu:{number}: error: {misfit}\n    {number} | {lines[number - 1]}\n" in text
        assert f"hello.cu:{number}: note: {reason}\n" in text
    assert text.count(" error: ") == 4
    assert "hello.cu:5: note: the kernel's parameters: float*, int\n" in text


def test_a_reader_that_has_seen_enough(folder):
    (folder / "hello.cu").write_text(
        '#include <cstdio>\nint main() { for (int i = 0; i < 100000; ++i) std::puts("hello"); }\n'
    )
    command = f"{sys.executable} {ROOT.as_posix()}/lab run hello.cu --build {BUILD} | head -1"
    result = captured(command, shell=True, cwd=folder)
    assert (result.stdout, without_progress(result.stderr)) == ("hello\n", "")


def test_interrupted_while_it_compiles(folder):
    # The preprocessor waits for what is written to the pipe.
    os.mkfifo(folder / "pipe.h")
    (folder / "hello.cu").write_text(f'#include "pipe.h"\n{HELLO}', encoding="utf-8")
    prepare(folder)
    command = [*COMMAND, "run", "hello.cu", "--build", str(BUILD)]
    with started(command, folder) as process:
        time.sleep(5)
        assert process.poll() is None, "it should compile for longer"
        written, problems = interrupt(process)
    assert (process.returncode, written) == (130, "")
    assert re.search(
        r"\ABuilding [^\n]+: interrupted after \d+ s\.\n\Z", without_progress(problems)
    )


def test_each_line_is_written_in_one_piece():
    # Each packet is what one call has written, also where nothing is buffered.
    reader, writer = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    reader.settimeout(300)
    with reader, writer:
        process = subprocess.Popen(
            [*COMMAND, "run", "nothing.cu"],
            stdout=writer,
            stderr=writer,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        process.wait()
        writer.close()
        pieces = iter(lambda: reader.recv(4096).decode(), "")
        assert list(pieces) == ["lab: there is no file nothing.cu.\n"]


def test_warnings_are_about_the_students_lines(folder):
    # An argument is missing, which g++ sees where our header reads it.
    (folder / "hello.cu").write_text(
        "__global__ void kernel(int*, int) {}\n"
        "int main() {\n  int unused;\n  int* first = nullptr;\n  void* arguments[] = {&first};\n"
        "  (void)cudaLaunchKernel(kernel, 1, 1, arguments, 0, nullptr);\n}\n"
    )
    warnings = re.findall(r"^(\S+?)[:(]\d+.*warning", run_hello(folder).stderr, re.M)
    assert set(warnings) == {"hello.cu"}


def prepare(folder):
    """Has the libraries built, so that what follows is the file's own compilation."""
    other = folder / "other.cu"
    other.write_text(HELLO, encoding="utf-8")
    subprocess.run(
        [*COMMAND, "run", "other.cu", "--build", str(BUILD)],
        cwd=folder,
        capture_output=True,
        check=True,
    )


def show(stream, steps, seconds=0.0, **settings):
    """What a Progress with these steps writes to the stream."""
    with contextlib.ExitStack() as patches:
        patches.enter_context(mock.patch.object(sys, "stderr", stream))
        for name, value in settings.items():
            patches.enter_context(mock.patch.object(output, name, value))
        patches.enter_context(mock.patch.dict(os.environ, {"TERM": "xterm"}))
        with Progress("Building it") as progress:
            for done in range(1, steps + 1):
                progress.step(done, steps)
            time.sleep(seconds)
    return stream.getvalue()


def test_nothing_to_do_writes_nothing():
    assert show(FakeTerminal(), 0) == ""
    assert show(io.StringIO(), 0) == ""


def test_no_terminal_and_soon_done_writes_nothing():
    assert show(io.StringIO(), 3) == ""


def test_no_terminal_gets_a_line_now_and_then():
    text = show(io.StringIO(), 3, 0.5, SECONDS_BETWEEN_LINES=0.2, SECONDS_BETWEEN_UPDATES=0.02)
    assert re.search(r"\A(Building it: 3 of 3, 0 s\n){1,3}\Z", text), text


def test_a_terminal_has_one_line_that_changes():
    text = show(FakeTerminal(), 3)
    assert "\rBuilding it: 1 of 3, 0 s\x1b[K" in text
    assert text.endswith("\r\x1b[KBuilding it: 3 of 3, 0 s.\n"), repr(text)
    assert text.count("\n") == 1


def test_a_long_line_is_cut_to_the_terminal():
    with mock.patch.object(output.shutil, "get_terminal_size", lambda: os.terminal_size((12, 24))):
        text = show(FakeTerminal(), 1)
    assert "\rBuilding it\x1b[K" in text


def test_interruption_is_one_line():
    stream = io.StringIO()
    with (
        mock.patch.object(sys, "stderr", stream),
        pytest.raises(KeyboardInterrupt),
        Progress("Building it"),
    ):
        raise KeyboardInterrupt
    assert stream.getvalue() == "Building it: interrupted after 0 s.\n"


def shown(stream, line):
    size = os.terminal_size((24, 24))
    with (
        mock.patch.object(sys, "stdout", stream),
        mock.patch.object(output.shutil, "get_terminal_size", lambda: size),
        mock.patch.dict(os.environ, {"TERM": "xterm", "NO_COLOR": "1"}),
    ):
        output.say_fitted(line, output.RED)
    return stream.getvalue()


def test_a_terminal_breaks_them_between_words():
    text = shown(FakeTerminal(), "  missing acquire: block 3 saw the other's atomic")
    assert text == "  missing acquire: block\n    3 saw the other's\n    atomic\n"


def test_a_long_word_stays_whole():
    path = "a/long/path/that/nobody/can/break.cu:12"
    assert shown(FakeTerminal(), f"  at {path}") == f"  at\n    {path}\n"


def test_elsewhere_a_line_is_a_line():
    line = "  missing acquire: block 3 saw the other's atomic"
    assert shown(io.StringIO(), line) == f"{line}\n"


def coloured(stream, **environment):
    with mock.patch.dict(os.environ, {"TERM": "xterm", **environment}):
        if "NO_COLOR" not in environment:
            os.environ.pop("NO_COLOR", None)
        return output.coloured("text", output.RED, stream)


def test_on_a_terminal_alone():
    assert coloured(FakeTerminal()) == "\x1b[31mtext\x1b[0m"
    assert coloured(io.StringIO()) == "text"
    assert coloured(FakeTerminal(), TERM="dumb") == "text"


def test_never_with_no_color():
    assert coloured(FakeTerminal(), NO_COLOR="1") == "text"


def test_long_messages_begin_with_the_first_lines():
    stream = io.StringIO()
    with mock.patch.object(sys, "stderr", stream):
        output.remark_lines([f"\x1b[01mline {number}\x1b[K" for number in range(1000)])
    lines = stream.getvalue().splitlines()
    assert lines[:2] == ["line 0", "line 1"]
    assert len(lines) == output.MOST_LINES + 1
    assert lines[-1] == "... and 940 more lines; --verbose shows them all"


LAUNCHES = """\
__global__ void kernel(float* y, int n) { y[0] = n; }
template <class T> __global__ void of_any(T* y, int n) { y[0] = n; }
int main() {
  const float* x = nullptr; float* y = nullptr;
  kernel<<<1, 1>>>(x, 3);
  kernel<<<1, 1>>>(y);
  kernel<<<1, 1>>>(y, 3, 4);
  of_any<<<1, 1>>>(y);
}
"""

LAUNCH = f"{ROOT}/engine/cpu_backend/execution/launch.hpp"
# As g++ says it, with the columns of what a launch becomes.
MISFIT = f"""\
own.cu: In function 'int main()':
own.cu:4:474: error: no match for call to '(cpu_backend::launch_by_name<\
main()::<lambda(auto:33& ...)>, main()::<lambda(auto:34)>, \
float*, int>) (double*&, int)'
    4 |   kernel<<<1, 1>>>(mine, 3);
      |   ~~~~~~~~~~~~~~~~                                                   ^
In file included from {ROOT}/engine/cpu_backend/include/cuda_runtime.h:20,
                 from <command-line>:
{LAUNCH}:168:8: note: candidate: 'void cpu_backend::launch_by_name<\
Call, Pick, Parameters>::operator()(Parameters ...) const [\
with Parameters = {{float*, int}}]'
  168 |   void operator()(Parameters... arguments) const {{
      |        ^~~~~~~~
{LAUNCH}:168:29: note:   no known conversion for \
argument 1 from 'double*' to 'float*'
  168 |   void operator()(Parameters... arguments) const {{
      |                   ~~~~~~~~~~^~~~~~~~~~~~~
own.cu:6:9: error: 'other' was not declared in this scope
    6 |   mine; other;
      |         ^~~~~
own.cu: In instantiation of 'main()::<lambda(auto:36& ...)> [with auto:36 = {{}}]':
{LAUNCH}:129:70:   required from \
'void cpu_backend::launch_with()'
own.cu:7:474:   required from here
own.cu:7: error: 'not_there' was not declared in this scope
"""

COMPILER = f"""\
own.cu: In function 'int main()':
own.cu:4:7: warning: unused variable 'unused' [-Wunused-variable]
    4 |   int unused;
      |       ^~~~~~
In file included from {ROOT}/engine/cpu_backend/include/cuda_runtime.h:10,
                 from <command-line>:
In function 'Argument cpu_backend::kernel_argument(Argument) [with Argument = numbers]',
    inlined from 'int main()' at own.cu:7:31:
{ROOT}/engine/cpu_backend/execution/launch.hpp:52:12: warning: 'mine.more' is used uninitialized
   52 |     return argument;
      |            ^~~~~~~~
own.cu: In function 'int main()':
own.cu:5:11: note: 'mine' declared here
    5 |   numbers mine;
In file included from own.cu:1:
{ROOT}/common/lab/check.cuh:7:3: error: 'nothing' was not declared in this scope
cc1plus: note: the end
"""


def test_less_the_warnings_of_our_headers():
    lines = COMPILER.splitlines()
    assert without_own_warnings(lines) == lines[:4] + lines[14:]
    coloured = [f"\x1b[01m\x1b[K{line}\x1b[m" for line in lines]
    assert without_own_warnings(coloured) == coloured[:4] + coloured[14:]


def test_a_warning_in_a_template_once_and_without_its_arguments():
    lines = """\
a.cu: In instantiation of 'void k(T) [with T = int]':
a.cu:9:8:   required from 'run<int>()::<lambda(auto:41& ...)> [with auto:41 = {int}]'
/usr/include/launch.hpp:98:9:   required from 'int launch(const Call&) [with Call = run<int>()]'
a.cu:12:35:   required from here
a.cu:3:56: warning: comparison of integer expressions of different signedness [-Wsign-compare]
    3 |   if (threadIdx.x < s) {}
      |       ~~~~~~~~~~~~^~~
a.cu: In instantiation of 'void k(T) [with T = float]':
a.cu:12:50:   required from here
a.cu:3:56: warning: comparison of integer expressions of different signedness [-Wsign-compare]
""".splitlines()
    assert readable(lines) == lines[4:7]


def test_what_the_compiler_warns_of_is_said_once(tmp_path):
    (tmp_path / "w.cu").write_text("int main() { int unused; }\n", encoding="utf-8")
    for words, times in (["run"], 1), (["run", "--weak"], 0):
        command = [*COMMAND, *words, "w.cu", "--build", str(BUILD)]
        result = captured(command, cwd=tmp_path, timeout=300)
        assert result.stderr.count("warning: unused variable") == times, result


def test_a_launch_as_the_student_has_written_it():
    lines = MISFIT.splitlines()
    shown = [
        lines[0],
        "own.cu:4: error: the arguments of this launch do not fit the kernel's parameters",
        lines[2],
        "own.cu:4: note: no known conversion for argument 1 from 'double*' to 'float*'",
        "own.cu:4: note: the kernel's parameters: float*, int",
    ]
    # The rest is about other mistakes.
    assert with_plain_launches(lines) == shown + lines[12:]
    assert with_plain_launches(COMPILER.splitlines()) == COMPILER.splitlines()


def test_a_column_beyond_the_line_is_left_out_in_colour_as_well():
    lines = ["a.cu:2:80: error: what", "    2 | k<<<1, 1>>>(x);", f"      | {' ' * 70}^"]
    assert readable(lines) == ["a.cu:2: error: what", lines[1]]
    lines[0] = "\x1b[01m\x1b[Ka.cu:2:80:\x1b[m\x1b[K \x1b[01;31m\x1b[Kerror: \x1b[m\x1b[Kwhat"
    assert readable(lines) == [lines[0].replace(":80:", ":"), lines[1]]


def test_all_of_what_has_no_messages():
    for lines in ([], ["one", "  two"], ["In file included from a.h:1:"]):
        assert without_own_warnings(lines) == lines


def log_of(text):
    log = NinjaLog(mock.Mock())
    for line in text.splitlines():
        log.read(line)
    return log


def test_steps():
    log = log_of("ninja: Entering directory `build'\n[1/3] Compiling a\n[3/3] Linking\n")
    assert log.progress.step.call_args_list == [mock.call(1, 3), mock.call(3, 3)]
    assert log.messages() == []


def test_messages_of_failed_steps_without_their_commands():
    text = (
        "[1/9] Compiling a\nFAILED: a.o \nc++ -O3 a.cpp\na.cpp:1: error: one\n"
        "[2/9] Compiling b\nb.cpp:7: warning: not this one\n"
        "[3/9] Compiling c\nFAILED: c.o \nc++ c.cpp\nc.cpp:2: error: two\n"
        "ninja: build stopped: subcommand failed.\n"
    )
    assert log_of(text).messages() == ["a.cpp:1: error: one", "c.cpp:2: error: two"]


def test_messages_of_meson():
    text = (
        "[0/1] Regenerating build files.\nThe Meson build system\nmeson.build:3:0: ERROR: no\n"
        "FAILED: build.ninja \nmeson --internal regenerate\n"
        "ninja: error: rebuilding 'build.ninja': subcommand failed\n"
    )
    assert log_of(text).messages()[0] == "meson.build:3:0: ERROR: no"


NAMES = ("vector_add", "dot_product", "last_block_guard", "backend_vector_types_test", "run")


def test_nearest():
    assert nearest("vectr_add", NAMES) == ["vector_add"]
    assert nearest("guard", NAMES) == ["last_block_guard"]
    assert nearest("VEKTOR", NAMES) == ["vector_add", "backend_vector_types_test"]
    assert nearest("xyzzy", NAMES) == []


def test_at_most_three():
    assert len(nearest("abcd", [f"abcd{number}" for number in range(9)])) == 3
