# SPDX-License-Identifier: MIT
"""A student's file, compiled with its exercise's driver: to run it, and for the race checker."""

import codecs
import os
import pathlib
import re
from typing import NamedTuple, Optional

from engine.command.build_folder import lines_of
from engine.command.racecheck_runs import Merging
from engine.command.recipe import DidNotCompile, Form, Recipe
from grader.judging.compile_errors import error_lines
from grader.judging.nvcc_messages import declaration_of
from grader.paths import ROOT

ORDINARY = Form("", [], ["exercise_libraries", "program_libraries", "runtime_library"])
OBSERVED = Form(
    "racecheck_", ["--observed"], ["racecheck_exercise_libraries", "racecheck_libraries"]
)
MOST_LINES = 12  # of a compiler's messages

UNDEFINED = "undefined reference to "
NO_MAIN = "It has no main(): a whole program begins with one."
OWN_MAIN = "It has a main() of its own: remove it, since lab calls your function."
UTF16 = "The file is in UTF-16, which no compiler reads: save it as UTF-8."
MAIN = re.compile(r"^[^\S\n]*(?:auto|int|void)\s+main\s*\(", re.MULTILINE)


class ExerciseBuild(NamedTuple):
    """A build folder that has the libraries and the drivers of exercises."""

    place: object  # its BuildFolder
    settings: dict
    files: Optional[pathlib.Path] = None  # where programs are put, if not into the build folder

    @property
    def can_observe(self):
        """Whether it has the form that tells what kernels do."""
        return bool(self.settings.get("racecheck_libraries"))

    @property
    def compile_settings(self):
        """With every read where the student has written it: g++ moves a read below the `if` that its
        value is used in, and then nobody sees a read that the task forbids."""
        compilers = self.settings["compiler"]
        if not self.can_observe or "clang" in compilers:
            return self.settings
        name = f"{OBSERVED.prefix}compile_arguments"
        return {**self.settings, name: f"{self.settings[name]}\n-fno-tree-sink"}

    def merging(self, source):
        """How the reports on a student's file become one answer, for that student."""
        return Merging(self.settings["racecheck_merge_reports"], str(source))


class ExerciseBuilds(NamedTuple):
    cpu: ExerciseBuild  # that judges: it alone sees races
    gpu: Optional[ExerciseBuild]  # if the results are to be judged on a GPU as well
    nvcc: Optional[str] = None  # its path, if it is to be asked without a GPU

    @property
    def backend(self):
        return "cuda" if self.gpu else "cpu"


class Compiled(NamedTuple):
    path: pathlib.Path
    warnings: list[str]  # of the student's code; none if it was compiled before
    recipe: Recipe


def linked_first(build, exercise):
    """What is linked with the student's file before the libraries: the exercise's driver, and what makes
    the driver's main() the first to run if the student has written one."""
    driver = str(build.place.folder.resolve() / exercise.driver)
    if not exercise.is_program:
        return [driver]
    return [driver, *lines_of(build.settings, "program_link_arguments")]


def compiled(build, exercise, source, form):
    """The student's program in this form. Raises DidNotCompile, with lines to show."""
    recipe = Recipe(
        build.place,
        build.compile_settings,
        [str(source)],
        form,
        objects=linked_first(build, exercise),
        files=build.files,
    )
    warnings = []
    if not recipe.is_current():
        try:
            warnings = _short_warnings(recipe.compile(), source)
        except DidNotCompile as problem:
            lines = explained_lines(source, problem.lines, problem.refusals)
            raise DidNotCompile(str(problem), lines) from None
    return Compiled(recipe.program, warnings[:MOST_LINES], recipe)


def explained_lines(source, lines, refusals):
    """The compiler's lines about the student's file; a sentence instead of the linker's. Of what the
    translator has refused, its Diagnostics say more than the lines."""
    if refusals:
        return [_refusal_line(source, refusal) for refusal in refusals][:MOST_LINES]
    text = pathlib.Path(source).read_text(encoding="utf-8", errors="replace")
    wanted = next(filter(None, map(_undefined_in, lines)), None)
    if wanted:
        name = wanted.partition("(")[0]
        if name in ("main", "_start"):
            return [NO_MAIN]
        if declaration_of(name, r"\bstatic\b", "[;{}()]", text):
            return [
                f"{name} is static, so it can't be called from outside the file: remove static."
            ]
        if re.search(rf"\b{re.escape(name)}\b", text):
            return [f"{name} is there, but not with the parameters that are called:", f"  {wanted}"]
        return [f"The function that is called is missing: {wanted}"]
    return error_lines(source, lines)[:MOST_LINES]


def _undefined_in(line):
    """The name that the linker says is undefined; "" if it says no such thing."""
    quoted = line.partition(UNDEFINED)[2]
    return quoted[1:].rpartition("'")[0] if quoted[:1] in ("`", "'") else ""


def _refusal_line(source, refusal):
    """As a compiler puts it."""
    place = refusal.place()
    file = pathlib.Path(source).name if place.file == str(source) else place.file
    return f"{file.removeprefix(f'{ROOT}{os.sep}')}:{place.line}: error: {refusal.sentence}"


def _short_warnings(lines, source):
    """'line 5: unused variable x' for each of the student's lines.

    A parameter that is not used yet is no mistake in a starter, and nvcc does not speak of it.
    """
    pattern = re.compile(
        re.escape(str(source)) + r":(\d+):(?:\d+:)? warning: (.*?)(?: \[-W([^\s\]]*)\])?$"
    )
    found = [pattern.match(line) for line in lines]
    return [
        f"line {match[1]}: {match[2]}"
        for match in found
        if match and match[3] != "unused-parameter"
    ]


def objections_before_compiling(exercise, source):
    """Sentences about a file that need not be shown to a compiler; none if it may be compiled."""
    source = pathlib.Path(source)
    if _is_utf16(source.read_bytes()):
        return [UTF16]
    if exercise.is_program:
        return []
    return [OWN_MAIN] if MAIN.search(source.read_text("utf-8", errors="replace")) else []


def is_empty(source):
    """Whether the file has no code, not even a comment."""
    return not source.read_text("utf-8", errors="replace").strip()


def _is_utf16(content):
    """Whether it begins with UTF-16's mark, or one byte of most pairs is 0, as it is in code."""
    fewer, more = sorted(half.count(0) for half in (content[0::2], content[1::2]))
    return content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or (
        fewer == 0 and more > len(content) // 4 > 0
    )
