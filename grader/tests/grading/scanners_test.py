# SPDX-License-Identifier: MIT
"""Whatever reads a stranger's text takes time and memory in proportion to it, whatever is in it."""

import itertools
import pathlib
import time
import tracemalloc

import pytest

from engine.command.compiler_messages import readable
from grader.exercises.catalogue import chosen_exercise
from grader.inspection.source_tokens import objections_to_source
from grader.judging.compile import as_gcc_puts_it, explained_lines, objections_before_compiling
from grader.judging.races import extern_arrays
from grader.submissions.submission_names import exercise_of, label_of_file, label_of_folder

EXERCISES = [chosen_exercise("01.1"), chosen_exercise("04.2")]
# A letter of each kind, a digit, and all signs that a pattern has; then what patterns have of several.
CHARACTERS = [*"aZ_09 \t\n\r\f\v#/*\\\"'()[]{}<>:;,.=+-%&|?`", "\x01", "\x80"]
PIECES = """extern |static |static saxpy |saxpy(|[[|<:|((|__attribute__((|__attribute__ |#/**/|/**/|/*
#/*\\n|#define /**/|#define a\\n|#line\\n|*/#|int main|__global__ |R"(|u8R"|# 1 "a" 1\\n|# 1 "|"\\\\|'\\\\
\\\\\\n|??/ |??=| undefined reference to `|: error: |:1: error: | [-Wx|extern __shared__ a|extern __shared__ [
In file included from | from | inlined from |In x:|x: In |:1:   required |\\x1b[3|const a |Parameters = {
conversion from |_Z1a|1a|1'|: In instantiation of | at line 1 of a|a.cu(1): error: |_LATE|_LATE_1_2|_1|_12_34
_assignsubmission_|01_saxpy|_attempt_|_attempt_2026-01-01-10-00-00_|_1_assignsubmission_x|01_saxpy.cu
_01_saxpy.cu| (1)|-1"""
PIECES = [each.encode().decode("unicode_escape") for each in PIECES.replace("\n", "|").split("|")]
PATTERNS = [*CHARACTERS, *map("".join, itertools.permutations(CHARACTERS, 2)), *PIECES]
SHORT, LONG, LONGEST = 1_000, 30_000, 1_000_000  # characters
MOST_SECONDS, MOST_BYTES = 1e-6, 40  # of a processor and of memory, for each of them
SLACK = 1e-3  # seconds of each call, such as those of writing a file


def source(text):
    file = pathlib.Path(source.folder, EXERCISES[0].file_name)
    file.write_text(text, encoding="utf-8")
    return file


def inspect(text):
    objections_to_source(source(text), b'# 1 "01_saxpy.cu"\n' + text.encode("latin-1"))


def explain(text):
    explained_lines(source(text), ["x: undefined reference to `saxpy(float)'"], ())
    explained_lines(source(text), ["x: undefined reference to `x'", text.replace("\n", " ")], ())


def explain_message(text):
    line = text.replace("\n", " ")
    lines = [f"01_saxpy.cu:1:2: error: {line}", line, f"{line}a.cuh:1:2: error: {line}"]
    explained_lines(source(""), readable([*text.splitlines(), *lines]), ())
    kernel = 'a.cuh(1): error: from a __global__ function("k") '
    as_gcc_puts_it([kernel + line, f"ptxas error : {line}"], source(""), text.splitlines())


def read_names(text):
    name = text.replace("\n", " ").replace("/", " ")
    for each in (f"x{name}", f"x{name}_01_saxpy.cu", f"{name}.cu"):
        label_of_file(each)
        label_of_folder(each)
        exercise_of(each, EXERCISES)


# With how often each goes through the text.
SCANNERS = {
    "what is refused": (inspect, 1),
    "a main()": (lambda text: objections_before_compiling(EXERCISES[0], source(text)), 1),
    "what the linker misses": (explain, 2),
    "messages": (explain_message, 4),
    "arrays that a race is in": (extern_arrays, 1),
    "names of files": (read_names, 3),
}


def seconds_of(scan, piece, size):
    """How long it takes for a text of this piece, again and again; the least of some runs if that is long,
    since others may use the processor."""
    text = (piece * (size // len(piece) + 1))[:size]
    least = float("inf")
    for _ in range(4):
        start = time.process_time()
        scan(text)
        least = min(least, time.process_time() - start)
        if least < size * MOST_SECONDS / 2:
            break
    return least


@pytest.mark.parametrize("name", SCANNERS)
def test_time_and_memory_grow_with_the_text_and_no_faster(name, tmp_path):
    source.folder, (scan, passes) = tmp_path, SCANNERS[name]
    scan("")  # tables that are made once
    times = {}
    for size, pieces in ((SHORT, PATTERNS), (LONG, PIECES)):
        for piece in pieces:
            times[piece] = seconds_of(scan, piece, size) / passes
            assert times[piece] < size * MOST_SECONDS + SLACK, (piece, size)
        times = {piece: seconds / size for piece, seconds in times.items()}
    worst = sorted(times, key=times.get)[-3:]
    for piece in {*worst, "[", "extern ", "\n"}:
        assert seconds_of(scan, piece, LONGEST) < passes * LONGEST * MOST_SECONDS, piece
    for piece in {*worst, "[", "(", ";"}:
        text = (piece * LONG)[:LONG]
        tracemalloc.start()
        scan(text)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < LONG * MOST_BYTES + (1 << 20), piece
