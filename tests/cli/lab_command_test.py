# SPDX-License-Identifier: MIT
"""Drives ./lab as a person would, right and wrong, in the build folder that this test is in."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest

from engine.command.arguments import project_version
from engine.command.errors import CommandError
from lab_runs import (
    HAS_RACECHECK,
    interrupt,
    interrupt_alone,
    lab,
    needs_racecheck,
    on_a_terminal,
    started,
    without_progress,
)
from lab_tool.builds.backends import _has_gpu
from lab_tool.chapters import all_chapters, may_hand_out_items, variants_of
from lab_tool.command_line import VERBS
from svg_checks import problems_of, words_of
from test_setup import captured
from this_build import BUILD, ROOT

BUILD_FOLDER = str(BUILD)
NO_DEVICE = 77

GOOD = """\
#include <cstdio>
#include <cuda_runtime.h>
#include "answer.h"

__global__ void write_answer(int* place) { *place = ANSWER; }

int main(int argc, char** argv) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess) return 77;
  int* place = nullptr;
  if (cudaMalloc(&place, sizeof(int)) != cudaSuccess) return 1;
  write_answer<<<1, 1>>>(place);
  int answer = 0;
  if (cudaMemcpy(&answer, place, sizeof(int), cudaMemcpyDefault) != cudaSuccess) return 1;
  std::printf("answer %d, options", answer);
  for (int i = 1; i < argc; ++i) std::printf(" [%s]", argv[i]);
  std::printf("\\n");
  return cudaFree(place) == cudaSuccess ? 5 : 1;
}
"""

SLEEPER = """\
#include <chrono>
#include <cstdio>
#include <thread>

int main() {
  std::printf("asleep\\n");
  std::fflush(stdout);
  std::this_thread::sleep_for(std::chrono::minutes(5));
}
"""


def test_it_is_that_of_the_build():
    facts = json.loads((BUILD / "meson-info/intro-projectinfo.json").read_text(encoding="utf-8"))
    for command in (ROOT / "lab", ROOT / "engine/cudacheck"):
        result = captured([sys.executable, command, "--version"])
        said = f"{command.name} {facts['version']}\n"
        assert (result.returncode, result.stdout, result.stderr) == (0, said, "")


def test_the_newest_one_stands_in_the_changelog():
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    versions = [heading.split(" - ")[0] for heading in headings if heading != "Unreleased"]
    assert versions[0] == project_version()


def test_a_file_that_holds_no_version_is_refused():
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "VERSION")
        with pytest.raises(CommandError, match=r"VERSION: the version can't be read: .*No such"):
            project_version(file)
        for text in (b"", b"1.2", b"1.2.3\n1.2.4\n", b"v1.2.3\n", b"1.2.3", b"\xff\n"):
            file.write_bytes(text)
            with pytest.raises(CommandError, match="VERSION: "):
                project_version(file)
        file.write_bytes(b"1.2.3-rc.1\n")
        assert project_version(file) == "1.2.3-rc.1"


def refuses(*words, says):
    """lab says one sentence that matches `says`, exits with 2 and shows no command or program."""
    with tempfile.TemporaryDirectory() as folder:
        result = lab(*words, folder=folder)
        assert result.returncode == 2, result
        assert result.stdout == ""
        problems = without_progress(result.stderr)
        assert re.search(r"\Alab: [^\n]+\n\Z", problems), problems
        assert re.search(says, problems), problems


def test_unknown_command():
    refuses("rnu", says="did you mean run")
    refuses("xyzzy", says=f"there are {', '.join(VERBS)}.")
    refuses("tests", says="did you mean test")


def test_version_with_something_else():
    refuses("--version", "run", says="lab --version takes nothing else")
    refuses("run", "--version", says="lab run takes no option --version")


def test_unknown_chapter():
    refuses("run", "vectr_add", says="did you mean vector_add")
    refuses("run", "99", says="no chapter 99; there are 01_vector_add")
    refuses("run", "guard", says="did you mean last_block_guard")
    refuses("racecheck", "reduction", says="two_kernel_reduction")


def test_an_exercise_is_no_chapter():
    for verb in ("run", "racecheck", "prove", "trace", "bench"):
        says = "01.1 is an exercise, and no chapter: ./lab check 01.1 judges"
        refuses(verb, "01.1", says=says)
    refuses("run", "1.1", says="01.1 is an exercise, and no chapter")
    refuses("run", "saxpy", says="01.1 is an exercise, and no chapter")
    refuses("run", "01.99", says="there is no exercise 01.99; ")


def test_unknown_option():
    refuses("run", "01", "--fast", says="no option --fast")
    refuses("run", "01", "--threads", "128", says="-- --threads 128")
    for verb in ("run", "racecheck", "prove", "trace"):
        refuses(verb, "04", "--xyzzy", says=r"lab \w+ \w+ -- --threads 128\.\n")
    refuses("test", "--suit", "cli", says="no option --suit")
    refuses("doctor", "--backend", "cpu", says="no option --backend")


def test_second_argument():
    refuses("run", "01", "02", says="second argument 02")
    refuses("exercises", "04", says="lab exercises takes no argument 04; ")
    refuses("doctor", "x", says="lab doctor takes no argument x; ")


def test_option_without_value():
    refuses("run", "--backend", says="--backend")


def test_all_and_a_name():
    refuses("test", "all", "vector", says="all runs every test: name no others")


def test_cuda_where_no_gpu_is():
    if _has_gpu() or not shutil.which("nvcc"):
        pytest.skip("this takes nvcc, and no GPU")
    for words in (["run", "01"], ["trace", "05"], ["bench"]):
        result = lab(*words, "--backend", "cuda")
        assert (result.returncode, result.stdout) == (NO_DEVICE, ""), result
        assert re.search(r"\Alab: --backend cuda: there is no GPU [^\n]+\n\Z", result.stderr), (
            result.stderr
        )


def test_a_name_with_a_line_feed_stays_on_one_line():
    refuses("run", "a\nb.cu", says=r"no file a\\nb.cu")
    refuses("a\nb", says=r"no command a\\nb;")
    refuses(b"\xff", says=r"no command \\udcff;")


def test_options_of_a_program_without_a_verb():
    refuses("--", "x", says="after --, need a verb")
    refuses(" ", says="an argument is empty")


def test_a_folder_that_is_gone():
    with tempfile.TemporaryDirectory() as folder:
        gone = pathlib.Path(folder, "gone")
        # With a relative path in it Python itself would not start there.
        environment = {name: os.environ[name] for name in os.environ if name != "PYTHONPATH"}
        for words in ("run 01", "exercises", "reset 04.2 --work w"):
            result = captured(
                f"mkdir -p {gone} && cd {gone} && rmdir {gone} && "
                f"{sys.executable} {ROOT}/lab {words}",
                shell=True,
                env=environment,
            )
            said = "lab: the folder that you are in is not there any more; cd to another one.\n"
            assert (result.returncode, result.stderr) == (2, said)


def test_unknown_backend():
    refuses("run", "--backend", "gpu", says="no backend gpu; there are auto, cpu and cuda")


def test_missing_file():
    refuses("run", "nothing.cu", says="no file nothing.cu")


def test_what_is_no_file():
    with tempfile.TemporaryDirectory() as folder:
        places = [pathlib.Path(folder, name) for name in ("folder.cu", "pipe.cu", "link.cu")]
        places[0].mkdir()
        os.mkfifo(places[1])
        places[2].symlink_to("nowhere.cu")
        says = ("folder.cu is a folder", "pipe.cu is no regular file", "link to nowhere.cu, whi")
        for place, words in zip(places, says):
            refuses("run", str(place), says=words)
            refuses("racecheck", str(place), says=words)
        refuses("plot", folder, says="is a folder, and a file is needed")
        refuses("check", folder, says="is no exercise: take a number, a name, or")
    refuses("check", "/etc", says="/etc is no exercise: take a number")


def test_file_that_is_not_cuda():
    refuses("run", str(ROOT / "README.md"), says="not a CUDA source")
    refuses("run", "kernel.cuh", says="not a CUDA source")


def test_include():
    refuses("run", "01", "--include", ".", says="--include goes with a .cu file")
    refuses(
        "run",
        str(ROOT / "chapters/01_vector_add/vector_add.cu"),
        "--include",
        "nowhere",
        says="nowhere",
    )


def test_folder_that_is_no_build_folder():
    refuses("test", "--build", ".", says="not a build folder")


def test_build_folder_and_backend():
    refuses("run", "--build", BUILD_FOLDER, "--backend", "cpu", says="leave --backend out")


def test_filter_that_matches_nothing():
    refuses(
        "test", "vektor", "--build", BUILD_FOLDER, says="no test has a name that contains 'vektor'"
    )


def test_empty_words():
    refuses("test", "", "--suite", "", says="lab: an argument is empty, as of a variable")
    refuses("test", "--suite", "", says="the value of --suite is empty")
    refuses("trace", "05", "--panels=", says="the value of --panels is empty")
    refuses("run", "", says="an argument is empty")
    refuses("", says="an argument is empty.* ./lab --help shows")
    refuses("racecheck", "01", "--json", "", says="the value of --json is empty")


def test_unknown_suite():
    refuses("test", "--suite", "clj", "--build", BUILD_FOLDER, says="did you mean cli")
    refuses(
        "test", "--suite", "xyzzy", "--build", BUILD_FOLDER, says="no suite xyzzy; there are .*cli"
    )


def test_trace():
    refuses("trace", says="lab trace needs CHAPTER; ")
    refuses("trace", "all", says="one chapter")
    for panels in (",", "queue,", "queue,,grid_stride"):
        refuses("trace", "05", "--panels", panels, says=f"--panels {panels}: it takes names")
    refuses("trace", "05", "--output", "picture.png", says="FILE.svg")
    refuses("trace", "05", "--output", "no/such/folder/picture.svg", says="no folder no/such")
    refuses("trace", "05", "--json", "no/such/a.json", says="--json .* no folder no/such")
    refuses("trace", "05", "--size", "8", says="-- --threads 128")
    refuses("trace", "01", "--build", BUILD_FOLDER, says="has no --trace")
    # Before anything is built: there is no such folder.
    refuses("trace", "04", "--build", "nowhere", says="has no --trace")
    words = ["--panels", "queue,nope", "--build", "nowhere"]
    refuses("trace", "05", *words, says="work_queue has no variant nope; ")


def test_program_options_for_test():
    refuses("test", "--", "--threads", "1", says="go with run")


@pytest.mark.parametrize("words", [[], ["--help"], ["help"], ["run", "--help"]], ids=" ".join)
def test_help(words):
    result = lab(*words)
    assert (result.returncode, result.stderr) == (0, "")
    assert "./lab run" in result.stdout


def test_doctor():
    result = lab("doctor")
    assert result.returncode == 0, result
    for name in ("Meson", "Catch2", "CLI11", "nvcc", "What can run"):
        assert name in result.stdout
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    screen, _ = on_a_terminal([sys.executable, str(ROOT / "lab"), "doctor"], environment)
    broken = [line for line in screen.splitlines() if len(line) > 80 and " " in line.strip()]
    assert broken == []


def test_reader_that_goes_away():
    command = f"{sys.executable} {ROOT.as_posix()!r}/lab doctor | head -1"
    result = captured(command, shell=True)
    assert (result.stdout, result.stderr) == ("This machine\n", "")


@needs_racecheck
def test_reader_of_a_longer_run_that_goes_away():
    command = f"{sys.executable} {ROOT.as_posix()!r}/lab racecheck 01 --seeds 2 --build {BUILD}"
    for streams in ("", "2>&1"):
        result = captured(f"{command} {streams} | head -1", shell=True)
        first = r"\A(vector_add|Building|Another lab is building) [^\n]*\n\Z"
        assert re.search(first, result.stdout), result.stdout
        assert without_progress(result.stderr) == ""


@pytest.mark.parametrize(
    "name", ["01", "1", "vector_add", "01_vector_add", "chapters/01_vector_add/"]
)
def test_chapter_by_each_of_its_names(name):
    with tempfile.TemporaryDirectory() as folder:
        words = ["run", name, "--verbose", "--build", BUILD_FOLDER, "--", "--help"]
        result = lab(*words, folder=folder)
        assert result.returncode == 0, result
        assert re.search(r"\$ \S*vector_add --help\n", result.stderr), result.stderr
        assert "dot_product" not in result.stderr


def test_exit_code_of_a_program():
    assert lab("run", "all", "--build", BUILD_FOLDER, "--", "--threads", "0").returncode == 2


def test_every_program_runs_although_one_fails():
    result = lab("run", "--build", BUILD_FOLDER, "--", "--threads", "0")
    assert "\nvector_add: " in "\n" + result.stderr
    assert "\ndot_product: " in result.stderr


def test_a_program_that_refuses_an_option_names_the_command_that_helps():
    for words in (["run", "01"], ["run"], ["racecheck", "01", "--seeds", "1"]):
        if words[0] == "racecheck" and not HAS_RACECHECK:
            continue
        result = lab(*words, "--build", BUILD_FOLDER, "--", "--thread", "5")
        assert result.returncode == 2, result
        assert f"; ./lab {words[0]} 01 -- --help lists the options" in result.stdout + result.stderr


def test_what_the_source_says_of_a_program_is_what_the_program_says():
    for chapter in all_chapters():
        text = subprocess.run(
            [BUILD / chapter.target, "--help"], capture_output=True, text=True, check=True
        ).stdout
        variants = re.search(r"run one variant only: (.*?) \[all\]", text, re.S)[1]
        assert re.split(r",\s+", variants) == variants_of(chapter)
        assert ("--trace " in text) == may_hand_out_items(chapter)


# ./lab trace: the runs, the picture, and what is kept of them.


def trace(tmp_path, *words):
    return lab("trace", "05", "--build", BUILD_FOLDER, *words, folder=tmp_path)


def test_panel_that_is_no_variant(tmp_path):
    result = trace(tmp_path, "--panels", "fastest")
    assert result.returncode == 2, result
    assert re.search(
        r"\Alab: --panels: work_queue has no variant fastest; [^\n]+\n\Z", result.stderr
    )
    assert os.listdir(tmp_path) == []


def test_picture(tmp_path):
    options = ["--", "--size", "100", "--tile", "10", "--repeat", "1"]
    panels = ("grid_stride", "queue", "one_block_a_tile")
    result = trace(tmp_path, "--panels", ",".join(panels), "--json", "kept.json", *options)
    if result.returncode == NO_DEVICE:
        pytest.skip(result.stderr)
    assert result.returncode == 0, result
    assert sorted(os.listdir(tmp_path)) == ["05_work_queue.svg", "kept.json"]
    picture = (tmp_path / "05_work_queue.svg").read_text(encoding="utf-8")
    words = words_of(picture)
    for variant in panels:
        assert re.search(rf"\b{variant} [\d.e+-]+ ms, busy \d+ %", words)
    assert problems_of(picture) == []
    kept = json.loads((tmp_path / "kept.json").read_text(encoding="utf-8"))
    assert [each["variant"] for each in kept["panels"]] == list(panels)
    assert [each["items"] for each in kept["panels"]] == [100] * 3
    assert kept["about"]["command"] == (
        "./lab trace 05 --panels grid_stride,queue,one_block_a_tile -- --size 100 --tile 10 "
        "--repeat 1"
    )


@pytest.fixture
def folder(tmp_path):
    """One for programs of one file, with a space in its name."""
    made = tmp_path / "a folder"
    (made / "headers").mkdir(parents=True)
    return made


def write(folder, name, text):
    (folder / name).write_text(text, encoding="utf-8")


def run_file(folder, *words):
    return lab(
        "run",
        "own.cu",
        "--verbose",
        "--include",
        "headers",
        "--build",
        BUILD_FOLDER,
        *words,
        folder=folder,
    )


def needs_device(result):
    if result.returncode == NO_DEVICE:
        pytest.skip("there is no device to run on")


def compilations(result):
    """How often a program was made; the cpu backend links in a step of its own, without -c."""
    return len(re.findall(r"^\$ (?!.* -c ).* -o ", result.stderr, re.M))


def test_program_options_and_exit_code(folder):
    write(folder, "headers/answer.h", "#define ANSWER 42\n")
    write(folder, "own.cu", GOOD)
    result = run_file(folder, "--", "--fast", "two words")
    needs_device(result)
    assert "answer 42, options [--fast] [two words]\n" in result.stdout
    assert result.returncode == 5


def test_what_a_file_is_translated_to(folder):
    write(folder, "headers/answer.h", "#define ANSWER 42\n")
    write(folder, "own.cu", GOOD)
    result = run_file(folder, "--keep-translated")
    if "--keep-translated goes with --backend cpu" in result.stderr:
        pytest.skip("nvcc compiles the file as it is")
    told = re.search(r"^own\.cu, translated to C\+\+: (.+)$", result.stderr, re.M)
    assert "write_answer(cpu_backend_arguments...)" in (folder / told[1]).read_text()


def test_compiles_again_only_after_a_change(folder):
    write(folder, "headers/answer.h", "#define ANSWER 42\n")
    write(folder, "own.cu", GOOD)
    assert compilations(run_file(folder)) == 1
    os.utime(folder / "own.cu")
    assert compilations(run_file(folder)) == 0
    write(folder, "headers/answer.h", "#define ANSWER 43\n")
    result = run_file(folder)
    assert compilations(result) == 1
    needs_device(result)
    assert "answer 43" in result.stdout


def test_compiler_error_names_the_students_line(folder):
    write(folder, "headers/answer.h", "#define ANSWER unknown_name\n")
    write(folder, "own.cu", GOOD)
    result = run_file(folder)
    assert result.returncode == 1
    assert re.search(
        r"own\.cu(:5:|\(5\): error)|headers/answer\.h(:1:|\(1\): error)", result.stderr
    )
    assert re.search(r"\nlab: own\.cu did not compile; [^\n]+\n\Z", result.stderr)


def test_failed_compilation_is_not_remembered(folder):
    write(folder, "headers/answer.h", "#define ANSWER 42\n")
    write(folder, "own.cu", GOOD)
    run_file(folder)
    write(folder, "own.cu", GOOD.replace("ANSWER", "unknown_name"))
    assert run_file(folder).returncode == 1
    assert run_file(folder).returncode == 1


@pytest.mark.parametrize("source", ("01_vector_add/vector_add.cu", "05_work_queue/work_queue.cu"))
def test_a_chapters_own_program(folder, source):
    # The second one writes pictures, and so needs what lab itself is linked with.
    path = str(ROOT / "chapters" / source)
    result = lab("run", path, "--build", BUILD_FOLDER, "--", "--help", folder=folder)
    assert result.returncode == 0, result


def test_crash_is_named(folder):
    write(folder, "own.cu", "#include <csignal>\nint main() { return std::raise(SIGKILL); }\n")
    result = run_file(folder)
    assert result.returncode == 128 + signal.SIGKILL
    assert "lab: own was ended by SIGKILL.\n" in result.stderr


def test_a_fault_of_the_host_is_a_debuggers_to_name(folder):
    write(folder, "own.cu", "#include <csignal>\nint main() { return std::raise(SIGSEGV); }\n")
    result = run_file(folder)
    assert result.returncode == 128 + signal.SIGSEGV
    told = "own was ended by SIGSEGV. That was in code of the host: a debugger names the line, as in gdb "
    assert told in result.stderr
    result = lab("racecheck", "own.cu", "--seeds", "1", "--build", BUILD_FOLDER, folder=folder)
    if "can't tell what kernels do" in result.stderr:
        pytest.skip("this build has no racecheck")
    told = "the program was ended by SIGSEGV, in code of the host, where a debugger names the line;"
    assert told in result.stdout


def interrupted(folder, verb, after, interruption=interrupt):
    """What lab says to a Ctrl-C after the line that contains `after`, and its exit code."""
    write(folder, "own.cu", SLEEPER)
    command = [sys.executable, ROOT / "lab", verb, "own.cu", "--build", BUILD_FOLDER]
    with started(command, folder) as process:
        while after not in process.stdout.readline():
            assert process.poll() is None
        time.sleep(0.5)
        _, problems = interruption(process)
    return process.returncode, without_progress(problems)


def test_interrupted_while_the_program_runs(folder):
    assert interrupted(folder, "run", "asleep") == (130, "lab: interrupted.\n")


@needs_racecheck
@pytest.mark.parametrize("interruption", (interrupt, interrupt_alone))
def test_interrupted_while_it_is_checked(folder, interruption):
    # Lab alone, too: the programs that it has started are then its to end.
    code, problems = interrupted(folder, "racecheck", "schedules", interruption)
    assert code == 130
    assert re.search(r"\AChecking own: interrupted after \d+ s\.\n\Z", problems)
